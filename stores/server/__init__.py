"""A Qdrant server, over gRPC.

Start at :mod:`stores.server.store`.
"""
