"""A take-over reads only marked rows, and has the complete state of the previous worker."""

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand, Window
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import StateChange, unpack
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from streams.stages.sessions.open_windows import OpenWindow
from streams.stages.sessions.partition_rows import OpenWindowMark, mark_key
from streams.stages.sessions.windows import SessionState
from tests.control_log import known_tenants
from tests.streams.harness import APPENDED_AT, InMemoryRows, PartitionHarness, delivered, plain_settings

NewStage = Callable[..., PartitionHarness]
CODEC = SessionCodec()


class UnreadRows(InMemoryRows):
    """Rows that must not be read whole."""

    def scan(self) -> Iterator[tuple[bytes, bytes]]:
        raise AssertionError("read whole")


@pytest.fixture(scope="module")
def assigned() -> Iterator[NewStage]:
    with tempfile.TemporaryDirectory() as folder:
        limits = SessionSettings(message_count=3, message_cap=4, wait_timeout_s=300, out_of_orderness_s=0)
        settings = plain_settings(Path(folder), kafka=KafkaSettings(partitions=1), sessions=limits)
        tenants = known_tenants({"acme": "companion"})

        def assign(rows: InMemoryRows | None = None) -> PartitionHarness:
            handler = SessionsHandler(partition=0, settings=settings, tenants=tenants, tail=None, metrics=Metrics())
            return PartitionHarness(handler, CODEC, rows)

        yield assign


def message(offset: int, session: str, *, id: str | None = None, user: str = "ada", ahead_s: int = 0, minute: int = 0) -> ConsumedRecord:
    said_at, appended_at = APPENDED_AT + timedelta(seconds=ahead_s), APPENDED_AT + timedelta(minutes=minute)
    value = Message(tenant="acme", user=user, session=session, id=id or f"m{offset}", text="hello", event_time=said_at).to_json()
    return delivered("messages", offset, encode_key("acme", session), value, appended_at=appended_at)


def command(offset: int, what: SessionCommand, *, minute: int = 0) -> ConsumedRecord:
    appended_at = APPENDED_AT + timedelta(minutes=minute)
    return delivered("messages", offset, encode_key("acme"), what.to_json(), headers=((KIND, COMMAND),), appended_at=appended_at)


def flush(offset: int, session: str | None = None) -> ConsumedRecord:
    return command(offset, SessionCommand(command="flush", tenant="acme", session=session))


def known(stage: PartitionHarness) -> tuple[datetime | None, dict[bytes, int], dict[bytes, OpenWindow]]:
    """A handler's view of its partition: the event time, the silence time-outs of its windows, and the windows that the command names."""
    handler = stage.handler
    assert isinstance(handler, SessionsHandler)
    return handler.watermark(datetime.now(UTC)), dict(handler._windows._timers._due), dict(handler._windows._open)


def rows_of(stage: PartitionHarness) -> dict[bytes, object]:
    return {key: CODEC.decode(unpack(row)[1]) for key, row in stage.rows.rows.items()}


def marks(stage: PartitionHarness) -> set[bytes]:
    return {key for key, row in rows_of(stage).items() if isinstance(row, OpenWindowMark)}


def open_sessions(stage: PartitionHarness) -> set[bytes]:
    return {key for key, row in rows_of(stage).items() if isinstance(row, SessionState) and row.is_open}


async def test_a_take_over_reads_no_closed_session(assigned: NewStage) -> None:
    stage = assigned()
    await stage.process([message(offset, f"s{offset}") for offset in range(100)])
    await stage.process([flush(100), message(101, "s7"), message(102, "new")])
    again = assigned(UnreadRows(stage.rows.rows))
    await again.recover()
    assert again.rows.reads == 3, "the time, and two sessions"
    windows = [Window.from_json(each.value or b"") for each in (await again.process([flush(103)])).outputs]
    assert [(each.session, each.sequence) for each in windows] == [("new", 0), ("s7", 1)]
    assert marks(again) == set()


async def test_a_window_of_one_batch_leaves_no_mark(assigned: NewStage) -> None:
    stage = assigned()
    await stage.process_uncommitted([message(0, "s1"), flush(1)])
    assert [row.key for row in stage.state.changes() if row.key == mark_key(encode_key("acme", "s1"))] == []


