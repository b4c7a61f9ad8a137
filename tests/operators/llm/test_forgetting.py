"""Forgetting in an entity after an erasure: by rule immediately, and by a question to the model if it has merged the words."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState, to_bytes, without_messages
from operators.llm.merged_text import MAX_RECENT
from operators.llm.merging import SettledEntity, forget, outcomes_of, plan_questions
from tests.operators.merging_log import STORY, MergedEntity, contribution, entity_type, plain_answer, said, undated

KIND = entity_type(Characters=8000)


def erased(entity: MergedEntity, *names: str, position: int = 90) -> SettledEntity:
    """The entity after the retraction of the statements with these names; the text of a statement contains its name."""
    retracted = contribution([change for name in names for change in said(name, name, op="retract")], position=position)
    return forget(apply_contribution(entity.state, retracted, KIND).state, KIND, has_llm=entity.has_llm)


def talked(*names: str, has_llm: bool = True, is_answered: bool = True) -> MergedEntity:
    """An entity of statements that say their names, one after the other."""
    entity = MergedEntity(KIND, has_llm=has_llm)
    for position, name in enumerate(names):
        entity.contribute(contribution(said(name, name), position=position))
        if is_answered:
            entity.answer_all()
    return entity


def lines_of(state: EntityState) -> list[str]:
    return [undated(line) for line in state.properties[STORY][1]["base"]["text"].splitlines()]


@pytest.mark.parametrize("has_llm", [False, True])
@pytest.mark.parametrize("is_answered", [False, True])
def test_the_rule_merges_the_remaining_statements(has_llm: bool, is_answered: bool) -> None:
    entity = talked("tea", "secret", "rain", has_llm=has_llm, is_answered=is_answered)
    assert b"secret" in entity.raw
    forgotten = erased(entity, "secret")
    assert sorted(lines_of(forgotten.state)) == ["rain", "tea"]
    assert b"secret" not in to_bytes(forgotten.state), "neither among the recent statements, nor among those that wait"
    (outcome,) = forgotten.merged
    assert (outcome.property, outcome.outcome["by"], outcome.outcome["unasked"]) == (STORY, "rule", has_llm)
    assert b"secret" not in orjson.dumps(outcome.outcome), "the log keeps it in place of the one before"
    assert (forgotten.questions, forgotten.dropped) == ((), ())


def test_a_model_is_asked_about_the_remaining_statements() -> None:
    forgotten = erased(talked("tea", "secret", "rain"), "secret")
    ((_, question),) = plan_questions(forgotten.state, KIND, has_llm=True).questions
    assert "secret" not in plain_answer(question)
    assert "secret" not in orjson.dumps(question.content).decode()


def test_nothing_left_is_nothing_written() -> None:
    for has_llm in (False, True):
        forgotten = erased(talked("secret", has_llm=has_llm), "secret")
        assert lines_of(forgotten.state) == []
        assert b"secret" not in to_bytes(forgotten.state)
        assert forgotten.state.empty
        assert [each.outcome["text"] for each in forgotten.merged] == [""]
        assert plan_questions(forgotten.state, KIND, has_llm=has_llm).questions == ()


def test_an_open_question_is_answered_in_vain() -> None:
    """The answer has the words; what the rule has merged meanwhile covers more."""
    entity = talked("tea", "secret", is_answered=False)
    entity.state = erased(entity, "secret").state
    while entity.questions:
        entity.apply_outcome(entity.answer_next())
    assert b"secret" not in entity.raw
    assert lines_of(entity.state) == ["tea"]


def settled(*, has_llm: bool = True) -> MergedEntity:
    """An entity whose first statements have settled in the text."""
    entity = talked(*(f"s{number:02d}" for number in range(MAX_RECENT + 8)), has_llm=has_llm)
    assert entity.state is not None
    assert entity.state.properties[STORY][1]["base"]["settled"]
    return entity


def test_a_model_gets_the_statements_to_remove() -> None:
    """Only the model can remove words that it has merged: until its answer the words stay, for the question."""
    entity = settled()
    forgotten = erased(entity, "s00")
    assert (forgotten.merged, forgotten.dropped) == ((), ())
    asking = plan_questions(forgotten.state, KIND, has_llm=True)
    entity.state, entity.questions = asking.state, [question for _, question in asking.questions]
    content: dict[str, Any] = entity.questions[0].content
    assert [text for _, text in content["withdrawn"]] == ["s00"]
    entity.answer_all()
    assert b"s00" not in entity.raw


def test_without_a_model_the_rule_takes_lines_out() -> None:
    forgotten = erased(settled(has_llm=False), "s00")
    assert b"s00" not in to_bytes(forgotten.state)
    assert "s01" in lines_of(forgotten.state)


def test_statements_without_the_erased_user_are_kept() -> None:
    entity = talked("tea", "rain")
    assert entity.state is not None
    forgotten = forget(entity.state, KIND, has_llm=True)
    assert forgotten.state is entity.state
    assert forgotten.merged == ()


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12), st.booleans())
def test_no_erased_statement_outlives_the_rule(statements: list[tuple[bool, bool]], has_llm: bool) -> None:
    """Whatever was answered meanwhile: of recent statements nothing is left, and the others all are."""
    entity = MergedEntity(KIND, has_llm=has_llm)
    names = [f"{'secret' if is_secret else 'open'}-{number}" for number, (is_secret, _) in enumerate(statements)]
    for position, (name, (_, is_answered)) in enumerate(zip(names, statements, strict=True)):
        entity.contribute(contribution(said(name, name), position=position))
        if is_answered:
            entity.answer_all()
    secrets = [name for name in names if name.startswith("secret")]
    if secrets:
        state = erased(entity, *secrets).state
        assert b"secret" not in to_bytes(state)
        assert sorted(lines_of(state)) == sorted(name for name in names if name not in secrets)


def test_an_outcome_is_kept_once_something_was_merged() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(contribution([*said("tea", "tea"), *said("rain", "rain")], position=0))
    assert entity.state is not None
    assert outcomes_of(entity.state, KIND) == []
    entity.answer_all()
    (kept,) = outcomes_of(entity.state, KIND)
    assert (kept.property, kept.part, kept.outcome) == (STORY, "", entity.state.properties[STORY][1]["base"])
    other = {**entity.state.properties, STORY: ["PATCH", entity.state.properties[STORY][1]]}
    of_another_operator = EntityState(properties=other)
    assert outcomes_of(of_another_operator, KIND) == []


def test_messages_that_an_erasure_names_are_forgotten() -> None:
    state = EntityState(message_ids=[[3, "m3"], [2, "m2"], [1, "m1"]], version=7)
    left = without_messages(state, contribution([], position=0).model_copy(update={"forgotten_messages": ["m1", "m9", "m3"]}))
    assert left == EntityState(message_ids=[[2, "m2"]], version=7)
    assert without_messages(state, contribution([], position=0)) == state
