"""The port to a vector store, and its adapters."""
