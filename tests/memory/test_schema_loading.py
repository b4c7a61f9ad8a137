"""Schemas: the paper's form is read unchanged, an error names its path, and a schema can be written and read again."""

import copy
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import SchemaError
from memory.schema import MemorySchema, load_schema, parse_schema, scenario, scenario_names, to_json
from memory.schema.filters import MAX_DEPTH
from memory.schema.load import MAX_PROPERTIES, MAX_TYPES
from memory.schema.model import AnyOf, Not
from memory.schema.node import suggestion
from memory.schema.time_window import TimeWindow

STUDY: dict[str, Any] = {
    "EventType": "english_study",
    "Description": "One exercise.",
    "Properties": [
        {"PropertyName": "knowledge_point_name", "PropertyValueType": "string", "Description": "What it practises."},
        {"PropertyName": "rating_score", "PropertyValueType": "float32", "Description": "How it went."},
        {"PropertyName": "tries", "PropertyValueType": "int64", "Description": "How many tries."},
        {"PropertyName": "tags", "PropertyValueType": "list<string>", "Description": "Tags."},
    ],
}
POINT: dict[str, Any] = {
    "ProfileType": "english_knowledge_point",
    "Description": "Mastery of one point.",
    "Properties": [
        {"PropertyName": "knowledge_point_name", "PropertyValueType": "string", "IsPrimaryKey": True},
        {
            "PropertyName": "average_score",
            "PropertyValueType": "float32",
            "AggregateExpression": {"Op": "AVG", "EventType": "english_study", "EventPropertyName": "rating_score"},
        },
        {
            "PropertyName": "most_tries",
            "PropertyValueType": "int64",
            "AggregateExpression": {"Op": "MAX", "EventType": "english_study", "EventPropertyName": "tries"},
        },
    ],
}


def whole() -> dict[str, Any]:
    return copy.deepcopy({"Name": "english", "Version": "3", "EventTypes": [STUDY], "EntityTypes": [POINT]})


def test_the_papers_bare_list_is_read_as_it_is() -> None:
    schema = parse_schema([POINT, STUDY], name="english")
    assert schema.name == "english"
    assert [each.name for each in schema.event_types] == ["english_study"]
    entity = schema.entity_types[0]
    assert entity.name == "english_knowledge_point"
    assert entity.keys == ("knowledge_point_name",)
    average = entity.property("average_score")
    assert average is not None
    assert average.aggregate is not None
    assert (average.aggregate.op, average.aggregate.event_type, average.aggregate.event_property) == (
        "AVG",
        "english_study",
        "rating_score",
    )


def test_keys_default_to_primary_keys_then_the_user() -> None:
    data = whole()
    data["EntityTypes"][0]["Properties"][0] = {"PropertyName": "user_id", "PropertyValueType": "string", "IsPrimaryKey": True}
    entity = parse_schema(data).entity_types[0]
    assert (entity.keys, entity.key_names) == (("user",), ("user_id",))
    del data["EntityTypes"][0]["Properties"][0]
    assert parse_schema(data).entity_types[0].keys == ("user",)


def test_a_property_without_aggregate_is_set_by_patches() -> None:
    data = whole()
    data["EntityTypes"][0]["Properties"] += [
        {"PropertyName": "notes", "PropertyValueType": "string"},
        {"PropertyName": "remarks", "PropertyValueType": "string", "AggregateExpression": {"Op": "PATCH"}},
    ]
    entity = parse_schema(data).entity_types[0]
    assert [each.name for each in entity.patched_properties()] == ["notes", "remarks"]


def test_operators_of_newer_versions_are_accepted() -> None:
    data = whole()
    merged = {"Op": "LLM_MERGE", "EventType": "english_study", "EventPropertyName": "content"}
    data["EntityTypes"][0]["Properties"].append({"PropertyName": "summary", "PropertyValueType": "string", "AggregateExpression": merged})
    assert parse_schema(data).entity_types[0].properties[-1].aggregate is not None


def test_a_rate_needs_a_window() -> None:
    data = whole()
    rate = {"Op": "RATE", "EventType": "english_study"}
    data["EntityTypes"][0]["Properties"].append({"PropertyName": "often", "PropertyValueType": "float32", "AggregateExpression": rate})
    with pytest.raises(SchemaError, match="give the entity type a Window"):
        parse_schema(data)


