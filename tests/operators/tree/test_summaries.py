"""Summaries of a tree's nodes: the memories, the questions, and the texts of a model."""

import random
from typing import cast

import orjson
import pytest

from memory.records import Memory, Merged
from operators.entities.entity_state import EntityState
from operators.entities.render import published_changes, published_memories, publishes, render
from operators.errors import UnusableAnswerError
from operators.llm.llm_operator import Question
from operators.llm.merging import SettledEntity, apply_outcome, forget, outcomes_of, plan_questions
from operators.tree.published import MAX_EXTRACT
from tests.operators.tree.trees import ANN, applied, nodes_of, operator, tree_type, turn

TALK = tree_type(Questions=16)
FEW = tree_type()
EAST, NEAR_EAST, NORTH, NEAR_NORTH = (1, 0, 0), (0.95, 0.1, 0), (0, 1, 0), (0, 0.95, 0.1)
FOUR = (
    turn("apply", "a", EAST, minute=1),
    turn("apply", "b", NEAR_EAST, minute=2, importance=0.9),
    turn("apply", "c", NORTH, minute=3),
    turn("apply", "d", NEAR_NORTH, minute=4),
)


def published(state: EntityState) -> dict[str, Memory]:
    """The memories of the nodes by key."""
    return {str(each.properties["node"]): each for each in published_memories(state, TALK, "acme", ANN).values()}


def asked(state: EntityState, *, has_llm: bool = True) -> SettledEntity:
    return plan_questions(state, TALK, has_llm=has_llm)


def outcome(question: Question, text: str) -> Merged:
    answered = operator(TALK).outcome(question, f'{{"text": "{text}"}}', model="m")
    return Merged(property="topics", part=answered.part, outcome=answered.content)


def answered(state: EntityState, text: str) -> EntityState:
    """The state after all its questions are answered alike."""
    while (settled := asked(state)).questions:
        state = settled.state
        for _, question in settled.questions:
            state = apply_outcome(state, outcome(question, text), TALK, "").state
    return settled.state


def test_nodes_are_memories_with_parent_and_depth() -> None:
    assert publishes(TALK)
    more = turn("apply", "e", (0.9, 0.3, 0), minute=5)
    found = published(applied(None, TALK, *FOUR, more))
    assert set(found) == {"b+", "d+", "e+"}
    top, low = found["b+"], found["e+"]
    assert (top.kind, top.user, top.parent, top.depth) == ("summary", ANN, None, 0)
    assert (low.parent, low.depth) == (top.id, 1)
    assert top.content == "a was said; b was said; e was said"
    assert top.message_ids == ["m-e", "m-b", "m-a"]
    assert sorted([*top.properties["leaves"], *low.properties["leaves"]]) == ["a", "b", "e"]  # type: ignore[misc]
    assert (top.properties["event_count"], top.importance) == (3, 0.9)
    shown = render(applied(None, TALK, *FOUR), TALK, "acme", ANN)
    assert shown.properties["topics"] == "4 in 6 nodes, 2 at the top"


def test_an_extract_keeps_the_most_important() -> None:
    long = [turn("apply", f"e{each:02}", EAST, minute=each, importance=each / 100, text="word " * 40 + str(each)) for each in range(9)]
    (top,) = (each for each in published(applied(None, TALK, *long)).values() if each.depth == 0)
    assert len(top.content) <= MAX_EXTRACT + 10
    assert top.content.endswith(" 8")
    assert " 0;" not in top.content


def test_an_extract_of_several_days_names_them() -> None:
    days = [
        turn("apply", name, EAST, minute=minute, text=f"{name}: I ran yesterday.")
        for name, minute in (("a", 0), ("b", 60 * 24), ("c", 60 * 25))
    ]
    (top,) = (each for each in published(applied(None, TALK, *days)).values() if each.depth == 0)
    assert top.content == "2026-01-05 a: I ran yesterday; 2026-01-06 b: I ran yesterday; 2026-01-06 c: I ran yesterday"


