"""The steps of a recall as a whole: which parts it retrieves, what it leaves out at a deadline, and what it refuses."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory.schema.method import Method
from retrieval.errors import RecallFailedError
from retrieval.plan import MARGIN
from retrieval.profiles import RANKERS
from retrieval.rankers.base import Scored
from retrieval.request import NO_TAIL, RecallRequest, TailRequest
from runtime.errors import RedisUnavailableError
from stores.edge.client import EdgeStore
from stores.errors import StoreRejectedError, StoreUnavailableError
from stores.port import MemoryFilter, MemoryStore, RecallQuery, ScoredMemory, TenantScope
from tests.retrieval.pipelines import Tails, pipeline_over
from tests.stores.factories import NOON, memory, store_memories

pytestmark = pytest.mark.integration

ANN = TenantScope("acme", "ann")
RIDE = memory("Ann rides a bicycle", user="ann")
TEA = memory("Ann drinks tea", user="ann")
PERSON = memory("Ann: rides a bicycle", kind="entity", type="person", user="ann", entity_key="ann")
ASKED = RecallRequest(filter=MemoryFilter(scope=ANN), query="bicycle")
WITH_ENTITIES = replace(ASKED, entity_types=("person",))


class FailingSearch:
    """A store whose searches for one kind of memory raise an error."""

    def __init__(self, store: MemoryStore, error: Exception, fails: Callable[[RecallQuery], bool]) -> None:
        self._store = store
        self._error = error
        self._fails = fails

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        if self._fails(query):
            raise self._error
        return await self._store.recall(query)


def for_entities(query: RecallQuery) -> bool:
    return query.filter.kinds == ("entity",)


def soon() -> float:
    return asyncio.get_running_loop().time() + 60


async def test_entities_are_returned_next_to_the_hits(edge_store: EdgeStore) -> None:
    pipeline = pipeline_over(await store_memories(edge_store, RIDE, PERSON))
    both = await pipeline.recall(WITH_ENTITIES)
    assert ([hit.memory for hit in both.hits], [*both.entities]) == ([RIDE], [PERSON])
    only_hits = await pipeline.recall(ASKED)
    assert {hit.memory.id for hit in only_hits.hits} == {RIDE.id, PERSON.id}
    assert [*only_hits.entities] == []


@pytest.mark.parametrize(("kinds", "is_found"), [((), True), (("event", "entity"), True), (("event", "summary"), False)])
async def test_a_method_without_entities_returns_none(edge_store: EdgeStore, kinds: tuple[str, ...], *, is_found: bool) -> None:
    pipeline = pipeline_over(await store_memories(edge_store, RIDE, PERSON))
    found = await pipeline.recall(replace(WITH_ENTITIES, method=Method(name="own", kinds=kinds)))
    returned = {each.id for each in (*(hit.memory for hit in found.hits), *found.entities)}
    assert returned == ({RIDE.id, PERSON.id} if is_found else {RIDE.id})


async def test_entities_need_a_history_for_earlier_moments(edge_store: EdgeStore) -> None:
    pipeline = pipeline_over(await store_memories(edge_store, RIDE, PERSON))
    earlier = replace(WITH_ENTITIES, filter=replace(ASKED.filter, as_of=NOON))
    found = await pipeline.recall(earlier)
    assert ([hit.memory for hit in found.hits], [*found.entities]) == ([RIDE], [])
    only_entities = replace(earlier, filter=replace(earlier.filter, kinds=("entity",)), entity_types=())
    assert (await pipeline.recall(only_entities)).hits == ()


async def test_the_tail_contains_the_requested_users_messages(edge_store: EdgeStore) -> None:
    pipeline = pipeline_over(await store_memories(edge_store, RIDE), read_tail=Tails().read)
    tails = [(await pipeline.recall(replace(ASKED, tail=TailRequest(session="s", user=user)))).tail for user in (None, "ann", "eve")]
    assert [len(each.messages) for each in tails] == [2, 1, 0]
    assert (await pipeline.recall(ASKED)).tail == NO_TAIL


async def test_a_failing_part_is_named_before_the_deadline(edge_store: EdgeStore) -> None:
    store = FailingSearch(await store_memories(edge_store, RIDE, PERSON), StoreUnavailableError("gone"), for_entities)
    pipeline = pipeline_over(store, read_tail=Tails(RedisUnavailableError("gone")).read)
    asked = replace(WITH_ENTITIES, tail=TailRequest(session="s", user=None))
    found = await pipeline.answer(await pipeline.rewrite(asked, until=soon()), until=soon())
    assert ({*found.degraded}, [hit.memory for hit in found.hits]) == ({"entities", "session_tail"}, [RIDE])


async def test_without_a_deadline_a_failing_part_is_raised(edge_store: EdgeStore) -> None:
    pipeline = pipeline_over(FailingSearch(await store_memories(edge_store, RIDE), StoreUnavailableError("gone"), for_entities))
    with pytest.raises(StoreUnavailableError, match="gone"):
        await pipeline.recall(WITH_ENTITIES)


@pytest.mark.parametrize(
    ("error", "raised"), [(StoreUnavailableError("gone"), StoreUnavailableError), (StoreRejectedError("other model"), RecallFailedError)]
)
async def test_a_recall_without_any_result_fails(edge_store: EdgeStore, error: Exception, raised: type[Exception]) -> None:
    pipeline = pipeline_over(FailingSearch(edge_store, error, lambda query: True))
    with pytest.raises(raised):
        await pipeline.answer(await pipeline.rewrite(WITH_ENTITIES), until=soon())


async def test_a_mode_without_a_model_is_refused(edge_store: EdgeStore) -> None:
    with pytest.raises(ValueError, match="'sift'"):
        await pipeline_over(edge_store).recall(replace(ASKED, mode="sift"))


async def test_only_reordering_rankers_fetch_more_candidates(edge_store: EdgeStore) -> None:
    pipeline = pipeline_over(edge_store)
    candidates = {name: pipeline.plan(replace(ASKED, profile=name, limit=5)).candidates("bicycle") for name in RANKERS}
    assert candidates == {"learned": 64, "weighted": 5 + MARGIN, "memx": 64}
    assert pipeline.plan(replace(ASKED, profile="weighted", limit=5)).candidates("bicycle in May 2024") == 64


async def test_a_recall_counts_days_in_its_time_zone(edge_store: EdgeStore) -> None:
    plans = [pipeline_over(edge_store).plan(replace(ASKED, time_zone=zone)) for zone in (None, "Pacific/Kiritimati")]
    assert [each.now for each in plans] == [NOON, NOON]
    assert [each.now.date() - NOON.date() for each in plans] == [timedelta(), timedelta(days=1)]


@pytest.mark.parametrize("name", sorted(RANKERS))
async def test_each_ranker_scores_each_accepted_candidate(edge_store: EdgeStore, name: str) -> None:
    pipeline = pipeline_over(await store_memories(edge_store, RIDE, TEA))
    plan = pipeline.plan(replace(ASKED, profile=name, query="Ann rides a bicycle"))
    [scored] = await pipeline.score(plan, await pipeline.retrieve(plan))
    assert isinstance(scored, Scored)
    found = plan.ranker.rank(scored, explain=True)
    assert found is not None
    assert {each.memory.id for each in found} == {RIDE.id, TEA.id}
    assert all(0 <= each.score <= 1 for each in found)
    assert max(found, key=lambda each: each.score).memory == RIDE


async def test_a_context_contains_the_results_of_a_recall(edge_store: EdgeStore) -> None:
    pipeline = pipeline_over(await store_memories(edge_store, RIDE, TEA, PERSON))
    found = await pipeline.recall(WITH_ENTITIES)
    packed = pipeline.pack(WITH_ENTITIES, found, tokens=500)
    assert {each.id for each in packed.citations} == {*(hit.memory.id for hit in found.hits), PERSON.id}
