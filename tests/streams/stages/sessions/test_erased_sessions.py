"""The sessions stage: a command discards an erased user's open windows, and messages before the erasure's end offsets enter none."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from control.tenants import TenantDirectory
from memory.headers import COMMAND, ERASURE, KIND
from memory.ids import window_id
from memory.keys import decode_key, encode_key, marked_key, partition_of, unmarked_key
from memory.records import ErasureCommand, Message, SessionCommand, Window
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings
from streams.engine.records import ConsumedRecord
from streams.errors import TransientError
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.windows import SessionState
from tests.control_log import known_tenants
from tests.erased_users import ASKED_AT, now_erased, unreadably_erased
from tests.streams.harness import APPENDED_AT, InMemoryRows, PartitionHarness, delivered, plain_settings

PARTITIONS = 4
SAID_AT = datetime(2024, 5, 1, tzinfo=UTC)
HOME = partition_of(encode_key("acme", "s1"), PARTITIONS)
ELSEWHERE = (HOME + 1) % PARTITIONS


def session_at_home(tenant: str, start: str) -> str:
    """A session's name whose messages are in the partition."""
    names = (f"{start}{number}" for number in range(100))
    return next(name for name in names if partition_of(encode_key(tenant, name), PARTITIONS) == HOME)


@pytest.fixture
def tenants() -> TenantDirectory:
    return known_tenants({"acme": "companion", "umbrella": "companion"})


@pytest.fixture
def assigned(tmp_path: Path, tenants: TenantDirectory) -> Callable[..., PartitionHarness]:
    """Assigns a partition to a new handler."""
    settings = plain_settings(tmp_path, kafka=KafkaSettings(partitions=PARTITIONS), sessions=SessionSettings(idle_partition_s=10))

    def assign(partition: int = HOME, rows: InMemoryRows | None = None) -> PartitionHarness:
        handler = SessionsHandler(partition=partition, settings=settings, tenants=tenants, tail=None, metrics=Metrics())
        return PartitionHarness(handler, SessionCodec(), rows, partition=partition)

    return assign


@pytest.fixture
def stage(assigned: Callable[..., PartitionHarness]) -> PartitionHarness:
    return assigned()


def said(
    offset: int, user: str, *, session: str = "s1", tenant: str = "acme", partition: int = HOME, name: str | None = None
) -> ConsumedRecord:
    message = Message(tenant=tenant, user=user, session=session, id=name or f"m{offset}", text=f"{user} speaks", event_time=SAID_AT)
    return delivered("messages", offset, encode_key(tenant, session), message.to_json(), partition=partition)


def command(offset: int, what: SessionCommand) -> ConsumedRecord:
    key = encode_key(what.tenant or "-")
    return delivered("messages", offset, key, what.to_json(), headers=((KIND, COMMAND),), partition=HOME)


def erase(offset: int, user: str | None = "ann", *, tenant: str | None = "acme") -> ConsumedRecord:
    return command(offset, SessionCommand(command="erase", tenant=tenant, user=user))


def flush(offset: int) -> ConsumedRecord:
    """Closes all windows of the partition."""
    return command(offset, SessionCommand(command="flush"))


def forwarded(output: OutgoingRecord, offset: int) -> ConsumedRecord:
    return ConsumedRecord(output.topic, HOME, offset, output.key, output.value, output.headers, APPENDED_AT.timestamp())


async def windows(stage: PartitionHarness, *records: ConsumedRecord) -> list[Window]:
    """The windows that close with these records."""
    batch = await stage.process(records)
    assert batch.rejections == []
    return [Window.from_json(each.value or b"") for each in batch.outputs if each.topic == "varve.windows"]


async def test_the_open_window_of_an_erased_user_is_dropped(assigned: Callable[..., PartitionHarness]) -> None:
    stage = assigned()
    await stage.process([said(0, "ann"), said(1, "ann"), erase(2)])
    again = assigned(rows=stage.rows)
    state = again.state.get(encode_key("acme", "s1"))
    assert isinstance(state, SessionState)
    assert (state.authors, state.raw_messages, state.ids, state.tokens, state.size) == ([], [], [], 0, 0)
    assert await windows(again, flush(3)) == []


async def test_sessions_whose_open_windows_are_dropped_are_reported(stage: PartitionHarness) -> None:
    """A tail that this worker cannot overwrite in Redis is removed by the erasure, which reads the report."""
    other = session_at_home("acme", "t")
    await stage.process([said(0, "ann"), said(1, "bob", session=other)])
    batch = await stage.process([erase(2)])
    assert batch.is_erasing
    (report,) = batch.outputs
    assert (report.topic, report.headers[0]) == ("varve.extractions", (KIND, ERASURE))
    assert unmarked_key(report.key or b"") == encode_key("acme", "ann"), "it lies where the user's extractions do"
    assert ErasureCommand.from_json(report.value or b"") == ErasureCommand(tenant="acme", user="ann", sessions=["s1"])
    again = await stage.process([erase(3)])
    assert (again.outputs, again.is_erasing) == ([], True), "nothing is open, but files may have what was said"


async def test_a_dropped_window_is_not_due(assigned: Callable[..., PartitionHarness]) -> None:
    stage, later = assigned(), datetime.now(UTC) + timedelta(days=1)
    await stage.process([said(0, "ann")])
    assert len(stage.handler.due(later)) == 1
    await stage.process([erase(1)])
    assert stage.handler.due(later + timedelta(days=1)) == []
    again = assigned(rows=stage.rows)
    await again.recover()
    assert again.handler.due(later) == []


async def test_only_the_erased_users_window_is_dropped(stage: PartitionHarness) -> None:
    other = session_at_home("acme", "t")
    found = await windows(stage, said(0, "ann"), said(1, "bob", session=other), erase(2), flush(3))
    assert [(each.session, each.user) for each in found] == [(other, "bob")]