def test_an_aging_operator_allows_no_time_window() -> None:
    data = whole()
    data["EntityTypes"][0]["Properties"][1]["AggregateExpression"]["Op"] = "EWMA"
    assert parse_schema(data)
    data["EntityTypes"][0]["WindowDays"] = 7
    with pytest.raises(SchemaError, match="without a Window"):
        parse_schema(data)


def test_a_key_is_matched_by_one_similarity() -> None:
    data = whole()
    data["EntityTypes"].append(copy.deepcopy(POINT) | {"ProfileType": "point_by_user", "Keys": ["user", "knowledge_point_name"]})
    first, second = (each["Properties"][0] for each in data["EntityTypes"])
    first["Similarity"] = 0.75
    schema = parse_schema(data)
    assert schema.similarities() == {"knowledge_point_name": 0.75}
    assert [dict(each.similarities) for each in schema.entity_types] == [{"knowledge_point_name": 0.75}, {}]
    assert parse_schema(to_json(schema)) == schema
    second["Similarity"] = 0.8
    with pytest.raises(SchemaError, match=r"Properties\[0\]\.Similarity.*0\.8.*'point_by_user'.*the same Similarity"):
        parse_schema(data)


def test_a_window_is_given_once() -> None:
    data = whole()
    data["EntityTypes"][0]["WindowDays"] = 7
    assert parse_schema(data).entity_types[0].window == TimeWindow(7, "day")
    data["EntityTypes"][0]["Window"] = {"Length": 7, "Unit": "day"}
    with pytest.raises(SchemaError, match="one of the two"):
        parse_schema(data)


def test_parameters_and_conditions_are_read_as_written() -> None:
    data = whole()
    entity = data["EntityTypes"][0]
    entity["Window"] = {"Length": 12, "Unit": "week"}
    entity["Filters"] = [
        {"Or": [{"Property": "tries", "Op": ">", "Value": 2}, {"Not": {"Property": "tags", "Op": "contains", "Value": "x"}}]}
    ]
    entity["Properties"] += [
        {"PropertyName": "tags", "PropertyValueType": "list<string>", "AggregateExpression": TOP_TAGS | {"K": 3}},
        {
            "PropertyName": "weekly",
            "PropertyValueType": "float32",
            "AggregateExpression": {"Op": "RATE", "EventType": "english_study", "Per": "week"},
        },
    ]
    schema = parse_schema(data)
    read = schema.entity_types[0]
    assert read.window == TimeWindow(12, "week")
    tags, weekly = (each.aggregate for each in read.properties[-2:])
    assert tags is not None
    assert weekly is not None
    assert (tags.parameters, weekly.parameters) == ((("K", 3),), (("Per", "week"),))
    assert isinstance(read.filters[0], AnyOf)
    assert isinstance(read.filters[0].conditions[1], Not)
    assert parse_schema(to_json(schema)) == schema


def test_conditions_lie_not_too_deep() -> None:
    data = whole()
    condition: Any = {"Property": "tries", "Op": ">", "Value": 2}
    for _ in range(MAX_DEPTH):
        condition = {"Not": condition}
    data["EntityTypes"][0]["Filters"] = [condition]
    with pytest.raises(SchemaError, match="nested at most"):
        parse_schema(data)


ENTITY = "EntityTypes[0]"
AGGREGATE = f"{ENTITY}.Properties[1].AggregateExpression"

WEEK = {
    "EntityType": "week",
    "Properties": [{"PropertyName": "week", "PropertyValueType": "string", "IsPrimaryKey": True, "Similarity": 1}],
}
TRIES = {
    "EntityType": "tries",
    "Properties": [{"PropertyName": "tries", "PropertyValueType": "int64", "IsPrimaryKey": True, "Similarity": 1}],
}
EDGES = {"Op": "EDGE", "EventType": "english_study"}
TOP_TAGS = {"Op": "TOP_K", "EventType": "english_study", "EventPropertyName": "tags"}

