"""Local state of a partition: RocksDB, its cache and its recovery from the changelog.

Start at :mod:`streams.engine.state.partition_state`.
"""
