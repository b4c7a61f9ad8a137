"""Random logs of messages and commands give the windows that an independent oracle expects, also across crashes and redeliveries."""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from control.tenants import TenantDirectory
from memory.headers import COMMAND, KIND
from memory.ids import message_id, window_id
from memory.keys import encode_key
from memory.records import Message, SessionCommand, Window
from runtime.metrics import Metrics
from runtime.settings import KafkaSettings, SessionSettings, Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.sessions.codec import SessionCodec
from streams.stages.sessions.handler import SessionsHandler
from tests.control_log import known_tenants
from tests.streams.harness import InMemoryRows, PartitionHarness, delivered, plain_settings
from tests.streams.stages.sessions.window_oracle import ExpectedSession, Limits, OracleMessage

SESSIONS = (("acme", "s1"), ("acme", "s2"), ("globex", "s1"))
MAX_WINDOW_BYTES = 1500
LIMITS = Limits(message_count=3, message_cap=5, token_count=30, pause_ms=60_000, idle_ms=300_000, max_bytes=MAX_WINDOW_BYTES)
START = datetime(2024, 5, 1, tzinfo=UTC)


@dataclass(frozen=True)
class SendMessage:
    session: int
    id: str | None
    user: str
    gap_s: int
    words: int
    padding: int


@dataclass(frozen=True)
class Flush:
    tenant: str
    session: int | None


@dataclass(frozen=True)
class Timer:
    session: int
    stale: int
    """How many records or windows it is too old; 0: it is about the current window."""


MESSAGES = st.builds(
    SendMessage,
    session=st.integers(0, len(SESSIONS) - 1),
    id=st.none() | st.sampled_from([f"m{number}" for number in range(30)]),
    user=st.sampled_from(["ada", "ada", "ada", "bob"]),
    gap_s=st.sampled_from([0, 1, 1, 30, 59, 60, 61, 299, 300, 4000, -20]),
    words=st.sampled_from([1, 2, 5, 12, 29, 30, 31]),
    padding=st.sampled_from([0, 0, 0, 400, 900]),
)
FLUSHES = st.builds(Flush, tenant=st.sampled_from(["acme", "globex"]), session=st.none() | st.integers(0, len(SESSIONS) - 1))
TIMERS = st.builds(Timer, session=st.integers(0, len(SESSIONS) - 1), stale=st.sampled_from([0, 0, 1, 2]))
LOGS = st.lists(MESSAGES | MESSAGES | MESSAGES | MESSAGES | FLUSHES | TIMERS, max_size=60)


class GeneratedLog:
    """A log, and what the oracle makes of it."""

    def __init__(self, steps: list[SendMessage | Flush | Timer]) -> None:
        self.sessions = {name: ExpectedSession(LIMITS) for name in SESSIONS}
        self.clock = START
        self.texts: dict[tuple[str, str, str, str], str] = {}
        self.log: list[ConsumedRecord] = []
        for step in steps:
            self.log.append(self._record(step, len(self.log)))

    def _record(self, step: SendMessage | Flush | Timer, offset: int) -> ConsumedRecord:
        match step:
            case SendMessage():
                return self._message(step, offset)
            case Flush():
                return self._flush(step, offset)
            case Timer():
                return self._timer(step, offset)

    def text_of(self, tenant: str, session: str, step: SendMessage) -> str:
        """A message that is sent again has the same text."""
        text = " ".join(["word"] * step.words)
        return text if step.id is None else self.texts.setdefault((tenant, session, step.user, step.id), text)

    def _message(self, step: SendMessage, offset: int) -> ConsumedRecord:
        tenant, session = SESSIONS[step.session]
        self.clock += timedelta(seconds=step.gap_s)
        message = Message(
            tenant=tenant,
            user=step.user,
            session=session,
            id=step.id,
            text=self.text_of(tenant, session, step),
            event_time=self.clock,
            metadata={"padding": "x" * step.padding},
        )
        named = message.id or message_id(tenant, session, f"varve.messages/0/{offset}")
        stored = message.model_copy(update={"id": named}).to_json()
        words = message.text.count("word")
        expected = OracleMessage(named, step.user, int(self.clock.timestamp() * 1000), words, len(stored), offset)
        self.sessions[tenant, session].add(expected)
        return delivered("messages", offset, encode_key(tenant, session), message.to_json())

    def _flush(self, step: Flush, offset: int) -> ConsumedRecord:
        if step.session is None:
            for (tenant, _), expected in self.sessions.items():
                if tenant == step.tenant and expected.open:
                    expected.flush(offset)
            command = SessionCommand(command="flush", tenant=step.tenant)
            return delivered("messages", offset, encode_key(step.tenant), command.to_json(), headers=((KIND, COMMAND),))
        tenant, session = SESSIONS[step.session]
        self.sessions[tenant, session].flush(offset)
        command = SessionCommand(command="flush", tenant=tenant, session=session)
        return delivered("messages", offset, encode_key(tenant, session), command.to_json(), headers=((KIND, COMMAND),))

    def _timer(self, step: Timer, offset: int) -> ConsumedRecord:
        tenant, session = SESSIONS[step.session]
        expected = self.sessions[tenant, session]
        sequence = max(0, len(expected.closed) - (step.stale == 2))
        last_offset = expected.newest_offset - (step.stale == 1)
        expected.timer(offset, sequence=sequence, last_offset=last_offset)
        command = SessionCommand(command="timer", tenant=tenant, session=session, window_sequence=sequence, last_offset=last_offset)
        return delivered("messages", offset, encode_key(tenant, session), command.to_json(), headers=((KIND, COMMAND),))


