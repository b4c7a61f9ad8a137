"""A Qdrant server, over gRPC."""
