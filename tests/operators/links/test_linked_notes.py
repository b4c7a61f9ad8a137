"""LINK: decisions about a note and its neighbours, and updates that leave no trace once their owner is retracted."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import SchemaError
from memory.records import Change, Contribution, Memory, Merged, NotePlace, NoteUpdate
from memory.schema import parse_schema
from memory.schema.model import EntityType
from operators.entities.apply import Applied, apply_contribution
from operators.entities.entity_state import EntityState, to_bytes
from operators.entities.render import render
from operators.errors import UnusableAnswerError
from operators.links.link import MAX_UPDATES, LinkedNote
from operators.links.link_updates import note_digest
from operators.llm.llm_operator import Question
from operators.llm.merging import apply_outcome, plan_questions, updates_of
from operators.registry import bound_operator
from tests.streams.linked_remarks import schema

START = datetime(2024, 5, 1, tzinfo=UTC)
KEY = "ann/e1"


def note_type(decide: str = "link") -> EntityType:
    return schema(decide=decide).entity_types[0]


def operator_of(entity_type: EntityType) -> LinkedNote:
    driver = bound_operator(entity_type, "note")
    assert driver is not None
    assert isinstance(driver.operator, LinkedNote)
    return driver.operator


def contribution(position: int, *changes: Change) -> Contribution:
    return Contribution(
        tenant="acme",
        user="ann",
        entity_type="note",
        entity_key=KEY,
        source="extractions/0",
        position=position,
        changes=[*changes],
        time=START,
    )


def own(text: str, op: Any = "apply", *, date: str | None = None) -> Change:
    value = {"text": text, "window_id": "w1", "vector": None, "date": date}
    return Change(op=op, property="note", source_id="e1", value=value, event_time=START, message_ids=["m1"] if op == "apply" else [])


def update(owner: str, change: dict[str, Any], *, of: str = "I have a cat.", op: Any = "apply", order: int = 0) -> Change:
    value = {"update": {**change, "of": note_digest(of), "order": order}}
    time = START + timedelta(days=9)
    return Change(op=op, property="note", source_id=owner, value=value, event_time=time, is_update=True)


def applied(state: EntityState | None, position: int, *changes: Change) -> Applied:
    return apply_contribution(state, contribution(position, *changes), note_type())


def shown(state: EntityState) -> Memory:
    return render(state, note_type(), "acme", KEY)


def found(name: str, text: str, score: float) -> dict[str, Any]:
    """A neighbour as the merging stage adds it to a question."""
    note = {"event": name, "window": f"w-{name}", "text": text, "day": "2024-04-01"}
    return {"id": f"memory-{name}", "version": 3, "score": score, "type": "note", "content": text, "note": note}


def asked(text: str, *neighbours: dict[str, Any], decide: str = "link") -> tuple[EntityState, Question]:
    entity_type = note_type(decide)
    state = apply_contribution(None, contribution(0, own(text)), entity_type).state
    settled = plan_questions(state, entity_type, has_llm=False)
    ((_, question),) = settled.questions
    return settled.state, Question({**question.content, "found": [*neighbours]})


def updates(state: EntityState, question: Question, outcome: dict[str, Any], decide: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Owner, target and change of each update that an adopted outcome brings."""
    adopted = apply_outcome(state, Merged(property="note", outcome=outcome), note_type(decide), "").state
    return [(each.owner.id, each.target.id, bare(each)) for each in updates_of(adopted, note_type(decide), "note")]


def bare(each: NoteUpdate) -> dict[str, Any]:
    return {name: value for name, value in each.change.items() if name not in ("of", "order")}


def test_a_note_asks_for_earlier_notes_only() -> None:
    settled = plan_questions(apply_contribution(None, contribution(7, own("A")), note_type()).state, note_type(), has_llm=False)
    ((_, question),) = settled.questions
    before = question.lookups[0].before
    assert before == NotePlace(source="extractions/0", position=7, order=0)
    assert shown(settled.state).properties["place"] == before.model_dump()


@pytest.mark.parametrize(
    ("place", "is_before"),
    [(("s", 6, 9), True), (("s", 7, 2), True), (("s", 7, 3), False), (("s", 7, 4), False), (("s", 8, 0), False), (("t", 9, 9), True)],
)
def test_places_of_one_source_have_an_order(place: tuple[str, int, int], *, is_before: bool) -> None:
    source, position, order = place
    assert NotePlace(source=source, position=position, order=order).is_before(NotePlace(source="s", position=7, order=3)) is is_before


def test_the_later_note_decides_in_any_order_of_answers() -> None:
    changes = [update("n2", {"context": "Later.", "tags": []}, order=2), update("n1", {"context": "Earlier.", "tags": []}, order=1)]
    for first, second in (changes, reversed(changes)):
        state = applied(applied(applied(None, 0, own("I have a cat.")).state, 1, first).state, 2, second).state
        assert shown(state).properties["context"] == "Later."


