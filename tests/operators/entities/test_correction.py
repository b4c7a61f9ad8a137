"""Manual corrections of an entity's fields, and their state when older and newer statements arrive."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.records import Change, Contribution
from memory.schema import parse_schema
from memory.schema.model import EntityType
from operators.entities.apply import apply_contribution
from operators.entities.correction import changes_of
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from operators.errors import UncorrectableFieldError

MARCH = datetime(2024, 3, 1, tzinfo=UTC)


def _property(name: str, value_type: str = "string", **aggregate: str) -> dict[str, Any]:
    return {"PropertyName": name, "PropertyValueType": value_type} | ({"AggregateExpression": aggregate} if aggregate else {})


PROFILE = parse_schema(
    {
        "Name": "t",
        "EventTypes": [{"EventType": "job", "Description": "d", "Properties": [_property("title")]}],
        "EntityTypes": [
            {
                "EntityType": "profile",
                "Description": "d",
                "Properties": [
                    {**_property("user"), "IsPrimaryKey": True},
                    _property("home"),
                    _property("pets", "list<string>"),
                    _property("age", "int64"),
                    _property("title", Op="LATEST", EventType="job", EventPropertyName="title"),
                    _property("jobs", "int64", Op="COUNT", EventType="job"),
                ],
            }
        ],
    }
).entity_types[0]


def test_the_operators_declare_which_values_can_be_set() -> None:
    fields: dict[str, Any] = {"home": "Oslo", "pets": ["Miso", "Rex"], "age": "41", "title": "smith"}
    set_to = {each.property: each.value for each in changes_of(PROFILE, fields, source_id="c", newest=MARCH)}
    assert set_to == {
        "home": {"search": None, "replace": "Oslo"},
        "pets": {"search": None, "replace": "Miso\nRex"},
        "age": {"search": None, "replace": "41"},
        "title": "smith",
    }


@pytest.mark.parametrize(
    ("fields", "problem", "is_of_events"),
    [
        ({"hoem": "Oslo"}, r"no such property; did you mean 'home'\?", False),
        ({"user": "bob"}, "part of the entity's key", False),
        ({"jobs": 3}, "COUNT computes it from events", True),
        ({"title": None}, "LATEST computes it from events", True),
        ({"age": "old"}, "type int64", False),
        ({"pets": ["a\nb"]}, "more than one line", False),
        ({"home": "x" * 4001}, "4001 characters", False),
        ({"title": "x" * 2001}, "2001 characters", False),
    ],
)
def test_a_value_that_cannot_be_set_is_reported(fields: dict[str, Any], problem: str, is_of_events: bool) -> None:
    with pytest.raises(UncorrectableFieldError, match=problem) as raised:
        changes_of(PROFILE, fields, source_id="c", newest=MARCH)
    assert raised.value.is_of_events is is_of_events


def test_a_text_set_by_hand_is_edited_further() -> None:
    state = _applied(None, _patch("p1", 0, "", "Lives in Bergen since May"), 0)
    by_hand = changes_of(PROFILE, {"home": "Lives in Oslo since June"}, source_id="c", newest=MARCH, since=MARCH + timedelta(days=1))
    state = _applied(state, by_hand, 1)
    state = _applied(state, _patch("p2", 2, "Oslo since June", "Oslo since July"), 2)
    assert _home(state) == "Lives in Oslo since July"
    late = _applied(state, _patch("p0", -1, "", "Lived in Rome"), 3)
    assert _home(late) == "Lives in Oslo since July", "what was said before the correction does not come back"
    reverted = _applied(state, [each.model_copy(update={"op": "retract"}) for each in by_hand], 4)
    assert _home(reverted) == "Lives in Bergen since May"


def test_a_correction_holds_until_a_newer_value_arrives() -> None:
    title = Change(op="apply", property="title", source_id="z", value="smith", event_time=MARCH)
    by_hand = changes_of(PROFILE, {"title": "baker"}, source_id="a", newest=MARCH)
    state = _applied(_applied(None, [title], 0), by_hand, 1)
    assert _property_of(state, "title") == "baker"
    assert _property_of(_applied(state, [title.model_copy(update={"source_id": "y", "value": "cook"})], 2), "title") == "baker"
    newer = title.model_copy(update={"source_id": "b", "value": "judge", "event_time": MARCH + timedelta(days=1)})
    assert _property_of(_applied(state, [newer], 2), "title") == "judge"
    reverted = _applied(state, [each.model_copy(update={"op": "retract"}) for each in by_hand], 2)
    assert _property_of(reverted, "title") == "smith"


def test_a_text_is_removed_and_set_again() -> None:
    state = _applied(None, _patch("p1", 0, "", "Bergen"), 0)
    state = _applied(state, changes_of(PROFILE, {"home": None}, source_id="c1", newest=MARCH), 1)
    assert _home(state) is None
    state = _applied(state, changes_of(PROFILE, {"home": "Oslo"}, source_id="c2", newest=MARCH), 2)
    assert _home(state) == "Oslo"
    assert render(state, PROFILE, "acme", "ann").extractor == "correction, offline"


def _patch(name: str, day: int, search: str, replace: str) -> list[Change]:
    value = {"search": search, "replace": replace}
    time = MARCH + timedelta(days=day)
    return [Change(op="apply", property="home", source_id=name, value=value, event_time=time, extractor="offline")]


def _applied(state: EntityState | None, changes: list[Change], position: int, entity_type: EntityType = PROFILE) -> EntityState:
    contribution = Contribution(
        tenant="acme", entity_type="profile", entity_key="ann", source="extractions/0", position=position, changes=changes, time=MARCH
    )
    applied = apply_contribution(state, contribution, entity_type)
    assert not applied.refused
    return applied.state


def _home(state: EntityState) -> Any:
    return _property_of(state, "home")


def _property_of(state: EntityState, name: str) -> Any:
    return render(state, PROFILE, "acme", "ann").properties.get(name)
