"""LLM_MERGE: statements of events at one time are merged in the order of the messages, also after states without orders."""

from itertools import permutations
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import Change
from operators.entities.entity_state import EntityState
from operators.entities.history_state import WalkedState
from operators.llm.llm_operator import Question
from tests.operators.merging_log import STORY, MergedEntity, contribution, entity_type, rebuilt, said

KIND = entity_type(Characters=8000)
SAID = ["first", "second", "third"]


def event(text: str, *, op: str = "apply") -> list[Change]:
    """One of three events of one time, whose ids stand the other way round than they were said."""
    place = SAID.index(text)
    return said(f"e{9 - place}", text, op=op, order=place + 1)


def of_old(changes: list[Change]) -> list[Change]:
    return [each.model_copy(update={"order": 0}) for each in changes]


def texts(question: Question) -> list[str]:
    content: dict[str, Any] = question.content
    return [text for _, text in content["added"]]


def lines(text: str | None) -> list[str]:
    return [line.rpartition(": ")[2] for line in (text or "").splitlines()]


@pytest.mark.parametrize("arrival", list(permutations(SAID)), ids=" ".join)
def test_statements_of_one_time_are_sent_in_order(arrival: tuple[str, ...]) -> None:
    entity = MergedEntity(KIND)
    entity.contribute(*(contribution(event(each), position=place) for place, each in enumerate(arrival)))
    (question,) = entity.questions
    assert texts(question) == SAID
    prompt = entity.operator.prompt(question, subject="s")
    assert [each["says"] for each in orjson.loads(prompt.user)["new"]] == SAID
    assert "of one day, the one that is given last" in prompt.system


def test_the_rule_writes_one_time_in_order() -> None:
    entity = MergedEntity(KIND, has_llm=False)
    entity.contribute(contribution([change for each in reversed(SAID) for change in event(each)], position=0))
    assert lines(entity.text) == SAID


def test_orders_outlive_a_merge_and_a_rebuild() -> None:
    entity = MergedEntity(KIND)
    log = [contribution([change for each in SAID for change in event(each)], position=0)]
    entity.contribute(*log)
    entity.answer_all()
    for each in (entity, rebuilt(entity, [log])):
        each.contribute(contribution([*event("second", op="retract")], position=1))
        assert texts(each.questions[0]) == ["first", "third"]


def test_a_history_is_walked_in_order() -> None:
    entity, walked = MergedEntity(KIND), WalkedState(None)
    first, *others = (contribution(event(each), position=place) for place, each in enumerate(SAID))
    entity.contribute(first)
    entity.answer_all()
    assert entity.newest is not None
    answer = contribution([], position=0).model_copy(update={"kind": "merged", "merged": entity.newest})
    for each in (first, *others, answer):
        walked.apply(each, KIND)
    entity.contribute(*others)
    assert lines(entity.text) == SAID
    assert story(walked.state) == story(entity.state)


def story(state: EntityState | None) -> Any:
    assert state is not None
    return state.properties[STORY][1]["changes"]


def test_a_question_in_flight_is_not_asked_again() -> None:
    entity = MergedEntity(KIND)
    entity.contribute(contribution(of_old([*event("first"), *event("third")]), position=0))
    (question,) = entity.questions
    assert entity.state is not None
    assert [len(each) for each in entity.state.properties[STORY][1]["changes"]] == [6, 6], "as rows were before orders"
    entity.contribute(contribution(event("second"), position=1))
    assert entity.asked == 1
    assert entity.apply_outcome(entity.answer_next())
    assert [texts(each) for each in entity.questions] == [["second"]], "the answer counts, and only what is new is asked about"
    then: Any = question.content["then"]
    assert then["recent"] == [[1714521600000000, "e7", "third"], [1714521600000000, "e9", "first"]]
    entity.answer_all()
    assert sorted(lines(entity.text)) == SAID


@given(st.lists(st.sampled_from(SAID), unique=True, min_size=1))
def test_a_repeated_statement_with_an_order_asks_nothing(again: list[str]) -> None:
    entity = MergedEntity(KIND)
    entity.contribute(contribution(of_old([change for each in SAID for change in event(each)]), position=0))
    entity.answer_all()
    asked, text = entity.asked, entity.text
    changes = [change for each in again for change in of_old(event(each, op="retract"))]
    entity.contribute(contribution([*changes, *(change for each in again for change in event(each))], position=1))
    assert (entity.asked, entity.text, entity.written.stale) == (asked, text, False)
