"""Memories that fade rank last unless they were recalled."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory.records import Memory
from memory.schema.method import Fading, Method, Retrieval
from memory.strengths import Recalls, recalls_memory_id, written_recalls
from memory.times import microseconds_of
from retrieval.request import RecallHit, RecallRequest
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, TenantScope
from tests.retrieval.pipelines import pipeline_over
from tests.stores.factories import NOON, memory, store_memories

pytestmark = pytest.mark.integration

ANN = TenantScope("acme", "ann")
DAY = timedelta(days=1)
BANK = Method(
    name="bank", retrieval=Retrieval(fading=Fading(entity_type="forgetting", properties=("remembered", "others"), least=5, types=("note",)))
)
ASKED = RecallRequest(filter=MemoryFilter(scope=ANN), query="red bicycle", method=BANK, explain=True)


def said(text: str, days_ago: float, **fields: Any) -> Memory:
    at = NOON - days_ago * DAY
    return memory(text, user="ann", event_time=at, said_at=at, **fields)


OLD = said("Ann bought a red bicycle", 10)
NEW = said("Ann cleaned the bicycle of Paul today", 1)


def recalls(recalled: dict[str, tuple[int, datetime]], **fields: Any) -> Memory:
    """The memory that STRENGTH publishes: strengths of a day."""
    strength = int(DAY / timedelta(microseconds=1))
    known = written_recalls(strength, {name: (count, microseconds_of(last)) for name, (count, last) in recalled.items()})
    name = recalls_memory_id("acme", "forgetting", "ann", "remembered", "")
    made: dict[str, Any] = {"id": name, "kind": "summary", "type": "forgetting", "properties": known, "expires_at": NOON - DAY}
    return memory("How often memories were recalled.", **{"user": "ann", **made, **fields})


async def hits(store: EdgeStore, asked: RecallRequest = ASKED) -> list[RecallHit]:
    return list((await pipeline_over(store).recall(asked)).hits)


def texts(found: list[RecallHit]) -> list[str]:
    return [each.memory.content for each in found]


async def test_a_faded_memory_ranks_last(edge_store: EdgeStore) -> None:
    store = await store_memories(edge_store, OLD, NEW, recalls({}))
    vivid, faded = await hits(store)
    assert (vivid.memory, faded.memory) == (NEW, OLD)
    assert vivid.score > faded.score > 0
    assert vivid.parts["retention"] == pytest.approx(0.3679, abs=1e-4)
    assert faded.parts["retention"] < 0.05
    assert max(faded.evidence_scores) < vivid.score


async def test_a_recalled_memory_keeps_its_rank(edge_store: EdgeStore) -> None:
    store = await store_memories(edge_store, OLD, NEW, recalls({OLD.id: (2, NOON - 8 * DAY)}))
    first, _ = await hits(store)
    assert first.memory == OLD
    assert first.parts["retention"] == pytest.approx(2.718281828 ** (-8 / 3))


async def test_each_property_counts_its_own_events(edge_store: EdgeStore) -> None:
    others = recalls_memory_id("acme", "forgetting", "ann", "others", "")
    store = await store_memories(edge_store, OLD, NEW, recalls({}), recalls({OLD.id: (2, NOON - 8 * DAY)}, id=others))
    assert texts(await hits(store)) == [OLD.content, NEW.content]


async def test_other_methods_and_types_do_not_fade(edge_store: EdgeStore) -> None:
    store = await store_memories(edge_store, OLD, NEW, recalls({}))
    plain = Method(name="plain")
    other = Method(
        name="bank",
        retrieval=Retrieval(fading=Fading(entity_type="forgetting", properties=("remembered", "others"), least=5, types=("turn",))),
    )
    for method in (None, plain, other):
        assert texts(await hits(store, replace(ASKED, method=method))) == [OLD.content, NEW.content]


async def test_nothing_fades_before_recalls_are_counted(edge_store: EdgeStore) -> None:
    store = await store_memories(edge_store, OLD, NEW)
    assert texts(await hits(store)) == [OLD.content, NEW.content]


async def test_recalls_of_another_generation_do_not_count(edge_store: EdgeStore) -> None:
    name = recalls_memory_id("acme", "forgetting", "ann", "remembered", "trial")
    store = await store_memories(edge_store, OLD, NEW, recalls({}), recalls({OLD.id: (5, NOON)}, id=name, generation="trial"))
    assert texts(await hits(store)) == [NEW.content, OLD.content]


async def test_the_counts_themselves_are_no_result(edge_store: EdgeStore) -> None:
    store = await store_memories(edge_store, recalls({}))
    assert await hits(store, replace(ASKED, query="How often memories were recalled")) == []


def test_retention_is_the_forgetting_curve() -> None:
    known = Recalls(100, {"a": (1, 1_000)})
    assert known.retention("a", made=0, now=1_200) == pytest.approx(2.718281828**-1)
    assert known.retention("b", made=1_100, now=1_200) == pytest.approx(2.718281828**-1)
    assert known.retention("a", made=0, now=900) == 1.0
