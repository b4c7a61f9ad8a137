"""The vector store, the index writer, recall, and the query service."""
