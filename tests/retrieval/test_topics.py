"""Topics that a model selects: over a real store and Redis, with a simulated model at a real endpoint."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.reads.recall_models import build_recall_model
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from memory.records import Memory
from memory.schema.method import Method, Retrieval, RetrievalPath, RewritingMode
from retrieval.errors import RecallModelError
from retrieval.pipeline import RecallPipeline
from retrieval.query.expansion import Expansion
from retrieval.request import RecallRequest, RecallResponse
from retrieval.retrievers.base import PreparedStore
from retrieval.retrievers.topics import PURPOSE, TopicRetriever, parse_selection
from retrieval.rewriting import QueryRewriter
from retrieval.session_ranking.llm_session_ranker import Sift
from runtime.clocks import ManualClock
from runtime.metrics import Metrics
from runtime.redis.client import open_redis
from runtime.settings import ExpansionSettings, RecallSettings, RedisSettings, Settings, SiftSettings, TopicsSettings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, TenantScope
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, store_memories
from tests.usage_list import UsageList

ANN = TenantScope("acme", "ann")


def topic(number: int, content: str, **given: Any) -> Memory:
    """A topic of the user, so many days after noon of the first."""
    fields: dict[str, Any] = {"user": "ann", "type": "segment", "event_time": NOON + timedelta(days=number), **given}
    return memory(content, properties={"topic": f"topic {number}"}, message_ids=[f"m{number}"], **fields)


TOPICS = [topic(number, f"we talked about subject{number}") for number in range(12)]
NEAR = [topic(20 + number, f"bicycle {number}") for number in range(8)]


def asked(*, quota: int = 2, mode: RewritingMode | None = None, **fields: Any) -> RecallRequest:
    method = Method(name="memo", retrieval=Retrieval(mode=mode, paths=(RetrievalPath(name="topics", quota=quota, types=("segment",)),)))
    return RecallRequest(filter=MemoryFilter(**{"scope": ANN} | fields), query="bicycle", method=method, limit=6)


@asynccontextmanager
async def selecting(
    store: EdgeStore, redis_url: str, *, endpoint: LLMSimulator | None, usages: UsageList | None = None, **limits: Any
) -> AsyncIterator[RecallPipeline]:
    """A pipeline with models as the service has them. Only the model that selects topics has an endpoint."""
    settings = Settings(
        redis=RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:", timeout_s=60.0),
        topics=TopicsSettings(base_url=endpoint.base_url if endpoint else None, model="small", **limits),
    )
    embedder = BagOfWordsEmbedder()
    async with open_redis(settings.redis) as redis:
        llm = build_recall_model(settings, settings.topics, redis=redis, usage=UsageList() if usages is None else usages, purpose=PURPOSE)
        topics = TopicRetriever(PreparedStore(store, embedder), embedder, llm=llm, settings=settings.topics)
        rewriter = QueryRewriter(
            expansion=Expansion(llm=None, settings=ExpansionSettings()),
            sift=Sift(llm=None, settings=SiftSettings()),
            topics=topics,
            metrics=Metrics(),
        )
        yield RecallPipeline(store=store, embedder=embedder, settings=RecallSettings(), clock=ManualClock(NOON), rewriter=rewriter)
        await topics.close()


def number_of(wanted: Memory, prompt: str) -> str:
    """The number of a topic in the prompt."""
    [line] = [each for each in prompt.splitlines() if each.endswith(f": {wanted.content}")]
    return line.partition(".")[0]


def of_topics(response: RecallResponse) -> list[str]:
    return [hit.memory.content for hit in response.hits if hit.path == "topics"]


@pytest.mark.integration
async def test_the_selected_topics_are_returned(edge_store: EdgeStore, redis_url: str) -> None:
    bobs = topic(3, "bicycles of bob", user="bob")
    foreign = topic(4, "bicycles of others", tenant="umbrella")
    await store_memories(edge_store, *TOPICS, *NEAR, bobs, foreign, memory("a bicycle", user="ann"))
    usages = UsageList()
    async with (
        LLMSimulator(answer=lambda chat: f"So:\n{number_of(TOPICS[7], chat.prompt)}, {number_of(TOPICS[2], chat.prompt)}") as model,
        selecting(edge_store, redis_url, endpoint=model, usages=usages) as pipeline,
    ):
        response = await pipeline.recall(asked())
        one = await pipeline.recall(asked(quota=1))
        old = await pipeline.recall(asked(until=NOON + timedelta(days=9)))
        plain = await pipeline.recall(replace(asked(), method=None))
    assert of_topics(response) == [TOPICS[7].content, TOPICS[2].content]
    assert (len(response.hits), response.degraded) == (6, ())
    assert of_topics(one) == [TOPICS[7].content]
    assert of_topics(old) != []
    assert of_topics(plain) == []
    shown = model.requests[0].prompt
    assert [bobs.content in shown, foreign.content in shown, "a bicycle" in shown] == [False] * 3
    assert TOPICS[11].content not in model.requests[2].prompt
    assert [(each.tenant, each.stage, each.purpose, each.prompt_tokens > 0) for each in usages] == [("acme", "service", "topics", True)] * 3


@pytest.mark.integration
async def test_two_queries_show_the_same_topics(edge_store: EdgeStore, redis_url: str) -> None:
    await store_memories(edge_store, *TOPICS)
    async with LLMSimulator(answer=lambda _: "none") as model, selecting(edge_store, redis_url, endpoint=model) as pipeline:
        responses = [await pipeline.recall(replace(asked(), query=query)) for query in ("bicycle", "subject3")]
    assert [(of_topics(each), each.degraded) for each in responses] == [([], ())] * 2
    assert len({request.prompt.partition("<query>")[0] for request in model.requests}) == 1


@pytest.mark.integration
async def test_only_the_nearest_topics_are_shown(edge_store: EdgeStore, redis_url: str) -> None:
    await store_memories(edge_store, *TOPICS, *NEAR)
    async with LLMSimulator(answer=lambda _: "none") as model, selecting(edge_store, redis_url, endpoint=model, topics=8) as pipeline:
        await pipeline.recall(asked())
    assert [each.content in model.requests[0].prompt for each in (*NEAR, *TOPICS)] == [True] * 8 + [False] * 12


@pytest.mark.integration
@pytest.mark.parametrize(
    ("answer", "plan"),
    [("perhaps the first", Plan()), ("99", Plan()), ("0", Plan()), ("1", Plan(status=500)), ("1", Plan(silent_after=0)), (None, Plan())],
    ids=["prose", "unknown", "zero", "failing", "late", "off"],
)
async def test_without_a_selection_meaning_decides(edge_store: EdgeStore, redis_url: str, answer: str | None, plan: Plan) -> None:
    await store_memories(edge_store, *TOPICS, *NEAR)
    async with (
        LLMSimulator(answer=lambda _: answer or "", planner=lambda *_: plan) as model,
        selecting(edge_store, redis_url, endpoint=model if answer else None, deadline_s=1.0) as pipeline,
    ):
        until = asyncio.get_running_loop().time() + 60
        response = await pipeline.answer(await pipeline.rewrite(asked(), until=until), until=until)
        plain = await pipeline.recall(replace(asked(), method=None))
    assert response.degraded == ("topics",)
    assert [hit.memory.id for hit in response.hits] == [hit.memory.id for hit in plain.hits]


@pytest.mark.integration
async def test_without_topics_no_model_is_called(edge_store: EdgeStore, redis_url: str) -> None:
    await store_memories(edge_store, memory("a bicycle", user="ann"))
    async with LLMSimulator() as model, selecting(edge_store, redis_url, endpoint=model) as pipeline:
        response = await pipeline.recall(asked())
        entities = await pipeline.recall(asked(kinds=("entity",)))
    assert (len(response.hits), response.degraded, entities.degraded, model.requests) == (1, (), (), [])


@pytest.mark.integration
async def test_a_method_sets_the_mode(edge_store: EdgeStore, redis_url: str) -> None:
    await store_memories(edge_store, *NEAR)
    async with LLMSimulator(answer=lambda _: "none") as model, selecting(edge_store, redis_url, endpoint=model) as pipeline:
        by_method = await pipeline.recall(asked(mode="expand"))
        by_request = await pipeline.recall(replace(asked(mode="expand"), mode="fast"))
    assert (by_method.degraded, by_method.rewriting) == (("expansion",), {"expansion": None})
    assert (by_request.degraded, by_request.rewriting) == ((), {})
    alone = RecallPipeline(store=edge_store, embedder=BagOfWordsEmbedder(), settings=RecallSettings(), clock=ManualClock(NOON))
    assert (await alone.recall(asked(mode="expand"))).degraded == (), "an evaluation without models ignores the method's mode"


@given(
    numbers=st.lists(st.integers(1, 30), min_size=1, unique=True),
    before=st.text("abc\n .", max_size=20),
    joint=st.sampled_from([",", ", ", "#", " ; "]),
)
def test_a_selection_is_read_back(numbers: list[int], before: str, joint: str) -> None:
    assert parse_selection(f"<think>1, 2</think>{before}\n{joint.join(map(str, numbers))}\n", topics=30) == tuple(numbers)


@given(text=st.text())
def test_any_reply_is_read_or_refused(text: str) -> None:
    with suppress(RecallModelError):
        numbers = parse_selection(text, topics=5)
        assert all(1 <= each <= 5 for each in numbers)
        assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("text", ["", "perhaps 1", "6", "0", "1, 2, 77", "-1"])
def test_a_reply_without_known_numbers_is_refused(text: str) -> None:
    with pytest.raises(RecallModelError, match="selection of topics") as refused:
        parse_selection(text, topics=5)
    assert refused.value.failure == "unusable"


def test_a_repeated_number_counts_once() -> None:
    assert parse_selection("3, 1, 3", topics=3) == (3, 1)
    assert parse_selection("1, 2\nNone.", topics=3) == ()
