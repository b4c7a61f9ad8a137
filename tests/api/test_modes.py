"""``mode=sift`` and ``mode=expand`` on a real Kafka, Redis, store and embedding model, with a simulated LLM at a real endpoint."""

from typing import Any

import httpx
import pytest

from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from memory.records import Usage
from memory.topics import USAGE
from runtime.kafka import read_topic
from runtime.metrics import metrics
from runtime.settings import ExpansionSettings, SiftSettings
from tests.api.running_service import BERLIN, RunningService, expect_problem, index, memory, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

ROME = memory("acme", "eve", "Eve spent a week in Rome", session="first", message_ids=["e1"])
PARIS = memory("acme", "eve", "Eve spent a month in Paris", session="second", message_ids=["e2"])
SIFTED: dict[str, Any] = {"query": "When was Eve in Rome?", "user": "eve", "mode": "sift"}
RIGHT = "<think>The second tells more.</think><ranking>{}</ranking>"
GAMES = memory("acme", "joe", "Joe: chess and monopoly with my sister, all evening", session="first", message_ids=["e1"])
OTHERS = [memory("acme", "joe", f"Joe: my indoor activity {number} is done", session="second", message_ids=["e2"]) for number in range(20)]
EXPANDED: dict[str, Any] = {"query": "What indoor activities does Joe like?", "user": "joe", "mode": "expand"}
SENTENCE = "Joe plays chess and monopoly with his sister."


def counted(path: str, outcome: str) -> float:
    return metrics().registry.get_sample_value("varve_recall_paths_total", {"path": path, "outcome": outcome}) or 0.0


