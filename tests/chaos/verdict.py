"""Compares the result of a run with its ledger and its log."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import orjson
from pydantic import JsonValue

from memory.headers import KIND
from memory.keys import decode_key
from memory.records import Memory, MemoryChange, Window
from runtime.settings import Settings
from stores.port import MemoryStore, TenantScope, all_memories
from tests.chaos.load import Ledger
from tests.chaos.memory_oracle import ExpectedMemory, expected_memories, lines_value
from tests.chaos.methods_schema import METHOD_TYPES
from tests.chaos.methods_verdict import judge_methods
from tests.chaos.schema import TIMELINE
from tests.chaos.timeline_verdict import judge_timelines, stories, story_value, timelines_of
from tests.chaos.topic_log import LogHistory, LogRecord
from tests.chaos.window_oracle import ExpectedWindow, WindowOracle

_LINES = frozenset({"goals", "weak_points"})
"""Properties whose lines may stand in any order."""
_EXAMPLES = 5


@dataclass(slots=True)
class Verdict:
    """The counts of a run's damage; it has passed when all of them are 0."""

    produced: int = 0
    """Messages acknowledged."""
    windows: int = 0
    memories: int = 0
    lost: int = 0
    """Acknowledged messages in no window, or not at their acknowledged offset."""
    duplicated: int = 0
    """Extra copies of messages in windows."""
    out_of_order: int = 0
    """Messages after a later one of their session."""
    wrong_values: int = 0
    """Windows, events and entities that are wrong, missing or unexpected."""
    summaries: int = 0
    """Of timelines."""
    written: int = 0
    """Summaries that a model has written."""
    expired: int = 0
    """Events that timelines have summarised and expired."""
    touched: int = 0
    """Events that recalls kept alive."""
    corrected: int = 0
    """Corrections by hand."""
    method_memories: int = 0
    """Memories of the operators of the memory methods."""
    edits: int = 0
    """Edits of blocks by agents."""
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether there is no damage."""
        return not (self.lost or self.duplicated or self.out_of_order or self.wrong_values or self.problems)

    def add(self, other: "Verdict") -> None:
        """Adds the counts of another tenant's run."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def record(self, what: str, cases: Sequence[object]) -> int:
        """Records a kind of damage with its first cases; gives their number."""
        if cases:
            self.problems.append(f"{what}: {len(cases)}, such as {'; '.join(map(str, cases[:_EXAMPLES]))}")
        return len(cases)


async def judge(
    *, settings: Settings, store: MemoryStore, tenant: str, ledger: Ledger, history: LogHistory, methods: bool = False
) -> Verdict:
    """Judges a tenant's run, after all stages have caught up and every window was flushed.

    What was removed from the log before it was handled must be missing, and nothing else.
    """
    verdict = Verdict(produced=len(ledger.acknowledged))
    log = await history.read("messages")
    judge_ledger(verdict, ledger, log)
    handled = [record for record in log if not history.is_lost(record.position) and not _is_said_by(record, ledger.erased)]
    oracle = WindowOracle(tenant=tenant, settings=settings)
    oracle.read(handled)
    verdict.record("messages in windows that never closed", oracle.still_open())
    places = {(record.partition, record.offset) for record in handled}
    acknowledged = {identity: place for identity, place in ledger.acknowledged.items() if place in places}
    expected = {window.id: window for window in oracle.windows()}
    closed = [record for record in await history.read("windows") if not _is_keyed_by(record, ledger.erased)]
    judge_windows(verdict, replace(ledger, acknowledged=acknowledged), expected, latest_windows(tenant, closed, verdict))
    judge_feed(verdict, tenant, await history.read("memories"))
    extracted = latest_windows(tenant, [record for record in closed if not history.is_lost(record.position)], Verdict())
    stated = [each for each in expected.values() if each.id in extracted]
    extractions = [record for record in await history.read("extractions") if not _is_keyed_by(record, ledger.erased)]
    timelines = timelines_of(tenant, stated, extractions)
    memories = expected_memories(tenant, stated, timelines.corrections) | stories(tenant, timelines)
    standing = {identity: each for identity, each in memories.items() if identity not in timelines.gone}
    observed = {memory.id: memory async for memory in all_memories(store, TenantScope(tenant))}
    of_methods = [each for each in observed.values() if each.type in METHOD_TYPES]
    others = {identity: each for identity, each in observed.items() if each.type not in METHOD_TYPES}
    _judge_memories(verdict, others, standing)
    judge_timelines(verdict, timelines, [each for each in others.values() if each.kind == "summary"])
    if methods:
        edits = {user: lines for user, lines in ledger.edits.items() if user not in ledger.erased}
        judge_methods(verdict, tenant, stated, timelines.corrections, of_methods, edits)
    return verdict


