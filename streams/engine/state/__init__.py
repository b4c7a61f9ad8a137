"""Local state of a partition: RocksDB, its cache and its recovery from the changelog."""
