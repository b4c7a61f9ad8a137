"""Memory methods as documents, one JSON file each: see :mod:`memory.schema.methods`."""