FAULTS: list[tuple[list[str | int], Any, str, str]] = [
    (["EventTypes"], {}, "EventTypes", "expected a list"),
    (["EventTypes"], [], f"{AGGREGATE}.EventType", "the schema has no EventTypes"),
    (["EventTypes", 0], 7, "EventTypes[0]", "found 7"),
    (["EventTypes", 0, "EventType"], "", "EventTypes[0].EventType", "name"),
    (["EventTypes", 0, "EventType"], "x" * 300, "EventTypes[0].EventType", "300"),
    (["EventTypes", 0, "EventType"], "english\nstudy", "EventTypes[0].EventType", "line breaks"),
    (["EventTypes", 0, "EventType"], "*", "EventTypes[0].EventType", "another name"),
    (["EventTypes", 0, "Propertys"], [], "EventTypes[0].Propertys", "did you mean 'Properties'"),
    (["EventTypes", 0, "Weight"], 2, "EventTypes[0].Weight", "0 to 1"),
    (["EventTypes", 0, "Description"], 5, "EventTypes[0].Description", "text"),
    (["EventTypes", 0, "Properties", 2, "PropertyValueType"], "int", "EventTypes[0].Properties[2].PropertyValueType", "'int64'"),
    (["EventTypes", 0, "Properties", 2, "PropertyValueType"], None, "EventTypes[0].Properties[2].PropertyValueType", "missing"),
    (["EventTypes", 0, "Properties", 1, "PropertyName"], "tags", "EventTypes[0].Properties[3].PropertyName", "duplicated"),
    (["EventTypes", 1], STUDY, "EventTypes[1].EventType", "duplicated"),
    (["EntityTypes", 1], POINT, "EntityTypes[1].EntityType", "duplicated"),
    (["EntityTypes", 0, "EntityType"], "both", f"{ENTITY}.ProfileType", "one of the two"),
    (["EntityTypes", 0, "Properties"], [], f"{ENTITY}.Properties", "at least one"),
    (["EntityTypes", 0, "Properties"], None, f"{ENTITY}.Properties", "missing"),
    (["EntityTypes", 0, "Properties", 0, "IsPrimaryKey"], "yes", f"{ENTITY}.Properties[0].IsPrimaryKey", "true or false"),
    (["EntityTypes", 0, "Properties", 0, "PropertyName"], "no_such", f"{ENTITY}.Properties[0].PropertyName", "'no_such'"),
    (["EntityTypes", 0, "Properties", 0, "PropertyValueType"], "list<string>", f"{ENTITY}.Properties[0].PropertyValueType", "one value"),
    (["EntityTypes", 0, "Properties", 1, "IsPrimaryKey"], True, f"{AGGREGATE}", "cannot be aggregated"),
    (
        ["EntityTypes", 0, "Properties", 1, "PropertyValueType"],
        "int64",
        f"{ENTITY}.Properties[1].PropertyValueType",
        "AVG of float32 gives float32",
    ),
    (["EntityTypes", 0, "Properties", 2, "PropertyValueType"], "string", f"{ENTITY}.Properties[2].PropertyValueType", "MAX of int64"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression", "Op"], "AVERAGE", f"{AGGREGATE}.Op", "install its package here"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression", "Op"], "sum", f"{AGGREGATE}.Op", "did you mean 'SUM'"),
    (
        ["EntityTypes", 0, "Properties", 1, "AggregateExpression", "EventType"],
        "english",
        f"{AGGREGATE}.EventType",
        "did you mean 'english_study'",
    ),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression", "EventType"], None, f"{AGGREGATE}.EventType", "missing"),
    (
        ["EntityTypes", 0, "Properties", 1, "AggregateExpression", "EventPropertyName"],
        "score",
        f"{AGGREGATE}.EventPropertyName",
        "no property 'score'",
    ),
    (
        ["EntityTypes", 0, "Properties", 1, "AggregateExpression", "EventPropertyName"],
        "tags",
        f"{AGGREGATE}.EventPropertyName",
        "list<string>",
    ),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression", "EventPropertyName"], None, f"{AGGREGATE}.EventPropertyName", "numeric"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression", "EventPropertyName"], "content", f"{AGGREGATE}.EventPropertyName", "text"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression", "Op"], "PATCH", f"{AGGREGATE}.EventType", "leave EventType out"),
    (["EntityTypes", 0, "Properties", 0, "Similarity"], 0, f"{ENTITY}.Properties[0].Similarity", "above 0"),
    (["EntityTypes", 0, "Properties", 0, "Similarity"], True, f"{ENTITY}.Properties[0].Similarity", "found True"),
    (["EntityTypes", 0, "Properties", 1, "Similarity"], 0.75, f"{ENTITY}.Properties[1].Similarity", "not part of the key"),
    (["EntityTypes", 1], WEEK, "EntityTypes[1].Properties[0].Similarity", "'week' is a built-in key"),
    (["EntityTypes", 1], TRIES, "EntityTypes[1].Properties[0].PropertyValueType", "not int64"),
    (["EntityTypes", 0, "Keys"], [], f"{ENTITY}.Keys", "at least one key"),
    (["EntityTypes", 0, "Keys"], ["knowledge_point_nam"], f"{ENTITY}.Keys[0]", "did you mean 'knowledge_point_name'"),
    (["EntityTypes", 0, "Keys"], ["user"], f"{ENTITY}.Properties[0].IsPrimaryKey", "not among the Keys"),
    (["EntityTypes", 0, "Keys"], ["nodes"], f"{ENTITY}.Keys[0]", "properties subject, relation, object"),
    (["EntityTypes", 0, "Keys"], ["knowledge_point_name", "topic"], f"{ENTITY}.Keys[1]", "no property 'topic'"),
    (["EntityTypes", 0, "Keys"], ["knowledge_point_name", "knowledge_point_name"], f"{ENTITY}.Keys", "duplicate key"),
    (["EntityTypes", 0, "Keys"], "user", f"{ENTITY}.Keys", "expected a list"),
    (["EntityTypes", 0, "WindowDays"], 1.5, f"{ENTITY}.WindowDays", "whole number"),
    (["EntityTypes", 0, "WindowDays"], 0, f"{ENTITY}.WindowDays", "from 1"),
    (["EntityTypes", 0, "Window"], {"Length": 7, "Unit": "days"}, f"{ENTITY}.Window.Unit", "did you mean 'day'"),
    (["EntityTypes", 0, "Window"], {"Length": 0, "Unit": "day"}, f"{ENTITY}.Window.Length", "from 1"),
    (["EntityTypes", 0, "Window"], 7, f"{ENTITY}.Window", "Length"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression", "K"], 3, f"{AGGREGATE}.K", "one of: Op, EventType, EventPropertyName"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression"], {"op": "AVG"}, f"{AGGREGATE}.op", "did you mean 'Op'"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression"], EDGES, f"{AGGREGATE}.EventType", "'english_study' has not all of them"),
    (
        ["EntityTypes", 0, "Properties", 1, "AggregateExpression"],
        EDGES | {"Op": "CLUSTER", "EventType": "*"},
        f"{AGGREGATE}.EventType",
        "subject, relation, object",
    ),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression"], TOP_TAGS | {"K": 0}, f"{AGGREGATE}.K", "from 1 to 50"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression"], TOP_TAGS, f"{ENTITY}.Properties[1].PropertyValueType", "list<string>"),
    (["EntityTypes", 0, "Properties", 1, "AggregateExpression"], TOP_TAGS | {"Op": "LIST"}, f"{AGGREGATE}.EventPropertyName", "one value"),
    (
        ["EntityTypes", 0, "Properties", 1, "AggregateExpression"],
        {"Op": "LATEST", "EventType": "english_study"},
        f"{AGGREGATE}.EventPropertyName",
        "needs a property",
    ),
    (
        ["EntityTypes", 0, "Properties", 1, "AggregateExpression"],
        {"Op": "RATE", "EventType": "english_study", "Per": "year"},
        f"{AGGREGATE}.Per",
        "one of: minute",
    ),
    (["EntityTypes", 0, "Filters"], [{"Or": []}], f"{ENTITY}.Filters[0].Or", "at least one"),
    (["EntityTypes", 0, "Filters"], [{"Or": [], "And": []}], f"{ENTITY}.Filters[0].Or", "unknown field"),
    (["EntityTypes", 0, "Filters"], [{"Not": {"Property": "tries"}}], f"{ENTITY}.Filters[0].Not.Value", "missing"),
    (
        ["EntityTypes", 0, "Filters"],
        [{"And": [{"Or": [{"Property": "tries", "Op": ">", "Value": "many"}]}]}],
        f"{ENTITY}.Filters[0].And[0].Or[0].Value",
        "'many'",
    ),
    (["EntityTypes", 0, "Filters"], [{"Property": "scores", "Op": "=", "Value": 1}], f"{ENTITY}.Filters[0].Property", "rating_score"),
    (["EntityTypes", 0, "Filters"], [{"Property": "tries", "Op": "~", "Value": 1}], f"{ENTITY}.Filters[0].Op", "'~'"),
    (["EntityTypes", 0, "Filters"], [{"Property": "tries", "Op": "="}], f"{ENTITY}.Filters[0].Value", "missing"),
    (["EntityTypes", 0, "Filters"], [{"Property": "tries", "Op": ">", "Value": "many"}], f"{ENTITY}.Filters[0].Value", "'many'"),
    (["EntityTypes", 0, "Filters"], [{"Property": "tries", "Op": "in", "Value": 3}], f"{ENTITY}.Filters[0].Value", "list"),
    (["EntityTypes", 0, "Filters"], [{"Property": "tags", "Op": "=", "Value": "x"}], f"{ENTITY}.Filters[0].Value", "contains"),
    (
        ["EntityTypes", 0, "Filters"],
        [{"Property": "tries", "Op": "contains", "Value": 1}],
        f"{ENTITY}.Filters[0].Value",
        "list or a string",
    ),
    (["EntityTypes", 0, "Filters"], [{"Property": "importance", "Op": ">", "Value": True}], f"{ENTITY}.Filters[0].Value", "True"),
    (["Nam"], "x", "Nam", "did you mean 'Name'"),
    (["Name"], "english@home", "Name", "NAME@REVISION"),
    (["Version"], [3], "Version", "text"),
    (["Version"], True, "Version", "text"),
    (["Version"], " ", "Version", "text"),
    (["Detail"], "everything", "Detail", "one of: brief, full"),
    (["Detail"], 2, "Detail", "one of: brief, full"),
    (["Said"], "no", "Said", "true or false"),
]


