"""The index stage: the change feed in, points in the vector store out."""
