"""The chaos runs' verdict finds every kind of damage."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from memory.headers import COMMAND, KIND, ORIGIN
from memory.ids import event_id, window_part_id
from memory.keys import encode_key, partition_of
from memory.records import Memory, MemoryChange, Message, SessionCommand, Window
from runtime.settings import KafkaSettings, SessionSettings, Settings
from streams.engine.records import FORWARDED
from tests.chaos.load import Ledger
from tests.chaos.memory_oracle import expected_memories, stated_events
from tests.chaos.topic_log import POISON, LogRecord
from tests.chaos.verdict import Verdict, judge_feed, judge_ledger, judge_windows, latest_windows
from tests.chaos.window_oracle import ExpectedWindow, WindowOracle

TENANT = "acme"
KEY = encode_key(TENANT, "s1")
PARTITIONS = 4
HOME = partition_of(KEY, PARTITIONS)
ELSEWHERE = (HOME + 1) % PARTITIONS
SENT_AT = datetime(2025, 3, 1, tzinfo=UTC)
SETTINGS = Settings(
    _env_file=None, kafka=KafkaSettings(partitions=PARTITIONS), sessions=SessionSettings(message_count=2, message_cap=3, pause_s=60)
)


def message(number: int) -> Message:
    text = f"exercise n={number} point=primes score=0.5 minutes=2.25 correct=yes difficulty={number}"
    event_time = SENT_AT + timedelta(seconds=number)
    return Message(tenant=TENANT, user="ada", session="s1", id=f"m{number}", text=text, event_time=event_time)


def record(
    offset: int, value: bytes | None, *headers: tuple[str, bytes], partition: int = HOME, topic: str = "varve.messages"
) -> LogRecord:
    return LogRecord(topic, partition, offset, KEY, value, headers)


def flush(offset: int) -> LogRecord:
    return record(offset, SessionCommand(command="flush", tenant=TENANT).to_json(), (KIND, COMMAND))


LOG = [*(record(number, message(number).to_json()) for number in range(4)), flush(4)]


def expected(log: list[LogRecord] = LOG) -> dict[str, ExpectedWindow]:
    oracle = WindowOracle(tenant=TENANT, settings=SETTINGS)
    oracle.read(log)
    assert oracle.still_open() == []
    return {window.id: window for window in oracle.windows()}


def expected_windows() -> list[Window]:
    return [
        Window(
            id=window.id,
            tenant=TENANT,
            user=window.user,
            session=window.session,
            sequence=window.sequence,
            messages=[message(int(each[1:])) for each in window.message_ids],
            token_count=window.token_count,
            closed_by=window.closed_by,
            source_partition=HOME,
            first_offset=window.first_offset,
            last_offset=window.first_offset,
        )
        for window in expected().values()
    ]


def test_each_author_of_a_shared_window_has_a_part() -> None:
    window = replace(next(iter(expected().values())), authors=("ada", "bo", "ada"), message_ids=("m0", "m1", "m2"))
    window = replace(window, texts=tuple(message(number).text for number in range(3)), event_times_ms=(0, 1, 2))
    parts = [window_part_id(window.id, "ada"), window_part_id(window.id, "bo")]
    found = [(each.event.user, each.window, each.event.id) for each in stated_events(window)]
    assert found == [
        ("ada", parts[0], event_id(parts[0], 0)),
        ("bo", parts[1], event_id(parts[1], 0)),
        ("ada", parts[0], event_id(parts[0], 1)),
    ]


def judged(windows: list[Window], *, aborted: Collection[str] = ()) -> Verdict:
    verdict = Verdict()
    ledger = Ledger({f"m{number}": (HOME, number) for number in range(4)}, aborted=set(aborted))
    judge_ledger(verdict, ledger, LOG)
    log = [record(offset, window.to_json(), topic="varve.windows") for offset, window in enumerate(windows)]
    judge_windows(verdict, ledger, expected(), latest_windows(TENANT, log, verdict))
    return verdict


def without_the_last_message(windows: list[Window]) -> list[Window]:
    return [windows[0].model_copy(update={"messages": windows[0].messages[:-1]}), *windows[1:]]


def with_a_message_in_both(windows: list[Window]) -> list[Window]:
    return [windows[0], windows[1].model_copy(update={"messages": [windows[0].messages[0], *windows[1].messages]})]


def reversed_messages(windows: list[Window]) -> list[Window]:
    return [windows[0].model_copy(update={"messages": windows[0].messages[::-1]}), *windows[1:]]


def closed_twice_differently(windows: list[Window]) -> list[Window]:
    return [windows[0].model_copy(update={"messages": windows[0].messages[:1]}), *windows]


def of_another_user(windows: list[Window]) -> list[Window]:
    return [windows[0].model_copy(update={"user": "bob"}), *windows[1:]]


def with_an_extra_window(windows: list[Window]) -> list[Window]:
    return [*windows, windows[0].model_copy(update={"id": "another", "sequence": 7, "session": "s9"})]


def test_expected_windows_pass_also_when_repeated() -> None:
    windows = expected_windows()
    assert [len(window.messages) for window in windows] == [3, 1]
    assert judged([*windows, *windows]).passed


@pytest.mark.parametrize(
    ("damage", "count"),
    [
        (without_the_last_message, "lost"),
        (lambda windows: windows[:1], "lost"),
        (with_a_message_in_both, "duplicated"),
        (reversed_messages, "out_of_order"),
        (closed_twice_differently, "wrong_values"),
        (of_another_user, "wrong_values"),
        (with_an_extra_window, "wrong_values"),
    ],
)
def test_each_kind_of_damage_is_counted(damage: Callable[[list[Window]], list[Window]], count: str) -> None:
    verdict = judged(damage(expected_windows()))
    assert getattr(verdict, count) > 0
    assert not verdict.passed


def test_aborted_messages_must_be_in_no_window() -> None:
    assert judged(expected_windows(), aborted=["m7"]).passed
    assert judged(expected_windows(), aborted=["m7", "m1"]).wrong_values == 1


def test_acknowledged_messages_must_be_at_their_offset() -> None:
    verdict = Verdict()
    judge_ledger(verdict, Ledger({"m0": (HOME, 0), "m1": (HOME, 9), "m2": (HOME, 3)}), LOG)
    assert verdict.lost == 2


@pytest.mark.parametrize(
    ("kind", "versions", "went_back"),
    [("entity", [0, 0, 1, 2, 2], 0), ("entity", [0, 1, 0], 1), ("event", [2, 1, 1, 3], 2), ("summary", [6, 4], 0)],
)
def test_versions_in_the_feed_never_decrease(kind: Literal["entity", "event", "summary"], versions: list[int], went_back: int) -> None:
    def change(version: int) -> bytes:
        memory = Memory(id="m", tenant=TENANT, kind=kind, type="mastery", content="c", event_time=SENT_AT, version=version)
        return MemoryChange(op="upsert", memory_id="m", tenant=TENANT, memory=memory).to_json()

    verdict = Verdict()
    log = [record(offset, change(version), topic="varve.memories") for offset, version in enumerate(versions)]
    judge_feed(verdict, TENANT, [*log, record(len(log), None)])
    assert verdict.out_of_order == went_back


def test_the_oracle_follows_forwarded_records_and_ignores_poison() -> None:
    stray = message(1).to_json()
    log = [
        record(0, stray, partition=ELSEWHERE),
        record(0, message(0).to_json()),
        record(1, stray, (FORWARDED, b"1"), (ORIGIN, f"varve.messages/{ELSEWHERE}/0".encode())),
        record(2, b"{", (POISON, b"malformed")),
        record(3, stray, (FORWARDED, b"1"), (ORIGIN, f"varve.messages/{ELSEWHERE}/0".encode())),
        flush(4),
    ]
    assert [window.message_ids for window in expected(log).values()] == [("m0", "m1")]


def test_the_oracle_expects_the_entities_values() -> None:
    memories = expected_memories(TENANT, expected().values())
    entities = {(each.type, each.kind): each.properties for each in memories.values() if each.kind == "entity"}
    assert entities["mastery", "entity"] == {
        "user": "ada",
        "knowledge_point": "primes",
        "exercises": 4,
        "points": 2.0,
        "accuracy": 0.5,
        "minutes": 9.0,
        "fastest_minutes": 2.25,
    }
    assert entities["solved", "entity"] == {"user": "ada", "knowledge_point": "primes", "solved": 4, "hardest": 3}
    assert entities["study_day", "entity"]["day"] == "2025-03-01"
    assert sum(each.kind == "event" for each in memories.values()) == 4
