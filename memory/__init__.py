"""Lowest layer: records, schemas, ids, keys, topics. It does no I/O except for reading schema files."""
