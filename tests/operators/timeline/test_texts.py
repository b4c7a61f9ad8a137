"""A period's text counts only for its events, and the entity does not ask for a text that a rebuild will bring."""

import pytest

from memory.records import Merged
from operators.entities.entity_state import EntityState
from operators.entities.render import published_memories
from operators.llm.llm_operator import Question
from operators.llm.merging import SettledEntity, apply_outcome, plan_questions
from operators.registry import bound_operator
from operators.timeline.compress import TimeCompress
from tests.operators.timeline.diaries import ANN, LIFE, applied, contribution, day, story, tick

FIRST = contribution(story("apply", "a", 0), story("apply", "b", 1), position=0)
LATE = contribution(story("apply", "late", 2), position=1)


def operator() -> TimeCompress:
    driver = bound_operator(LIFE, "story")
    assert driver is not None
    assert isinstance(driver.operator, TimeCompress)
    return driver.operator


def asked(state: EntityState) -> SettledEntity:
    """The entity's questions."""
    return plan_questions(state, LIFE, has_llm=True)


def outcome(question: Question, text: str) -> Merged:
    """The outcome of an answer, as the log has it."""
    answered = operator().outcome(question, f'{{"text": "{text}"}}', model="m")
    return Merged(property="story", part=answered.part, outcome=answered.content)


def content(state: EntityState) -> tuple[str, object]:
    """The content of the only summary, and whether it is pending."""
    (found,) = published_memories(state, LIFE, "acme", ANN).values()
    return found.content.partition("): ")[2], found.written is not None


def test_an_answer_covers_the_events_of_its_question() -> None:
    settled = asked(applied(None, FIRST, tick(day(20))))
    ((_, question),) = settled.questions
    assert content(settled.state) == ("a happened; b happened", True)
    assert asked(settled.state).questions == (), "one question is open at a time"
    late = asked(applied(settled.state, LATE))
    assert late.questions == ()
    with_text = apply_outcome(late.state, outcome(question, "A and b."), LIFE, "").state
    assert content(with_text)[0] == "a happened; b happened; late happened"
    ((_, again),) = asked(with_text).questions
    with_text = apply_outcome(asked(with_text).state, outcome(again, "All three."), LIFE, "").state
    assert content(with_text) == ("All three.", False)
    assert asked(with_text).state is with_text


def test_a_month_of_one_week_takes_over_its_text() -> None:
    week = asked(applied(None, FIRST, tick(day(20))))
    ((_, question),) = week.questions
    written = apply_outcome(week.state, outcome(question, "A and b."), LIFE, "").state
    month = asked(applied(written, tick(day(80))))
    assert month.questions == ()
    assert content(month.state) == ("A and b.", False)
    (merged,) = month.merged
    assert [(property_name, part) for property_name, part in month.dropped] == [("story", question.part)]
    assert asked(month.state).state is month.state

    again = asked(applied(apply_outcome(None, merged, LIFE, "").state, FIRST, tick(day(20)), tick(day(80))))
    assert (again.questions, content(again.state)) == ((), ("A and b.", False)), "a rebuild asks no model either"


def test_a_month_with_a_further_week_is_asked_about() -> None:
    week = asked(applied(None, FIRST, tick(day(20))))
    ((_, question),) = week.questions
    written = apply_outcome(week.state, outcome(question, "A and b."), LIFE, "").state
    month = asked(applied(written, contribution(story("apply", "c", 8), position=1), tick(day(80))))
    assert [str(each.content["events"]).count("happened") for _, each in month.questions] == [3]
    assert month.merged == ()


def test_a_repeated_answer_changes_nothing() -> None:
    settled = asked(applied(None, FIRST, tick(day(20))))
    ((_, question),) = settled.questions
    with_text = apply_outcome(settled.state, outcome(question, "A and b."), LIFE, "")
    assert with_text.changed
    assert not apply_outcome(with_text.state, outcome(question, "Others."), LIFE, "").changed


def test_a_rebuild_waits_for_texts_written_later() -> None:
    live = applied(None, FIRST, tick(day(20)), LATE)
    ((_, question),) = asked(live).questions
    written = outcome(question, "All three.")
    rebuilt = apply_outcome(None, written, LIFE, "").state
    assert published_memories(rebuilt, LIFE, "acme", ANN) == {}
    halfway = applied(asked(rebuilt).state, FIRST, tick(day(20)))
    assert asked(halfway).questions == ()
    assert content(halfway) == ("a happened; b happened", False)
    assert content(applied(asked(halfway).state, LATE)) == ("All three.", False)


def test_a_rebuild_waits_for_the_tick_that_summarised() -> None:
    live = asked(applied(None, FIRST, tick(day(20))))
    ((_, question),) = live.questions
    rebuilt = applied(asked(apply_outcome(None, outcome(question, "A and b."), LIFE, "").state).state, FIRST)
    waiting = asked(rebuilt)
    assert (waiting.questions, waiting.dropped) == ((), ())
    ticked = asked(applied(waiting.state, tick(day(20))))
    assert ticked.questions == ()
    assert content(ticked.state) == ("A and b.", False)


def test_a_single_event_is_its_own_summary() -> None:
    state = applied(None, contribution(story("apply", "a", 0)), tick(day(20)))
    assert asked(state).state is state


def test_without_a_model_nothing_is_asked() -> None:
    state = applied(None, FIRST, tick(day(20)))
    assert plan_questions(state, LIFE, has_llm=False).state is state


def test_retracting_an_event_removes_its_text() -> None:
    settled = asked(applied(None, FIRST, tick(day(20))))
    ((_, question),) = settled.questions
    with_text = apply_outcome(settled.state, outcome(question, "A and b."), LIFE, "").state
    empty = asked(applied(with_text, contribution(story("retract", "a", 0), story("retract", "b", 1), position=1)))
    assert empty.dropped == (), "they may come again, as a window that is extracted again"
    again = asked(applied(empty.state, FIRST.model_copy(update={"position": 2}), tick(day(20))))
    assert content(again.state) == ("A and b.", False)
    assert again.questions == ()
    later = asked(applied(empty.state, contribution(story("apply", "c", 50), position=2)))
    assert later.dropped == (("story", "2026-W02"),)


@pytest.mark.parametrize(("events", "limit"), [(2, 200), (20, 200)])
def test_a_summary_is_shorter_than_its_events(events: int, limit: int) -> None:
    state = applied(None, contribution(*(story("apply", f"e{number}", 0) for number in range(events))), tick(day(20)))
    ((_, question),) = asked(state).questions
    assert question.content["limit"] == limit
    assert len(str(operator().outcome(question, f'{{"text": "{"word " * 400}"}}', model="m").content["text"])) <= limit
