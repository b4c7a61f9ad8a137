"""Qdrant Edge: the embedded engine in a separate process, served over a Unix socket.

Start at :mod:`stores.edge.client`, the side of the callers, and :mod:`stores.edge.owner`, the process; :mod:`stores.edge.shard` calls the
engine.
"""
