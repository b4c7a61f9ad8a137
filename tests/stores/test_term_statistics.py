"""The term statistics that an Edge shard scores by: a tenant's own, whether or not it has its own shard."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.edge.search import FEW, best
from stores.edge.shard import Shard
from stores.filters import MemoryFilter
from stores.points import memory_of, tombstone_payload
from stores.port import RecallQuery, TenantScope
from stores.query_plan import QueryPlan, plan_query
from tests.stores.factories import NOON, at, embedding, memory, prepared_shard, put_in_shard

QUESTION = "who has a red bicycle"
OWN = ("Ann bought a red bicycle", "Ben has a red car", "Ann sold a car", "Ben likes tea")
OTHERS = ("a bicycle is in the shed", "the bicycle race", "a bicycle path")


@pytest.fixture
def shard(tmp_path: Path) -> Iterator[Shard]:
    shard = prepared_shard(tmp_path)
    for content in OWN:
        put_in_shard(shard, memory(content))
    yield shard
    shard.close()


def asked() -> QueryPlan:
    return plan_query(RecallQuery(filter=MemoryFilter(scope=TenantScope("acme")), text=QUESTION, embedding=embedding(QUESTION)))


def scores(shard: Shard) -> dict[str, dict[str, float]]:
    return {memory_of(each.record).content: each.parts for each in best(shard.recall(asked(), explain=True), 10)}


def others_come(shard: Shard) -> None:
    for content in OTHERS:
        put_in_shard(shard, memory(content, tenant="globex"))


def become_many(shard: Shard, number: int = FEW) -> None:
    for each in range(number):
        put_in_shard(shard, memory(f"Cleo walked {each} miles"))


def test_other_tenants_change_no_score(shard: Shard) -> None:
    alone = scores(shard)
    assert {content for content, parts in alone.items() if "bm25" in parts} == {*OWN[:2]}
    others_come(shard)
    assert scores(shard) == alone


def test_a_loaded_shard_knows_its_tenants(shard: Shard, tmp_path: Path) -> None:
    alone = scores(shard)
    others_come(shard)
    shard.close()
    loaded = Shard(tmp_path)
    assert scores(loaded) == alone
    loaded.close()


def test_deleted_memories_do_not_count_in_statistics(shard: Shard) -> None:
    before = scores(shard)
    kites = [memory(f"Ann has a red kite {number}") for number in range(40)]
    for each in kites:
        put_in_shard(shard, each)
    shard.delete(MemoryFilter.everything(TenantScope("acme")), {each.id: tombstone_payload(at(1), NOON) for each in kites})
    alone = scores(shard)
    for _ in shard.compaction():
        assert scores(shard) == alone
    assert scores(shard) == alone == before
    others_come(shard)
    assert scores(shard) == alone


def test_changes_during_a_recall_do_not_affect_it(shard: Shard) -> None:
    become_many(shard)
    alone = scores(shard)
    calls = shard.recall(asked(), explain=True)
    assert next(calls) == []  # the dense candidates are found
    others_come(shard)
    assert {memory_of(each.record).content: each.parts for each in best(calls, 10)} == alone


@pytest.mark.parametrize("further", [0, FEW])
def test_candidates_beyond_the_best_by_terms_are_scored(shard: Shard, further: int) -> None:
    become_many(shard, further)
    whole = scores(shard)
    narrow = plan_query(
        RecallQuery(filter=MemoryFilter(scope=TenantScope("acme")), text=QUESTION, embedding=embedding(OWN[1]), limit=1, prefetch=1)
    )
    (first,) = best(shard.recall(narrow, explain=True), 1)
    assert memory_of(first.record).content == OWN[1]
    assert first.parts["bm25"] == whole[OWN[1]]["bm25"]