def test_a_version_may_be_a_number() -> None:
    assert parse_schema(whole() | {"Version": 3}).version == "3"


@pytest.mark.parametrize(("where", "value", "path", "word"), FAULTS)
def test_a_fault_is_refused_at_its_path(where: list[str | int], value: Any, path: str, word: str) -> None:
    data: Any = whole()
    assert parse_schema(data)
    inner = data
    for step in where[:-1]:
        inner = inner[step]
    if isinstance(where[-1], int) and where[-1] == len(inner):
        inner.append(copy.deepcopy(value))
    else:
        inner[where[-1]] = value
    with pytest.raises(SchemaError) as caught:
        parse_schema(data)
    assert caught.value.path == path
    assert word in caught.value.problem


def test_an_event_property_cannot_shadow_a_built_in_key() -> None:
    data = whole()
    data["EventTypes"][0]["Properties"].append({"PropertyName": "user", "PropertyValueType": "string"})
    assert parse_schema(data)
    data["EntityTypes"][0]["Keys"] = ["knowledge_point_name", "user"]
    with pytest.raises(SchemaError, match=r"Keys\[1\].*rename the property"):
        parse_schema(data)


def test_a_fault_in_a_bare_list_names_its_index() -> None:
    broken = copy.deepcopy(POINT)
    broken["Properties"][1]["AggregateExpression"]["EventType"] = "nothing"
    with pytest.raises(SchemaError) as caught:
        parse_schema([STUDY, broken])
    assert caught.value.path == "[1].Properties[1].AggregateExpression.EventType"


