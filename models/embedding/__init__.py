"""Embedding models: the port and its implementations.

Start at :mod:`models.embedding.port`, then :mod:`models.embedding.build`.
"""
