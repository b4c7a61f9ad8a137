"""``mode=expand`` on a real Kafka, Redis, Edge store and embedding model, with a simulated model behind a real endpoint."""

from typing import Any

import httpx
import pytest

from loadtest.llm_simulator import LLMSimulator
from loadtest.profiles import Plan
from memory.records import Usage
from memory.topics import USAGE
from runtime.kafka import read_topic
from runtime.metrics import metrics
from runtime.settings import ExpansionSettings
from tests.retrieval.service.running_service import RunningService, index, memory, serving

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

GAMES = memory("acme", "eve", "Eve: chess and monopoly with my sister, all evening", session="first", message_ids=["e1"])
OTHERS = [memory("acme", "eve", f"Eve: my indoor activity {number} is done", session="second", message_ids=["e2"]) for number in range(20)]
BODY: dict[str, Any] = {"query": "What indoor activities does Eve like?", "user": "eve", "mode": "expand", "limit": 5}
SENTENCE = "Eve plays chess and monopoly with her sister."


def counted(outcome: str) -> float:
    return metrics().registry.get_sample_value("varve_recall_paths_total", {"path": "expansion", "outcome": outcome}) or 0.0


async def ask(http: httpx.AsyncClient, service: RunningService, path: str = "/v1/recall", **body: Any) -> dict[str, Any]:
    response = await http.post(path, json={**BODY, **body}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def test_a_model_expands_or_the_recall_says_so(service: RunningService) -> None:
    await index(service.settings, [GAMES, *OTHERS])
    plain = await ask(service.http, service, mode="fast")
    assert GAMES.id not in {each["id"] for each in plain["results"]}
    assert "expansion" not in plain
    unset = await ask(service.http, service)
    assert (unset["results"], unset["degraded"], unset["expansion"]) == (plain["results"], ["expansion"], None)

    answers, plans = [SENTENCE], [Plan()]
    async with LLMSimulator(answer=lambda _: answers[0], planner=lambda *_: plans[0]) as model:
        expansion = ExpansionSettings(base_url=model.base_url, model="small", deadline_s=60)
        async with serving(service.settings.model_copy(update={"expansion": expansion})) as http:
            found = await ask(http, service, explain=True, why_not=[GAMES.id])
            assert (found["expansion"], found["degraded"]) == ([SENTENCE], [])
            [games] = [each for each in found["results"] if each["id"] == GAMES.id]
            assert games["parts"]["as_expanded"] > games["parts"]["as_asked"]
            assert found["why_not"][0]["outcome"] == "returned"

            body = {name: BODY[name] for name in ("query", "user", "mode")}
            block = await http.post("/v1/context", json={**body, "tokens": 300}, headers=service.auth("acme"))
            assert ("chess and monopoly" in block.json()["context"], block.json()["degraded"]) == (True, [])
            assert len(model.requests) == 1, "the same query is paid for once"

            unusable = counted("unusable")
            answers[0] = "..."
            fallen_back = await ask(http, service, query="What does Eve do inside?")
            assert (fallen_back["expansion"], fallen_back["degraded"]) == (None, ["expansion"])
            assert counted("unusable") == unusable + 1

        late, plans[0] = counted("late"), Plan(silent_after=0)
        hasty = expansion.model_copy(update={"deadline_s": 1.0})
        async with serving(service.settings.model_copy(update={"expansion": hasty})) as http:
            in_time = await ask(http, service, query="What does Eve do at home?")
        assert (in_time["expansion"], in_time["degraded"]) == (None, ["expansion"])
        assert in_time["results"]
        assert counted("late") == late + 1
    topic = service.settings.topic(USAGE.name)
    usages = [Usage.from_json(each.value) async for each in read_topic(topic, service.settings.kafka) if each.value]
    assert {(each.tenant, each.stage, each.purpose) for each in usages} == {("acme", "service", "expansion")}
