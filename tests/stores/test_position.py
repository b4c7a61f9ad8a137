"""A write with an older position changes nothing; and stores that were filled before points had positions."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import qdrant_edge as edge
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import AsyncQdrantClient

from stores.collection import DELETED_AT, POSITION_FIELDS
from stores.edge.shard import Shard
from stores.filters import MemoryFilter
from stores.points import tombstone_payload
from stores.port import TenantScope
from stores.position import NEW_TOPIC_MS, FeedPosition
from stores.server.store import QdrantStore
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL, NOON, at, deletions, encoded, memory, point, prepared_shard

ACME = TenantScope("acme")

TIMES = st.none() | st.integers(0, 3 * NEW_TOPIC_MS)
POSITIONS = st.builds(FeedPosition, st.integers(0, 1), st.integers(0, 3), TIMES)


@given(POSITIONS, POSITIONS)
def test_at_most_one_of_two_positions_is_older(one: FeedPosition, other: FeedPosition) -> None:
    assert not (one.is_older_than(other) and other.is_older_than(one))
    if one.partition == other.partition and None in (one.produced_ms, other.produced_ms):
        assert one.is_older_than(other) == (one.offset < other.offset)


@given(POSITIONS)
def test_a_position_survives_its_payload(position: FeedPosition) -> None:
    assert FeedPosition.from_payload(position.payload()) == position
    assert FeedPosition.from_payload(tombstone_payload(position, NOON)) == position


def test_a_missing_position_is_older_than_any() -> None:
    assert FeedPosition.from_payload({}) is FeedPosition.from_payload(None) is None
    assert not at(0).is_older_than(None)


def test_a_shard_without_positions_is_written_to(tmp_path: Path) -> None:
    shard = prepared_shard(tmp_path)
    old, gone = point(memory("tea")), point(memory("coffee"))
    for each in (old, gone):
        stored = encoded(each)
        for field in POSITION_FIELDS:
            stored.payload.pop(field, None)
        shard.upsert([stored])
    newer = point(memory("tea, green", id=old.memory.id))
    shard.upsert([encoded(newer)])
    whole = MemoryFilter.everything(ACME)
    shard.delete(whole, {gone.memory.id: tombstone_payload(at(0), NOON)})
    assert shard.scroll(whole, start=None, limit=9) == {old.memory.id: newer.memory.to_json().decode()}
    shard.close()


def test_an_existing_shard_gets_the_tombstones_index(tmp_path: Path) -> None:
    shard = prepared_shard(tmp_path)
    engine = shard._engine
    assert engine is not None
    engine.update(edge.UpdateOperation.delete_field_index(DELETED_AT))
    assert DELETED_AT not in engine.info().payload_schema
    shard.close()
    opened = Shard(tmp_path)
    assert opened._engine is not None
    assert DELETED_AT in opened._engine.info().payload_schema
    opened.close()


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")
async def test_a_collection_without_positions_is_written_to() -> None:
    client = AsyncQdrantClient(":memory:")
    store = QdrantStore(clients=[client], collection="old")
    await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    old, gone = memory("tea"), memory("coffee")
    await store.upsert([point(old, position=at(99)), point(gone, position=at(99))])
    await client.delete_payload("old", [*POSITION_FIELDS], points=[old.id, gone.id])
    newer = memory("tea, green", id=old.id)
    await store.upsert([point(newer)])
    await store.delete(ACME, deletions(gone.id))
    assert await store.scroll(ACME) == [newer]
    await store.purge_tombstones(before=datetime.now(UTC))
    await store.close()
