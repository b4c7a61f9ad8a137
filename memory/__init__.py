"""Lowest layer: records, schemas, ids, keys, topics. It does no I/O except for reading schema files.

Start at ``memory/records/`` and :mod:`memory.topics` for what is stored, ``memory/schema/`` for what a tenant may define.
``memory/messages/``, ``memory/texts/`` and ``memory/dates/`` read what people and models write.
"""
