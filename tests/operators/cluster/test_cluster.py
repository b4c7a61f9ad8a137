"""CLUSTER: communities of a relation graph, their memories, and the texts of a model about them."""

from typing import Any

import pytest
from hypothesis import strategies as st

from memory.records import Memory
from operators import laws
from operators.cluster.cluster import MAX_EXTRACT, Communities
from operators.errors import RefusedChangeError
from operators.llm.llm_operator import Moment, Outcome, Question
from operators.operator import Operand, State
from operators.publishing import Owner
from tests.operators.cluster.community_schema import community_schema
from tests.operators.histories import DAY, configured

NAMES = st.sampled_from(["ann", "Ann", "bergen", "oslo", "paul", "lyon", "tea", "eva"])


def cluster(**parameters: Any) -> Communities:
    operator = configured("CLUSTER", **parameters)
    assert isinstance(operator, Communities)
    return operator


def value_of(subject: str, relation: str, other: str, *, window: str = "w0", **flags: bool) -> dict[str, Any]:
    return {
        "text": f"{subject} {relation} {other}",
        "importance": 0.5,
        "message_ids": [f"m-{subject}-{other}"],
        "user": "ann",
        "window_id": window,
        "properties": {"subject": subject, "relation": relation, "object": other, **flags},
        "keys": {"user": "ann"},
        "date": None,
    }


def statement(number: int, subject: str, relation: str, other: str, *, position: int | None = None, **fields: Any) -> Operand:
    value = value_of(subject, relation, other, window=fields.pop("window", f"w{number}"), **fields)
    at = number if position is None else position
    return Operand(value, number * DAY, f"e{number}", number * DAY, source="extractions/0", position=at)


def applied(operator: Communities, *statements: Operand, state: State = None) -> State:
    for each in statements:
        state = operator.apply(state, each)
    return state


OWNER = Owner("communities", community_schema().entity_types[0], "acme", "ann", "")


def memories(operator: Communities, state: State) -> list[Memory]:
    return [] if state is None else list(operator.memories(state, OWNER))


def moment(position: int, *, has_llm: bool = True) -> Moment:
    return Moment(sources={"extractions/0": [position, []]}, newest=0, has_llm=has_llm)


def answered(operator: Communities, state: State, position: int, text: str) -> State:
    """The state after the model has answered all questions at a position with a text."""
    settled = operator.plan_questions(state, moment(position))
    state = settled.state
    for question in settled.questions:
        state = operator.apply_outcome(state, operator.outcome(question, f'{{"text": "{text}"}}', model="model"))
    return state


ANN = (statement(0, "ann", "lives in", "Bergen"), statement(1, "ann", "likes", "tea"))
PAUL = (statement(2, "Paul", "lives in", "Lyon"), statement(3, "Paul", "plays", "chess"))


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_communities_keep_the_law(law: Any) -> None:
    values = st.builds(
        value_of,
        NAMES,
        st.sampled_from(["likes", "lives in"]),
        NAMES,
        window=st.sampled_from(["w0", "w1", "w2"]),
        ends=st.booleans(),
        several=st.booleans(),
    )
    law(cluster(), values, laws.LONGEST)


def test_a_community_gains_a_member() -> None:
    operator = cluster()
    before = memories(operator, applied(operator, *ANN, *PAUL))
    assert [each.properties["members"] for each in before] == [["ann", "Bergen", "tea"], ["Lyon", "Paul", "chess"]]
    after = memories(operator, applied(operator, *ANN, *PAUL, statement(4, "Eva", "is married to", "Paul")))
    assert [each.id for each in after] == [each.id for each in before], "a community keeps its memory"
    assert after[0] == before[0]
    assert after[1].properties["members"] == ["Lyon", "Paul", "chess", "Eva"]
    assert after[1].content.splitlines()[0] == "Eva is married to Paul (since 1970-01-05)"


def test_a_community_is_a_memory_with_evidence() -> None:
    operator = cluster()
    (found,) = memories(operator, applied(operator, *ANN))
    assert (found.kind, found.type, found.user, found.entity_key) == ("summary", "community", "ann", "ann")
    assert found.content == "ann likes tea (since 1970-01-02)\nann lives in Bergen (since 1970-01-01)"
    assert found.message_ids == ["m-ann-tea", "m-ann-Bergen"]
    assert found.properties["written_by"] == "extract"
    assert (found.properties["member_count"], found.properties["edge_count"]) == (3, 2)


def test_a_single_edge_is_no_community() -> None:
    operator = cluster()
    state = applied(operator, ANN[0])
    assert memories(operator, state) == []
    assert operator.value(state) == "2 people and things, 0 communities"


def test_a_retracted_edge_leaves_its_community() -> None:
    operator = cluster()
    bridge = statement(4, "Eva", "is married to", "Paul")
    before = applied(operator, *ANN, *PAUL)
    assert operator.retract(applied(operator, *ANN, *PAUL, bridge), bridge) == before
    without = operator.retract(before, PAUL[1])
    assert [each.properties["members"] for each in memories(operator, without)] == [["ann", "Bergen", "tea"]]


