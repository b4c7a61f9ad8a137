"""The erasure of a user: through every topic, every stage's state, the vector store and Redis (docs/internals/adr/0050)."""
