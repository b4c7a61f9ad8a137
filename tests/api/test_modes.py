"""``mode=sift`` and ``mode=expand`` on a real Kafka, Redis, store and embedding model, with a simulated LLM at a real endpoint."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from memory.records import Usage
from memory.topics import USAGE
from runtime.kafka import read_topic
from runtime.settings import ExpansionSettings, SiftSettings
from tests.api.running_service import BERLIN, RunningService, expect_problem, index, memory, path_count, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

ROME = memory("acme", "eve", "Eve spent a week in Rome", session="first", message_ids=["e1"])
PARIS = memory("acme", "eve", "Eve spent a month in Paris", session="second", message_ids=["e2"])
SIFTED: dict[str, Any] = {"query": "When was Eve in Rome?", "user": "eve", "mode": "sift"}
RIGHT = "<think>The second tells more.</think><ranking>{}</ranking>"
GAMES = memory("acme", "joe", "Joe: chess and monopoly with my sister, all evening", session="first", message_ids=["e1"])
OTHERS = [memory("acme", "joe", f"Joe: my indoor activity {number} is done", session="second", message_ids=["e2"]) for number in range(20)]
EXPANDED: dict[str, Any] = {"query": "What indoor activities does Joe like?", "user": "joe", "mode": "expand"}
SENTENCE = "Joe plays chess and monopoly with his sister."


async def ask(
    http: httpx.AsyncClient, service: RunningService, asked: dict[str, Any], path: str = "/v1/recall", **changed: Any
) -> dict[str, Any]:
    return await service.answer(path, {**asked, **changed}, http=http)


async def usages_of(service: RunningService, purpose: str) -> set[tuple[str, str]]:
    topic = service.settings.topic(USAGE.name)
    usages = [Usage.from_json(each.value) async for each in read_topic(topic, service.settings.kafka) if each.value]
    return {(each.tenant, each.stage) for each in usages if each.purpose == purpose}


@asynccontextmanager
async def sifting(
    service: RunningService, *, ranking: str = "1,0", plan: Plan | None = None, deadline_s: float = 60
) -> AsyncIterator[tuple[httpx.AsyncClient, LLMSimulator]]:
    """A service whose proxy model always gives this ranking of the two sessions, and the model."""
    await index(service.settings, [ROME, PARIS])
    async with LLMSimulator(answer=lambda _: RIGHT.format(ranking), planner=lambda *_: plan or Plan()) as proxy:
        sift = SiftSettings(base_url=proxy.base_url, model="proxy", deadline_s=deadline_s)
        async with serving(service.settings.model_copy(update={"sift": sift})) as http:
            yield http, proxy


@asynccontextmanager
async def expanding(
    service: RunningService, *, sentence: str = SENTENCE, plan: Plan | None = None, deadline_s: float = 60
) -> AsyncIterator[tuple[httpx.AsyncClient, LLMSimulator]]:
    """A service whose model always expands a query by this sentence, and the model."""
    await index(service.settings, [GAMES, *OTHERS])
    async with LLMSimulator(answer=lambda _: sentence, planner=lambda *_: plan or Plan()) as model:
        expansion = ExpansionSettings(base_url=model.base_url, model="small", deadline_s=deadline_s)
        async with serving(service.settings.model_copy(update={"expansion": expansion})) as http:
            yield http, model


async def test_sift_without_a_model_is_degraded(service: RunningService) -> None:
    await index(service.settings, [ROME, PARIS])
    plain = await ask(service.http, service, SIFTED, mode="fast")
    assert [each["id"] for each in plain["results"]] == [ROME.id, PARIS.id]
    assert "sift" not in plain
    unset = await ask(service.http, service, SIFTED)
    assert ([each["id"] for each in unset["results"]], unset["degraded"], unset["sift"]) == ([ROME.id, PARIS.id], ["sift"], None)


async def test_sift_orders_results_by_their_sessions(service: RunningService) -> None:
    async with sifting(service) as (http, _):
        ranked = await ask(http, service, SIFTED, why_not=[ROME.id, BERLIN.id], explain=True)
        block = await ask(http, service, SIFTED, "/v1/context")
    assert ([each["id"] for each in ranked["results"]], ranked["degraded"]) == ([PARIS.id, ROME.id], [])
    usage = ranked["sift"].pop("usage")
    assert ranked["sift"] == {
        "sessions": [{"session": each, "user": "eve"} for each in ("second", "first")],
        "history": ["events"],
        "thought": "The second tells more.",
        "shown": 2,
        "left_out": 0,
        "completed": 0,
    }
    assert usage["prompt_tokens"] > usage["completion_tokens"] > 0
    assert usage["ms"] > 0
    assert [(each["outcome"], each["rank"]) for each in ranked["why_not"]] == [("returned", 2), ("filter", None)]
    assert ranked["results"][0]["parts"]["session"] == 1
    assert (PARIS.content in block["context"], block["degraded"]) == (True, [])
    assert (block["sift"]["history"], block["sift"]["shown"]) == (["events"], 2)
    assert await usages_of(service, "sift") == {("acme", "service")}


async def test_sift_without_candidates_costs_nothing(service: RunningService) -> None:
    async with sifting(service) as (http, proxy):
        assert (await ask(http, service, SIFTED, kinds=["summary"]))["degraded"] == []
        assert (await ask(http, service, SIFTED, min_confidence=1))["results"] == []
        assert proxy.requests == []


async def test_a_short_ranking_is_completed(service: RunningService) -> None:
    async with sifting(service, ranking="1") as (http, _):
        one = await ask(http, service, SIFTED, sift={"sessions": 1, "history": "events"})
        assert ([each["session"] for each in one["sift"]["sessions"]], one["sift"]["completed"]) == (["second"], 0)
        completed = await ask(http, service, SIFTED)
        assert ([each["session"] for each in completed["sift"]["sessions"]], completed["sift"]["completed"]) == (["second", "first"], 1)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"sift": {"sessions": 16}}, "sessions"),
        ({"sift": {"sessions": 0}}, "sessions"),
        ({"sift": {"history": "turns"}}, "archives no messages"),
        ({"sift": {"sessions": 1}, "mode": "fast"}, "mode"),
    ],
)
async def test_impossible_options_of_sift_are_refused(service: RunningService, options: dict[str, Any], problem: str) -> None:
    async with sifting(service) as (http, _):
        response = await http.post("/v1/recall", json={**SIFTED, **options}, headers=service.auth("acme"))
    expect_problem(response, 422, problem)


@pytest.mark.parametrize(
    ("outcome", "with_model"),
    [("unusable", {"ranking": "0,0"}), ("late", {"plan": Plan(silent_after=0), "deadline_s": 1.0})],
)
async def test_sift_without_a_ranking_is_degraded(service: RunningService, outcome: str, with_model: dict[str, Any]) -> None:
    before = path_count("sift", outcome)
    async with sifting(service, **with_model) as (http, _):
        answer = await ask(http, service, SIFTED)
    assert ([each["id"] for each in answer["results"]], answer["degraded"]) == ([ROME.id, PARIS.id], ["sift"])
    assert path_count("sift", outcome) == before + 1


async def test_expand_without_a_model_is_degraded(service: RunningService) -> None:
    await index(service.settings, [GAMES, *OTHERS])
    plain = await ask(service.http, service, EXPANDED, mode="fast")
    assert GAMES.id not in {each["id"] for each in plain["results"]}
    assert "expansion" not in plain
    unset = await ask(service.http, service, EXPANDED)
    assert (unset["results"], unset["degraded"], unset["expansion"]) == (plain["results"], ["expansion"], None)


async def test_expand_finds_what_its_sentence_says(service: RunningService) -> None:
    async with expanding(service) as (http, model):
        found = await ask(http, service, EXPANDED, explain=True, why_not=[GAMES.id])
        block = await ask(http, service, EXPANDED, "/v1/context", tokens=300)
        assert len(model.requests) == 1, "the same query is paid for once"
    assert (found["expansion"], found["degraded"]) == ([SENTENCE], [])
    [games] = [each for each in found["results"] if each["id"] == GAMES.id]
    assert games["parts"]["as_expanded"] > games["parts"]["as_asked"]
    assert found["why_not"][0]["outcome"] == "returned"
    assert ("chess and monopoly" in block["context"], block["degraded"]) == (True, [])
    assert await usages_of(service, "expansion") == {("acme", "service")}


@pytest.mark.parametrize(
    ("outcome", "with_model"),
    [("unusable", {"sentence": "..."}), ("late", {"plan": Plan(silent_after=0), "deadline_s": 1.0})],
)
async def test_expand_without_a_sentence_is_degraded(service: RunningService, outcome: str, with_model: dict[str, Any]) -> None:
    before = path_count("expansion", outcome)
    async with expanding(service, **with_model) as (http, _):
        answer = await ask(http, service, EXPANDED, query=f"What does Joe do inside, if the model is {outcome}?")
    assert (answer["expansion"], answer["degraded"]) == (None, ["expansion"])
    assert answer["results"]
    assert path_count("expansion", outcome) == before + 1
