"""The records of the public change feed, ``memories``, as the stages write them."""

from memory.keys import encode_key
from memory.records import Memory, MemoryChange
from runtime.kafka import OutgoingRecord


def upsert_record(topic: str, memory: Memory) -> OutgoingRecord:
    """The record that says what a memory is now; ``topic`` is the feed's name on the broker."""
    change = MemoryChange(op="upsert", memory_id=memory.id, tenant=memory.tenant, memory=memory)
    return OutgoingRecord(topic, encode_key(memory.tenant, memory.id), change.to_json())


def tombstone_record(topic: str, tenant: str, memory_id: str) -> OutgoingRecord:
    """The record that says that a memory, or a step of one, is no more.

    Args:
        topic: The feed's name on the broker.
        tenant: Whose memory.
        memory_id: Its id, or the step's.
    """
    return OutgoingRecord(topic, encode_key(tenant, memory_id), None)
