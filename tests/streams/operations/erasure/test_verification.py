"""Before a receipt: what is left of an erased user stops it, unless no run removes it; what belongs to the new life does not count."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest

from control.tenants import TenantDirectory
from memory.ids import entity_id
from memory.keys import encode_key, marked_key
from memory.records import Contribution, HistoryEntry, Memory
from memory.topics import ALL
from runtime.kafka import TopicPartition
from stores.port import MemoryStore, TenantScope
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.remnants import FoundRecords, NamingRecord, Place
from streams.operations.erasure.verification import Verification
from streams.stages.events.ledger import published_key
from tests.streams.agent_extractions import START, TENANT, extraction
from tests.streams.harness import plain_settings
from tests.streams.operations.erasure.feed_event import event
from tests.streams.operations.erasure.traced_records import headers_of

USER = "agent"
BEGAN = 10
TOPICS = {each.name: Place(f"varve.{each.name}", each) for each in ALL}
WINDOW = extraction(0, [("grep", 0)])


@pytest.fixture
def user(tenants: TenantDirectory) -> ErasedUser:
    found = ErasedUser(TENANT, USER, begun_at=START, partitions=8)
    found.begin_trace(tenants)
    found.trace.add(WINDOW.to_json(), headers_of(WINDOW))
    return found


class Stored:
    """A store that has some memories of the user."""

    def __init__(self, memories: Iterable[Memory], history: Iterable[HistoryEntry]) -> None:
        self._memories = list(memories)
        self._history = list(history)

    async def count(self, *_: Any) -> int:
        return len(self._memories)

    async def scroll(self, *_: Any, after: str | None, **__: Any) -> list[Memory]:
        return [] if after is not None else self._memories

    async def steps(self, _: TenantScope, entity: str, *, after: str | None) -> list[HistoryEntry]:
        return [] if after is not None else [each for each in self._history if each.entity == entity]


async def checked(
    user: ErasedUser, *records: tuple[Place, int, bytes], stored: Iterable[Memory] = (), history: Iterable[HistoryEntry] = ()
) -> None:
    verification = Verification(plain_settings(Path("nowhere")), TENANT, [])
    verification.began = {TopicPartition(place.topic, 0): BEGAN for place, _, _ in records}
    standing = [NamingRecord(USER, place, 0, offset, key) for place, offset, key in records]

    async def read(*_: object) -> FoundRecords:
        return FoundRecords(standing, cast(Any, None))

    with patch("streams.operations.erasure.verification.read_places", read):
        await verification.check([user], cast(MemoryStore, Stored(stored, history)))


def changelog(stage: str) -> Place:
    return Place(f"varve.{stage}-changelog", None, stage)


async def test_nothing_left_is_no_problem(user: ErasedUser) -> None:
    await checked(user)
    assert (user.problem, user.remains) == (None, ())


@pytest.mark.parametrize("topic", ["messages", "windows", "extractions", "memories", "merged"])
async def test_records_before_the_erasure_prevent_a_receipt(user: ErasedUser, topic: str) -> None:
    await checked(user, (TOPICS[topic], BEGAN - 1, encode_key(TENANT, "m-1")))
    assert user.problem is not None
    assert f"has left 1 record in varve.{topic}, so there is no receipt: run the command again" in user.problem


@pytest.mark.parametrize("stage", ["extraction", "events", "entities", "merging", "recalls"])
async def test_an_older_row_stops_the_receipt(user: ErasedUser, stage: str) -> None:
    await checked(user, (changelog(stage), BEGAN - 1, encode_key(TENANT, "m-1")))
    assert user.problem is not None
    assert f"1 record in varve.{stage}-changelog" in user.problem


async def test_the_new_life_is_no_problem(user: ErasedUser) -> None:
    new = encode_key(TENANT, "e-new")
    await checked(
        user,
        (TOPICS["memories"], BEGAN, new),
        (TOPICS["windows"], BEGAN, marked_key(encode_key(TENANT, USER), "w-new")),
        (changelog("events"), BEGAN, published_key("w-new", "")),
        stored=[event("e-new")],
    )
    assert (user.problem, user.remains) == (None, ())


async def test_late_results_of_an_erased_window_stop_the_receipt(user: ErasedUser) -> None:
    late = encode_key(TENANT, WINDOW.events[0].id), published_key(WINDOW.window_id, "")
    await checked(user, (TOPICS["memories"], BEGAN, late[0]), (changelog("events"), BEGAN, late[1]))
    assert user.problem is not None
    assert "1 record in varve.events-changelog, 1 record in varve.memories" in user.problem


async def test_memories_only_in_the_store_prevent_a_receipt(user: ErasedUser) -> None:
    await checked(user, stored=[event("e-1")])
    assert user.problem is not None
    assert "1 record in vector store" in user.problem


def step(reached: ErasedUser, user: str | None, number: int) -> HistoryEntry:
    """A step in the history of the first entity that the reached user's window reached."""
    (entity, *_) = reached.trace.entities
    kind, key = entity.entity_type, entity.entity_key
    made = Contribution(tenant=TENANT, user=user, entity_type=kind, entity_key=key, source="extractions/0", position=number, time=START)
    name = entity_id(TENANT, kind, key, entity.generation)
    return HistoryEntry(id=f"step-{number}", tenant=TENANT, entity=name, number=number, contribution=made)


async def test_history_that_the_store_has_stops_the_receipt(user: ErasedUser) -> None:
    await checked(user, history=[step(user, "another", 1), step(user, None, 2)])
    assert user.problem is None
    await checked(user, history=[step(user, "another", 1), step(user, USER, 2)])
    assert user.problem is not None
    assert "1 record in vector store" in user.problem


async def test_history_of_the_new_life_is_no_problem(user: ErasedUser) -> None:
    await checked(user, (TOPICS["memories"], BEGAN, encode_key(TENANT, "step-1")), history=[step(user, USER, 1)])
    assert user.problem is None


async def test_a_changelog_of_stopped_workers_is_listed_once(user: ErasedUser) -> None:
    parked = changelog("extraction")
    user.kept_changelogs.add(parked.topic)
    await checked(user, (parked, BEGAN - 1, encode_key(TENANT, USER)))
    assert (user.problem, user.remains) == (None, ())


async def test_the_receipt_lists_topics_not_cleared(user: ErasedUser) -> None:
    user.kept_topics |= {"extractions", "messages"}
    key = encode_key(TENANT, USER)
    await checked(
        user, (TOPICS["extractions"], 0, key), (TOPICS["messages"], 0, key), (TOPICS["audit"], 0, key), (changelog("sessions"), 0, key)
    )
    assert user.problem is None
    assert len(user.remains) == 4