def _is_said_by(record: LogRecord, users: Collection[str]) -> bool:
    """Whether a record of the messages is one of these users' messages."""
    return (
        bool(users) and record.header(KIND) is None and record.poison is None and orjson.loads(record.value or b"{}").get("user") in users
    )


def _is_keyed_by(record: LogRecord, users: Collection[str]) -> bool:
    """Whether a record is one of these users', or the tombstone of one that was erased."""
    if record.value is None:
        return True
    return bool(users) and record.poison is None and decode_key(record.key or b"")[1:2] in [(user,) for user in users]


def judge_ledger(verdict: Verdict, ledger: Ledger, log: Iterable[LogRecord]) -> None:
    """Checks that every acknowledged message is at its offset.

    Args:
        verdict: Gets the damage.
        ledger: The acknowledged messages.
        log: The messages topic.
    """
    at_offset = {(record.partition, record.offset): record for record in log}
    missing = []
    for identity, position in ledger.acknowledged.items():
        record = at_offset.get(position)
        if record is None or identity.encode() not in (record.value or b""):
            missing.append(identity)
    verdict.lost += verdict.record("acknowledged by Kafka, but not there", missing)


def judge_feed(verdict: Verdict, tenant: str, log: Iterable[LogRecord]) -> None:
    """Checks that no memory's version goes back in the change feed: a reader of the whole feed has the newest version of each.

    Args:
        verdict: Gets the damage.
        tenant: The tenant of the memories.
        log: The memories topic.
    """
    newest: dict[str, int] = {}
    went_back = []
    for record in log:
        if record.poison is not None or record.value is None:
            continue
        change = MemoryChange.from_json(record.value)
        if change.tenant != tenant or change.memory is None or change.memory.kind == "summary":
            # A summary's version counts its events: it falls where one of them is invalidated.
            continue
        version = change.memory.version
        if version < newest.get(change.memory_id, version):
            went_back.append(f"{change.memory_id} to {version} at {record.position}")
        newest[change.memory_id] = max(version, newest.get(change.memory_id, version))
    verdict.out_of_order += verdict.record("versions that go back in the feed", went_back)


def latest_windows(tenant: str, log: Iterable[LogRecord], verdict: Verdict) -> dict[str, Window]:
    """The latest record of each window; all records of one must have the same messages.

    Args:
        tenant: The tenant of the windows.
        log: The windows topic.
        verdict: Gets the damage.
    """
    latest: dict[str, Window] = {}
    changed = []
    for record in log:
        if record.poison is not None:
            continue
        window = Window.from_json(record.value or b"")
        if window.tenant != tenant:
            continue
        before = latest.get(window.id)
        if before is not None and before.messages != window.messages:
            changed.append(window.id)
        latest[window.id] = window
    verdict.wrong_values += verdict.record("windows that closed twice with other messages", changed)
    verdict.windows = len(latest)
    return latest


