"""Routing: each event reaches the entities that its keys name, each patch its own, and a second extraction replaces the first."""

from datetime import datetime, timedelta, timezone
from typing import Any
from unicodedata import normalize

import pytest

from memory.keys import entity_key
from memory.records import Contribution, Extraction
from memory.schema import parse_schema, to_json
from operators.entities.routing import contributions_of, left_out
from operators.registry import operators
from tests.operators.sport import SCHEMA, START, event, extraction, patch


def routed(given: Extraction, **more: Any) -> dict[tuple[str, str], Contribution]:
    made = contributions_of(given, SCHEMA, source="extractions/3", position=7, **more)
    by_entity = {(each.entity_type, each.entity_key): each for each in made}
    assert len(by_entity) == len(made)
    assert list(by_entity) == sorted(by_entity)
    return by_entity


def changes(contribution: Contribution) -> list[tuple[str, str, str, Any]]:
    return [(each.op, each.property, each.source_id, each.value) for each in contribution.changes]


def test_an_event_reaches_every_entity_that_its_keys_name() -> None:
    made = routed(extraction(event("a", kind="run", minutes=70, km=12.0), event("b", kind="swim", minutes=30)))
    assert set(made) == {
        ("log", "run"),
        ("log", "swim"),
        ("week", "ann"),
        ("profile", "ann"),
        ("long_runs", entity_key("ann", "2024-05-01")),
    }
    assert changes(made["log", "swim"]) == [("apply", "sessions", "b", None), ("apply", "total_minutes", "b", 30)]
    assert [each[:3] for each in changes(made["profile", "ann"])] == [("apply", "sessions", "a"), ("apply", "sessions", "b")]
    one = made["log", "run"]
    assert (one.tenant, one.user, one.source, one.position, one.schema_name, one.time) == (
        "acme",
        "ann",
        "extractions/3",
        7,
        "sport",
        START,
    )
    assert (one.changes[0].message_ids, one.changes[0].extractor) == (["m-a"], "offline")


def test_filters_keep_events_out() -> None:
    for properties in ({"kind": "run", "km": 9.9}, {"kind": "swim", "km": 12.0}, {"kind": "run"}):
        assert not [each for each in routed(extraction(event("a", **properties))) if each[0] == "long_runs"]


def test_an_event_without_a_key_is_left_out() -> None:
    given = extraction(event("a", minutes=30), event("b", kind=" \n", minutes=5), event("c", kind="x" * 300))
    assert {each for each, _ in routed(given)} == {"week", "profile"}
    assert [(each.what, each.reason, each.count) for each in left_out(given, SCHEMA)] == [("event", "no_key", 3)]


@pytest.mark.parametrize(
    ("date", "days"), [("2024-05-01", ["2024-05-01"]), ("2024-05", []), ("2024-04-30/2024-05-01", []), ("2024", []), ("unknown", [])]
)
def test_an_inexact_date_is_counted_for_no_day(date: str, days: list[str]) -> None:
    given = extraction(event("a", kind="run", km=12.0).model_copy(update={"date": date}))
    assert [key for each, key in routed(given) if each == "long_runs"] == [entity_key("ann", day) for day in days]
    assert [(each.what, each.reason, each.count) for each in left_out(given, SCHEMA)] == ([] if days else [("event", "inexact_date", 1)])


def test_a_date_is_of_the_speakers_own_day() -> None:
    tokyo = START.replace(hour=0, tzinfo=timezone(timedelta(hours=9)))
    given = extraction(event("a", kind="run", km=12.0).model_copy(update={"event_time": tokyo, "date": tokyo.date().isoformat()}))
    assert ("long_runs", entity_key("ann", START.date().isoformat())) in routed(given)


def test_a_date_range_is_represented_by_its_middle() -> None:
    first = event("a", kind="run", day=-28, said_on=0).model_copy(
        update={"event_time": START.replace(month=4, day=1, hour=0), "date": "2024-04"}
    )
    (change,) = [each for each in routed(extraction(first))["profile", "ann"].changes if each.property == "sessions"]
    assert change.event_time.date().isoformat() == "2024-04-16"
    now = first.model_copy(update={"event_time": START.replace(month=1, day=1, hour=0), "date": "2024"})
    assert {each.event_time for each in routed(extraction(now))["profile", "ann"].changes} == {START}, "it was said before the middle"


def test_white_space_in_a_key_makes_no_second_entity() -> None:
    assert ("log", entity_key("trail run")) in routed(extraction(event("a", kind=" trail\n run ")))


def test_two_spellings_of_a_key_are_one_entity() -> None:
    decomposed = normalize("NFD", "Übung")
    made = routed(extraction(event("a", kind="Übung"), event("b", kind=decomposed)))
    assert [each.source_id for each in made["log", entity_key("Übung")].changes if each.property == "sessions"] == ["a", "b"]
    assert ("log", entity_key(decomposed)) not in made


