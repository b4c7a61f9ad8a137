"""The erasure of a user: through every topic, every stage's state, the vector store and Redis (docs/internals/adr/0050).

Start at :mod:`streams.operations.erasure.erase`, which says the order, then :mod:`streams.operations.erasure.run`.
"""
