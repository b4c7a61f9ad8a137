"""Embedding models: the port and its implementations."""
