"""Embedding models: the port, and what stands behind it."""
