"""The memories in the output of a batch."""

from memory.keys import decode_key
from memory.records import Memory, MemoryChange
from streams.engine.tasks.batch import Batch


def memories(batch: Batch) -> dict[str, Memory | None]:
    """By id, what the feed says of it last."""
    feed = [each for each in batch.outputs if each.topic == "varve.memories"]
    changes = ((decode_key(each.key or b"")[1], each.value) for each in feed)
    return {memory_id: MemoryChange.from_json(value).memory if value else None for memory_id, value in changes}


def upserts(batch: Batch) -> list[str]:
    """The ids that the feed writes."""
    return _ids(batch, gone=False)


def tombstones(batch: Batch) -> list[str]:
    """The ids that the feed removes."""
    return _ids(batch, gone=True)


def _ids(batch: Batch, *, gone: bool) -> list[str]:
    feed = [each for each in batch.outputs if each.topic == "varve.memories" and (each.value is None) == gone]
    return [decode_key(each.key or b"")[1] for each in feed]