async def ask(
    http: httpx.AsyncClient, service: RunningService, asked: dict[str, Any], path: str = "/v1/recall", **changed: Any
) -> dict[str, Any]:
    response = await http.post(path, json={**asked, **changed}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def usages_of(service: RunningService, purpose: str) -> set[tuple[str, str]]:
    topic = service.settings.topic(USAGE.name)
    usages = [Usage.from_json(each.value) async for each in read_topic(topic, service.settings.kafka) if each.value]
    return {(each.tenant, each.stage) for each in usages if each.purpose == purpose}


async def test_sift_mode_runs_or_is_reported_as_degraded(service: RunningService) -> None:
    await index(service.settings, [ROME, PARIS])
    plain = await ask(service.http, service, SIFTED, mode="fast")
    assert [each["id"] for each in plain["results"]] == [ROME.id, PARIS.id]
    assert "sift" not in plain
    unset = await ask(service.http, service, SIFTED)
    assert ([each["id"] for each in unset["results"]], unset["degraded"], unset["sift"]) == ([ROME.id, PARIS.id], ["sift"], None)

    answers, plans = ["1,0"], [Plan()]
    async with LLMSimulator(answer=lambda _: RIGHT.format(answers[0]), planner=lambda *_: plans[0]) as proxy:
        sift = SiftSettings(base_url=proxy.base_url, model="proxy", deadline_s=60)
        async with serving(service.settings.model_copy(update={"sift": sift})) as http:
            ranked = await ask(http, service, SIFTED, why_not=[ROME.id, BERLIN.id], explain=True)
            assert ([each["id"] for each in ranked["results"]], ranked["degraded"]) == ([PARIS.id, ROME.id], [])
            sessions = [{"session": each, "user": "eve"} for each in ("second", "first")]
            usage = ranked["sift"].pop("usage")
            assert ranked["sift"] == {
                "sessions": sessions,
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

            block = await ask(http, service, SIFTED, "/v1/context")
            assert (PARIS.content in block["context"], block["degraded"]) == (True, [])
            assert (block["sift"]["history"], block["sift"]["shown"]) == (["events"], 2)

            calls = len(proxy.requests)
            assert (await ask(http, service, SIFTED, kinds=["summary"]))["degraded"] == []
            assert (await ask(http, service, SIFTED, min_confidence=1))["results"] == []
            assert len(proxy.requests) == calls, "where nothing is found, nothing is paid for"

            answers[0] = "1"
            one = await ask(http, service, SIFTED, sift={"sessions": 1, "history": "events"})
            assert ([each["session"] for each in one["sift"]["sessions"]], one["sift"]["completed"]) == (["second"], 0)
            completed = await ask(http, service, SIFTED)
            assert ([each["session"] for each in completed["sift"]["sessions"]], completed["sift"]["completed"]) == (["second", "first"], 1)
            for refused, why in (
                ({"sift": {"sessions": 16}}, "sessions"),
                ({"sift": {"sessions": 0}}, "sessions"),
                ({"sift": {"history": "turns"}}, "archives no messages"),
                ({"sift": {"sessions": 1}, "mode": "fast"}, "mode"),
            ):
                response = await http.post("/v1/recall", json={**SIFTED, **refused}, headers=service.auth("acme"))
                expect_problem(response, 422, why)

            unusable = counted("sift", "unusable")
            answers[0] = "0,0"
            fallen_back = await ask(http, service, SIFTED)
            assert ([each["id"] for each in fallen_back["results"]], fallen_back["degraded"]) == ([ROME.id, PARIS.id], ["sift"])
            assert counted("sift", "unusable") == unusable + 1

        late, plans[0] = counted("sift", "late"), Plan(silent_after=0)
        hasty = sift.model_copy(update={"deadline_s": 1.0})
        async with serving(service.settings.model_copy(update={"sift": hasty})) as http:
            in_time = await ask(http, service, SIFTED)
        assert ([each["id"] for each in in_time["results"]], in_time["degraded"]) == ([ROME.id, PARIS.id], ["sift"])
        assert counted("sift", "late") == late + 1
    assert await usages_of(service, "sift") == {("acme", "service")}


async def test_expand_mode_runs_or_is_reported_as_degraded(service: RunningService) -> None:
    await index(service.settings, [GAMES, *OTHERS])
    plain = await ask(service.http, service, EXPANDED, mode="fast")
    assert GAMES.id not in {each["id"] for each in plain["results"]}
    assert "expansion" not in plain
    unset = await ask(service.http, service, EXPANDED)
    assert (unset["results"], unset["degraded"], unset["expansion"]) == (plain["results"], ["expansion"], None)

    answers, plans = [SENTENCE], [Plan()]
    async with LLMSimulator(answer=lambda _: answers[0], planner=lambda *_: plans[0]) as model:
        expansion = ExpansionSettings(base_url=model.base_url, model="small", deadline_s=60)
        async with serving(service.settings.model_copy(update={"expansion": expansion})) as http:
            found = await ask(http, service, EXPANDED, explain=True, why_not=[GAMES.id])
            assert (found["expansion"], found["degraded"]) == ([SENTENCE], [])
            [games] = [each for each in found["results"] if each["id"] == GAMES.id]
            assert games["parts"]["as_expanded"] > games["parts"]["as_asked"]
            assert found["why_not"][0]["outcome"] == "returned"

            block = await ask(http, service, EXPANDED, "/v1/context", tokens=300)
            assert ("chess and monopoly" in block["context"], block["degraded"]) == (True, [])
            assert len(model.requests) == 1, "the same query is paid for once"

            unusable = counted("expansion", "unusable")
            answers[0] = "..."
            fallen_back = await ask(http, service, EXPANDED, query="What does Joe do inside?")
            assert (fallen_back["expansion"], fallen_back["degraded"]) == (None, ["expansion"])
            assert counted("expansion", "unusable") == unusable + 1

        late, plans[0] = counted("expansion", "late"), Plan(silent_after=0)
        hasty = expansion.model_copy(update={"deadline_s": 1.0})
        async with serving(service.settings.model_copy(update={"expansion": hasty})) as http:
            in_time = await ask(http, service, EXPANDED, query="What does Joe do at home?")
        assert (in_time["expansion"], in_time["degraded"]) == (None, ["expansion"])
        assert in_time["results"]
        assert counted("expansion", "late") == late + 1
    assert await usages_of(service, "expansion") == {("acme", "service")}
