"""Commands on all stages: rebuild, replay, erasure, accepted loss, snapshot.

Each command has a module or a package; :mod:`streams.operations.replay` is the smallest, ``erasure/`` the largest.
"""
