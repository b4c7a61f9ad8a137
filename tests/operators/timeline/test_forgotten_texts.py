"""TIME_COMPRESS deletes a text about events that its period no longer has, and names it."""

from memory.records import Merged
from memory.schema.model import EntityType
from operators.entities.entity_state import EntityState, to_bytes
from operators.entities.render import published_memories
from operators.llm.merging import SettledEntity, apply_outcome, forget, outcomes_of, plan_questions
from operators.registry import bound_operator
from operators.timeline.compress import TimeCompress
from tests.operators.timeline.diaries import ANN, LIFE, applied, contribution, day, story, tick

FIRST = contribution(story("apply", "a", 0), story("apply", "secret", 1), story("apply", "b", 2), position=0)
SECOND = contribution(story("apply", "c", 7), story("apply", "d", 8), position=1)
WEEK, NEXT = "2026-W02", "2026-W03"


def written(state: EntityState) -> EntityState:
    """The entity after answers to all its questions: each text contains the names of its events."""
    driver = bound_operator(LIFE, "story")
    assert driver is not None
    assert isinstance(driver.operator, TimeCompress)
    asked = plan_questions(state, LIFE, has_llm=True)
    state = asked.state
    for _, question in asked.questions:
        events_named = " and ".join(name for name in ("a", "secret", "b", "c", "d") if f"{name} happened" in str(question.content))
        outcome = driver.operator.outcome(question, f'{{"text": "Written: {events_named}."}}', model="m")
        state = apply_outcome(state, Merged(property="story", part=outcome.part, outcome=outcome.content), LIFE, "").state
    return state


def kept(state: EntityState, entity_type: EntityType) -> list[tuple[str, str]]:
    """The logged outcomes of an entity: property and part of each."""
    return [(each.property, each.part) for each in outcomes_of(state, entity_type)]


def two_weeks() -> EntityState:
    """Two weeks that are summarised, each with a text."""
    state = written(applied(None, FIRST, SECOND, tick(day(30))))
    assert kept(state, LIFE) == [("story", WEEK), ("story", NEXT)]
    assert b"Written: a and secret and b." in to_bytes(state)
    return state


def erased(state: EntityState, *names: str) -> SettledEntity:
    days = {"a": 0, "secret": 1, "b": 2, "c": 7, "d": 8}
    retracted = contribution(*(story("retract", name, days[name]) for name in names), position=9)
    return forget(applied(state, retracted), LIFE, has_llm=True)


def test_a_text_of_other_events_is_dropped_and_named() -> None:
    forgotten = erased(two_weeks(), "secret")
    assert forgotten.dropped == (("story", WEEK),)
    assert b"secret" not in to_bytes(forgotten.state)
    assert kept(forgotten.state, LIFE) == [("story", NEXT)], "the other week has its events"
    assert {each.content.partition("): ")[2] for each in published_memories(forgotten.state, LIFE, "acme", ANN).values()} == {
        "a happened; b happened",
        "Written: c and d.",
    }


def test_the_remaining_events_are_summarised_again() -> None:
    state = written(erased(two_weeks(), "secret").state)
    assert b"Written: a and b." in to_bytes(state)
    assert kept(state, LIFE) == [("story", WEEK), ("story", NEXT)]


def test_a_timeline_of_an_erased_user_keeps_no_text() -> None:
    forgotten = erased(two_weeks(), "a", "secret", "b", "c", "d")
    assert forgotten.dropped == (("story", WEEK), ("story", NEXT))
    assert kept(forgotten.state, LIFE) == []
    assert b"happened" not in to_bytes(forgotten.state)


def test_texts_of_their_events_stay_as_they_are() -> None:
    state = two_weeks()
    forgotten = forget(state, LIFE, has_llm=True)
    assert forgotten.state is state
    assert forgotten.dropped == ()


def test_a_late_text_is_dropped_next() -> None:
    """It was asked for before the erasure; the second command of an erasure finds it."""
    driver = bound_operator(LIFE, "story")
    assert driver is not None
    assert isinstance(driver.operator, TimeCompress)
    asked = plan_questions(applied(None, FIRST, tick(day(30))), LIFE, has_llm=True)
    ((_, question),) = asked.questions
    outcome = driver.operator.outcome(question, '{"text": "A secret."}', model="m")
    afterwards = erased(asked.state, "secret").state
    late = apply_outcome(afterwards, Merged(property="story", part=outcome.part, outcome=outcome.content), LIFE, "").state
    again = forget(late, LIFE, has_llm=True)
    assert again.dropped == (("story", WEEK),)
    assert b"secret" not in to_bytes(again.state)
