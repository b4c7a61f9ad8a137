"""Lowest layer: records, schemas, ids, keys, topics. It does no I/O except for reading schema files.

Start at ``memory/records/`` and :mod:`memory.topics` for what is stored, ``memory/schema/`` for what a tenant may define; the other modules
read texts, dates and JSON.
"""