def test_a_patch_finds_an_entity_in_either_spelling() -> None:
    schema = parse_schema(
        {
            "Name": "topics",
            "EntityTypes": [
                {
                    "EntityType": "note",
                    "Keys": ["user", "topic"],
                    "Properties": [
                        {"PropertyName": "topic", "PropertyValueType": "string", "IsPrimaryKey": True},
                        {"PropertyName": "text", "PropertyValueType": "string"},
                    ],
                }
            ],
            "EventTypes": [{"EventType": "said", "Properties": [{"PropertyName": "topic", "PropertyValueType": "string"}]}],
        }
    )
    user, topic = normalize("NFD", "Zoë"), normalize("NFD", "Café")
    addressed = patch("p", "text", "It is open.", entity_type="note").model_copy(update={"entity_key": entity_key(user, topic)})
    (made,) = contributions_of(extraction(addressed, user=user), schema, source="s", position=0)
    assert made.entity_key == entity_key(user, "Café"), "a user is who the application says"


def test_a_future_event_counts_from_its_message_time() -> None:
    made = routed(extraction(event("a", kind="run", day=90, said_on=1), event("b", kind="run", day=-5, said_on=1)))
    assert [each.event_time for each in made["profile", "ann"].changes] == [START + timedelta(days=1), START - timedelta(days=5)]


def test_patches_reach_the_entity_they_name_with_the_events() -> None:
    made = routed(extraction(event("a", kind="run"), patch("p", "name", "Ann", search="An")))
    assert changes(made["profile", "ann"]) == [
        ("apply", "sessions", "a", None),
        ("apply", "name", "p", {"search": "An", "replace": "Ann"}),
    ]


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ({"entity_type": "profil"}, "unknown_entity_type"),
        ({"field": "sessions"}, "not_patched"),
        ({"field": "user_id"}, "not_patched"),
        ({"field": "story"}, "not_patched"),
        ({"field": "mood"}, "not_patched"),
        ({"key": ""}, "bad_key"),
        ({"key": "ann/home"}, "bad_key"),
        ({"key": "a b"}, "bad_key"),
        ({"key": "bob"}, "foreign_key"),
    ],
)
def test_a_misdirected_patch_is_left_out_with_its_reason(where: dict[str, str], reason: str) -> None:
    given = extraction(patch("p", **{"field": "name", "replace": "x", **where}))
    assert routed(given) == {}
    assert [(each.what, each.reason) for each in left_out(given, SCHEMA)] == [("patch", reason)]


def test_a_second_extraction_retracts_the_first() -> None:
    first = routed(extraction(event("a", kind="run", minutes=30), event("b", kind="swim"), patch("p", "name", "An")))
    second = routed(extraction(event("a", kind="run", minutes=35), patch("p", "name", "Ann")), previous=list(first.values()))
    assert changes(second["log", "run"]) == [
        ("retract", "sessions", "a", None),
        ("retract", "total_minutes", "a", 30),
        ("apply", "sessions", "a", None),
        ("apply", "total_minutes", "a", 35),
    ]
    assert changes(second["log", "swim"]) == [("retract", "sessions", "b", None)]
    third = routed(extraction(), previous=list(second.values()))
    assert ("log", "swim") not in third
    assert changes(third["log", "run"]) == [("retract", "sessions", "a", None), ("retract", "total_minutes", "a", 35)]
    assert routed(extraction(), previous=list(third.values())) == {}


def test_an_operator_that_does_not_exist_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    remark = extraction(event("a", event_type="remark"))
    assert changes(routed(remark)["profile", "ann"]) == [("apply", "story", "a", "about a")]
    there = {name: each for name, each in operators().items() if name != "LLM_MERGE"}
    monkeypatch.setattr("operators.entities.routing.operators", lambda: there)
    assert routed(remark) == {}


def test_counting_a_property_counts_the_events_that_have_it() -> None:
    data: Any = to_json(SCHEMA)
    data["EntityTypes"][0]["Properties"][1]["AggregateExpression"]["EventPropertyName"] = "km"
    given = extraction(event("a", kind="run", km=1.0), event("b", kind="run"))
    made = contributions_of(given, parse_schema(data), source="s", position=0)
    log = next(each for each in made if each.entity_type == "log")
    assert [each.source_id for each in log.changes if each.property == "sessions"] == ["a"]


def test_one_local_day_is_in_one_week() -> None:
    brisbane = timezone(timedelta(hours=10))
    times = [datetime(2024, 5, 13, 7, 30, tzinfo=brisbane), datetime(2024, 5, 13, 20, 0, tzinfo=brisbane)]
    content: Any = to_json(SCHEMA)
    (week,) = (each for each in content["EntityTypes"] if each["EntityType"] == "week")
    types = [{**week, "EntityType": key, "Keys": ["user", key]} for key in ("hour", "day", "week")]
    schema = parse_schema({**content, "EntityTypes": types}, name="spans")
    given = extraction(*(event(f"e{index}").model_copy(update={"event_time": time, "said_at": time}) for index, time in enumerate(times)))
    made = contributions_of(Extraction.from_json(given.to_json()), schema, source="extractions/3", position=7)
    keys = {(each.entity_type, each.entity_key) for each in made}
    hours = {("hour", entity_key("ann", "2024-05-13T07")), ("hour", entity_key("ann", "2024-05-13T20"))}
    assert keys == hours | {("day", entity_key("ann", "2024-05-13")), ("week", entity_key("ann", "2024-W20"))}


def test_a_list_routes_an_event_to_each_value() -> None:
    made = {key for kind, key in routed(extraction(event("a", kind=["run", "swim", "run", " "]))) if kind == "log"}
    assert made == {"run", "swim"}
