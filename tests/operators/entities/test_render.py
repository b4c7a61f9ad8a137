"""An entity's memory: one id, a text that can be read and searched, and typed values."""

from datetime import timedelta

import pytest

from memory.errors import KeyFormatError
from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import Change, Memory
from memory.schema import parse_schema
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import render
from tests.operators.sport import SCHEMA, START, change, contribution

LOG = SCHEMA.entity_types[0]


def grown() -> EntityState:
    changes = [
        change("apply", "sessions", "a"),
        change("apply", "total_minutes", "a", 95),
        change("apply", "average_km", "a", 10),
        change("apply", "longest_km", "a", 10.125),
    ]
    return apply_contribution(None, contribution(*changes), LOG).state


def test_a_memory_names_its_entity() -> None:
    memory = render(grown(), LOG, "acme", entity_key("trail run"))
    assert memory.content == "log of trail run: sessions: 1; total minutes: 95; average km: 10; longest km: 10.125"
    assert memory.properties == {"kind": "trail run", "sessions": 1, "total_minutes": 95, "average_km": 10.0, "longest_km": 10.125}
    assert type(memory.properties["average_km"]) is float
    assert (memory.kind, memory.type, memory.tenant, memory.user) == ("entity", "log", "acme", None)
    assert memory.id == entity_id("acme", "log", "trail%20run")
    assert memory.keywords == ["trail run"]
    assert (memory.event_time, memory.message_ids, memory.version) == (START, ["m-a"], 1)
    assert Memory.from_json(memory.to_json()) == memory


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("runs\nbakes", "runs, bakes"),
        ("brother Tom, in Graz\nJoris", "brother Tom, in Graz / Joris"),
        ("one line, with a comma", "one line, with a comma"),
    ],
)
def test_items_with_commas_stay_apart(lines: str, shown: str) -> None:
    profile = next(each for each in SCHEMA.entity_types if each.name == "profile")
    state = apply_contribution(None, contribution(change("apply", "name", "p1", {"replace": lines})), profile).state
    assert f"name: {shown}" in render(state, profile, "acme", entity_key("ann")).content


def test_a_generation_has_its_own_id() -> None:
    other_generation = contribution(change("apply", "sessions", "a")).model_copy(update={"generation": "blue"})
    memory = render(apply_contribution(None, other_generation, LOG).state, LOG, "acme", "run")
    assert (memory.generation, memory.id) == ("blue", entity_id("acme", "log", "run", "blue"))


def test_an_entity_names_its_extractors() -> None:
    def by(extractor: str, *changes: Change) -> list[Change]:
        return [each.model_copy(update={"extractor": extractor}) for each in changes]

    first = contribution(*by("offline", change("apply", "sessions", "a"), change("apply", "total_minutes", "a", 9)), position=0)
    second = contribution(*by("llm:m", change("apply", "sessions", "b")), position=1)
    better = contribution(
        *by("offline", change("retract", "sessions", "a"), change("retract", "total_minutes", "a", 9)),
        *by("llm:m", change("apply", "sessions", "a")),
        position=2,
    )
    state, named = None, []
    for each in (first, second, better):
        state = apply_contribution(state, each, LOG).state
        named.append(render(state, LOG, "acme", "run").extractor)
    assert named == ["offline", "llm:m, offline", "llm:m"]
    assert render(grown(), LOG, "acme", "run").extractor is None


def test_an_integer_beyond_64_bits_is_unknown_not_wrong() -> None:
    changes = [change("apply", "total_minutes", f"e{number}", 2**62) for number in range(3)]
    memory = render(apply_contribution(None, contribution(*changes), LOG).state, LOG, "acme", "run")
    assert memory.properties == {"kind": "run"}
    assert memory.content == "log of run: total minutes: unknown"


def test_a_key_has_the_type_of_its_property() -> None:
    schema = parse_schema(
        [
            {"EventType": "visit", "Properties": [{"PropertyName": "floor", "PropertyValueType": "int64"}]},
            {
                "EntityType": "floor_use",
                "Keys": ["user", "floor"],
                "Properties": [
                    {"PropertyName": "floor", "PropertyValueType": "int64", "IsPrimaryKey": True},
                    {"PropertyName": "visits", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": "visit"}},
                ],
            },
        ]
    )
    entity_type = schema.entity_types[0]
    state = apply_contribution(None, contribution(change("apply", "visits", "a")), entity_type).state
    memory = render(state, entity_type, "acme", entity_key("ann", "3"))
    assert memory.properties == {"user": "ann", "floor": 3, "visits": 1}
    assert memory.content == "floor use of ann, 3: visits: 1"
    assert memory.user == "ann"


def test_a_key_that_is_none_is_refused() -> None:
    with pytest.raises(KeyFormatError):
        render(grown(), LOG, "acme", "trail run")


def test_lines_of_a_patched_text_have_start_dates() -> None:
    profile = next(each for each in SCHEMA.entity_types if each.name == "profile")
    stated = [
        change("apply", "name", "p1", {"replace": "likes hills"}),
        change("apply", "name", "p2", {"replace": "runs alone\n\nhas a dog"}).model_copy(update={"event_time": START + timedelta(days=40)}),
    ]
    memory = render(apply_contribution(None, contribution(*stated), profile).state, profile, "acme", entity_key("ann"))
    first, later = START.date(), (START + timedelta(days=40)).date()
    assert memory.properties["name"] == "likes hills\nruns alone\n\nhas a dog"
    assert memory.since == {"name": [first, later, later]}
    assert Memory.from_json(memory.to_json()) == memory
