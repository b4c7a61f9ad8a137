"""Parallel generations of a tenant's memories: built by a second extraction worker, switched to, and dropped (docs/internals/adr/0017).

A generation is built with its own schema, prompt and model while the live one serves recalls. Its extractions, events, entities and points
contain its name, so the two never mix. (A new embedding model needs a rebuild, not a generation: a collection has the vectors of one
model.)
"""
