from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.deduplication import EventPair, Thresholds, candidates_of, compare, merge
from extraction.drafts import DropCounter, EventDraft
from extraction.statements import Statement, differ_in_fact, says_all_of
from memory.dates.event_date import UNKNOWN_DATE, EventDate
from memory.records import Message, NotedEvent
from models.embedding.port import Embedder
from runtime.settings import ExtractionSettings

DAY = datetime(2023, 5, 7, 12, tzinfo=UTC)
THRESHOLDS = Thresholds.of(ExtractionSettings())


def statement(content: str, day: int = 0, **properties: Any) -> Statement:
    return Statement(content, properties, DAY + timedelta(days=day))


def event(content: str, *, message: int = 0, type_: str = "note", keywords: tuple[str, ...] = (), **properties: Any) -> EventDraft:
    return EventDraft(
        type=type_,
        content=content,
        properties=properties,
        importance=0.5,
        keywords=keywords,
        segment=None,
        messages=(message,),
        event_time=DAY,
        said_at=DAY,
    )


UPDATES = [
    ("Bob runs 5 km every week.", "Bob runs 8 km every week."),
    ("Bob has two dogs.", "Bob has three dogs."),
    ("Ann likes tea.", "Ann does not like tea."),
    ("Ann likes tea.", "Ann doesn't like tea."),
    ("Ann plays tennis.", "Ann stopped playing tennis."),
    ("Anna mag Tee.", "Anna mag keinen Tee."),
    ("Анна любит чай.", "Анна не любит чай."),
    ("安娜喜欢茶。", "安娜不喜欢茶。"),
    ("The meeting is on Monday.", "The meeting is on Thursday."),
    ("Ann works at Acme.", "Ann works at Globex."),
]


@pytest.mark.parametrize(("one", "other"), UPDATES)
def test_an_update_differs_in_fact(one: str, other: str) -> None:
    assert differ_in_fact(statement(one), statement(other))
    assert differ_in_fact(statement(other), statement(one))


def test_an_unknown_day_differs_from_none() -> None:
    undated = Statement("Ann has a dog.", {}, DAY + timedelta(days=90), is_dated=False)
    assert not differ_in_fact(statement("Ann has a dog."), undated)
    assert not differ_in_fact(undated, statement("Ann has a dog."))


@pytest.mark.parametrize(("message", "cosine", "is_doubtful"), [(0, 0.78, True), (0, 0.7, False), (1, 0.78, False), (1, 0.86, True)])
def test_two_wordings_of_one_message_are_doubtful_earlier(message: int, cosine: float, is_doubtful: bool) -> None:
    events = [event("Bo looks for a place in Ghent."), event("Bo plans to find a flat in Ghent.", message=message)]
    vectors = [np.array([1.0, 0.0]), np.array([cosine, (1 - cosine**2) ** 0.5])]
    found = compare(candidates_of(events, []), vectors, THRESHOLDS)
    assert (found.same, found.doubtful) == ([], [EventPair(0, 1)] if is_doubtful else [])


def test_a_known_date_outlives_an_unknown_one() -> None:
    known = replace(event("Ann moved.", message=0), event_time=DAY - timedelta(days=6), date=EventDate.parse("2023-05-01"))
    vague = replace(event("Ann moved to Oslo.", message=1), date=UNKNOWN_DATE)
    for one, other in ((known, vague), (vague, known)):
        (merged,) = merge([one, other], [EventPair(0, 1)], DropCounter(), from_earlier_windows=0)
        assert (merged.content, merged.event_time, merged.date) == (vague.content, known.event_time, known.date)


def test_another_day_or_property_value_differs_in_fact() -> None:
    assert differ_in_fact(statement("Ann ran."), statement("Ann ran.", day=1))
    assert differ_in_fact(statement("Ann ran.", km=5), statement("Ann ran.", km=6))
    assert differ_in_fact(statement("Ann ran.", place="the lake"), statement("Ann ran.", place="the park"))
    assert differ_in_fact(statement("Ann ran.", with_=["Bob"]), statement("Ann ran.", with_=["Cid"]))


