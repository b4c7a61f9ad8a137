"""Generations of a tenant's memories side by side: made by a second extraction worker, switched to, and dropped (docs/internals/adr/0017).

A generation is made under its own schema, prompt and model while the live one serves recalls. Its extractions, events, entities and points
carry its name, so the two never mix. (Another embedding model needs no generation but a rebuild: a collection holds the vectors of one
model.)
"""