class Stage:
    """The sessions stage on one partition, with its state and everything that it has produced."""

    def __init__(self, settings: Settings, tenants: TenantDirectory) -> None:
        self.settings = settings
        self.tenants = tenants
        self.produced: list[bytes] = []

    def assigned(self, rows: InMemoryRows | None = None) -> PartitionHarness:
        handler = SessionsHandler(partition=0, settings=self.settings, tenants=self.tenants, tail=None, metrics=Metrics())
        return PartitionHarness(handler, SessionCodec(), rows)

    async def run(self, steps: PartitionHarness, log: list[ConsumedRecord], batch: int) -> None:
        for start in range(0, len(log), batch):
            self.took(await steps.process(log[start : start + batch]))

    def took(self, batch: Batch) -> None:
        assert batch.rejections == []
        assert {output.topic for output in batch.outputs} <= {"varve.windows"}
        self.produced += [output.value for output in batch.outputs if output.value is not None]


@pytest.fixture(scope="module")
def environment() -> Iterator[tuple[Settings, TenantDirectory]]:
    with tempfile.TemporaryDirectory() as folder:
        settings = plain_settings(
            Path(folder),
            kafka=KafkaSettings(partitions=1, max_record_bytes=MAX_WINDOW_BYTES + 16 * 1024),
            sessions=SessionSettings(message_count=3, message_cap=5, token_count=30, pause_s=60, wait_timeout_s=300),
        )
        yield settings, known_tenants({"acme": "companion", "globex": "companion"})


@examples(max_examples=250)
@given(steps=LOGS, batch=st.integers(1, 8))
async def test_every_message_is_in_the_expected_window(
    environment: tuple[Settings, TenantDirectory], steps: list[SendMessage | Flush | Timer], batch: int
) -> None:
    generated, stage = GeneratedLog(steps), Stage(*environment)
    assigned = stage.assigned()
    await stage.run(assigned, generated.log, batch)
    windows = defaultdict(list)
    for raw in stage.produced:
        assert len(raw) <= environment[0].kafka.max_record_bytes
        window = Window.from_json(raw)
        windows[window.tenant, window.session].append(window)
    for name, expected in generated.sessions.items():
        assert [window.id for window in windows[name]] == [window_id(*name, number) for number in range(len(expected.closed))]
        for window, expected_window in zip(windows[name], expected.closed, strict=True):
            assert tuple(message.id for message in window.messages) == expected_window.ids
            users = list(dict.fromkeys(expected_window.users))
            assert tuple(message.user for message in window.messages) == expected_window.users
            assert (window.user, window.users) == (users[0], users if len(users) > 1 else [])
            assert (window.sequence, window.closed_by) == (expected_window.sequence, expected_window.closed_by)
            assert (window.token_count, window.first_offset) == (expected_window.tokens, expected_window.first_offset)
            assert expected_window.first_offset <= window.last_offset < len(generated.log)
        left = assigned.state.get(encode_key(*name))
        assert (left.ids if left else []) == [message.id for message in expected.open]


@examples(max_examples=250)
@given(
    steps=LOGS,
    first_batch=st.integers(1, 8),
    second_batch=st.integers(1, 8),
    crash_at=st.integers(0, 60),
    committed=st.integers(0, 60),
    lost_state=st.booleans(),
)
async def test_a_replay_from_a_commit_gives_the_same_windows(
    environment: tuple[Settings, TenantDirectory],
    steps: list[SendMessage | Flush | Timer],
    first_batch: int,
    second_batch: int,
    crash_at: int,
    committed: int,
    lost_state: bool,
) -> None:
    generated = GeneratedLog(steps)
    whole = Stage(*environment)
    await whole.run(whole.assigned(), generated.log, 1)

    crash_at = min(crash_at, len(generated.log))
    committed = min(committed, crash_at)
    crashing = Stage(*environment)
    before = crashing.assigned()
    await crashing.run(before, generated.log[:committed], first_batch)
    rows_at_commit = dict(before.rows.rows)
    await crashing.run(before, generated.log[committed:crash_at], first_batch)
    # A crash between outputs and state, or between state and offset.
    rows = InMemoryRows(rows_at_commit if lost_state else before.rows.rows)
    after = crashing.assigned(rows)
    await crashing.run(after, generated.log[committed:], second_batch)

    assert set(crashing.produced) == set(whole.produced)
    firsts = list(dict.fromkeys(crashing.produced))
    for name in SESSIONS:
        session_of = [(raw, Window.from_json(raw)) for raw in firsts]
        sequences = [window.sequence for _, window in session_of if (window.tenant, window.session) == name]
        assert sequences == sorted(sequences)


@examples(max_examples=250)
@given(steps=LOGS, failures=st.lists(st.integers(0, 2), max_size=20), singly=st.booleans())
async def test_a_retried_batch_leaves_no_trace(
    environment: tuple[Settings, TenantDirectory], steps: list[SendMessage | Flush | Timer], failures: list[int], singly: bool
) -> None:
    generated = GeneratedLog(steps)
    whole, failing = Stage(*environment), Stage(*environment)
    await whole.run(whole.assigned(), generated.log, 4)
    assigned = failing.assigned()
    for start in range(0, len(generated.log), 4):
        records = generated.log[start : start + 4]
        failed = failures.pop() if failures else 0
        for _ in range(failed):
            await assigned.process_uncommitted(records)
            assigned.state.discard()
        # As a processor does after an unexpected error: the records of the step one by one.
        await failing.run(assigned, records, 1 if singly and failed else len(records))
    assert failing.produced == whole.produced
