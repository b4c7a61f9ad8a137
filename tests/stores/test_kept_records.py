"""The records that an owner keeps of its shard: a recall returns the stored ones, however often it ran before."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import qdrant_edge as edge

from memory.records import Memory
from stores.collection import RECORD
from stores.edge.records import RecordCache
from stores.edge.search import best
from stores.edge.shard import Shard
from stores.filters import MemoryFilter
from stores.points import memory_of, tombstone_payload
from stores.port import RecallQuery, TenantScope
from stores.query_plan import plan_query
from tests.stores.factories import NOON, at, embedding, memory, put_in_shard

ACME = TenantScope("acme")


def recalled(shard: Shard) -> list[Memory]:
    plan = plan_query(RecallQuery(filter=MemoryFilter(scope=ACME), text="a red bicycle", embedding=embedding("a red bicycle")))
    return [memory_of(each.record) for each in best(shard.recall(plan, explain=False), 10)]


def test_a_recall_returns_the_newest_record(shard: Shard) -> None:
    first = memory("a red bicycle", importance=0.25)
    put_in_shard(shard, first, 0)
    assert recalled(shard) == recalled(shard) == [first]
    newer = first.model_copy(update={"importance": 0.75})
    put_in_shard(shard, newer, 1)
    assert recalled(shard) == [newer]
    put_in_shard(shard, first, 0)  # written by a stale worker
    assert recalled(shard) == [newer]


def test_a_deleted_record_is_not_returned(shard: Shard) -> None:
    stored = memory("a red bicycle", importance=0.25)
    put_in_shard(shard, stored, 0)
    assert recalled(shard) == [stored]
    shard.delete(MemoryFilter.everything(ACME), {stored.id: tombstone_payload(at(1), NOON)})
    assert recalled(shard) == []
    again = stored.model_copy(update={"importance": 0.75})
    put_in_shard(shard, again, 2)
    assert recalled(shard) == [again]


@dataclass
class Payloads:
    """An engine's payloads, which are read one by one."""

    texts: dict[UUID, str]
    was_read: list[UUID] = field(default_factory=list)

    def read(self, ids: list[UUID]) -> Iterable[Any]:
        self.was_read += ids
        return [edge.Point(each, {}, {RECORD: self.texts[each]}) for each in ids]


def test_only_so_many_short_records_are_kept() -> None:
    payloads = Payloads({UUID(int=number): "x" * (5000 if number == 3 else 10) for number in range(4)})
    ids = [*payloads.texts]
    kept = RecordCache(max_characters=20)
    assert kept.of(ids, payloads.read) == {number: payloads.texts[UUID(int=number)] for number in range(4)}
    payloads.was_read.clear()
    kept.of([ids[2], ids[1]], payloads.read)
    assert payloads.was_read == []
    kept.of([ids[0], ids[3]], payloads.read)
    assert payloads.was_read == [ids[0], ids[3]]
    kept.of([ids[1], ids[3], ids[2]], payloads.read)
    assert payloads.was_read == [ids[0], ids[3], ids[3], ids[2]]  # the one that was asked for longest ago went
    kept.forget([edge.Point(ids[1], {}, {}), edge.Point(ids[2], {}, {})])
    kept.of(ids[:2], payloads.read)
    payloads.was_read.clear()
    kept.of(ids[:2], payloads.read)
    assert payloads.was_read == []  # forgotten payloads take no memory
