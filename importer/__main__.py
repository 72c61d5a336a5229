"""`python -m importer` is the same as `importer`."""

from importer.cli import entry

if __name__ == "__main__":
    entry()
