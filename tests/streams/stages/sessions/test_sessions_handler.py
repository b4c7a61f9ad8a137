"""The sessions stage's other tasks: it refuses, forwards, recognises repetitions and sets timers."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.headers import COMMAND, KIND, ORIGIN
from memory.ids import message_id
from memory.keys import encode_key, partition_of
from memory.records import Message, SessionCommand, Window
from runtime.clocks import Clock, ManualClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings
from runtime.tracing import PRODUCED_AT, TRACEPARENT, Headers
from streams.engine.records import FORWARDED, ConsumedRecord
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.windows import SessionState
from tests.control_log import known_tenants
from tests.streams.harness import APPENDED_AT, InMemoryRows, PartitionHarness, delivered, plain_settings

PARTITIONS = 4
KEY = encode_key("acme", "s1")
HOME = partition_of(KEY, PARTITIONS)
ELSEWHERE = (HOME + 1) % PARTITIONS
SAID_AT = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
def assigned(tmp_path: Path) -> Callable[..., PartitionHarness]:
    """Assigns a partition to a new handler."""
    settings = plain_settings(
        tmp_path,
        kafka=KafkaSettings(partitions=PARTITIONS),
        sessions=SessionSettings(message_count=3, message_cap=5, pause_s=60, wait_timeout_s=300, idle_partition_s=10),
    )
    tenants = known_tenants({"acme": "companion"})

    def assign(partition: int = HOME, rows: InMemoryRows | None = None, clock: Clock | None = None) -> PartitionHarness:
        handler = SessionsHandler(partition=partition, settings=settings, tenants=tenants, tail=None, metrics=Metrics())
        return PartitionHarness(handler, SessionCodec(), rows, partition=partition, clock=clock)

    return assign


def message(id: str | None = "m1", *, event_time: datetime = SAID_AT, session: str = "s1", tenant: str = "acme") -> bytes:
    return Message(tenant=tenant, user="ada", session=session, id=id, text="hello", event_time=event_time).to_json()


def record(offset: int, value: bytes | None, *, key: bytes | None = KEY, headers: Headers = (), partition: int = HOME) -> ConsumedRecord:
    return delivered("messages", offset, key, value, headers=headers, partition=partition)


def flush(offset: int, *, partition: int = HOME) -> ConsumedRecord:
    command = SessionCommand(command="flush", tenant="acme", session="s1")
    return record(offset, command.to_json(), headers=((KIND, COMMAND),), partition=partition)


def as_delivered(output: OutgoingRecord, offset: int) -> ConsumedRecord:
    assert output.topic == "varve.messages"
    partition = partition_of(output.key or b"", PARTITIONS) if output.partition is None else output.partition
    return ConsumedRecord(output.topic, partition, offset, output.key, output.value, output.headers, APPENDED_AT.timestamp())


def state_of(stage: PartitionHarness) -> SessionState:
    state = stage.state.get(KEY)
    assert isinstance(state, SessionState)
    return state


async def _due(stage: PartitionHarness) -> list[OutgoingRecord]:
    await stage.recover()
    return stage.handler.due(datetime.now(UTC) + timedelta(seconds=400))


def windows_of(outputs: list[OutgoingRecord]) -> list[Window]:
    return [Window.from_json(output.value or b"") for output in outputs if output.topic == "varve.windows"]


DEEP = b'{"tenant":"acme","user":"u","session":"s1","event_time":"2024-05-01T00:00:00Z","metadata":{"a":' + b"[" * 900 + b"]" * 900 + b"}}"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "malformed"),
        (b"", "malformed"),
        (b"not json", "malformed"),
        (b'{"tenant": "\xff\xfe"}', "malformed"),
        (b"[]", "malformed"),
        (b'{"tenant":"acme"}', "malformed"),
        (message().replace(b"2024-05-01T00:00:00Z", b"2024-05-01T00:00:00"), "malformed"),
        (DEEP, "malformed"),
        (message().replace(b'"schema_version":"1.0"', b'"schema_version":"2.0"'), "unsupported_version"),
        (message(tenant="nobody"), "unknown_tenant"),
        (message().replace(b"hello", b"x" * 990_000), "too_large"),
        (message(event_time=APPENDED_AT + timedelta(seconds=301)), "future_dated"),
    ],
    ids=lambda value: value if isinstance(value, str) else repr(value)[:40],
)
async def test_only_the_unreadable_record_is_refused(assigned: Callable[..., PartitionHarness], value: bytes | None, reason: str) -> None:
    stage = assigned()
    bad = record(1, value, headers=(("mine", b"\x00\xff"),))
    batch = await stage.process([record(0, message("m1")), bad, record(2, message("m2"))])
    assert [(refusal.record, refusal.reason) for refusal in batch.rejections] == [(bad, reason)]
    assert state_of(stage).ids == ["m1", "m2"]


async def test_a_message_slightly_in_the_future_is_accepted(assigned: Callable[..., PartitionHarness]) -> None:
    batch = await assigned().process([record(0, message(event_time=APPENDED_AT + timedelta(seconds=300)))])
    assert batch.rejections == []


async def test_a_newer_minor_version_keeps_unknown_fields(assigned: Callable[..., PartitionHarness]) -> None:
    newer = message().replace(b'"schema_version":"1.0"', b'"schema_version":"1.7","mood":"glad"')
    batch = await assigned().process([record(0, newer), flush(1)])
    (window,) = windows_of(batch.outputs)
    assert window.messages[0].model_extra == {"mood": "glad"}


async def test_a_misplaced_message_is_forwarded_once_with_its_origin(assigned: Callable[..., PartitionHarness]) -> None:
    lost = record(7, message(None), key=KEY, partition=ELSEWHERE, headers=(("trace", b"1"),))
    forwarded = await assigned(ELSEWHERE).process([lost])
    (output,) = forwarded.outputs
    assert (output.key, output.value) == (KEY, lost.value)
    produced_at = b"%d" % lost.appended_ms
    origin = f"varve.messages/{ELSEWHERE}/7".encode()
    assert dict(output.headers) == {"trace": b"1", FORWARDED: b"1", ORIGIN: origin, PRODUCED_AT: produced_at}
    home = assigned()
    taken = await home.process([as_delivered(output, 3), as_delivered(output, 4)])
    assert [taken.outputs, taken.rejections] == [[], []]
    assert state_of(home).ids == [message_id("acme", "s1", f"varve.messages/{ELSEWHERE}/7")], "twice sent, once taken"


async def test_a_message_without_a_key_is_forwarded(assigned: Callable[..., PartitionHarness]) -> None:
    batch = await assigned().process([record(0, message(), key=None)])
    (output,) = batch.outputs
    assert (output.key, output.partition) == (KEY, HOME)


async def test_a_misplaced_flush_reaches_its_session(assigned: Callable[..., PartitionHarness]) -> None:
    home = assigned()
    await home.process([record(0, message())])
    (output,) = (await assigned(ELSEWHERE).process([flush(9, partition=ELSEWHERE)])).outputs
    (window,) = windows_of((await home.process([as_delivered(output, 1)])).outputs)
    assert [each.id for each in window.messages] == ["m1"]


async def test_a_redriven_message_without_an_id_counts_once(
    assigned: Callable[..., PartitionHarness],
) -> None:
    stage = assigned()
    origin = ((ORIGIN, f"varve.messages/{HOME}/0".encode()),)
    await stage.process([record(1, message("m1")), record(2, message(None), headers=origin)])
    for offset in range(3, 503):
        await stage.process([record(offset, message(f"n{offset}"))])
    before = state_of(stage).sequence, list(state_of(stage).ids)
    await stage.process([record(503, message(None), headers=origin)])
    assert (state_of(stage).sequence, state_of(stage).ids) == before


async def test_a_window_stays_in_its_messages_trace(assigned: Callable[..., PartitionHarness]) -> None:
    trace = (TRACEPARENT, b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    stage = assigned()
    await stage.process([record(0, message("m1"), headers=(trace,))])
    again = assigned(rows=stage.rows)
    (timer,) = await _due(again)
    (output,) = (await again.process([as_delivered(timer, 1)])).outputs
    assert trace in output.headers, "a timer has no trace of its own, and the state outlives a worker"


async def test_event_time_lags_by_the_age_of_messages(assigned: Callable[..., PartitionHarness]) -> None:
    stage, now = assigned(), datetime.now(UTC)
    assert stage.handler.watermark(now) is None
    await stage.process([record(0, message("m1"))])
    out_of_orderness = timedelta(seconds=SessionSettings().out_of_orderness_s)
    assert stage.handler.watermark(now) == SAID_AT - out_of_orderness


async def test_a_timer_closes_the_window_it_was_set_for(assigned: Callable[..., PartitionHarness]) -> None:
    stage = assigned()
    await stage.process([record(0, message("m1")), record(1, message("m2", event_time=SAID_AT + timedelta(seconds=5)))])
    soon = datetime.now(UTC) + timedelta(seconds=20)
    assert stage.handler.due(soon) == []
    later = datetime.now(UTC) + timedelta(seconds=400)
    (command,) = stage.handler.due(later)
    assert command.partition == HOME
    assert (KIND, COMMAND) in command.headers
    (window,) = windows_of((await stage.process([as_delivered(command, 2)])).outputs)
    assert window.closed_by == "idle"
    assert stage.handler.due(later + timedelta(hours=1)) == []


async def test_a_long_window_waits_only_for_a_pause(assigned: Callable[..., PartitionHarness]) -> None:
    stage = assigned()
    await stage.process([record(offset, message(f"m{offset}")) for offset in range(3)])
    (command,) = stage.handler.due(datetime.now(UTC) + timedelta(seconds=100))
    (window,) = windows_of((await stage.process([as_delivered(command, 3)])).outputs)
    assert window.closed_by == "pause"


async def test_an_overtaken_timer_is_void_and_set_again(assigned: Callable[..., PartitionHarness]) -> None:
    stage = assigned()
    await stage.process([record(0, message("m1"))])
    later = datetime.now(UTC) + timedelta(seconds=400)
    (command,) = stage.handler.due(later)
    batch = await stage.process([record(1, message("m2")), as_delivered(command, 2)])
    assert batch.outputs == []
    (again,) = stage.handler.due(later)
    assert windows_of((await stage.process([as_delivered(again, 3)])).outputs)[0].closed_by == "idle"


async def test_a_lagging_stage_sends_one_timer_command(assigned: Callable[..., PartitionHarness]) -> None:
    stage = assigned()
    await stage.process([record(0, message("m1"))])
    later = datetime.now(UTC) + timedelta(seconds=400)
    assert [len(stage.handler.due(later + timedelta(seconds=wait))) for wait in (0, 10, 20, 3600)] == [1, 0, 0, 0]


async def test_void_commands_under_way_leave_the_timer_set(assigned: Callable[..., PartitionHarness]) -> None:
    stage = assigned()
    later = datetime.now(UTC) + timedelta(seconds=400)
    await stage.process([record(0, message("m1"))])
    (first,) = stage.handler.due(later)
    await stage.process([record(1, message("m2"))])
    (second,) = stage.handler.due(later)
    batch = await stage.process([as_delivered(first, 2), as_delivered(second, 3)])
    assert batch.outputs == [], "the first moved the session on, so that the second is void, too"
    (third,) = stage.handler.due(later)
    assert windows_of((await stage.process([as_delivered(third, 4)])).outputs)[0].closed_by == "idle"


async def test_silence_is_measured_by_the_steady_clock(assigned: Callable[..., PartitionHarness]) -> None:
    now = datetime(1970, 1, 1, tzinfo=UTC)
    stage = assigned(clock=ManualClock(now))
    await stage.process([record(0, message("m1"))])
    assert stage.handler.due(now + timedelta(seconds=9)) == []
    assert stage.handler.due(now + timedelta(seconds=329)) == []
    assert len(stage.handler.due(now + timedelta(seconds=330))) == 1


async def test_timers_are_restored_after_a_restart(assigned: Callable[..., PartitionHarness]) -> None:
    before = assigned()
    await before.process([record(0, message("m1"))])
    after = assigned(rows=InMemoryRows(before.rows.rows))
    await after.recover()
    (command,) = after.handler.due(datetime.now(UTC) + timedelta(seconds=400))
    assert windows_of((await after.process([as_delivered(command, 1)])).outputs)


async def test_a_deeply_nested_message_gives_a_readable_window(assigned: Callable[..., PartitionHarness]) -> None:
    for depth in range(240, 265):
        stage = assigned()
        deep = message().replace(b'"metadata":{}', b'"metadata":{"a":' + b"[" * depth + b"]" * depth + b"}")
        batch = await stage.process([record(0, deep), flush(1)])
        assert len(batch.rejections) + len(windows_of(batch.outputs)) == 1