@pytest.mark.parametrize("data", [{}, [], {"Name": "empty", "EventTypes": []}])
def test_a_schema_without_types_is_refused(data: object) -> None:
    with pytest.raises(SchemaError, match="at least one type in EventTypes or EntityTypes"):
        parse_schema(data)


def test_an_operator_lists_each_parameter_once() -> None:
    data = whole()
    data["EntityTypes"][0]["Properties"][1]["AggregateExpression"] = {"Colour": 1}
    with pytest.raises(SchemaError, match="Colour: unknown field") as caught:
        parse_schema(data)
    assert caught.value.problem.count("Limit") == 1


@pytest.mark.parametrize("data", [None, 3, "schema", True])
def test_a_document_that_is_no_schema_is_refused(data: object) -> None:
    with pytest.raises(SchemaError, match="expected an object"):
        parse_schema(data)


def test_a_file_is_named_in_its_fault(tmp_path: Path) -> None:
    missing = tmp_path / "none.json"
    with pytest.raises(SchemaError, match=r"none\.json"):
        load_schema(missing)
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(SchemaError, match=r"broken\.json is not JSON"):
        load_schema(broken)
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"EventTypes": [{}]}')
    with pytest.raises(SchemaError, match=r"EventTypes\[0\]\.EventType: missing.*wrong\.json"):
        load_schema(wrong)


def test_a_field_given_twice_is_named(tmp_path: Path) -> None:
    file = tmp_path / "twice.json"
    file.write_text('{"EventTypes": [{"EventType": "visit", "Properties": [], "Properties": []}]}')
    with pytest.raises(SchemaError, match=r"EventType 'visit' has the field 'Properties' twice.*twice\.json"):
        load_schema(file)