def test_a_repetition_does_not_differ_in_fact() -> None:
    assert not differ_in_fact(statement("Ann has 2 dogs.", n=2), statement("Ann has two dogs now", n=2, kind="dog"))
    assert not differ_in_fact(statement("Ann ran.", place="the lake"), statement("Ann ran.", place="Lake"))
    assert not differ_in_fact(statement("Ann met Bob."), statement("On Sunday Ann met Bob."))


def test_a_statement_covers_another_only_in_equal_order() -> None:
    assert says_all_of(statement("Ann moved to Oslo with Bob."), statement("Ann moves to Oslo"))
    assert not says_all_of(statement("Ann moved to Oslo"), statement("Ann moved to Oslo with Bob."))
    assert not says_all_of(statement("Ann moved from Oslo to Bergen."), statement("Ann moved from Bergen to Oslo."))


@given(st.lists(st.sampled_from(["Ann", "Bob", "likes", "tea", "2", "3", "not", "Oslo"]), min_size=1, max_size=6), st.data())
def test_differing_in_fact_is_symmetric_and_irreflexive(words: list[str], data: st.DataObject) -> None:
    one, other = statement(" ".join(words)), statement(" ".join(data.draw(st.permutations(words))[: data.draw(st.integers(1, len(words)))]))

    assert differ_in_fact(one, other) == differ_in_fact(other, one)
    assert not differ_in_fact(one, one)


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


SAME, NEAR, FAR = unit(1, 0), unit(1, 0.5), unit(0, 1)


def test_only_agreeing_words_make_two_events_one() -> None:
    events = [
        event("Ann moved to Oslo."),
        event("Ann moved to Oslo with a friend."),
        event("Ann relocated to Oslo."),
        event("Ann likes tea."),
    ]

    assert compare(candidates_of(events, ()), [SAME, SAME, SAME, FAR], THRESHOLDS) == (
        [EventPair(0, 1)],
        [EventPair(0, 2), EventPair(1, 2)],
    )
    assert compare(candidates_of(events[:2], ()), [SAME, NEAR], THRESHOLDS) == ([], [EventPair(0, 1)])
    assert compare(candidates_of(events[:2], ()), [SAME, FAR], THRESHOLDS) == ([], [])


def test_events_of_different_types_are_never_one() -> None:
    events = [event("Ann ran."), event("Ann ran.", type_="workout")]

    assert compare(candidates_of(events, ()), [SAME, SAME], THRESHOLDS) == ([], [])


@pytest.mark.parametrize(("one", "other"), UPDATES)
def test_an_update_is_neither_merged_nor_doubtful(one: str, other: str) -> None:
    assert compare(candidates_of([event(one), event(other)], ()), [SAME, SAME], THRESHOLDS) == ([], [])


def test_merging_retains_fuller_text_and_all_evidence() -> None:
    events = [
        event("Ann ran.", message=1, keywords=("run",), km=5),
        event("Bob slept.", message=2),
        event("Ann ran by the lake.", message=4, keywords=("Run", "lake"), where="lake"),
        event("Ann ran.", message=6),
    ]
    tally = DropCounter()
    first, second = merge(events, [EventPair(0, 2), EventPair(0, 3), EventPair(2, 3)], tally, from_earlier_windows=0)

    assert (first.content, first.messages, first.keywords) == ("Ann ran by the lake.", (4, 1, 6), ("Run", "lake"))
    assert first.properties == {"km": 5, "where": "lake"}
    assert second == events[1]
    assert [(each.what, each.reason, each.count) for each in tally.as_dropped()] == [("event", "duplicate", 2)]


