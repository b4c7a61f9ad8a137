"""A recall asked again at an answer's positions repeats it; on a real Kafka, Redis, Edge store and embedding model."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from memory.records import Memory, MemoryChange
from models.embedding.build import build_embedder
from stores.build import build_store
from stores.index_writer import FeedChange, IndexWriter
from stores.position import FeedPosition
from tests.api.running_service import ENTITY_KEY, PROFILE, RunningService, expect_problem, memory

pytestmark = [pytest.mark.integration, pytest.mark.asyncio(loop_scope="module")]

BODY = {"query": "Where did Ann go by train?", "user": "ann", "deadline_ms": 60_000}
BEGIN = 1_000_000
"""After everything that the fixture has indexed."""


class Feed:
    """Writes to the store as the index stage does, and marks how far it has come."""

    def __init__(self, service: RunningService) -> None:
        self._settings = service.settings
        self.topic = service.settings.topic("memories")
        self.ends = {0: BEGIN, 1: BEGIN}

    async def write(self, *memories: Memory, gone: Sequence[str] = (), partition: int = 0) -> list[dict[str, Any]]:
        """Returns the positions that the store has reached."""
        changes = [MemoryChange(op="upsert", memory_id=each.id, tenant=each.tenant, memory=each) for each in memories]
        changes += [MemoryChange(op="tombstone", memory_id=each, tenant="acme") for each in gone]
        placed = [FeedChange(each, FeedPosition(partition, self.ends[partition] + number)) for number, each in enumerate(changes, 1)]
        self.ends[partition] += len(changes)
        embedder, store = build_embedder(self._settings.embedding, cache=self._settings.cache_path), build_store(self._settings)
        writer = IndexWriter(store=store, embedder=embedder)
        await writer.write(placed)
        for each, offset in self.ends.items():
            await writer.set_checkpoint(FeedPosition(each, offset))
        await store.close()
        await embedder.close()
        return self.positions(self.ends)

    def positions(self, ends: dict[int, int]) -> list[dict[str, Any]]:
        return [{"topic": self.topic, "partition": partition, "offset": offset} for partition, offset in ends.items()]


@pytest.fixture(scope="module")
def feed(service: RunningService) -> Feed:
    return Feed(service)


async def answer_to(service: RunningService, path: str = "/v1/recall", **fields: Any) -> dict[str, Any]:
    response = await service.http.post(path, json={**BODY, **fields}, headers=service.auth("acme"))
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def by_evidence(service: RunningService, positions: list[dict[str, Any]], path: str = "/v1/recall", **fields: Any) -> dict[str, Any]:
    """The first response that is based on these positions."""
    async with asyncio.timeout(60):
        while (answer := await answer_to(service, path, **fields))["positions"]["memories"] != positions:
            assert answer["at"] is None
    return answer


def without_numbers(answer: dict[str, Any]) -> list[Any]:
    """The memories of a response without their numbers."""
    if "citations" in answer:
        return [[each["id"], each["evidence"]] for each in answer["citations"]]
    numbers = ("score", "evidence_scores", "parts")
    return [{name: value for name, value in each.items() if name not in numbers} for each in (*answer["results"], *answer["entities"])]


def numbers(answer: dict[str, Any]) -> list[float]:
    """The parts of the scores of a response, without the age."""
    results = answer.get("results", ())
    parts = [value for each in results for name, value in sorted(each["parts"].items()) if name != "time"]
    return [answer.get("confidence", 0.0), *(each["score"] for each in results), *parts]


@pytest.mark.parametrize(("path", "fields"), [("/v1/recall", {"explain": True, "limit": 50}), ("/v1/context", {})])
async def test_asked_again_it_answers_the_same(service: RunningService, feed: Feed, path: str, fields: dict[str, Any]) -> None:
    await feed.write(memory("acme", "ann", f"Ann took the train to Bergen {path}"), partition=1)
    positions = await feed.write(memory("acme", "ann", f"Ann has a ticket for the night train {path}"))
    first = await by_evidence(service, positions, path, **fields)

    later = [memory("acme", "ann", f"Ann went to Lyon by train {number} {path}") for number in range(40)]
    await feed.write(*later[:20], partition=1)
    await feed.write(*later[20:])
    again = await answer_to(service, path, at=first["positions"], **fields)
    assert again["at"] == {"reached": True, "written_since": 40}
    assert again["positions"]["memories"] == positions
    assert without_numbers(again) == without_numbers(first)
    assert numbers(again) == pytest.approx(numbers(first), abs=1e-5)
    assert without_numbers(await answer_to(service, path, **fields)) != without_numbers(first)


async def test_changes_after_the_positions_are_excluded_and_counted(service: RunningService, feed: Feed) -> None:
    kept, changed, gone = (memory("acme", "ann", f"Ann missed the train {number} times") for number in range(3))
    positions = await feed.write(kept, changed, gone)
    profile = PROFILE.model_copy(update={"content": "Profile of Ann: lives in Bergen", "version": 1})
    await feed.write(changed.model_copy(update={"content": "Ann missed the train once"}), profile, gone=[gone.id])
    names = [kept.id, changed.id, gone.id, PROFILE.id]
    answer = await answer_to(service, at={"memories": positions}, limit=1000, why_not=names, keys=[])
    assert {each["id"] for each in answer["results"]} & {*names} == {kept.id}
    assert answer["entities"] == []
    assert answer["at"] == {"reached": True, "written_since": 2}
    assert [(each["outcome"], each["filter"]) for each in answer["why_not"][1:]] == [("filter", "at"), ("unknown", None), ("filter", "at")]
    now = await answer_to(service, limit=1000, keys=[ENTITY_KEY])
    assert [each["content"] for each in now["entities"]] == [profile.content]


async def test_a_partition_that_is_not_named_holds_nothing(service: RunningService, feed: Feed) -> None:
    await feed.write(memory("acme", "ann", "Ann took a slow train"))
    other = memory("acme", "ann", "Ann took a fast train")
    *_, second = await feed.write(other, partition=1)
    answer = await answer_to(service, at={"memories": [second]}, limit=1000)
    assert answer["positions"]["memories"] == [second]
    assert {each["content"] for each in answer["results"]} >= {other.content}
    assert "Ann took a slow train" not in {each["content"] for each in answer["results"]}


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/context"])
async def test_a_recall_waits_for_a_lagging_store(service: RunningService, feed: Feed, path: str) -> None:
    ahead = feed.positions({**feed.ends, 0: feed.ends[0] + 1})
    awaited = memory("acme", "ann", f"Ann sat in a train to Trondheim {path}")
    asked = asyncio.create_task(answer_to(service, path, at={"memories": ahead}, query="When was Ann in Trondheim?"))
    # Other requests are answered while it waits.
    assert (await answer_to(service, path))["at"] is None
    assert not asked.done()
    assert await feed.write(awaited) == ahead
    answer = await asked
    assert answer["at"] == {"reached": True, "written_since": 0}
    assert answer["positions"]["memories"] == ahead
    assert awaited.id in {each["id"] for each in answer.get("results", ()) or answer["citations"]}


async def test_positions_beyond_the_store_are_reported(service: RunningService, feed: Feed) -> None:
    held = await feed.write(memory("acme", "ann", "Ann likes trains"))
    ahead = feed.positions({**feed.ends, 1: feed.ends[1] + 1, 2: 0})
    answer = await answer_to(service, at={"memories": ahead}, deadline_ms=4000)
    assert answer["at"] == {"reached": False, "written_since": 0}
    assert answer["positions"]["memories"] == held
    assert answer["results"]


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"memories": []}, "at.memories"),
        ({"memories": [{"partition": 0, "offset": 1}]}, "at.memories.0.topic"),
        ({"memories": [{"partition": 0, "offset": -1}]}, "at.memories.0.offset"),
        ({"memories": [{"topic": "elsewhere", "partition": 0, "offset": 1}]}, "at.memories.0.topic"),
        ({"memories": [{"partition": 3, "offset": 1}]}, "has 3 partitions"),
        ({"memories": [{"partition": 0, "offset": 1}, {"partition": 0, "offset": 2}]}, "one position"),
        ({"memories": [{"partition": 0, "offset": 1}], "sessions": None}, "at.sessions"),
        (None, "after"),
    ],
)
async def test_wrong_positions_are_refused(service: RunningService, feed: Feed, change: dict[str, Any] | None, detail: str) -> None:
    at = change or {"memories": [{"partition": 0, "offset": 1}]}
    if detail != "at.memories.0.topic" or "topic" in at["memories"][0]:
        at = {**at, "memories": [{"topic": feed.topic, **each} for each in at["memories"]]}
    body = {**BODY, "at": at}
    if change is None:
        place = {"topic": service.settings.topic("messages"), "partition": 0, "offset": 0}
        body |= {"session": "s", "after": {"id": "m", "position": place}}
    for path in ("/v1/recall", "/v1/context"):
        expect_problem(await service.http.post(path, json=body, headers=service.auth("acme")), 422, detail)
