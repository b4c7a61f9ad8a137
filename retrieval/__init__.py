"""The recall pipeline: query rewriting, retrieval, ranking, deduplication, context."""
