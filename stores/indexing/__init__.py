"""Writes memories into the vector store."""
