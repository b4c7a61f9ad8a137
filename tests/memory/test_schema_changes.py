"""The schema changes that keep the state of entities."""

from typing import Any

import pytest

from memory.schema import parse_schema
from memory.schema.changes import problem_of_change
from memory.schema.model import MemorySchema


def schema(*fields: tuple[str, str | dict[str, Any]], keys: tuple[str, ...] = ("user",), **entity: Any) -> MemorySchema:
    """A schema with one entity type, whose fields are computed by operators from events about jobs; PATCH means no operator."""
    properties = [
        {
            "PropertyName": name,
            "PropertyValueType": "int64" if op == "COUNT" else "string" if isinstance(op, str) else "list<string>",
            **({} if op == "PATCH" else {"AggregateExpression": expression(op)}),
        }
        for name, op in fields
    ]
    types = [{"EntityType": "person", "Keys": [*keys], "Properties": properties, **entity}]
    event = {"EventType": "job", "Properties": [{"PropertyName": "name", "PropertyValueType": "string"}]}
    return parse_schema({"Name": "people", "EventTypes": [event], "EntityTypes": types})


def expression(op: str | dict[str, Any]) -> dict[str, Any]:
    named = {"Op": op} if isinstance(op, str) else op
    return {"EventType": "job", **({} if named["Op"] == "COUNT" else {"EventPropertyName": "name"}), **named}


BEFORE = schema(("job", "LATEST"), ("notes", "PATCH"), ("jobs", "COUNT"))


@pytest.mark.parametrize(
    "after",
    [
        BEFORE,
        schema(("job", "LATEST"), ("notes", "PATCH"), ("jobs", "COUNT"), ("more", "LATEST")),
        schema(("notes", "PATCH")),
        schema(("notes", "PATCH"), ("jobs", "COUNT"), Filters=[{"Property": "name", "Op": "=", "Value": "A"}]),
        parse_schema({"Name": "people", "EventTypes": [{"EventType": "job"}]}),
    ],
)
def test_fields_and_types_may_be_added_and_removed(after: MemorySchema) -> None:
    assert problem_of_change(BEFORE, after) is None


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (schema(("job", "PATCH")), "the field job of the entity type person is made by LATEST, and would be by PATCH"),
        (schema(("jobs", "COUNT"), Window={"Length": 7, "Unit": "day"}), "COUNT, and would be by COUNT over"),
        (schema(("job", "LATEST"), keys=("session",)), "is grouped by user, and would be by session"),
    ],
)
def test_the_operator_of_a_field_cannot_change(after: MemorySchema, said: str) -> None:
    problem = problem_of_change(BEFORE, after)
    assert problem is not None
    assert said in problem


def test_parameters_are_the_operators() -> None:
    one, other = (schema(("best", {"Op": "TOP_K", "K": k})) for k in (3, 5))
    assert problem_of_change(one, one) is None
    problem = problem_of_change(one, other)
    assert problem is not None
    assert "K=3" in problem
    assert "K=5" in problem


def test_fields_matched_by_meaning_may_change() -> None:
    of_people = [matched(similarity) for similarity in (None, 0.75, 0.9)]
    assert [problem_of_change(one, other) for one in of_people for other in of_people] == [None] * 9


def matched(similarity: float | None) -> MemorySchema:
    """Jobs by their names."""
    key: dict[str, Any] = {"PropertyName": "name", "PropertyValueType": "string", "IsPrimaryKey": True}
    if similarity is not None:
        key["Similarity"] = similarity
    jobs = {"PropertyName": "jobs", "PropertyValueType": "int64", "AggregateExpression": expression("COUNT")}
    event = {"EventType": "job", "Properties": [{"PropertyName": "name", "PropertyValueType": "string"}]}
    return parse_schema({"Name": "people", "EventTypes": [event], "EntityTypes": [{"EntityType": "job", "Properties": [key, jobs]}]})


def test_a_removed_field_may_be_added_unchanged() -> None:
    without = schema(("notes", "PATCH"))
    assert problem_of_change(without, BEFORE, earlier=[BEFORE]) is None
    assert problem_of_change(without, schema(("job", "PATCH")), earlier=[BEFORE]) is not None
    assert problem_of_change(without, schema(("job", "PATCH"))) is None


def one_field(value_type: str = "int64", *, op: str = "COUNT", events: str = "job", **aggregate: Any) -> MemorySchema:
    """A schema with one field, which can be made from jobs or from trips."""
    properties = [
        {"PropertyName": name, "PropertyValueType": kind} for name, kind in (("name", "string"), ("pay", "int64"), ("tax", "int64"))
    ]
    expression = {"Op": op, "EventType": events, **aggregate}
    fields = [{"PropertyName": "sum", "PropertyValueType": value_type, "AggregateExpression": expression}]
    return parse_schema(
        {
            "Name": "people",
            "EventTypes": [{"EventType": each, "Properties": properties} for each in ("job", "trip")],
            "EntityTypes": [{"EntityType": "person", "Keys": ["user"], "Properties": fields}],
        }
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({}, {"events": "trip"}, "is made from events of the type job, and would be from events of the type trip"),
        ({}, {"EventPropertyName": "pay"}, "is made from events of the type job, and would be from the pay of events of the type job"),
        ({"EventPropertyName": "pay"}, {"EventPropertyName": "content"}, "would be from the texts of events of the type job"),
        (
            {"op": "SUM", "EventPropertyName": "pay"},
            {"op": "SUM", "EventPropertyName": "tax"},
            "is made from the pay of events of the type job, and would be from the tax of",
        ),
        (
            {"value_type": "string", "op": "LATEST", "EventPropertyName": "name"},
            {"value_type": "string", "op": "LATEST", "EventPropertyName": "name", "events": "trip"},
            "would be from the name of events of the type trip",
        ),
        ({"value_type": "float32"}, {"value_type": "int64"}, "is of the type float32, and would be of int64"),
    ],
)
def test_other_input_of_an_operator_is_refused(before: dict[str, Any], after: dict[str, Any], said: str) -> None:
    problem = problem_of_change(one_field(**before), one_field(**after))
    assert problem is not None
    assert problem.startswith("the field sum of the entity type person is ")
    assert said in problem
    without = parse_schema({"Name": "people", "EventTypes": [{"EventType": "job"}]})
    assert problem_of_change(without, one_field(**after), earlier=[one_field(**before)]) == problem


def test_a_patched_text_becomes_no_list() -> None:
    def noted(value_type: str) -> MemorySchema:
        fields = [{"PropertyName": "notes", "PropertyValueType": value_type}]
        types = [{"EntityType": "person", "Keys": ["user"], "Properties": fields}]
        return parse_schema({"Name": "people", "EventTypes": [{"EventType": "job"}], "EntityTypes": types})

    problem = problem_of_change(noted("string"), noted("list<string>"))
    assert problem == "the field notes of the entity type person is of the type string, and would be of list<string>"


def test_whole_numbers_may_become_decimal_numbers() -> None:
    assert problem_of_change(one_field(), one_field("float32")) is None


def test_a_removed_type_returns_with_its_keys() -> None:
    without = parse_schema({"Name": "people", "EventTypes": [{"EventType": "job"}]})
    problem = problem_of_change(without, schema(("jobs", "COUNT"), keys=("session",)), earlier=[BEFORE])
    assert problem == "the entity type person is grouped by user, and would be by session"
    assert problem_of_change(without, BEFORE, earlier=[BEFORE]) is None
