"""A MemoryStore at earlier positions of the feed: later memories are invisible, and change no score."""

from typing import Any

import pytest

from memory.records import Memory
from stores.edge.search import FEW
from stores.port import MemoryStore, RecallQuery, ScoredMemory, TenantScope
from stores.position import FeedPosition
from tests.stores.factories import at, deletions, embedding, memory, point, take_filter

ACME = TenantScope("acme")
QUESTION = "Ann bought a red bicycle"

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


async def write(store: MemoryStore, memories: list[Memory], *, first: int, partition: int = 0) -> None:
    positions = (at(first + number, partition=partition) for number in range(len(memories)))
    await store.upsert([point(each, position=position) for each, position in zip(memories, positions, strict=True)])


async def found(store: MemoryStore, *positions: FeedPosition, **fields: Any) -> list[ScoredMemory]:
    fields["at"] = positions
    query = RecallQuery(filter=take_filter(ACME, fields), text=QUESTION, embedding=embedding(QUESTION), explain=True, **fields)
    return await store.recall(query)


async def ids(store: MemoryStore, *positions: FeedPosition, **fields: Any) -> set[str]:
    return {each.memory.id for each in await found(store, *positions, **fields)}


@pytest.mark.parametrize("more", [5, 2 * FEW])
async def test_later_memories_do_not_change_earlier_positions(store: MemoryStore, more: int) -> None:
    early = [memory(f"{QUESTION} on day {number}") for number in range(6)] + [memory(f"Ben saw kite {number}") for number in range(more)]
    await write(store, early, first=0)
    before = await found(store, limit=50)
    then = at(len(early) - 1)
    assert await found(store, then, limit=50) == before

    # Nearer to the question than all before, so many that they take every place, and with its rare words.
    await write(store, [memory(f"{QUESTION} {'bicycle ' * number}") for number in range(1, 2 * FEW)], first=len(early))
    after = await found(store, then, limit=50)
    assert [each.memory for each in after] == [each.memory for each in before]
    assert [each.parts for each in after] == [pytest.approx(each.parts) for each in before]
    assert [each.score for each in after] == pytest.approx([each.score for each in before])
    assert [each.memory for each in await found(store, limit=50)] != [each.memory for each in before]


async def test_each_partition_has_its_own_position(store: MemoryStore) -> None:
    first, second, third = memory("red one"), memory("red two"), memory("red three")
    await write(store, [first, second], first=10, partition=0)
    await write(store, [third], first=3, partition=5)
    assert await ids(store, at(10), at(3, partition=5)) == {first.id, third.id}
    assert await ids(store, at(11), at(2, partition=5)) == {first.id, second.id}
    assert await ids(store, at(11)) == {first.id, second.id}, "of a partition that is not named, nothing was there"
    assert await ids(store, at(9)) == set()
    assert await ids(store, at(11), at(3, partition=5), kinds=("entity",)) == set()
    assert await ids(store, at(2**62), at(2**62, partition=5)) == {first.id, second.id, third.id}


async def test_later_changes_are_excluded(store: MemoryStore) -> None:
    kept, changed, gone = memory("red kept"), memory("red changed"), memory("red gone")
    await write(store, [kept, changed, gone], first=0)
    await write(store, [changed.model_copy(update={"content": "red as it is now"})], first=3)
    await store.delete(ACME, deletions(gone.id, position=at(4)))
    assert await ids(store, at(2)) == {kept.id}
    assert await ids(store, at(4)) == {kept.id, changed.id}


async def test_reads_and_counts_respect_positions(store: MemoryStore) -> None:
    early, late, foreign = memory("tea", user="ann"), memory("coffee", user="ann"), memory("tea", tenant="rival")
    await write(store, [early, foreign, late], first=0)
    assert await store.get(ACME, [late.id, early.id, foreign.id], at=[at(1)]) == [early]
    assert await store.get(ACME, [late.id, early.id]) == [late, early]
    for scope in (ACME, TenantScope("acme", "ann")):
        assert (await store.count(scope, at=[at(1)]), await store.count(scope, at=[at(2)]), await store.count(scope)) == (1, 2, 2)
    assert await store.count(TenantScope("acme", "bob"), at=[at(2)]) == 0
