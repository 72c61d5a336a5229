"""Decides what would happen: a pure function of candidates, the library as it is now, and a person's choices."""