async def test_a_mark_is_written_once_a_window(assigned: NewStage) -> None:
    stage, written = assigned(), list[StateChange]()
    for offset, record in enumerate([message(0, "s1"), message(1, "s1"), message(2, "s1"), flush(3)]):
        await stage.process_uncommitted([record])
        written += [row for row in stage.state.changes() if row.key.startswith(b"#open/")]
        stage.commit()
        assert (len(marks(stage)) == 1) == (offset < 3)
    assert [(row.key, row.value is None) for row in written] == [(mark_key(encode_key("acme", "s1")), gone) for gone in (False, True)]
    assert len(written[0].value or b"") < 20


NAMES = st.sampled_from(["s1", "s2", "s3"])
SENDS = st.tuples(st.just("send"), NAMES, st.sampled_from([-4000, -60, 0, 1, 100, 4000]), st.sampled_from([0, 0, 1]))
COMMANDS = st.tuples(st.sampled_from(["flush", "flush all", "erase"]), NAMES, st.just(0), st.sampled_from([0, 1]))
FAILURES = st.lists(st.sampled_from(["", "", "again", "singly", "aside"]), max_size=20)


def logged(steps: list[tuple[str, str, int, int]]) -> list[ConsumedRecord]:
    log: list[ConsumedRecord] = []
    minute = 60 * 24
    for kind, session, ahead_s, minutes in steps:
        minute += minutes
        match kind:
            case "send":
                # Ids come again, in other sessions' windows and later: a repetition, too, brings an event time.
                log.append(message(len(log), session, id=f"m{ahead_s % 7}-{len(log) % 5}", ahead_s=ahead_s, minute=minute))
            case "erase":
                log.append(command(len(log), SessionCommand(command="erase", tenant="acme", user="ada"), minute=minute))
            case _:
                log.append(flush(len(log), session if kind == "flush" else None))
    return log


@examples(max_examples=80)
@given(steps=st.lists(SENDS | SENDS | SENDS | COMMANDS, max_size=40), batch=st.integers(1, 5), failures=FAILURES)
async def test_a_successor_recovers_the_workers_state(
    assigned: NewStage, steps: list[tuple[str, str, int, int]], batch: int, failures: list[str]
) -> None:
    log, stage = logged(steps), assigned()
    for start in range(0, len(log), batch):
        records = log[start : start + batch]
        failure = failures.pop() if failures else ""
        await take(stage, records, failure)
        assert marks(stage) == set(map(mark_key, open_sessions(stage)))
        successor = assigned(UnreadRows(stage.rows.rows))
        await successor.recover()
        assert known(successor)[2].keys() == open_sessions(stage)
        if failure != "aside":
            assert known(successor)[1:] == known(stage)[1:]


@examples(max_examples=80)
@given(steps=st.lists(SENDS | SENDS | SENDS | COMMANDS, min_size=1, max_size=40), batch=st.integers(1, 5))
async def test_a_successor_knows_the_partitions_newest_time(assigned: NewStage, steps: list[tuple[str, str, int, int]], batch: int) -> None:
    log, stage = logged(steps), assigned()
    for start in range(0, len(log), batch):
        await stage.process(log[start : start + batch])
        successor = assigned(InMemoryRows(stage.rows.rows))
        await successor.recover()
        assert known(successor)[0] == known(stage)[0]


async def take(stage: PartitionHarness, records: list[ConsumedRecord], failure: str) -> list[bytes | None]:
    """Takes records; returns the outputs.

    Args:
        stage: Takes them.
        records: In one batch.
        failure: What comes before: ``again``: the batch fails once; ``singly``: so that its records come one by one; ``aside``: where each
            fails once more, and goes to the dead letters.
    """
    if failure:
        await stage.process_uncommitted(records)
        stage.state.discard()
    batches = [records] if failure in ("", "again") else [[record] for record in records]
    outputs = []
    for batch in batches:
        outputs += (await stage.process_uncommitted(batch)).outputs
        if failure == "aside":
            stage.state.discard()
        stage.commit()
    return [output.value for output in outputs]
