"""Records of the public change feed, ``memories``."""

from memory.keys import encode_key
from memory.records import Memory, MemoryChange
from runtime.kafka import OutgoingRecord


def upsert_record(topic: str, memory: Memory) -> OutgoingRecord:
    """The record with a memory's current version; ``topic`` is the feed's name on the broker."""
    change = MemoryChange(op="upsert", memory_id=memory.id, tenant=memory.tenant, memory=memory)
    return OutgoingRecord(topic, encode_key(memory.tenant, memory.id), change.to_json())


def tombstone_record(topic: str, tenant: str, memory_id: str) -> OutgoingRecord:
    """The record that deletes a memory or a history entry.

    Args:
        topic: The feed's name on the broker.
        tenant: The memory's tenant.
        memory_id: The id of the memory or entry.
    """
    return OutgoingRecord(topic, encode_key(tenant, memory_id), None)