async def test_only_that_tenants_user_is_erased(stage: PartitionHarness) -> None:
    theirs = session_at_home("umbrella", "t")
    found = await windows(stage, said(0, "ann"), said(1, "ann", session=theirs, tenant="umbrella"), erase(2), flush(3))
    assert [(each.tenant, each.user) for each in found] == [("umbrella", "ann")]


async def test_windows_of_other_users_in_the_session_are_kept(stage: PartitionHarness) -> None:
    found = await windows(stage, said(0, "ann"), said(1, "bob"), erase(2), flush(3))
    assert [(each.user, [message.text for message in each.messages]) for each in found] == [("bob", ["bob speaks"])]


async def test_sequence_numbers_continue_after_an_erasure(stage: PartitionHarness) -> None:
    first = await windows(stage, said(0, "ann"), flush(1))
    later_windows = await windows(stage, said(2, "ann"), erase(3), said(4, "ann"), flush(5))
    assert [each.sequence for each in (*first, *later_windows)] == [0, 1]
    assert [message.id for each in later_windows for message in each.messages] == ["m4"]
    assert later_windows[0].first_offset == 4


async def test_a_repeated_command_drops_no_window(stage: PartitionHarness) -> None:
    await stage.process([said(0, "ann"), erase(1), said(2, "ann")])
    assert await windows(stage, erase(1)) == []
    (window,) = await windows(stage, flush(3))
    assert [message.id for message in window.messages] == ["m2"], "it follows the command"


async def test_a_crash_before_state_repeats_an_erasure(assigned: Callable[..., PartitionHarness], stage: PartitionHarness) -> None:
    await stage.process([said(0, "ann")])
    await stage.process_uncommitted([erase(1)])
    assert await windows(assigned(rows=stage.rows), erase(1), flush(2)) == []


async def test_a_message_before_the_erasure_offset_enters_no_window(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    now_erased(tenants, "acme", "ann", {"messages": {HOME: 2}})
    other = session_at_home("acme", "t")
    found = await windows(stage, said(0, "ann"), said(1, "bob", session=other), said(2, "ann"), flush(3))
    assert sorted((each.user, [message.id for message in each.messages]) for each in found) == [("ann", ["m2"]), ("bob", ["m1"])]


async def test_a_message_repeated_after_an_erasure_is_new(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    """An import that went wrong is erased, and made again with the same ids."""
    other = session_at_home("acme", "t")
    assert len(await windows(stage, said(0, "ann", name="a"), said(1, "bob", session=other, name="b"), flush(2))) == 2
    now_erased(tenants, "acme", "ann", {"messages": {HOME: 3}})
    again = (said(4, "ann", name="a"), said(5, "bob", session=other, name="b"))
    assert [each.user for each in await windows(stage, erase(3), *again, flush(6))] == ["ann"]
    assert await windows(stage, said(7, "ann", name="a"), said(8, "bob", session=other, name="b"), flush(9)) == [], "repetitions are known"
    now_erased(tenants, "acme", "ann", {"messages": {HOME: 10}}, at=ASKED_AT + timedelta(days=1))
    assert len(await windows(stage, erase(10), said(11, "ann", name="a"), flush(12))) == 1


async def test_a_forwarded_message_is_judged_by_its_origin(
    assigned: Callable[..., PartitionHarness], stage: PartitionHarness, tenants: TenantDirectory
) -> None:
    """It was forwarded before the erasure, and is appended after the reach of the partition that is its home."""
    elsewhere = assigned(ELSEWHERE)
    outputs = [(await elsewhere.process([said(offset, "ann", partition=ELSEWHERE)])).outputs for offset in (7, 8)]
    now_erased(tenants, "acme", "ann", {"messages": {HOME: 2, ELSEWHERE: 8}})
    late = [forwarded(output, 5 + index) for index, (output,) in enumerate(outputs)]
    (window,) = await windows(stage, *late, flush(7))
    assert [message.id for message in window.messages] == ["m8"]


async def test_a_misplaced_message_is_not_forwarded(assigned: Callable[..., PartitionHarness], tenants: TenantDirectory) -> None:
    now_erased(tenants, "acme", "ann", {"messages": {ELSEWHERE: 8}})
    batch = await assigned(ELSEWHERE).process([said(7, "ann", partition=ELSEWHERE)])
    assert (batch.outputs, batch.rejections) == ([], [])


@pytest.mark.parametrize("user", ["ann", None])
async def test_an_erasure_without_a_tenant_is_refused(stage: PartitionHarness, user: str | None) -> None:
    batch = await stage.process([said(0, "ann"), erase(1, user, tenant=None)])
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [(1, "malformed")]
    assert len(await windows(stage, flush(2))) == 1


async def test_an_erasure_without_a_user_drops_no_window(stage: PartitionHarness) -> None:
    assert len(await windows(stage, said(0, "ann"), erase(1, None), flush(2))) == 1


async def test_an_unreadable_erasure_holds_the_stage_up(stage: PartitionHarness, tenants: TenantDirectory) -> None:
    unreadably_erased(tenants, "acme")
    with pytest.raises(TransientError):
        await stage.process_uncommitted([said(0, "bob")])


async def test_a_windows_key_is_its_own(stage: PartitionHarness) -> None:
    """So a tombstone of that key takes away that window alone."""
    batch = await stage.process([said(0, "ann"), flush(1), said(2, "ann"), flush(3)])
    keys = [each.key or b"" for each in batch.outputs if each.topic == "varve.windows"]
    assert keys == [marked_key(encode_key("acme", "ann"), window_id("acme", "s1", number)) for number in (0, 1)]
    assert {decode_key(key) for key in keys} == {("acme", "ann")}
