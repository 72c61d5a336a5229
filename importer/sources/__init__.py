"""Where the bytes of a package come from."""