def test_the_rule_links_near_notes_both_ways() -> None:
    state, question = asked("My cat is ill.", found("n1", "I have a cat.", 0.8), found("n2", "I like tea.", 0.2))
    outcome = operator_of(note_type()).outcome_by_rule(question).content
    assert outcome["found"] == [["memory-n1", 3, 0.8], ["memory-n2", 3, 0.2]]
    assert updates(state, question, outcome, "link") == [
        ("e1", "n1", {"link": ["e1", 0.8, ""]}),
        ("n1", "e1", {"link": ["n1", 0.8, ""]}),
    ]


@pytest.mark.parametrize(
    ("text", "score", "hides"), [("I HAVE a cat", 0.95, True), ("I have a cat", 0.5, False), ("I have no cat", 0.99, False)]
)
def test_the_rule_hides_only_the_same_words(text: str, score: float, hides: bool) -> None:
    state, question = asked(text, found("n1", "I have a cat.", score), decide="reconcile")
    outcome = operator_of(note_type("reconcile")).outcome_by_rule(question).content
    assert updates(state, question, outcome, "reconcile") == ([("n1", "e1", {"hidden": "known"})] if hides else [])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"decision": "none", "number": 1, "text": None, "delete": []}, [("n1", "e1", {"hidden": "known"})]),
        ({"decision": "add", "number": None, "text": None, "delete": [2, 7]}, [("e1", "n2", {"hidden": "contradicted"})]),
        (
            {"decision": "update", "number": 2, "text": "Both.", "delete": []},
            [("e1", "n2", {"text": "Both."}), ("n2", "e1", {"hidden": "merged"})],
        ),
        (
            {"decision": "update", "number": 1, "text": "Both.", "delete": [1, 2]},
            [("e1", "n1", {"text": "Both."}), ("e1", "n2", {"hidden": "contradicted"}), ("n1", "e1", {"hidden": "merged"})],
        ),
        ({"decision": "update", "number": 2, "text": " ", "delete": []}, []),
        ({"decision": "update", "number": 1, "text": " ", "delete": [2]}, [("e1", "n2", {"hidden": "contradicted"})]),
        ({"decision": "none", "number": 3, "text": None, "delete": []}, []),
    ],
)
def test_a_model_adds_merges_or_contradicts(answer: dict[str, Any], expected: list[Any]) -> None:
    state, question = asked("I moved to Rome.", found("n1", "Rome it is.", 0.8), found("n2", "I live in Oslo.", 0.7), decide="reconcile")
    outcome = operator_of(note_type("reconcile")).outcome(question, orjson.dumps(answer).decode(), model="m").content
    assert updates(state, question, outcome, "reconcile") == expected


def test_a_note_has_the_date_of_its_own_event() -> None:
    state = applied(None, 0, own("I moved in 2023.", date="2023")).state
    (question,) = plan_questions(state, note_type(), has_llm=True).questions
    assert orjson.loads(operator_of(note_type()).prompt(question[1], subject="notes").user)["new"]["day"] == "2023"
    later = applied(state, 1, update("s", {"tags": ["moves"]}, of="I moved in 2023.")).state
    assert (shown(later).event_time, shown(later).date) == (START, "2023"), "an update by another event does not change it"


@pytest.mark.parametrize(("decide", "listed"), [("link", "notes"), ("reconcile", "known")])
def test_a_prompt_names_the_day_of_each_note(decide: str, listed: str) -> None:
    _, question = asked("I moved to Rome yesterday.", found("n1", "I live in Oslo.", 0.7), decide=decide)
    prompt = operator_of(note_type(decide)).prompt(question, subject="notes")
    assert orjson.loads(prompt.user) == {
        "field": "notes",
        "new": {"day": START.date().isoformat(), "says": "I moved to Rome yesterday."},
        listed: [{"number": 1, "day": "2024-04-01", "says": "I live in Oslo."}],
    }


def test_an_answer_names_only_its_neighbours() -> None:
    state, question = asked("My cat is ill.", found("n1", "I have a cat.", 0.8))
    answer = {
        "context": "A  cat.",
        "keywords": ["cat", 5, "cat"],
        "tags": "none",
        "links": [{"number": 2, "relation": "x"}, {"number": True}, "n1"],
        "updates": [{"number": 1, "tags": ["pets"], "context": ""}],
    }
    outcome = operator_of(note_type()).outcome(question, orjson.dumps(answer).decode(), model="m").content
    assert (outcome["keywords"], outcome["tags"], outcome["context"], outcome["by"]) == (["cat"], [], "A cat.", "m")
    assert updates(state, question, outcome, "link") == [("e1", "n1", {"tags": ["pets"]})]
    with pytest.raises(UnusableAnswerError, match="no JSON object with a context"):
        operator_of(note_type()).outcome(question, "no", model="m")


