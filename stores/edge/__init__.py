"""Qdrant Edge: the embedded engine in a separate process, served over a Unix socket."""
