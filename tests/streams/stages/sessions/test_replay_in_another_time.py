"""A replayed log gives the same windows and dead letters as live, at any time and with any clock."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from control.tenants import TenantDirectory
from memory.headers import ORIGIN
from memory.keys import encode_key
from memory.records import Message
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings, Settings
from streams.engine.records import ConsumedRecord
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from tests.control_log import known_tenants
from tests.streams.harness import InMemoryRows, PartitionHarness, delivered, plain_settings

START = datetime(2024, 5, 1, tzinfo=UTC)
SESSIONS = ("s1", "s2")


@dataclass(frozen=True)
class SendMessage:
    session: int
    id: str | None
    ahead_s: int
    """Its event time less its append time."""


@dataclass(frozen=True)
class RedriveLetter:
    number: int


@dataclass(frozen=True)
class JumpClock:
    """The worker's own clock jumps, and the timers that are due then go into the log."""

    by_s: int


MESSAGES = st.builds(
    SendMessage,
    session=st.integers(0, 1),
    id=st.none() | st.sampled_from([f"m{number}" for number in range(12)]),
    ahead_s=st.sampled_from([0, 0, -100, -4000, 299, 300, 301, 3600, 86_400]),
)
STEPS = st.tuples(
    st.sampled_from([0, 1, 5, 60, 400, 7200, 100_000]),
    MESSAGES | MESSAGES | MESSAGES | st.builds(RedriveLetter, st.integers(0, 9)) | st.builds(JumpClock, st.integers(-100_000, 100_000)),
)


class WallClock:
    """The clock of the worker's machine; it also says what the log's broker says, unless it has jumped."""

    now_is: datetime = START

    def now(self) -> datetime:
        return self.now_is


@dataclass
class Outcome:
    windows: list[bytes] = field(default_factory=list)
    letters: list[tuple[int, str, str]] = field(default_factory=list)
    letter_records: list[ConsumedRecord] = field(default_factory=list)


@pytest.fixture(scope="module")
def environment() -> Iterator[tuple[Settings, TenantDirectory]]:
    with tempfile.TemporaryDirectory() as folder:
        sessions = SessionSettings(message_count=3, message_cap=4, pause_s=60, wait_timeout_s=300, out_of_orderness_s=0, max_future_s=300)
        settings = plain_settings(Path(folder), kafka=KafkaSettings(partitions=1), sessions=sessions)
        yield settings, known_tenants({"acme": "companion"})


def assigned(environment: tuple[Settings, TenantDirectory], rows: InMemoryRows | None = None) -> PartitionHarness:
    settings, tenants = environment
    handler = SessionsHandler(partition=0, settings=settings, tenants=tenants, tail=None, metrics=Metrics())
    return PartitionHarness(handler, SessionCodec(), rows, clock=WallClock())


async def take(stage: PartitionHarness, records: list[ConsumedRecord], outcome: Outcome) -> None:
    batch = await stage.process(records)
    outcome.windows += [output.value or b"" for output in batch.outputs]
    outcome.letters += [(each.record.offset, each.reason, each.detail) for each in batch.rejections]
    outcome.letter_records += [each.record for each in batch.rejections]


async def run_live(
    stage: PartitionHarness, steps: list[tuple[int, SendMessage | RedriveLetter | JumpClock]]
) -> tuple[list[ConsumedRecord], Outcome]:
    log: list[ConsumedRecord] = []
    outcome = Outcome()
    appended_at, jumped = START, timedelta()

    async def append(key: bytes, value: bytes | None, headers: tuple[tuple[str, bytes], ...] = ()) -> None:
        log.append(delivered("messages", len(log), key, value, headers=headers, appended_at=appended_at))
        await take(stage, log[-1:], outcome)

    for gap_s, step in steps:
        appended_at += timedelta(seconds=gap_s)
        WallClock.now_is = appended_at + jumped
        match step:
            case SendMessage():
                session = SESSIONS[step.session]
                said_at = appended_at + timedelta(seconds=step.ahead_s)
                message = Message(tenant="acme", user="ada", session=session, id=step.id, text="a word", event_time=said_at)
                await append(encode_key("acme", session), message.to_json())
            case RedriveLetter():
                if outcome.letter_records:
                    letter = outcome.letter_records[step.number % len(outcome.letter_records)]
                    await append(letter.key or b"", letter.value, ((ORIGIN, str(letter.origin).encode()),))
            case JumpClock():
                jumped = timedelta(seconds=step.by_s)
                WallClock.now_is = appended_at + jumped
                for command in stage.handler.due(WallClock.now_is):
                    await append(command.key or b"", command.value, command.headers)
    return log, outcome


@examples(max_examples=300)
@given(steps=st.lists(STEPS, max_size=50), batch=st.integers(1, 9), later_s=st.integers(-1_000_000, 100_000_000), restarted=st.booleans())
async def test_a_replay_gives_equal_windows_and_dead_letters(
    environment: tuple[Settings, TenantDirectory],
    steps: list[tuple[int, SendMessage | RedriveLetter | JumpClock]],
    batch: int,
    later_s: int,
    restarted: bool,
) -> None:
    log, live = await run_live(assigned(environment), steps)
    WallClock.now_is = START + timedelta(seconds=later_s)
    again, stage = Outcome(), assigned(environment)
    for start in range(0, len(log), batch):
        await take(stage, log[start : start + batch], again)
        if restarted:
            stage = assigned(environment, InMemoryRows(stage.rows.rows))
    assert again.windows == live.windows
    assert again.letters == live.letters


async def test_a_redriven_record_is_judged_by_its_time(environment: tuple[Settings, TenantDirectory]) -> None:
    stage, outcome = assigned(environment), Outcome()
    key = encode_key("acme", "s1")
    value = Message(tenant="acme", user="ada", session="s1", id="m1", text="hello", event_time=START + timedelta(hours=1)).to_json()
    redriven = ((ORIGIN, b"varve.messages/0/0"),)
    await take(stage, [delivered("messages", 0, key, value, appended_at=START)], outcome)
    await take(stage, [delivered("messages", 1, key, value, headers=redriven, appended_at=START + timedelta(minutes=50))], outcome)
    await take(stage, [delivered("messages", 2, key, value, headers=redriven, appended_at=START + timedelta(minutes=58))], outcome)
    assert [(offset, reason) for offset, reason, _ in outcome.letters] == [(0, "future_dated"), (1, "future_dated")]
    state = stage.state.get(key)
    assert state is not None
    assert state.ids == ["m1"]
