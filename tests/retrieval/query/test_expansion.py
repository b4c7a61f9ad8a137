"""A recall with expansions on a real store, with a simulated model at a real endpoint."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from api.reads.recall_models import build_recall_model
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from models.embedding.port import Embedding
from models.errors import InputRefusedError, TransientModelError
from retrieval.errors import RecallModelError
from retrieval.pipeline import RecallPipeline
from retrieval.query.expansion import PURPOSE, Expansion
from retrieval.request import RecallRequest, RecallResponse
from runtime.clocks import ManualClock
from runtime.redis.client import open_redis
from runtime.settings import ExpansionSettings, RankingProfile, RecallSettings, RedisSettings, Settings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, TenantScope
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, store_memories, take_filter
from tests.usage_list import UsageList

pytestmark = pytest.mark.integration

QUERY = "What does Ann do indoors?"
GAMES = memory("Ann loves board games", user="ann")
FILLER = [memory(f"somebody called number {number} stayed indoors, it rained all day", user="ann") for number in range(100)]


async def recalled(store: EdgeStore, *, settings: RecallSettings | None = None, **fields: Any) -> RecallResponse:
    recall = RecallPipeline(store=store, embedder=BagOfWordsEmbedder(), settings=settings or RecallSettings(), clock=ManualClock(NOON))
    return await recall.recall(RecallRequest(filter=take_filter(TenantScope("acme", "ann"), fields), query=QUERY, **fields))


@pytest.mark.parametrize("profile", ["learned", "weighted", "memx"])
async def test_an_expansion_finds_memories_without_shared_words(edge_store: EdgeStore, profile: RankingProfile) -> None:
    await store_memories(edge_store, *FILLER, GAMES)
    asked = await recalled(edge_store, profile=profile, limit=20)
    expansions = ("Ann loves chess", "Ann loves board games")
    expanded = await recalled(edge_store, profile=profile, limit=20, expansions=expansions, explain=True)
    place = [hit.memory.id for hit in expanded.hits].index(GAMES.id)
    assert GAMES.id not in {hit.memory.id for hit in asked.hits[: place + 1]}
    found = expanded.hits[place]
    assert found.parts["as_asked"] < found.parts["as_expanded"]
    assert found.score == pytest.approx(1 - (1 - found.parts["as_asked"]) * (1 - found.parts["as_expanded"] / 2))


async def test_expansions_stay_within_the_request(edge_store: EdgeStore) -> None:
    bobs = memory("Ann loves board games, says Bob", user="bob")
    foreign = memory("Ann loves board games at work", user="ann", tenant="umbrella")
    old = memory("Ann loves board games since long", user="ann", event_time=NOON - timedelta(days=9))
    other = memory("Ann loves board games indeed", user="ann", type="other")
    await store_memories(edge_store, GAMES, bobs, foreign, old, other)
    found = await recalled(edge_store, expansions=("Ann loves board games",), since=NOON - timedelta(days=1), types=("note",))
    assert [hit.memory.id for hit in found.hits] == [GAMES.id]


async def test_a_refused_expansion_does_not_affect_the_recall(edge_store: EdgeStore) -> None:
    class Refusing(BagOfWordsEmbedder):
        async def embed_query(self, text: str) -> Embedding:
            if text == "refused":
                raise InputRefusedError("no")
            return await super().embed_query(text)

    await store_memories(edge_store, *FILLER, GAMES)
    recall = RecallPipeline(store=edge_store, embedder=Refusing(), settings=RecallSettings(), clock=ManualClock(NOON))
    request = RecallRequest(
        filter=MemoryFilter(scope=TenantScope("acme", "ann")), query=QUERY, expansions=("refused", "Ann loves board games")
    )
    found = await recall.recall(request)
    assert GAMES.id in {hit.memory.id for hit in found.hits}
    with pytest.raises(InputRefusedError):
        await recall.recall(replace(request, query="refused"))


async def test_a_query_refused_by_search_is_refused_once(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, GAMES, memory("it rains", user="ann"))
    found = await recalled(edge_store, expansions=("Ann loves board games", "games"), min_origin_score=0.8, trace=True)
    assert ([hit.memory.id for hit in found.hits], found.rejected) == ([GAMES.id], 1)
    assert sorted(each.outcome for each in found.outcomes.values()) == ["below_threshold", "returned"]


async def test_confidence_is_that_of_the_original_query(edge_store: EdgeStore) -> None:
    await store_memories(edge_store, *FILLER, GAMES)
    alone, expanded = await recalled(edge_store), await recalled(edge_store, expansions=("Ann loves board games",))
    assert expanded.confidence == alone.confidence
    assert (await recalled(edge_store, expansions=("Ann loves board games",), min_confidence=1.0)).hits == ()


@asynccontextmanager
async def expanding(
    redis_url: str, *, endpoint: LLMSimulator | None, usages: UsageList | None = None, **fields: Any
) -> AsyncIterator[Expansion]:
    settings = Settings(
        redis=RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:", timeout_s=60.0),
        expansion=ExpansionSettings(base_url=endpoint.base_url if endpoint else None, model="small", **fields),
    )
    kept_s = settings.expansion.cache_ttl_s
    async with open_redis(settings.redis) as redis:
        llm = build_recall_model(
            settings,
            settings.expansion,
            redis=redis,
            usage=UsageList() if usages is None else usages,
            purpose=PURPOSE,
            cache_ttl_s=kept_s,
        )
        expansion = Expansion(llm=llm, settings=settings.expansion)
        try:
            yield expansion
        finally:
            await expansion.close()


async def test_a_tenants_query_is_paid_for_once(redis_url: str) -> None:
    usages = UsageList()
    async with (
        LLMSimulator(answer=lambda _: "- Ann loves board games\n- Ann cooks") as model,
        expanding(redis_url, endpoint=model, usages=usages) as expansion,
    ):
        for tenant in ("acme", "acme", "umbrella"):
            assert await expansion.of(tenant, QUERY) == ("Ann loves board games", "Ann cooks")
        assert len(model.requests) == 2, "no tenant learns another tenant's query"
        assert QUERY in model.requests[0].prompt
    assert [(each.tenant, each.stage, each.purpose) for each in usages if each.prompt_tokens] == [
        ("acme", "service", "expansion"),
        ("umbrella", "service", "expansion"),
    ]


async def test_without_an_endpoint_it_is_off(redis_url: str) -> None:
    async with expanding(redis_url, endpoint=None) as expansion:
        with pytest.raises(RecallModelError, match="VARVE_EXPANSION__BASE_URL") as refused:
            await expansion.of("acme", QUERY)
    assert refused.value.failure == "off"


async def test_a_failing_endpoint_is_reported_as_unavailable(redis_url: str) -> None:
    async with LLMSimulator(planner=lambda *_: Plan(status=500)) as model, expanding(redis_url, endpoint=model) as expansion:
        with pytest.raises(TransientModelError):
            await expansion.of("acme", QUERY)


async def test_its_tokens_of_the_day_are_its_own(redis_url: str) -> None:
    async with (
        LLMSimulator(answer=lambda _: "Ann cooks") as model,
        expanding(redis_url, endpoint=model, tokens_per_day=500, max_completion_tokens=64, cache_ttl_s=0) as expansion,
    ):
        assert await expansion.of("acme", QUERY)
        with pytest.raises(RecallModelError, match="VARVE_EXPANSION__TOKENS_PER_DAY") as refused:
            await expansion.of("acme", QUERY)
        assert refused.value.failure == "budget"
        assert await expansion.of("umbrella", QUERY)


async def test_more_than_may_wait_are_answered_without_it(redis_url: str) -> None:
    async with (
        LLMSimulator(planner=lambda *_: Plan(first_token_s=0.2), answer=lambda _: "Ann cooks") as model,
        expanding(redis_url, endpoint=model, waiting=2) as expansion,
    ):
        asked = [expansion.of("acme", f"{QUERY} {number}") for number in range(3)]
        *answers, last = await asyncio.gather(*asked, return_exceptions=True)
        assert answers == [("Ann cooks",)] * 2
        assert isinstance(last, RecallModelError)
        assert (last.failure, "VARVE_EXPANSION__WAITING" in str(last)) == ("busy", True)
        assert await expansion.of("acme", QUERY) == ("Ann cooks",), "a request that has waited frees its place"
