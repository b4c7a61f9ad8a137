"""Imports of other services' exports: what a user said there becomes messages in the log, with the original times and ids.

Start at :mod:`varve.imports.formats`, the list of formats.
"""
