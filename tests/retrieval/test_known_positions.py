"""The store's position as a query service knows it: its highest age, and its use by a recall at positions."""

import pytest

from api.reads.store_positions import LONGEST_KNOWN_S, MAX_AGE_S, StorePositions
from memory.positions import LogPosition
from stores.edge.client import EdgeStore
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL, at

pytestmark = pytest.mark.integration


class Seconds:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def places(*offsets: int) -> tuple[LogPosition, ...]:
    return tuple(LogPosition("feed", partition, offset) for partition, offset in enumerate(offsets))


@pytest.fixture
async def marked(edge_store: EdgeStore) -> EdgeStore:
    await edge_store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    for partition, offset in enumerate((5, 7)):
        await edge_store.set_checkpoint(at(offset, partition=partition))
    return edge_store


async def test_known_positions_are_refreshed_in_the_background(marked: EdgeStore) -> None:
    seconds = Seconds()
    positions = StorePositions(store=marked, topic="feed", partitions=3, seconds=seconds)
    assert await positions.read() == places(5, 7)
    await marked.set_checkpoint(at(9))
    assert await positions.read() == places(5, 7)
    seconds.now += MAX_AGE_S + 0.1
    assert await positions.read() == places(5, 7)
    await positions.close()
    assert await positions.read() == places(9, 7)


async def test_outdated_positions_are_read_before_the_answer(marked: EdgeStore) -> None:
    seconds = Seconds()
    positions = StorePositions(store=marked, topic="feed", partitions=3, seconds=seconds)
    assert await positions.read() == places(5, 7)
    await marked.set_checkpoint(at(9))
    seconds.now += LONGEST_KNOWN_S + 0.1
    assert await positions.read() == places(9, 7)
    await marked.set_checkpoint(at(10))
    assert await positions.newest() == await positions.read() == places(10, 7)


async def test_a_recall_at_positions_reads_no_further_positions(marked: EdgeStore) -> None:
    positions = StorePositions(store=marked, topic="feed", partitions=3)
    assert await positions.read([at(4), at(8, partition=1), at(1, partition=2)]) == places(4, 7)
    assert await positions.read([at(5)]) == places(5)
