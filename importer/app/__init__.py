"""The use cases: they wire the stages, and are all that the command line and a host application call."""