def test_a_file_may_begin_with_a_mark(tmp_path: Path) -> None:
    file = tmp_path / "english.json"
    file.write_bytes(orjson.dumps(whole()).decode().encode("utf-8-sig"))
    assert load_schema(file) == parse_schema(whole())
    file.write_bytes(orjson.dumps(whole()).decode().encode("utf-16"))
    with pytest.raises(SchemaError, match=r"english\.json is not UTF-8 .*save it as UTF-8"):
        load_schema(file)


def test_a_file_without_a_name_lends_its_own(tmp_path: Path) -> None:
    file = tmp_path / "english.json"
    file.write_bytes(orjson.dumps([STUDY, POINT]))
    assert load_schema(file).name == "english"


@pytest.mark.parametrize("name", scenario_names())
def test_a_schema_is_read_as_it_was_written(name: str) -> None:
    schema = scenario(name)
    assert parse_schema(orjson.loads(orjson.dumps(to_json(schema)))) == schema


def _paths(value: Any) -> list[list[str | int]]:
    """The path to every value inside a JSON value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for step, inner in steps for path in ([step], *([step, *rest] for rest in _paths(inner)))]


JUNK: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4) | st.just([]) | st.just({}) | st.just([{}]) | st.just(["a"])
)


@given(st.data())
def test_a_schema_with_anything_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    broken: Any = whole()
    for _ in range(data.draw(st.integers(1, 3))):
        paths = _paths(broken)
        if not paths:
            break
        *path, last = data.draw(st.sampled_from(paths))
        inner = broken
        for step in path:
            inner = inner[step]
        inner[last] = copy.deepcopy(data.draw(JUNK))
    try:
        schema = parse_schema(broken)
    except SchemaError:
        return
    assert isinstance(schema, MemorySchema)
    assert parse_schema(to_json(schema)) == schema


def test_a_schema_selects_how_much_is_kept() -> None:
    full = parse_schema({**whole(), "Detail": "full"})
    assert full.detail == "full"
    assert parse_schema(to_json(full)) == full


def test_a_schema_selects_whether_words_are_kept() -> None:
    without = parse_schema({**whole(), "Said": False})
    assert not without.said
    assert parse_schema(to_json(without)) == without


@pytest.mark.parametrize("said", [True, None])
def test_a_schema_of_defaults_is_written_as_before(said: bool | None) -> None:
    brief = parse_schema({**whole(), "Detail": "brief", "Said": said})
    assert brief == parse_schema(whole())
    assert not {"Detail", "Said"} & to_json(brief).keys()


def with_types(types: int, properties: int) -> dict[str, Any]:
    each = [{"PropertyName": f"p{number}", "PropertyValueType": "string"} for number in range(properties)]
    return {"Name": "large", "EventTypes": [{"EventType": f"e{number}", "Properties": each} for number in range(types)]}


@pytest.mark.parametrize(("types", "properties", "problem"), [(MAX_TYPES + 1, 0, "at most 200"), (100, 21, "at most 2000 properties")])
def test_a_schema_too_large_is_refused_before_reading(types: int, properties: int, problem: str) -> None:
    with pytest.raises(SchemaError, match=problem):
        parse_schema(with_types(types, properties))


def test_the_largest_schema_is_read() -> None:
    assert len(parse_schema(with_types(MAX_TYPES, MAX_PROPERTIES // MAX_TYPES)).event_types) == MAX_TYPES


@pytest.mark.parametrize(
    "change",
    [
        {"x" * 5_000_000: 1},
        {"Detail": "x" * 5_000_000},
        {"Description": "x" * 5_000_000},
        {"EntityTypes": [{**POINT, "Properties": [{**POINT["Properties"][1], "AggregateExpression": {"Op": "x" * 5_000_000}}]}]},
    ],
)
def test_a_wrong_long_text_is_refused_quickly_and_shortly(change: dict[str, Any]) -> None:
    began = time.process_time()
    with pytest.raises(SchemaError) as refused:
        parse_schema({**whole(), **change})
    assert time.process_time() - began < 0.3
    assert len(str(refused.value)) < 2000


def test_a_hint_lists_some_of_many_names() -> None:
    names = [f"name{number}" for number in range(1000)]
    assert suggestion("nane7", names) == f"did you mean 'name7'? (expected one of: {', '.join(names[:50])} and 950 more)"
