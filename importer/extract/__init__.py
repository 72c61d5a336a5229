"""Containers that can be read in one way only, or are refused: zip and tar."""
