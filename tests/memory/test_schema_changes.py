"""Under which other schemas entities can go on."""

from typing import Any

import pytest

from memory.schema import parse_schema
from memory.schema.changes import problem_of_change
from memory.schema.model import MemorySchema


def schema(*fields: tuple[str, str | dict[str, Any]], keys: tuple[str, ...] = ("user",), **entity: Any) -> MemorySchema:
    """A schema with one entity type, whose fields are made by operators over what is said of jobs; PATCH stands for none."""
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
def test_fields_and_types_come_and_go(after: MemorySchema) -> None:
    assert problem_of_change(BEFORE, after) is None


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (schema(("job", "PATCH")), "the field job of the entity type person is made by LATEST, and would be by PATCH"),
        (schema(("jobs", "COUNT"), Window={"Length": 7, "Unit": "day"}), "COUNT, and would be by COUNT over"),
        (schema(("job", "LATEST"), keys=("session",)), "is grouped by user, and would be by session"),
    ],
)
def test_an_operator_stays_what_it_is(after: MemorySchema, said: str) -> None:
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


def test_what_is_matched_by_meaning_may_change() -> None:
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


def test_a_removed_field_comes_back_as_it_was() -> None:
    without = schema(("notes", "PATCH"))
    assert problem_of_change(without, BEFORE, earlier=[BEFORE]) is None
    assert problem_of_change(without, schema(("job", "PATCH")), earlier=[BEFORE]) is not None
    assert problem_of_change(without, schema(("job", "PATCH"))) is None
