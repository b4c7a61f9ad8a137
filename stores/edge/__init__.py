"""Qdrant Edge: the engine in a process of its own, behind a Unix socket."""
