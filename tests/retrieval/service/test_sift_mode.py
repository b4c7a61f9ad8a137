"""``mode=sift`` on a real Kafka, Redis, Edge store and embedding model, with a simulated proxy model behind a real endpoint."""

from typing import Any

import httpx
import pytest

from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from memory.records import Usage
from memory.topics import USAGE
from runtime.kafka import read_topic
from runtime.metrics import metrics
from runtime.settings import SiftSettings
from tests.retrieval.service.running_service import BERLIN, RunningService, index, memory, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

ROME = memory("acme", "eve", "Eve spent a week in Rome", session="first", message_ids=["e1"])
PARIS = memory("acme", "eve", "Eve spent a month in Paris", session="second", message_ids=["e2"])
BODY: dict[str, Any] = {"query": "When was Eve in Rome?", "user": "eve", "mode": "sift"}
RIGHT = "<think>The second tells more.</think><ranking>{}</ranking>"


def counted(outcome: str) -> float:
    return metrics().registry.get_sample_value("varve_recall_paths_total", {"path": "sift", "outcome": outcome}) or 0.0


async def ask(http: httpx.AsyncClient, service: RunningService, path: str = "/v1/recall", **body: Any) -> dict[str, Any]:
    response = await http.post(path, json={**BODY, **body}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def test_the_proxy_ranks_or_the_recall_says_so(service: RunningService) -> None:
    await index(service.settings, [ROME, PARIS])
    plain = await ask(service.http, service, mode="fast")
    assert [each["id"] for each in plain["results"]] == [ROME.id, PARIS.id]
    assert "sift" not in plain
    unset = await ask(service.http, service)
    assert ([each["id"] for each in unset["results"]], unset["degraded"], unset["sift"]) == ([ROME.id, PARIS.id], ["sift"], None)

    answers, plans = ["1,0"], [Plan()]
    async with LLMSimulator(answer=lambda _: RIGHT.format(answers[0]), planner=lambda *_: plans[0]) as proxy:
        sift = SiftSettings(base_url=proxy.base_url, model="proxy", deadline_s=60)
        async with serving(service.settings.model_copy(update={"sift": sift})) as http:
            ranked = await ask(http, service, why_not=[ROME.id, BERLIN.id], explain=True)
            assert ([each["id"] for each in ranked["results"]], ranked["degraded"]) == ([PARIS.id, ROME.id], [])
            sessions = [{"session": each, "user": "eve"} for each in ("second", "first")]
            assert ranked["sift"] == {"sessions": sessions, "thought": "The second tells more.", "shown": 2, "left_out": 0}
            assert [(each["outcome"], each["rank"]) for each in ranked["why_not"]] == [("returned", 2), ("filter", None)]
            assert ranked["results"][0]["parts"]["session"] == 1

            block = await ask(http, service, "/v1/context")
            assert (PARIS.content in block["context"], block["degraded"]) == (True, [])

            calls = len(proxy.requests)
            assert (await ask(http, service, kinds=["summary"]))["degraded"] == []
            assert (await ask(http, service, min_confidence=1))["results"] == []
            assert len(proxy.requests) == calls, "where nothing is found, nothing is paid for"

            unusable = counted("unusable")
            answers[0] = "0,0"
            fallen_back = await ask(http, service)
            assert ([each["id"] for each in fallen_back["results"]], fallen_back["degraded"]) == ([ROME.id, PARIS.id], ["sift"])
            assert counted("unusable") == unusable + 1

        late, plans[0] = counted("late"), Plan(silent_after=0)
        hasty = sift.model_copy(update={"deadline_s": 1.0})
        async with serving(service.settings.model_copy(update={"sift": hasty})) as http:
            in_time = await ask(http, service)
        assert ([each["id"] for each in in_time["results"]], in_time["degraded"]) == ([ROME.id, PARIS.id], ["sift"])
        assert counted("late") == late + 1
    topic = service.settings.topic(USAGE.name)
    usages = [Usage.from_json(each.value) async for each in read_topic(topic, service.settings.kafka) if each.value]
    assert {(each.tenant, each.stage, each.purpose) for each in usages} == {("acme", "service", "sift")}
