"""The top layer: command line, supervisor, embedded stack, demo, canary.

Start at :mod:`varve.cli.application` for the commands, and :mod:`varve.embedded.stack` for what ``varve dev`` starts.
"""
