"""The canary's rounds, against a service that a test scripts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from varve_client import Correction, Memory, Position, RecalledMemory, RecallResult, SentMessage, ServiceUnreachableError

from runtime.settings import CanarySettings
from varve.canary.facts import USER, Facts
from varve.canary.run import Canary, CanaryMetrics

POSITION = Position(topic="messages", partition=0, offset=0)


class ScriptedService:
    """Remembers the flushed facts, except those that a test makes it forget."""

    def __init__(self) -> None:
        self.memories: dict[str, dict[str, Any]] = {}
        self.forgotten: set[str] = set()
        self.entities: list[Memory] = []
        self.is_unavailable = False
        self._sent: dict[str, dict[str, Any]] = {}

    async def send(self, messages: Sequence[Mapping[str, Any]]) -> list[SentMessage]:
        self._require()
        self._sent |= {each["session"]: dict(each) for each in messages}
        return [SentMessage(id=each["id"], position=POSITION) for each in messages]

    async def flush(self, session: str | None = None) -> None:
        said = self._sent[session or ""]
        fields = {"kind": "event", "type": "fact", "user": said["user"], "content": said["text"], "evidence": [said["id"]]}
        self.memories[said["id"]] = {"id": said["id"], "event_time": "2024-05-06T12:00:00Z", "score": 0.5, **fields}

    async def recall(self, query: str, **options: Any) -> RecallResult:
        self._require()
        assert options["user"] == USER
        gate = query.split(" gate")[0].split()[-1]
        found = [each for name, each in self.memories.items() if name not in self.forgotten and f"{gate} gate" in each["content"]]
        return RecallResult(results=[RecalledMemory.model_validate(each) for each in found], entities=self.entities)

    async def invalidate(self, memory_id: str, *, reason: str = "") -> Correction:
        assert reason
        del self.memories[memory_id]
        return Correction(id="c", memory_id=memory_id, position=POSITION)

    def _require(self) -> None:
        if self.is_unavailable:
            raise ServiceUnreachableError("away")


def canary_of(service: ScriptedService, registry: CollectorRegistry, **settings: Any) -> Canary:
    given = CanarySettings(**{"facts": 3, "timeout_s": 0.01, **settings})
    return Canary(service=service, settings=given, metrics=CanaryMetrics(registry), first=0)


async def test_rounds_are_answered_and_the_store_is_bounded() -> None:
    service, registry = ScriptedService(), CollectorRegistry()
    canary = canary_of(service, registry)
    rounds = [await canary.run_round() for _ in range(8)]
    assert [each.outcome for each in rounds] == ["fresh"] * 8
    assert [(each.asked, each.found) for each in rounds] == [(0, 0), (1, 1), *[(2, 2)] * 6]
    assert sorted(service.memories) == ["varve-canary-5", "varve-canary-6", "varve-canary-7"]
    assert registry.get_sample_value("varve_canary_score") == 1
    assert registry.get_sample_value("varve_canary_facts_total", {"outcome": "fresh"}) == 8
    assert registry.get_sample_value("varve_canary_freshness_seconds_count") == 8


async def test_one_score_covers_freshness_and_recall() -> None:
    service, registry = ScriptedService(), CollectorRegistry()
    canary = canary_of(service, registry)
    for _ in range(3):
        await canary.run_round()
    service.forgotten.add("varve-canary-1")
    assert (await canary.run_round()).score == pytest.approx(2 / 3), "one of two stored facts is lost"
    service.forgotten.add("varve-canary-4")
    missed = await canary.run_round()
    assert (missed.outcome, missed.freshness_s) == ("missed", None)
    assert missed.score == pytest.approx(2 / 3)
    service.is_unavailable = True
    failed = await canary.run_round()
    assert (failed.outcome, failed.score) == ("failed", 0)
    assert not canary.has_reached_service
    assert registry.get_sample_value("varve_canary_score") == 0


async def test_a_late_fact_holds_but_is_not_fresh() -> None:
    canary = canary_of(ScriptedService(), CollectorRegistry(), goal_s=1e-9, timeout_s=60.0)
    late = await canary.run_round()
    assert (late.outcome, late.score) == ("late", 0)
    assert (await canary.run_round()).found == 1


def test_only_events_of_the_canary_are_invalidated() -> None:
    facts = Facts(most=2, first=100)
    fact = facts.next()
    facts.hold(fact)
    old = {"id": "old", "kind": "event", "user": USER, "evidence": ["varve-canary-7"]}
    kept = [
        {"id": "held", "kind": "event", "user": USER, "evidence": [fact.message_id]},
        {"id": "entity", "kind": "entity", "user": USER, "evidence": ["varve-canary-7"]},
        {"id": "another's", "kind": "event", "user": "ann", "evidence": ["varve-canary-7"]},
        {"id": "mixed", "kind": "event", "user": USER, "evidence": ["varve-canary-7", "m-1"]},
        {"id": "of nothing", "kind": "event", "user": USER, "evidence": []},
    ]
    assert facts.stale([old, *kept]) == ["old"]


def test_a_question_does_not_contain_its_answer() -> None:
    facts = Facts(most=20, first=5)
    said = [facts.next() for _ in range(40)]
    assert len({each.text for each in said}) == 40
    assert len({each.question for each in said}) == 20
    assert all(each.text.split(" is ")[1].split()[0] not in each.question for each in said)


def test_an_entity_with_the_fact_replaces_the_event() -> None:
    fact = Facts(most=3, first=0).next()
    entity = {"kind": "entity", "id": "p", "user": USER, "evidence": [fact.message_id]}
    assert fact.is_in([{**entity, "content": f"notes: {fact.text}"}])
    assert not fact.is_in([{**entity, "content": "life: 7 events in full"}]), "it is only based on the message"
    assert Facts(most=3, first=0).stale([{**entity, "content": fact.text}]) == []


async def test_an_entity_in_place_of_an_event_counts() -> None:
    service = ScriptedService()
    canary = canary_of(service, CollectorRegistry())
    fact = Facts(most=3, first=0).next()
    said = f"notes: {fact.text}"
    entity = {"id": "p", "kind": "entity", "type": "notes", "content": said, "event_time": "2024-05-06T12:00:00Z"}
    service.entities = [Memory.model_validate({**entity, "evidence": [fact.message_id]})]
    service.forgotten.add(fact.message_id)
    assert (await canary.run_round()).outcome == "fresh"
