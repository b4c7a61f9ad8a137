"""The ``varve`` command. Each group of commands has its file. Commands import what they need when they run, so that help is quick."""

from varve.cli.application import main

__all__ = ["main"]
