"""Events that deduplication must keep separate: a state that returned, and an action that was done twice."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from extraction.deduplication import EventPair, Thresholds, candidates_of, compare, merge
from extraction.drafts import DropCounter, EventDraft
from extraction.recurrence import repeated_routines
from memory.records import Event, NotedEvent
from models.embedding.port import Embedder
from runtime.redis.session_history import NotedRoutine
from runtime.settings import ExtractionSettings
from tests.made_records import made_event

MORNING = datetime(2023, 5, 7, 7, tzinfo=UTC)
SOON = timedelta(minutes=2)
EVENING = timedelta(hours=12)
THRESHOLDS = Thresholds.of(ExtractionSettings())
OPEN, CLOSED = "The garage door is open.", "The garage door is closed."


def event(content: str, *messages: int, after: timedelta = timedelta(), dated: datetime | None = None, **properties: Any) -> EventDraft:
    return EventDraft(
        type="note",
        content=content,
        properties=properties,
        importance=0.5,
        keywords=(),
        segment=None,
        messages=messages or (0,),
        event_time=dated or MORNING + after,
        said_at=MORNING + after,
    )


def compare_alike(events: list[EventDraft], *session_events: NotedEvent, cosine: float = 1.0) -> tuple[list[EventPair], list[EventPair]]:
    """The pairs, where events of the same words have one vector, and others the cosine."""
    candidates = candidates_of(events, session_events)
    contents = list(dict.fromkeys(each.statement.content for each in candidates))
    factor = np.linalg.cholesky(np.full((len(contents), len(contents)), cosine) + np.eye(len(contents)) * (1.0 - cosine + 1e-9))
    return compare(candidates, [factor[contents.index(each.statement.content)] for each in candidates], THRESHOLDS)


def test_a_state_that_returned_is_no_repetition() -> None:
    events = [event(OPEN, 0), event(CLOSED, 2, after=SOON), event(OPEN, 4, after=2 * SOON)]
    same, doubtful = compare_alike(events, cosine=0.93)

    assert same == []
    assert doubtful == [EventPair(0, 1), EventPair(1, 2)]
    assert merge(events, same, DropCounter(), from_earlier_windows=0) == tuple(events)


def test_the_order_is_that_of_messages_not_answers() -> None:
    assert compare_alike([event(OPEN, 0), event(OPEN, 4), event(CLOSED, 2)], cosine=0.93)[0] == []
    assert compare_alike([event(OPEN, 0), event(CLOSED, 4), event(OPEN, 2)], cosine=0.93)[0] == [EventPair(0, 2)]


def test_a_state_that_returned_after_a_window_is_kept() -> None:
    was_open, was_closed = NotedEvent("note", OPEN, {}, MORNING), NotedEvent("note", CLOSED, {}, MORNING)

    assert compare_alike([event(OPEN)], was_open, was_closed, cosine=0.93) == ([], [EventPair(1, 2)])
    assert compare_alike([event(CLOSED), event(OPEN, 2)], was_open, cosine=0.93) == ([], [EventPair(0, 1), EventPair(1, 2)])
    assert compare_alike([event(OPEN)], was_closed, was_open, cosine=0.93)[0] == [EventPair(1, 2)]


def test_a_value_that_returned_is_kept() -> None:
    worded = [event("The fee is 5 euros.", 0), event("The fee is 8 euros.", 2), event("The fee is 5 euros.", 4)]
    stated = [event("The door was checked.", message, state=state) for message, state in ((0, "open"), (2, "closed"), (4, "open"))]

    assert compare_alike(worded) == ([], [])
    assert compare_alike(stated) == ([], [])


def test_a_changed_state_counts_below_the_doubtful_threshold() -> None:
    assert compare_alike([event("Ann is in Oslo.", 0), event("Ann is in Bergen.", 2), event("Ann is in Oslo.", 4)], cosine=0.76) == ([], [])
    unlike = [event("Ann is in Oslo.", 0), event("Bob cooked soup yesterday.", 2), event("Ann is in Oslo.", 4)]
    assert compare_alike(unlike, cosine=0.76)[0] == [EventPair(0, 2)]


def test_three_wordings_become_one_if_the_model_agrees() -> None:
    events = [event("Ann moved to Oslo.", 0), event("Ann relocated to Oslo.", 2), event("Ann moved to Oslo.", 4)]
    same, doubtful = compare_alike(events, cosine=0.93)
    (one,) = merge(events, [*same, *doubtful], DropCounter(), from_earlier_windows=0)

    assert set(one.messages) == {0, 2, 4}


async def test_real_embeddings_keep_returned_states(embedder: Embedder) -> None:
    states = [
        (OPEN, CLOSED),
        ("Ann is in Oslo.", "Ann is in Bergen."),
        ("The server is up.", "The server is down."),
        ("Ann is happy.", "Ann is sad."),
    ]
    for first, second in states:
        events = [event(first, 0), event(second, 2), event(first, 4)]
        vectors = [each.dense for each in await embedder.embed_documents([each.content for each in events])]

        assert compare(candidates_of(events, ()), vectors, THRESHOLDS)[0] == []


PUSH_UPS = "Ann did 20 push-ups."


@pytest.mark.parametrize(
    "again",
    [
        event(PUSH_UPS, 1, after=EVENING),
        event(PUSH_UPS, 1, after=EVENING, count=20),
        event(PUSH_UPS, 6, after=SOON, count=20),
        event("Ann did 20 push-ups again.", 1, after=SOON),
    ],
)
def test_a_measured_deed_done_twice_is_only_doubtful(again: EventDraft) -> None:
    assert compare_alike([event(PUSH_UPS, 0, count=20), again]) == ([], [EventPair(0, 1)])


def test_a_duration_is_no_time_of_day() -> None:
    again = event("Ann ran in 25:00 once.", 8, after=EVENING, minutes=25)
    assert compare_alike([event("Ann ran in 25:00 once.", 0, minutes=25), again]) == ([], [EventPair(0, 1)])


def test_a_measured_deed_of_another_window_is_doubtful() -> None:
    assert compare_alike([event(PUSH_UPS, 0, after=EVENING, count=20)], NotedEvent("note", PUSH_UPS, {"count": 20}, MORNING)) == (
        [],
        [EventPair(0, 1)],
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (event(PUSH_UPS, 0, count=20), event(PUSH_UPS, 1, after=SOON, count=20)),
        (event("Ann has two dogs.", 0), event("Ann has two dogs.", 8, after=SOON)),
        (event("Ann (7 May 2023): Ann likes tea.", 0), event("Ann (7 May 2023): Ann likes tea.", 8, after=EVENING)),
        (event("Ann moved to Oslo in 2019.", 0), event("Ann moved to Oslo in 2019.", 8, after=EVENING)),
        (event("Ann ran 5 km at 7:30.", 0, km=5), event("Ann ran 5 km at 7:30.", 8, after=EVENING, km=5)),
        (event("Ann ran 5 km.", 0, dated=MORNING, km=5), event("Ann ran 5 km.", 8, after=EVENING, dated=MORNING, km=5)),
        (event("Ann likes tea.", 0, is_true=True), event("Ann likes tea.", 8, after=EVENING, is_true=True)),
    ],
)
def test_an_event_mentioned_twice_is_one(one: EventDraft, other: EventDraft) -> None:
    assert compare_alike([one, other]) == ([EventPair(0, 1)], [])


ROUTINE = "Read the task list if it is there and follow it, or reply that nothing needs attention."


def test_a_routine_of_many_days_is_one_event() -> None:
    tomorrow = timedelta(days=1)
    assert compare_alike([event(ROUTINE, 0), event(ROUTINE, 4, after=tomorrow)])[0] == [EventPair(0, 1)]
    earlier = NotedEvent("note", ROUTINE, {}, MORNING)
    assert compare_alike([event(ROUTINE, 0, after=3 * tomorrow)], earlier)[0] == [EventPair(0, 1)]


@pytest.mark.parametrize("content", ["I went for a run.", f"{ROUTINE} It took 20 minutes."])
def test_deeds_of_two_days_stay_two(content: str) -> None:
    assert compare_alike([event(content, 0), event(content, 4, after=timedelta(days=1))])[0] == []


HEARTBEAT = "Read the task list of the team if it exists, follow it, and reply that nothing needs attention."
CHECK = "The back door of the old house at the lake is open since this morning."


def said(content: str, *, days: float = 0, window: str = "w9", messages: tuple[str, ...] = ("m1",), **properties: Any) -> Event:
    time = MORNING + timedelta(days=days)
    return made_event(
        content, time, id=f"{window}/{content[:5]}", window_id=window, type="note", properties=properties, message_ids=list(messages)
    )


def noted(content: str, *, days: float = 0, window: str = "w1", **properties: Any) -> NotedRoutine:
    return NotedRoutine(window, NotedEvent("note", content, properties, MORNING + timedelta(days=days)))


def joined(event: Event, *known: NotedRoutine, tool_messages: tuple[str, ...] = ()) -> bool:
    return bool(repeated_routines([event], known, window_id="w9", tool_messages=tool_messages))


def test_a_routine_of_another_session_is_joined() -> None:
    assert joined(said(HEARTBEAT, days=1), noted(HEARTBEAT))
    assert joined(said(HEARTBEAT, days=7), noted(HEARTBEAT))
    assert not joined(said(HEARTBEAT, days=8), noted(HEARTBEAT)), "once a week it is stored again"
    assert not joined(said(HEARTBEAT), noted(HEARTBEAT, days=1)), "the first one stays"
    assert not joined(said(HEARTBEAT, days=1), noted(HEARTBEAT, window="w9")), "extracted again, it repeats nothing"


@pytest.mark.parametrize(
    ("event", "earlier"),
    [
        (said("I went for a run.", days=1), noted("I went for a run.")),
        (said(f"{HEARTBEAT} It took 20 minutes.", days=1), noted(f"{HEARTBEAT} It took 20 minutes.")),
        (said(HEARTBEAT, days=1, km=5), noted(HEARTBEAT, km=5)),
        (said(HEARTBEAT, days=1, place="Oslo"), noted(HEARTBEAT, place="Rome")),
        (said(f"{HEARTBEAT} Again!", days=1), noted(HEARTBEAT)),
        (said(HEARTBEAT + " x" * 600, days=1), noted(HEARTBEAT + " x" * 600)),
    ],
)
def test_possible_news_is_not_merged(event: Event, earlier: NotedRoutine) -> None:
    assert not joined(event, earlier)


def test_a_state_that_returned_elsewhere_is_news() -> None:
    closed = noted(CHECK.replace("open", "closed"), days=1, window="w2")
    assert joined(said(CHECK, days=2), noted(CHECK))
    assert joined(said(CHECK, days=2), noted(CHECK), noted(HEARTBEAT, days=1))
    assert not joined(said(CHECK, days=2), noted(CHECK), closed)
    assert joined(said(CHECK, days=2), noted(CHECK, days=1.5), closed)


def test_another_matter_of_the_same_day_changes_nothing() -> None:
    code = noted("Bot: HEARTBEAT_OK", days=2, window="w2")
    assert joined(said(CHECK, days=2), noted(CHECK), code)
    assert joined(said("Bot: HEARTBEAT_OK", days=2), noted("Bot: HEARTBEAT_OK"), noted(CHECK, days=2, window="w2"))


def test_a_code_is_no_changed_state_of_its_prompt() -> None:
    prompt, code = "Ann: Open TASKS.md and do what it says. If no task is left, answer TASKS_DONE.", "Bot: TASKS_DONE"
    assert joined(said(prompt, days=2), noted(prompt), noted(code, days=1, window="w2"))
    assert joined(said(code, days=2), noted(code), noted(prompt, days=1, window="w2"))
    assert not joined(said("DOOR_OPEN", days=2), noted("DOOR_OPEN"), noted("DOOR_CLOSED", days=1, window="w2")), "one code changes another"


def test_two_answers_of_a_tool_are_two() -> None:
    assert not joined(said(HEARTBEAT, days=1, messages=("m1", "m2")), noted(HEARTBEAT), tool_messages=("m2",))


NOTHING_NEW = "I checked the mailbox, nothing is new."


def at_third_time(content: str, *days: float, assistant: bool = True) -> bool:
    known = [noted(content, days=day, window=f"w{number}") for number, day in enumerate(days)]
    assistants = ["m1"] if assistant else []
    event = said(content, days=3)
    return bool(repeated_routines([event], known, window_id="w9", tool_messages=(), assistant_messages=assistants))


def test_an_assistants_short_text_counts_from_three_times() -> None:
    assert at_third_time(NOTHING_NEW, 0, 1)
    assert not at_third_time(NOTHING_NEW, 1), "twice may be two occasions"
    assert not at_third_time(NOTHING_NEW, 1, 1), "at one time it was said once"
    assert not at_third_time(NOTHING_NEW, 0, 1, assistant=False), "a person says it of each day"
    assert not at_third_time("You ran 5 km.", 0, 1)
    assert not at_third_time(NOTHING_NEW, -8, -7), "once a week it is stored again"


def test_a_window_of_many_days_keeps_two_short_texts() -> None:
    events = [said(NOTHING_NEW, days=day, messages=(f"m{day}",)).model_copy(update={"id": f"e{day}"}) for day in range(4)]
    ids = [f"m{day}" for day in range(4)]
    assert repeated_routines(events, (), window_id="w9", tool_messages=(), assistant_messages=ids) == {"e2", "e3"}
    assert repeated_routines(events, (), window_id="w9", tool_messages=(), assistant_messages=()) == frozenset()


@pytest.mark.parametrize("code", ["HEARTBEAT_OK", "[NO_REPLY]", "Bot: HEARTBEAT_OK."])
def test_a_status_code_is_a_routine_at_once(code: str) -> None:
    assert joined(said(code, days=1), noted(code))


@pytest.mark.parametrize("text", ["I'm tired.", "OK", "COVID", "My key is under HOME_DIR and I forgot", "I'm late: sorry"])
def test_a_persons_short_text_is_never_a_routine(text: str) -> None:
    assert not joined(said(text, days=1), noted(text), noted(text, days=0.5, window="w2"), noted(text, days=0.7, window="w3"))