def test_a_contradicted_edge_is_shown_as_former() -> None:
    operator = cluster()
    (found,) = memories(operator, applied(operator, *ANN, statement(5, "ann", "lives in", "Oslo")))
    assert found.content.splitlines()[-1] == "formerly: ann lives in Bergen (1970-01-01 until 1970-01-06)"
    (ended,) = memories(operator, applied(operator, *ANN, statement(5, "ann", "likes", "tea", ends=True)))
    assert ended.content.splitlines()[-1] == "formerly: ann likes tea (1970-01-02 until 1970-01-06)"
    assert "e5" in ended.properties["events"]  # type: ignore[operator]


def test_the_oldest_statements_leave_a_full_graph() -> None:
    operator = cluster(Limit=3)
    state = applied(operator, *ANN, *PAUL)
    assert [each.properties["members"] for each in memories(operator, state)] == [["Lyon", "Paul", "chess"]]
    assert set(state["evidence"]) == {"e1", "e2", "e3"}


def test_an_event_without_a_relation_is_refused() -> None:
    with pytest.raises(RefusedChangeError, match="no_relation"):
        cluster().apply(None, statement(0, "ann", "", "Oslo"))


def test_an_extract_is_bounded() -> None:
    operator = cluster()
    state = applied(operator, *(statement(each, "ann", "likes", f"{each} {'x' * 100}", several=True) for each in range(20)))
    (found,) = memories(operator, state)
    assert len(found.content) <= MAX_EXTRACT


def test_few_questions_are_asked_at_once() -> None:
    operator = cluster(Questions=1)
    state = applied(operator, *ANN, *PAUL)
    settled = operator.plan_questions(state, moment(3))
    assert len(settled.questions) == 1
    again = operator.plan_questions(settled.state, moment(3))
    assert len(again.questions) == 1, "the second community"
    assert operator.plan_questions(again.state, moment(3)).questions == ()
    assert operator.plan_questions(state, moment(3, has_llm=False)).state is state


def test_a_text_is_shown_and_later_continued() -> None:
    operator = cluster()
    state = answered(operator, applied(operator, *ANN), 1, "Ann lives in Bergen and likes tea.")
    (found,) = memories(operator, state)
    assert (found.content, found.properties["written_by"]) == ("Ann lives in Bergen and likes tea.", "model")
    state = applied(operator, statement(5, "ann", "lives in", "Oslo"), state=state)
    (stale,) = memories(operator, state)
    assert stale.content == found.content, "stale, not wrong"
    (question,) = operator.plan_questions(state, moment(5)).questions
    assert question.content["before"] == found.content
    assert question.content["added"] == [
        "ann lives in Oslo (since 1970-01-06)",
        "formerly: ann lives in Bergen (1970-01-01 until 1970-01-06)",
    ]


def test_a_retraction_hides_a_text_permanently() -> None:
    operator = cluster()
    tea = statement(5, "ann", "likes", "music", several=True)
    state = answered(operator, applied(operator, *ANN, tea), 5, "Ann likes music.")
    (retracted,) = memories(operator, operator.retract(state, tea))
    assert "music" not in retracted.content
    assert retracted.properties["written_by"] == "extract"
    returned = applied(operator, statement(5, "ann", "likes", "music", several=True, position=7), state=operator.retract(state, tea))
    assert [each.properties["written_by"] for each in memories(operator, returned)] == ["extract"]
    dropped = operator.plan_questions(returned, moment(7)).dropped
    assert len(dropped) == 1
    assert operator.forget(operator.retract(state, tea), moment(6)).dropped == dropped


def test_a_text_waits_for_its_events() -> None:
    operator = cluster()
    (outcome,) = operator.outcomes(answered(operator, applied(operator, *ANN), 1, "Ann likes tea."))
    state: State = operator.apply_outcome(None, outcome)
    assert memories(operator, state) == []
    state = applied(operator, ANN[0], state=state)
    settled = operator.plan_questions(state, moment(0))
    assert (settled.questions, settled.dropped) == ((), ())
    state = applied(operator, ANN[1], state=state)
    assert operator.plan_questions(state, moment(1)).questions == ()
    assert [each.content for each in memories(operator, state)] == ["Ann likes tea."]


def test_an_unusable_answer_leaves_the_extract() -> None:
    operator = cluster()
    settled = operator.plan_questions(applied(operator, *ANN), moment(1))
    state = operator.apply_outcome(settled.state, operator.outcome_by_rule(settled.questions[0]))
    assert [each.properties["written_by"] for each in memories(operator, state)] == ["extract"]
    assert operator.plan_questions(state, moment(2)).questions == ()


def test_a_late_outcome_does_not_replace_a_newer_one() -> None:
    operator = cluster()
    first = operator.plan_questions(applied(operator, *ANN), moment(1))
    state = answered(operator, applied(operator, statement(5, "ann", "plays", "chess"), state=applied(operator, *ANN)), 5, "Newer.")
    late = operator.apply_outcome(state, operator.outcome(first.questions[0], '{"text": "Older."}', model="model"))
    assert late is state


def test_the_prompt_names_members_and_edges() -> None:
    operator = cluster()
    (question,) = operator.plan_questions(applied(operator, *ANN), moment(1)).questions
    assert isinstance(question, Question)
    prompt = operator.prompt(question, subject="community of ann")
    assert '"members":["ann","Bergen","tea"]' in prompt.user
    assert "ann lives in Bergen (since 1970-01-01)" in prompt.user
    assert isinstance(operator.outcome(question, '{"text": "x"}', model="m"), Outcome)
