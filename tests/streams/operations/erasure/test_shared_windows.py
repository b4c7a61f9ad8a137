"""Windows that several users share: an erasure counts them, waits for them in their partitions, and knows whose results quote the user."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest

from control.tenants import TenantDirectory
from memory.ids import window_part_id
from memory.records import ErasedEntity, Extraction, Message, Window
from memory.topics import WINDOWS
from runtime.kafka import TopicPartition
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.reach import ErasureReach
from streams.operations.erasure.run import ErasureRun
from streams.operations.erasure.trace import UserTrace
from tests.made_records import made_window
from tests.streams.agent_extractions import START, TENANT, extraction
from tests.streams.harness import plain_settings
from tests.streams.operations.erasure.traced_records import patched

USER, PARTITIONS = "agent", 4
ENDS = {TopicPartition("varve.windows", each): 10 + each for each in range(PARTITIONS)}


@pytest.fixture
def user(tenants: TenantDirectory) -> ErasedUser:
    found = ErasedUser(TENANT, USER, begun_at=START, partitions=PARTITIONS)
    found.begin_trace(tenants)
    return found


def window(session: str, *users: str, sequence: int = 0) -> Window:
    messages = [Message(tenant=TENANT, user=each, session=session, id=f"m-{each}", text="hi", event_time=START) for each in users]
    return made_window(messages, id=f"w-{session}-{sequence}", user=users[0], users=list(users), sequence=sequence)


class WindowsLog:
    """A log of windows: shared ones, each with its partition, and none of a single user."""

    partitions = range(PARTITIONS)

    def __init__(self, home: int, *shared: tuple[int, Window]) -> None:
        self._home = home
        self._shared = shared

    async def ends(self, _: object) -> Mapping[TopicPartition, int]:
        return ENDS

    async def home_ends(self, _: object) -> Mapping[TopicPartition, int]:
        return {partition: end for partition, end in ENDS.items() if partition.partition == self._home}

    async def shared_windows(self, *, before: Mapping[TopicPartition, int]) -> AsyncIterator[tuple[int, Window]]:
        assert before == ENDS
        for each in self._shared:
            yield each

    async def records(self, spec: object, *, before: object) -> AsyncIterator[object]:
        assert spec is WINDOWS
        nothing: list[object] = []
        for each in nothing:
            yield each


class Barrier:
    """Notes the partitions of which a stage is awaited."""

    def __init__(self) -> None:
        self.awaited: list[tuple[str, set[int]]] = []

    async def of(self, stage: Any, offsets: Mapping[TopicPartition, int]) -> None:
        self.awaited.append((stage.name, {each.partition for each in offsets}))

    async def of_second_workers(self, stage: Any, offsets: Mapping[TopicPartition, int], *, suffixes: list[str]) -> None:
        self.awaited.append((",".join(suffixes), {each.partition for each in offsets}))


async def passed_over(user: ErasedUser, folder: Path, *shared: tuple[int, Window]) -> Barrier:
    """The waits of an erasure while these windows are in the log."""
    barrier, nobody = Barrier(), cast(Any, None)
    log = cast(Any, WindowsLog(user.home, *shared))
    settings = plain_settings(folder)
    erasing = ErasureRun(settings, TENANT, [user], log=log, barrier=cast(Any, barrier), letters=nobody, by="test", notice=lambda line: None)

    async def reach(*_: object, **__: object) -> None:
        """The control log is not written here."""

    with patch.object(ErasureReach, "extend_at_home", reach):
        await erasing._skip_windows(["v2"])
    return barrier


async def test_shared_windows_are_awaited_in_their_partitions(user: ErasedUser, tmp_path: Path) -> None:
    elsewhere = (user.home + 1) % PARTITIONS
    barrier = await passed_over(user, tmp_path, (elsewhere, window("s-1", "ann", USER)), (user.home, window("s-2", "ann", "bo")))
    assert barrier.awaited == [("extraction", {user.home, elsewhere}), ("-,v2", {user.home, elsewhere})]
    assert user.sessions == {"s-1"}


async def test_without_shared_windows_only_the_home_is_awaited(user: ErasedUser, tmp_path: Path) -> None:
    barrier = await passed_over(user, tmp_path)
    assert barrier.awaited == [("extraction", {user.home}), ("-,v2", {user.home})]


async def test_shared_windows_are_counted_and_named(user: ErasedUser, tmp_path: Path) -> None:
    """Each window once, in whatever revision the user was in it."""
    windows = [window("s-1", "ann", USER), window("s-1", "ann"), window("s-1", "bo", "eve", sequence=1), window("s-2", "zoe", "bo")]
    await passed_over(user, tmp_path, *((0, each) for each in windows))
    assert user.joined_windows == {"w-s-1-0": {"ann"}}
    assert user.shared_windows == {"w-s-1-0", "w-s-1-1"}
    assert user.window_sharers == {"ann", "bo", "eve"}
    assert user.found["windows"] == 1


async def test_a_later_run_knows_windows_by_extractions(user: ErasedUser, tmp_path: Path) -> None:
    """Compaction has removed the revision that names the user."""
    await passed_over(user, tmp_path, (0, window("s1", "ann")))
    made = extraction(0, [("grep", 0)]).model_copy(update={"window_id": window_part_id("w-s1-0", USER)})
    user.trace.add(made.to_json(), ())
    assert user.joined_windows == {"w-s1-0": {"ann"}}


def of_other(tool: str, *, revision: int, messages: list[str]) -> Extraction:
    """Another user's extraction of a shared window: one call of a tool."""
    made = extraction(0, [(tool, 0)])
    events = [each.model_copy(update={"user": "ann", "message_ids": messages}) for each in made.events]
    return made.model_copy(update={"user": "ann", "revision": revision, "events": events})


def tools(trace: UserTrace) -> dict[str, ErasedEntity]:
    return {each.entity_key: each for each in trace.entities if each.entity_type == "tool_experience"}


def test_entities_of_superseded_results_are_reached(user: ErasedUser) -> None:
    before, after = (of_other(tool, revision=number, messages=["m-1", "m-2"]) for number, tool in enumerate(("grep", "curl")))
    user.trace.add_shared(before, after, {"m-2"})
    assert [*tools(user.trace)] == ["grep"]
    assert (tools(user.trace)["grep"].own, tools(user.trace)["grep"].message_ids) == (False, ["m-2"]), "what the other said stays evidence"
    assert user.trace.event_ids == set()
    assert not user.trace.has_window(before.window_id), "the window is the other's"


def test_entities_that_know_the_same_are_not_reached(user: ErasedUser) -> None:
    user.trace.add_shared(of_other("grep", revision=0, messages=["m-1"]), of_other("grep", revision=1, messages=["m-1"]), {"m-2"})
    assert user.trace.entities == []


def test_patches_based_on_erased_messages_are_reported(user: ErasedUser) -> None:
    """Where a patch has settled among others, nothing takes it out."""
    before = patched(of_other("grep", revision=0, messages=["m-1"]), "tool_experience", "grep", "suggestions")
    after = of_other("grep", revision=1, messages=["m-1"])
    user.trace.add_shared(before, after, {"m-9"})
    assert [*user.remains] == []
    user.trace.add_shared(before, after, {"m0-0"})
    assert ["suggestions of the tool_experience" in each for each in user.remains] == [True]


def test_results_worded_by_a_model_are_reported(user: ErasedUser) -> None:
    user.may_be_quoted = 2
    (remains,) = user.remains
    assert remains.startswith("2 results of other users that a model worded from shared windows")