def test_an_answer_replaces_the_extract() -> None:
    state = applied(None, TALK, *FOUR)
    settled = asked(state)
    assert [question.part for _, question in settled.questions] == ["b+", "d+"]
    assert asked(settled.state).questions == (), "about each node one question is open"
    assert published(settled.state)["b+"].written is not None
    with_text = apply_outcome(settled.state, outcome(settled.questions[0][1], "East."), TALK, "").state
    assert published(with_text)["b+"].content == "East."
    assert published(with_text)["d+"].content == "c was said; d was said"


def test_a_batch_asks_a_bounded_number() -> None:
    axes = [[float(each == axis) for each in range(12)] for axis in range(12)]
    changes = [turn("apply", f"{name}{number}", axis) for number, axis in enumerate(axes) for name in "xy"]
    state = applied(None, FEW, *changes)
    first = plan_questions(state, FEW, has_llm=True)
    assert len(first.questions) == 2
    state = first.state
    for _, question in first.questions:
        state = apply_outcome(state, outcome(question, "Told."), FEW, "").state
        assert plan_questions(state, FEW, has_llm=True).questions == (), "answers cause no further questions"
    state = applied(state, FEW, turn("apply", "z", axes[0]), first=len(changes))
    assert len(plan_questions(state, FEW, has_llm=True).questions) == 2


def test_growth_by_half_makes_a_text_stale() -> None:
    state = answered(applied(None, TALK, *FOUR[:2]), "East.")
    state = applied(state, TALK, turn("apply", "e", (0.9, 0.3, 0), minute=5), first=10)
    assert published(state)["b+"].content == "East.", "a new event makes a text incomplete, not wrong"
    questions = {question.part: question.content for _, question in asked(state).questions}
    assert questions["b+"]["before"] == "East."
    assert questions["b+"]["added"] == [["2026-01-05", "b was said; e was said"]]
    state = applied(answered(state, "All three."), TALK, turn("apply", "f", (0.9, -0.3, 0), minute=6), first=20)
    assert "b+" not in {question.part for _, question in asked(state).questions}


def test_a_retraction_drops_the_texts_above() -> None:
    state = answered(applied(None, TALK, *FOUR, turn("apply", "e", EAST, minute=5)), "Text.")
    assert {each.content for each in published(state).values()} == {"Text."}
    state = applied(state, TALK, turn("retract", "e", EAST, minute=5), first=10)
    found = published(state)
    assert found["b+"].content == "a was said; b was said"
    assert found["d+"].content == "Text."
    forgotten = forget(state, TALK, has_llm=True)
    assert ("topics", "b+") in forgotten.dropped
    assert [each.part for each in outcomes_of(forgotten.state, TALK)] == ["d+"]


def test_a_late_answer_of_retracted_words_is_hidden() -> None:
    settled = asked(applied(None, TALK, *FOUR[:2], turn("apply", "e", EAST)))
    state = applied(settled.state, TALK, turn("retract", "e", EAST), first=10)
    for _, question in settled.questions:
        state = apply_outcome(state, outcome(question, "Retracted words."), TALK, "").state
    assert published(state)["b+"].content == "a was said; b was said"
    assert published(answered(state, "Again."))["b+"].content == "Again."


def test_a_corrected_event_does_not_revive_a_text() -> None:
    state = answered(applied(None, TALK, *FOUR[:2]), "Old words.")
    state = applied(state, TALK, turn("retract", "b", NEAR_EAST), turn("apply", "b", NEAR_EAST, minute=2, text="b is corrected"), first=10)
    assert "b+" in nodes_of(state), "the node has the same key again"
    assert published(state)["b+"].content == "a was said; b is corrected"