def test_an_outcome_of_other_words_changes_nothing() -> None:
    state, question = asked("My cat is ill.", found("n1", "I have a cat.", 0.8))
    outcome = operator_of(note_type()).outcome_by_rule(question).content
    said_otherwise = apply_contribution(state, contribution(1, own("My cat is ill.", "retract"), own("My dog is ill.")), note_type()).state
    assert updates(said_otherwise, question, outcome, "link") == []
    adopted = apply_outcome(said_otherwise, Merged(property="note", outcome=outcome), note_type(), "").state
    assert len(plan_questions(adopted, note_type(), has_llm=True).questions) == 1, "the new words have their own question"


def test_a_rebuild_asks_nothing_again() -> None:
    state, question = asked("My cat is ill.", found("n1", "I have a cat.", 0.8))
    merged = Merged(property="note", outcome=operator_of(note_type()).outcome_by_rule(question).content)
    live = apply_outcome(state, merged, note_type(), "").state
    rebuilt = apply_outcome(None, merged, note_type(), "").state
    assert updates_of(rebuilt, note_type(), "note") == (), "the log has them"
    assert plan_questions(rebuilt, note_type(), has_llm=True).questions == ()
    rebuilt = apply_contribution(rebuilt, contribution(0, own("My cat is ill.")), note_type()).state
    assert plan_questions(rebuilt, note_type(), has_llm=True).questions == ()
    assert to_bytes(rebuilt) == to_bytes(live)


def test_a_retracted_note_forgets_its_decision() -> None:
    state, question = asked("My cat is ill.", found("n1", "I have a cat.", 0.8))
    merged = Merged(property="note", outcome=operator_of(note_type()).outcome_by_rule(question).content)
    state = apply_outcome(state, merged, note_type(), "").state
    state = apply_contribution(state, contribution(1, own("My cat is ill.", "retract")), note_type()).state
    settled = plan_questions(state, note_type(), has_llm=True)
    assert state.empty
    assert [each.outcome["of"] for each in settled.merged] == [None]
    assert b"n1" not in to_bytes(settled.state)


def test_an_update_is_no_evidence() -> None:
    state = applied(applied(None, 0, own("I have a cat.")).state, 1, update("s", {"context": "New."})).state
    assert shown(state).properties["context"] == "New."
    assert shown(state).event_time == START
    assert applied(state, 2, own("I have a cat.", "retract")).state.empty


def test_a_note_has_a_bounded_number_of_updates() -> None:
    state = applied(None, 0, own("I have a cat.")).state
    for number in range(MAX_UPDATES + 1):
        step = applied(state, number + 1, update(f"s{number}", {"link": [f"s{number}", 0.5, ""]}))
        state = step.state
    assert [each.reason for each in step.refused] == ["too_many_updates"]
    assert len(shown(state).links or ()) == MAX_UPDATES


_CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(st.sampled_from(["a", "b"]), min_size=1),
        "context": st.sampled_from(["one", "two"]),
        "text": st.sampled_from(["three", "four"]),
        "hidden": st.sampled_from(["known", "contradicted"]),
        "link": st.tuples(st.sampled_from(["x", "y"]), st.floats(0, 1), st.just("")).map(list),
    },
)


@given(steps=st.lists(st.tuples(st.sampled_from("stu"), _CHANGES), max_size=8), kept=st.sets(st.sampled_from("stu")))
def test_retracted_updates_leave_no_trace(steps: list[tuple[str, dict[str, Any]]], kept: set[str]) -> None:
    first = applied(None, 0, own("I have a cat.")).state
    state = first
    for position, (owner, change) in enumerate(steps, 1):
        state = applied(state, position, update(owner, change)).state
    for position, (owner, change) in enumerate(steps, len(steps) + 1):
        if owner not in kept:
            state = applied(state, position, update(owner, change, op="retract")).state
    expected = first
    for position, (owner, change) in enumerate(steps, 1):
        if owner in kept:
            expected = applied(expected, position, update(owner, change)).state
    assert shown(state).model_dump(exclude={"version"}) == shown(expected).model_dump(exclude={"version"})
    assert (state.live, state.last_time, state.properties) == (expected.live, expected.last_time, expected.properties)


def test_updates_of_other_words_are_void() -> None:
    state = applied(applied(None, 0, own("I have a cat.")).state, 1, update("s", {"hidden": "known"})).state
    assert shown(state).expires_at is not None
    state = applied(state, 2, own("I have a cat.", "retract"), own("I have a dog.")).state
    assert shown(state).expires_at is None
    state = applied(state, 3, own("I have a dog.", "retract"), own("I have a cat.")).state
    assert shown(state).expires_at is not None, "the update was never retracted"


def test_notes_need_a_key_for_each_event() -> None:
    document = {
        "EventTypes": [{"EventType": "remark"}],
        "EntityTypes": [
            {
                "EntityType": "note",
                "Keys": ["user"],
                "Properties": [
                    {
                        "PropertyName": "note",
                        "PropertyValueType": "string",
                        "AggregateExpression": {"Op": "LINK", "EventType": "remark", "EventPropertyName": "content"},
                    }
                ],
            }
        ],
    }
    with pytest.raises(SchemaError, match="LINK needs an entity type with the Keys"):
        parse_schema(document)