def judge_windows(verdict: Verdict, ledger: Ledger, expected: dict[str, ExpectedWindow], observed: dict[str, Window]) -> None:
    """Checks that every acknowledged message is in one window, in order, and that every window is the oracle's.

    Args:
        verdict: Gets the damage.
        ledger: The acknowledged messages.
        expected: The oracle's windows by id.
        observed: Those of the windows topic.
    """
    copies = Counter(str(message.id) for window in observed.values() for message in window.messages)
    verdict.lost += verdict.record("acknowledged, but in no window", [each for each in ledger.acknowledged if not copies[each]])
    verdict.wrong_values += verdict.record("aborted, but in a window", sorted(ledger.aborted & copies.keys()))
    twice = [identity for identity, times in copies.items() for _ in range(times - 1)]
    verdict.duplicated += verdict.record("in more windows than one", twice)
    expected_order = {
        identity: number for window in expected.values() for number, identity in enumerate(window.message_ids, window.sequence << 20)
    }
    verdict.out_of_order += verdict.record("out of order", _out_of_order(observed.values(), expected_order))
    missing = [window for identity, window in expected.items() if identity not in observed]
    verdict.wrong_values += verdict.record("windows missing", missing)
    verdict.wrong_values += verdict.record("windows too many", [each for each in observed if each not in expected])
    wrong = [
        f"{expected[identity]} is {actual}"
        for identity, window in observed.items()
        if identity in expected and (actual := _as_expected_window(window)) != expected[identity]
    ]
    verdict.wrong_values += verdict.record("windows that differ", wrong)


def _as_expected_window(window: Window) -> ExpectedWindow:
    return ExpectedWindow(
        id=window.id,
        session=window.session,
        user=window.user,
        sequence=window.sequence,
        closed_by=window.closed_by,
        token_count=window.token_count,
        first_offset=window.first_offset,
        message_ids=tuple(str(message.id) for message in window.messages),
        texts=tuple(message.text for message in window.messages),
        event_times_ms=tuple(int(message.event_time.timestamp() * 1000) for message in window.messages),
        authors=tuple(message.user for message in window.messages),
    )


def _out_of_order(windows: Iterable[Window], expected_order: dict[str, int]) -> list[str]:
    sessions: dict[str, list[Window]] = defaultdict(list)
    for window in windows:
        sessions[window.session].append(window)
    misplaced = []
    for session_windows in sessions.values():
        newest = -1
        for window in sorted(session_windows, key=lambda each: each.sequence):
            for message in window.messages:
                number = expected_order.get(str(message.id), newest)
                if number < newest:
                    misplaced.append(str(message.id))
                newest = max(newest, number)
    return misplaced


def _judge_memories(verdict: Verdict, observed: Mapping[str, Memory], expected: Mapping[str, ExpectedMemory]) -> None:
    verdict.memories = len(observed)
    verdict.wrong_values += verdict.record("memories missing", [each for identity, each in expected.items() if identity not in observed])
    extra = [f"{each.kind} {each.content}" for identity, each in observed.items() if identity not in expected and each.kind != "summary"]
    verdict.wrong_values += verdict.record("memories too many", extra)
    wrong = [
        f"{memory} is {actual}"
        for identity, memory in expected.items()
        if identity in observed and (actual := _as_expected_memory(observed[identity])) != memory
    ]
    verdict.wrong_values += verdict.record("memories that differ", wrong)
    waiting = [
        f"{each.id} {each.written}"
        for each in observed.values()
        if any(text.pending or text.stale for text in (each.written or {}).values())
    ]
    verdict.wrong_values += verdict.record("merged texts that still wait for a merge", waiting)


def _as_expected_memory(memory: Memory) -> ExpectedMemory:
    is_event = memory.kind == "event"
    return ExpectedMemory(
        memory.id,
        memory.kind,
        memory.type,
        memory.user or "",
        _comparable(memory.properties),
        memory.content if is_event else None,
        tuple(memory.message_ids) if is_event else (),
    )


def _comparable(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: _comparable_value(name, value) for name, value in properties.items()}


def _comparable_value(name: str, value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    return lines_value(value.split("\n")) if name in _LINES else story_value(value) if name == TIMELINE else value