def test_a_rebuild_waits_for_later_texts() -> None:
    live = answered(applied(None, TALK, *FOUR), "Told.")
    rebuilt: EntityState | None = None
    for merged in outcomes_of(live, TALK):
        rebuilt = apply_outcome(rebuilt, merged, TALK, "").state
    assert rebuilt is not None
    assert published(rebuilt) == {}
    for position, change in enumerate(FOUR):
        halfway = asked(applied(rebuilt, TALK, change, first=position))
        assert (halfway.questions, halfway.dropped) == ((), ())
        rebuilt = halfway.state
    assert rebuilt.properties == live.properties
    assert published(rebuilt) == published(live)


def test_without_a_model_nothing_is_asked() -> None:
    state = applied(None, TALK, *FOUR)
    assert asked(state, has_llm=False).state is state


def test_an_answer_by_rule_leaves_the_extract() -> None:
    settled = asked(applied(None, TALK, *FOUR[:2]))
    ((_, question),) = settled.questions
    ruled = operator(TALK).outcome_by_rule(question)
    state = apply_outcome(settled.state, Merged(property="topics", part=ruled.part, outcome=ruled.content), TALK, "").state
    assert published(state)["b+"].content == "a was said; b was said"
    assert asked(state).state is state, "it is not asked again"
    with pytest.raises(UnusableAnswerError):
        operator(TALK).outcome(question, "no", model="m")


def test_a_prompt_has_the_summary_and_the_added() -> None:
    ((_, question),) = asked(applied(None, TALK, *FOUR[:2])).questions
    prompt = operator(TALK).prompt(question, subject="topics of ann")
    asked_fields = orjson.loads(prompt.user)
    assert asked_fields == {
        "tree": "topics of ann",
        "memories": 2,
        "max_characters": 600,
        "summary": "",
        "added": [{"day": "2026-01-05", "says": "a was said"}, {"day": "2026-01-05", "says": "b was said"}],
    }


def test_a_prompt_names_the_days_of_earlier_nodes() -> None:
    days = [turn("apply", name, vector, minute=minute) for name, vector, minute in (("a", EAST, 0), ("b", NEAR_EAST, 24 * 60))]
    state = answered(applied(None, TALK, *days), "East.")
    state = applied(state, TALK, turn("apply", "e", (0.9, 0.3, 0), minute=2 * 24 * 60), first=10)
    added = {question.part: question.content["added"] for _, question in asked(state).questions}
    assert [day for day, _ in cast(list[list[str]], added["b+"])] == ["2026-01-06/2026-01-07"], "the node below has one memory of each day"
    assert added["e+"] == [["2026-01-06", "b was said"], ["2026-01-07", "e was said"]]


def test_a_question_includes_unsummarised_child_nodes() -> None:
    state = answered(applied(None, TALK, *FOUR[:2], turn("apply", "e", (0.9, 0.3, 0), minute=5)), "East.")
    more = [turn("apply", name, (0.9, 0.3, 0.01 * minute), minute=minute) for minute, name in enumerate(("f", "g", "h"), 6)]
    questions = {question.part: question.content for _, question in asked(applied(state, TALK, *more, first=10)).questions}
    texts = [text for _, text in cast(list[list[str]], questions["b+"]["added"])]
    assert texts == ["East.", "f was said; g was said; h was said"]


def test_changes_equal_those_between_full_publications() -> None:
    chance = random.Random(3)
    small = tree_type(Nodes=24)
    state: EntityState | None = None
    present: dict[str, list[float]] = {}
    for position in range(150):
        before = state
        if present and chance.random() < 0.3:
            name = chance.choice(sorted(present))
            change = turn("retract", name, present.pop(name))
        else:
            name = f"e{position:03}"
            present[name] = [chance.gauss(0, 1) for _ in range(4)]
            change = turn("apply", name, present[name], minute=position)
        state = applied(state, small, change, first=position)
        old, new = (published_memories(each, small, "acme", ANN) for each in (before, state))
        changed, removed = published_changes(before, state, small, "acme", ANN)
        assert changed == {key: each for key, each in new.items() if old.get(key) != each}
        assert removed == old.keys() - new.keys()
