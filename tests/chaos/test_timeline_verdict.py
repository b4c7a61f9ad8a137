"""The chaos runs' verdict finds every kind of wrong timeline."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from loadtest.answers import summary_of
from memory.headers import CORRECTION, EXPIRY, KIND, TICK, TOUCHES
from memory.ids import event_id, window_id
from memory.keys import encode_key
from memory.records import Contribution, Correction, EventRef, Expiry, Extraction, Memory, Touches
from tests.chaos.correction_oracle import CorrectionOracle
from tests.chaos.memory_oracle import expected_memories
from tests.chaos.schema import STORY, TIMELINE
from tests.chaos.timeline_verdict import judge_timelines, stories, timelines_of
from tests.chaos.topic_log import LogRecord
from tests.chaos.verdict import Verdict
from tests.chaos.window_oracle import ExpectedWindow

TENANT, USER = "acme", "ada"
MONDAY = datetime(2025, 3, 3, 8, tzinfo=UTC)
WINDOW = window_id(TENANT, "s1", 0)
TEXTS = [f"exercise n={number} point=primes score=0.5 minutes=2.25 correct=yes difficulty=1" for number in range(3)]
EVENTS = [event_id(WINDOW, index) for index in range(3)]
DAYS = (0, 1, 30)
"""Times of the events: two in one week, and one much later."""


def window() -> ExpectedWindow:
    times = tuple(int((MONDAY + timedelta(days=each)).timestamp() * 1000) for each in DAYS)
    return ExpectedWindow(WINDOW, "s1", USER, 0, "flush", 9, 0, ("m0", "m1", "m2"), tuple(TEXTS), times, (USER,) * 3)


def extraction() -> Extraction:
    return Extraction(
        window_id=WINDOW,
        tenant=TENANT,
        user=USER,
        session="s1",
        sequence=0,
        extractor="one-pass",
        schema_name="education",
        message_ids=["m0", "m1", "m2"],
        window_end=MONDAY,
    )


def tick(days: float) -> tuple[bytes, bytes]:
    at = MONDAY + timedelta(days=days)
    fields = {"kind": "tick", "source": "contributions/0", "position": 0, "time": at}
    return TICK, Contribution.model_validate({"tenant": TENANT, "entity_type": STORY, "entity_key": USER, **fields}).to_json()


def expiry(*events: str, known: int = 0) -> tuple[bytes, bytes]:
    refs = [EventRef(id=each, window_id=WINDOW) for each in events]
    at = MONDAY + timedelta(days=31)
    fields = {"user": USER, "entity_type": STORY, "entity_key": USER, "property": TIMELINE, "known": {"extractions/0": known}, "time": at}
    return EXPIRY, Expiry.model_validate({"tenant": TENANT, "events": refs, **fields}).to_json()


def touch(event: str) -> tuple[bytes, bytes]:
    return TOUCHES, Touches(tenant=TENANT, user=USER, events=[EventRef(id=event, window_id=WINDOW)], time=MONDAY).to_json()


def judged(records: list[tuple[bytes, bytes]], summaries: list[Memory]) -> Verdict:
    key = encode_key(TENANT, USER)
    log = [LogRecord("varve.extractions", 0, 0, key, extraction().to_json(), ())]
    log += [LogRecord("varve.extractions", 0, offset, key, value, ((KIND, kind),)) for offset, (kind, value) in enumerate(records, 1)]
    verdict = Verdict()
    oracle = timelines_of(TENANT, [window()], log)
    (entity,) = stories(TENANT, oracle).values()
    whole = len(oracle.timelines[USER].events) - len(oracle.gone)
    assert entity.properties[TIMELINE] == ("1 event in full" if whole == 1 else f"{whole} events in full")
    judge_timelines(verdict, oracle, summaries)
    return verdict


def summary(
    indexes: tuple[int, ...] = (0, 1), *, content: str | None = None, first: str = "2025-03-03", last: str = "2025-03-09"
) -> Memory:
    said = summary_of(TEXTS[index] for index in indexes) if content is None else content
    return Memory(
        id=f"summary {indexes}",
        tenant=TENANT,
        user=USER,
        kind="summary",
        type=STORY,
        content=f"story of ada, week 2025-W10 ({first} to {last}): {said}",
        properties={
            "from": first,
            "to": last,
            "period": "2025-W10",
            "event_count": len(indexes),
            "events": [EVENTS[index] for index in indexes],
            "written_by": "simulated",
        },
        event_time=MONDAY,
        message_ids=[f"m{index}" for index in indexes],
    )


LIVED = [tick(31), expiry(*EVENTS[:2])]


def test_a_correctly_aged_timeline_passes() -> None:
    verdict = judged(LIVED, [summary()])
    assert verdict.passed, verdict.problems
    assert (verdict.summaries, verdict.written, verdict.expired) == (1, 1, 2)
    assert judged([touch(EVENTS[2]), *LIVED, tick(32)], [summary()]).passed


@pytest.mark.parametrize(
    ("damage", "count"),
    [
        (lambda: judged(LIVED, []), "wrong_values"),
        (lambda: judged(LIVED, [summary((0,))]), "wrong_values"),
        (lambda: judged(LIVED, [summary((0, 1, 2))]), "wrong_values"),
        (lambda: judged(LIVED, [summary(), summary(first="2025-03-03", last="2025-03-31")]), "wrong_values"),
        (lambda: judged(LIVED, [summary(content=summary_of([TEXTS[0]]))]), "wrong_values"),
        (lambda: judged(LIVED[:1], [summary()]), "lost"),
        (lambda: judged([tick(31), expiry(EVENTS[0])], [summary()]), "lost"),
        (lambda: judged([touch(EVENTS[2]), touch(EVENTS[2]), *LIVED], [summary()]), "duplicated"),
    ],
)
def test_each_kind_of_damage_to_timelines_is_counted(damage: Callable[[], Verdict], count: str) -> None:
    verdict = damage()
    assert getattr(verdict, count) > 0
    assert not verdict.passed


def correct(action: str, event: str, name: str) -> tuple[bytes, bytes]:
    set_fields = {"properties": {"score": 1.0}} if action == "correct" else {}
    fields = {"id": name, "action": action, "memory_id": event, "fields": set_fields, "by": "ann", "time": MONDAY}
    return CORRECTION, Correction.model_validate({"tenant": TENANT, "user": USER, **fields}).to_json()


def test_an_invalidated_event_is_in_no_summary() -> None:
    wrong = correct("invalidate", EVENTS[0], "c1")
    assert judged([wrong, tick(31), expiry(EVENTS[1])], [summary((1,))]).passed
    assert judged(
        [wrong, wrong, correct("revert", EVENTS[0], "c2"), correct("revert", EVENTS[0], "c3"), tick(31), expiry(*EVENTS[:2], known=5)],
        [summary()],
    ).passed
    assert judged([wrong, tick(31), expiry(EVENTS[1])], [summary()]).wrong_values > 0


def test_a_correction_after_expiry_restores_an_event() -> None:
    back = [*LIVED, correct("correct", EVENTS[0], "c1")]
    assert judged([*back, tick(32), expiry(EVENTS[0], known=4)], [summary()]).passed
    assert judged([*back, tick(32)], [summary()]).lost == 1, "it had to expire again"
    assert judged(back, [summary()]).expired == 1


def test_corrections_change_the_expected_entities() -> None:
    corrections = CorrectionOracle()
    for record in (correct("correct", EVENTS[0], "c1"), correct("invalidate", EVENTS[1], "c2"), correct("correct", EVENTS[0], "c1")):
        corrections.make(Correction.from_json(record[1]))
    memories = expected_memories(TENANT, [window()], corrections).values()
    mastery = next(each for each in memories if each.type == "mastery")
    assert (mastery.properties["exercises"], mastery.properties["points"]) == (2, 1.5)
    assert [each.properties["score"] for each in memories if each.kind == "event"] == [1.0, 0.5, 0.5]


@pytest.mark.parametrize("records", [[tick(31), expiry(*EVENTS[1:])], [expiry(*EVENTS[:2]), tick(31)]])
def test_an_event_must_not_go_before_its_time(records: list[tuple[bytes, bytes]]) -> None:
    assert any("before its time" in each for each in judged(records, [summary()]).problems)
