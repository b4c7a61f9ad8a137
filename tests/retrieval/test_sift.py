"""Think and rank over a real store, with a simulated proxy model at a real endpoint: histories, options, partial answers, failures."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import get_args

import orjson
import pytest

from api.reads.recall_models import build_recall_model
from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from loadtest.requests import ChatRequest, PrefixCache
from memory.records import MemoryChange
from memory.schema.method import TURN
from memory.schema.methods import check_method, method_document
from memory.texts.text import estimate_tokens
from models.errors import ModelConfigurationError, TransientModelError
from retrieval.errors import RecallModelError
from retrieval.request import HistoryContent, RecallRequest, SiftOptions
from retrieval.selection import cut
from retrieval.session_ranking.llm_session_ranker import PURPOSE, Sifted
from runtime.metrics import metrics
from runtime.redis.client import open_redis
from runtime.settings import LLMSettings, RedisSettings, Settings, SiftFilter, SiftSettings
from stores.edge.client import EdgeStore
from stores.index_writer import IndexWriter
from stores.port import MemoryFilter, TenantScope
from tests.models.llm.raw_endpoint import chunk, raw_endpoint, stream_of
from tests.models.llm.thoughts import thought
from tests.retrieval.sifting import ASKED, SESSIONS, Sifting, notes, read, sifting
from tests.stores.factories import NOON, BagOfWordsEmbedder, in_feed, memory
from tests.usage_list import UsageList

pytestmark = pytest.mark.integration


def ranks(*places: int) -> Callable[[ChatRequest], str]:
    return lambda _: f"<think>So.</think><ranking>{','.join(map(str, places))}</ranking>"


async def failure_of(sift: Sifting) -> str:
    with pytest.raises(RecallModelError) as refused:
        await sift.rank(ASKED, await read(sift), limit=10)
    return refused.value.failure


async def test_results_belong_to_the_ranked_sessions(edge_store: EdgeStore, redis_url: str) -> None:
    usages = UsageList()
    async with (
        LLMSimulator(answer=ranks(7, 3, 0, 1, 2, 4, 5, 6, 8, 9)) as proxy,
        sifting(edge_store, redis_url, endpoint=proxy, usages=usages) as sift,
    ):
        history = await read(sift)
        sifted = await sift.rank(ASKED, history, limit=3)
    assert ([each.session for each in sifted.ranking[:2]], sifted.thought) == (["s7", "s3"], "So.")
    assert (sifted.shown, sifted.left_out) == (SESSIONS, 0)
    best, _ = cut(sifted.memories.hits, sifted.memories.limit)
    assert [each.memory.session for each in best] == ["s7", "s7", "s3"]
    [call] = usages
    assert (call.tenant, call.stage, call.purpose) == ("acme", "service", "sift")
    (_, shown) = proxy.requests[0].messages
    assert all(each.content in shown[1] for each in notes())


async def test_two_queries_send_the_same_history(edge_store: EdgeStore, redis_url: str) -> None:
    async with LLMSimulator(answer=ranks(*range(10))) as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        for query in ("bicycle", "note 1 of 3"):
            asked = RecallRequest(filter=MemoryFilter(scope=ASKED.scope), query=query)
            await sift.rank(asked, await read(sift, asked), limit=3)
    one, other = (request.prompt.partition("<query>")[0] for request in proxy.requests)
    assert one == other


async def test_a_ranking_by_a_model_is_not_recorded(edge_store: EdgeStore, redis_url: str) -> None:
    """A ranking can only be fitted to its own order."""
    async with LLMSimulator() as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        history = await sift.read(replace(ASKED, keeps_ranking=True))
    assert history is not None
    assert (len(history.sessions), history.memories.kept_ranking) == (SESSIONS, ())


async def test_sessions_beyond_the_prompt_are_left_out(edge_store: EdgeStore, redis_url: str) -> None:
    async with LLMSimulator() as proxy, sifting(edge_store, redis_url, endpoint=proxy, history_tokens=256) as sift:
        history = await read(sift)
    assert "s0" in {each.key.session for each in history.sessions}
    assert 0 < len(history.sessions) < SESSIONS
    assert history.left_out == SESSIONS - len(history.sessions)
    assert sum(each.tokens for each in history.sessions) <= 256


async def test_sessions_are_shown_whole_beyond_the_bound(edge_store: EdgeStore, redis_url: str) -> None:
    async with LLMSimulator() as proxy, sifting(edge_store, redis_url, endpoint=proxy, memories=10) as sift:
        history = await read(sift)
    nearest = next(each for each in history.sessions if each.key.session == "s0")
    assert len(nearest.lines) == 3


@pytest.mark.parametrize("answer", ["I think session 3.", "<think>x</think><ranking>1,1,2,3,4,5,6,7,8,9</ranking>"])
async def test_an_answer_that_ranks_nothing_is_unusable(edge_store: EdgeStore, redis_url: str, answer: str) -> None:
    async with LLMSimulator(answer=lambda _: answer) as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        assert await failure_of(sift) == "unusable"
        # A wrong answer is not kept: the next recall asks again.
        assert await failure_of(sift) == "unusable"
        assert len(proxy.requests) == 2


async def sifted(sift: Sifting, asked: RecallRequest = ASKED, *, limit: int = 10) -> Sifted:
    return await sift.rank(asked, await read(sift, asked), limit=limit)


def answers_counted(outcome: str) -> float:
    return metrics().registry.get_sample_value("varve_sift_answers_total", {"outcome": outcome}) or 0.0


@pytest.mark.parametrize("answer", ["<ranking>7,3</ranking>", "<ranking>7,3,1"])
async def test_a_partial_answer_is_completed(edge_store: EdgeStore, redis_url: str, answer: str) -> None:
    partial, rejected, whole = (answers_counted(each) for each in ("partial", "rejected", "whole"))
    async with LLMSimulator(answer=lambda _: f"<think>x</think>{answer}") as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        found = await sifted(sift)
    assert [each.session for each in found.ranking[:3]] == ["s7", "s3", "s0"], "the best memory that remains is of s0"
    assert (len(set(found.ranking)), found.completed) == (10, 8)
    counted = (answers_counted("partial") - partial, answers_counted("rejected") - rejected, answers_counted("whole") - whole)
    assert counted == (1, 0, 0)


async def test_rejected_and_whole_answers_are_counted(edge_store: EdgeStore, redis_url: str) -> None:
    rejected, whole = answers_counted("rejected"), answers_counted("whole")
    answers = ["<ranking>0,0</ranking>", "<think>x</think><ranking>5</ranking> and more"]
    one = replace(ASKED, sift=SiftOptions(sessions=1))
    async with LLMSimulator(answer=lambda _: answers.pop(0)) as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        assert await failure_of(sift) == "unusable"
        assert [each.session for each in (await sifted(sift, one)).ranking] == ["s5"]
    assert (answers_counted("rejected") - rejected, answers_counted("whole") - whole) == (1, 1)


async def test_a_request_chooses_how_to_rank(edge_store: EdgeStore, redis_url: str) -> None:
    direct = replace(ASKED, sift=SiftOptions(sessions=3, reasoning=False))
    async with LLMSimulator(answer=lambda _: "<ranking>7,3,0</ranking>") as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        found = await sifted(sift, direct)
        assert await failure_of(sift) == "unusable", "reasoning is the default"
    assert ([each.session for each in found.ranking], found.thought, found.completed) == (["s7", "s3", "s0"], "", 0)
    one, other = (request.messages[1][1] for request in proxy.requests)
    assert ("Rank 3. Do not reason" in one, "Rank 10. First reason" in other) == (True, True)
    with pytest.raises(ValueError, match="1 to 15"):
        SiftOptions(sessions=16)


async def test_separate_reasoning_is_the_thought(edge_store: EdgeStore, redis_url: str) -> None:
    ids = ",".join(map(str, range(10)))
    body = stream_of(thought("The first is red."), chunk(f"<ranking>{ids}</ranking>"), chunk(finish="stop"))
    async with raw_endpoint(body) as url, sifting(edge_store, redis_url, base_url=url) as sift:
        found = await sifted(sift)
    assert (found.thought, found.ranking[0].session) == ("The first is red.", "s0")


async def test_usage_has_tokens_time_and_cost(edge_store: EdgeStore, redis_url: str, tmp_path: Path) -> None:
    table = tmp_path / "prices.json"
    table.write_bytes(orjson.dumps({"proxy": {"prompt": 1_000_000, "cached": 0, "completion": 0}}))
    usages = UsageList()
    async with (
        LLMSimulator(answer=ranks(*range(10))) as proxy,
        sifting(edge_store, redis_url, endpoint=proxy, usages=usages, prices=table) as sift,
    ):
        first, second = [(await sifted(sift, replace(ASKED, query=each))).usage for each in ("bicycle", "note 1 of 3")]
    assert (first.cached_tokens, first.estimated, first.cost) == (0, False, first.prompt_tokens)
    assert first.ms > 0
    history = estimate_tokens(proxy.requests[0].prompt.partition("<query>")[0])
    assert second.cached_tokens > history - PrefixCache.BLOCK, "the endpoint has the history in its cache"
    assert second.cost == second.prompt_tokens - second.cached_tokens
    assert [each.completion_tokens for each in usages] == [first.completion_tokens, second.completion_tokens]


TURNS = [
    memory("I ride a bicycle", user="ann", session=f"s{number}", type=TURN, speaker="Ann", said_at=NOON, window_id=f"w{number}")
    for number in range(3)
]


@pytest.mark.parametrize(
    ("method", "history", "shown", "contents"),
    [
        ("memgpt", None, "Ann: I ride a bicycle", ("turns", "events")),
        ("memgpt", "events", "note 0 of 1", ("events",)),
        (None, None, "note 0 of 1", ("events",)),
    ],
)
async def test_archived_turns_are_shown(
    edge_store: EdgeStore, redis_url: str, method: str | None, history: HistoryContent | None, shown: str, contents: tuple[str, ...]
) -> None:
    asked = replace(ASKED, sift=SiftOptions(history=history), method=None if method is None else check_method(method_document(method)))
    async with LLMSimulator(answer=ranks(*range(10))) as proxy, sifting(edge_store, redis_url, endpoint=proxy, more=TURNS) as sift:
        found = await sifted(sift, asked)
    assert found.contents == contents
    assert shown in proxy.requests[0].messages[1][1]
    assert ("Ann: I ride" in proxy.requests[0].messages[1][1]) == ("turns" in contents)


async def test_types_select_whole_sessions(edge_store: EdgeStore, redis_url: str) -> None:
    trip = memory("a trip by bicycle", user="ann", session="s4", type="trip", event_time=NOON + timedelta(days=5))
    asked = replace(ASKED, filter=MemoryFilter(scope=ASKED.scope, types=("trip",)))
    async with LLMSimulator(answer=ranks(0)) as proxy, sifting(edge_store, redis_url, endpoint=proxy, more=[trip]) as sift:
        found = await sifted(sift, asked)
    assert [each.memory.id for each in found.memories.hits] == [trip.id]
    assert "note 1 of 4" in proxy.requests[0].messages[1][1]
    assert found.shown == 1


@pytest.mark.parametrize("name", get_args(SiftFilter))
async def test_every_filter_keeps_the_matching_session(edge_store: EdgeStore, redis_url: str, name: SiftFilter) -> None:
    async with LLMSimulator() as proxy, sifting(edge_store, redis_url, endpoint=proxy, history_tokens=256, filter=name) as sift:
        history = await read(sift)
    assert "s0" in {each.key.session for each in history.sessions}
    assert history.left_out == SESSIONS - len(history.sessions) > 0


async def test_without_an_endpoint_it_is_off(edge_store: EdgeStore, redis_url: str) -> None:
    async with sifting(edge_store, redis_url, endpoint=None) as sift:
        assert await failure_of(sift) == "off"


async def test_a_refused_call_is_named_so(edge_store: EdgeStore, redis_url: str) -> None:
    async with LLMSimulator(planner=lambda *_: Plan(status=401)) as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        assert await failure_of(sift) == "refused"


async def test_a_failing_endpoint_is_reported_as_unavailable(edge_store: EdgeStore, redis_url: str) -> None:
    async with LLMSimulator(planner=lambda *_: Plan(status=500)) as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        with pytest.raises(TransientModelError):
            await sift.rank(ASKED, await read(sift), limit=10)


async def test_its_tokens_of_the_day_are_its_own(edge_store: EdgeStore, redis_url: str) -> None:
    async with (
        LLMSimulator(answer=ranks(*range(10))) as proxy,
        sifting(edge_store, redis_url, endpoint=proxy, max_completion_tokens=64, tokens_per_day=1200) as sift,
    ):
        history = await read(sift)
        await sift.rank(ASKED, history, limit=10)
        assert await failure_of(sift) == "budget"
        other = RecallRequest(filter=MemoryFilter(scope=TenantScope("umbrella", "ann")), query="bicycle")
        assert (await sift.rank(other, history, limit=10)).shown == SESSIONS


async def test_a_line_too_long_for_the_prompt_is_refused(edge_store: EdgeStore, redis_url: str) -> None:
    long = memory("word " * 900, user="ann", session="long")
    async with LLMSimulator() as proxy, sifting(edge_store, redis_url, endpoint=proxy, history_tokens=256) as sift:
        change = MemoryChange(op="upsert", memory_id=long.id, tenant=long.tenant, memory=long)
        await IndexWriter(store=edge_store, embedder=BagOfWordsEmbedder()).write(in_feed([change]))
        with pytest.raises(RecallModelError) as refused:
            await sift.read(RecallRequest(filter=MemoryFilter(scope=ASKED.scope, sessions=("long",)), query="word"))
    assert refused.value.failure == "too_long"


async def test_other_kinds_have_no_sessions_to_rank(edge_store: EdgeStore, redis_url: str) -> None:
    async with LLMSimulator() as proxy, sifting(edge_store, redis_url, endpoint=proxy) as sift:
        assert await sift.read(RecallRequest(filter=MemoryFilter(scope=ASKED.scope, kinds=("summary",)), query="bicycle")) is None
        assert await sift.read(RecallRequest(filter=MemoryFilter(scope=ASKED.scope, sessions=("none",)), query="bicycle")) is None


async def test_a_model_without_its_price_is_refused(tmp_path: Path, redis_url: str) -> None:
    table = tmp_path / "prices.json"
    table.write_bytes(orjson.dumps({"other": {"prompt": 1, "completion": 2}}))
    sift = SiftSettings(base_url="http://127.0.0.1:9/v1", model="proxy")
    settings = Settings(sift=sift, llm=LLMSettings(price_table=table), redis=RedisSettings(url=redis_url, timeout_s=60.0))
    async with open_redis(settings.redis) as redis:
        with pytest.raises(ModelConfigurationError, match="'proxy'"):
            build_recall_model(settings, settings.sift, redis=redis, usage=UsageList(), purpose=PURPOSE)
