"""Vector stores: one port, with adapters for Qdrant Edge and a Qdrant server."""
