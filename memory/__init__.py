"""Ground floor: records, schemas, ids, keys, topics. No I/O but reading schema files."""
