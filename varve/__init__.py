"""The top layer: command line, supervisor, embedded stack, demo, canary."""