def test_an_event_of_an_earlier_window_is_not_repeated() -> None:
    old = NotedEvent("note", "Ann ran by the lake.", {"km": 5}, DAY)
    events = [event("Ann ran."), event("Ann ran by the lake.", km=5), event("Bob slept.")]
    tally = DropCounter()
    candidates = candidates_of(events, (old,))
    same, doubts = compare(candidates, [SAME, SAME, SAME, FAR], THRESHOLDS)

    assert doubts == []
    assert merge(events, same, tally, from_earlier_windows=1) == (events[2],)
    assert [(each.reason, each.count) for each in tally.as_dropped()] == [("stored_before", 2)]


@pytest.mark.parametrize("fuller", [event("Ann ran by the lake."), event("Ann ran.", km=5)])
def test_an_event_with_more_detail_is_only_doubtful(fuller: EventDraft) -> None:
    candidates = candidates_of([fuller], (NotedEvent("note", "Ann ran.", {}, DAY),))

    assert compare(candidates, [SAME, SAME], THRESHOLDS) == ([], [EventPair(0, 1)])


def test_a_tool_that_answers_twice_was_called_twice() -> None:
    messages = [
        Message(tenant="acme", user="ann", session="s", text="grep: ok", role=role, event_time=DAY) for role in ("tool", "tool", "user")
    ]
    first, second, mentioned = event("Used grep.", message=0), event("Used grep.", message=1), event("Used grep.", message=2)

    assert compare(candidates_of([first, second], (), messages), [SAME, SAME], THRESHOLDS) == ([], [])
    assert compare(candidates_of([first], (NotedEvent("note", "Used grep.", {}, DAY),), messages), [SAME, SAME], THRESHOLDS) == ([], [])
    assert compare(candidates_of([first, first], (), messages), [SAME, SAME], THRESHOLDS) == ([EventPair(0, 1)], [])
    assert compare(candidates_of([first, mentioned], (), messages), [SAME, SAME], THRESHOLDS) == ([EventPair(0, 1)], [])


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]), max_size=12), st.integers(0, 3))
def test_merging_loses_no_evidence_within_a_window(pairs: list[tuple[int, int]], earlier: int) -> None:
    events = [event(f"Note {index}.", message=index) for index in range(earlier, 8)]
    merged = merge(events, [EventPair(*pair) for pair in pairs if pair[1] >= earlier], DropCounter(), from_earlier_windows=earlier)

    reached = {index for each in merged for index in each.messages}
    lost = set(range(earlier, 8)) - reached
    assert not lost or earlier
    assert len(merged) <= len(events)


@pytest.mark.parametrize(("duplicate", "doubtful"), [(0.8, 0.9), (1.1, 0.9), (0.9, 0)])
def test_thresholds_that_contradict_each_other_are_refused(duplicate: float, doubtful: float) -> None:
    with pytest.raises(ValueError, match="doubtful <= duplicate"):
        Thresholds(duplicate=duplicate, doubtful=doubtful)


async def test_real_embeddings_keep_updates_and_find_repetitions(embedder: Embedder) -> None:
    contents = [
        "Alice moved to Oslo on 2023-05-07.",
        "Alice moved to Oslo with Bob on 2023-05-07.",
        "Bob has adopted a dog called Rex.",
        "Bob adopted a dog named Rex.",
        "Bob runs 5 km every week.",
        "Bob runs 8 km every week.",
        "Alice moved from Oslo to Bergen.",
        "Alice moved from Bergen to Oslo.",
    ]
    events = [event(content, message=index) for index, content in enumerate(contents)]
    vectors = [each.dense for each in await embedder.embed_documents(contents)]
    same, doubts = compare(candidates_of(events, ()), vectors, THRESHOLDS)

    assert same == [EventPair(0, 1)]
    assert EventPair(2, 3) in doubts
    assert EventPair(6, 7) in doubts
    assert not {EventPair(4, 5)} & {*same, *doubts}
