"""The parts of a key in every spelling."""

from typing import Any
from unicodedata import normalize

import pytest

from memory.keys import entity_key
from memory.schema import parse_schema
from memory.schema.model import EntityType
from operators.entities.entity_keys import spelled_alike
from operators.entities.routing import contributions_of
from tests.operators.sport import event, extraction


def counting(*events: str) -> dict[str, Any]:
    """An entity type that counts events of these types by user and level."""
    return {
        "EntityType": "level",
        "Keys": ["user", "level"],
        "Properties": [
            {"PropertyName": "level", "PropertyValueType": "float32", "IsPrimaryKey": True},
            *(
                {"PropertyName": f"{each}s", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": each}}
                for each in events
            ),
        ],
    }


SCHEMA = parse_schema(
    {
        "Name": "levels",
        "EventTypes": [
            {"EventType": name, "Properties": [{"PropertyName": "level", "PropertyValueType": value_type}]}
            for name, value_type in (("climb", "int64"), ("fall", "float32"))
        ],
        "EntityTypes": [counting("climb", "fall")],
    }
)
LEVEL: EntityType = SCHEMA.entity_types[0]


def test_a_key_of_two_numeric_types_is_one() -> None:
    with_numbers = extraction(event("a", event_type="climb", level=3), event("b", event_type="fall", level=3.0))
    (made,) = contributions_of(with_numbers, SCHEMA, source="s", position=0)
    assert (made.entity_key, len(made.changes)) == (entity_key("ann", "3"), 2)


@pytest.mark.parametrize(("part", "alike"), [("3.0", "3"), ("3", "3"), ("2.50", "2.5"), ("high", "high"), (normalize("NFD", "é"), "é")])
def test_a_part_is_spelled_as_events_spell_it(part: str, alike: str) -> None:
    assert spelled_alike(["ann", part], LEVEL) == ("ann", alike)


def test_users_stay_as_the_application_calls_them() -> None:
    user = normalize("NFD", "Zoë 3.0")
    assert spelled_alike([user, "1"], LEVEL) == (user, "1")


def test_parts_of_another_number_stay_as_they_are() -> None:
    assert spelled_alike(["3.0"], LEVEL) == ("3.0",)
