"""Vector stores: one port, with adapters for Qdrant Edge and a Qdrant server.

Start at :mod:`stores.port`; :mod:`stores.build` chooses the engine, and :mod:`stores.index_writer` writes.
"""
