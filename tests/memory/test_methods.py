"""The shipped memory methods, their composition with schemas, and errors in documents."""

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import SchemaError
from memory.schema import parse_schema, scenario, scenario_names, to_json
from memory.schema.method import MODES, PATHS, Fading, Method, read_method, write_method
from memory.schema.methods import (
    DEFAULT_METHOD,
    base_name,
    check_method,
    load_method,
    method_document,
    method_name,
    method_names,
    with_method,
)
from memory.schema.node import Node
from memory.schema.operator_specs import BUILT_IN

DIARY: dict[str, Any] = {
    "Method": "diary",
    "Description": "Keeps each message, and counts them.",
    "Archive": {"Turns": True},
    "Manage": {
        "KeepEntityTypes": False,
        "EntityTypes": [
            {
                "EntityType": "talk",
                "Description": "How much was said.",
                "Keys": ["user"],
                "Properties": [
                    {"PropertyName": "turns", "PropertyValueType": "int64", "AggregateExpression": {"Op": "COUNT", "EventType": "turn"}}
                ],
            }
        ],
    },
    "Retrieve": {"Profile": "weighted", "Paths": [{"Path": "keywords", "Quota": 3}]},
}

FREE_PATHS = tuple(sorted({*PATHS} - {path for spec in BUILT_IN for path in spec.paths}))
"""Further retrievers that need no operator."""

names = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters="+@/"), min_size=1, max_size=12)


def documents(path_names: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Documents of methods that use some of the named retrievers."""
    paths = st.lists(st.sampled_from(path_names), unique=True).flatmap(
        lambda chosen: st.tuples(
            *(
                st.fixed_dictionaries(
                    {
                        "Path": st.just(path),
                        "Quota": st.integers(1, 50),
                        "Types": st.lists(st.just("a note"), max_size=3),
                        "Hops": st.integers(1, 3),
                        "FanOut": st.integers(1, 20),
                    }
                )
                for path in chosen
            )
        ).map(list)
    )
    return st.fixed_dictionaries(
        {"Method": names, "Version": names, "Description": st.text(max_size=20), "Source": st.text(max_size=20)},
        optional={
            "Archive": st.fixed_dictionaries({}, optional={"Turns": st.booleans()}),
            "Extract": st.fixed_dictionaries({}, optional={"Segments": st.booleans(), "Relations": st.booleans()}),
            "Manage": st.fixed_dictionaries({}, optional={"KeepEntityTypes": st.booleans()}),
            "Store": st.fixed_dictionaries(
                {}, optional={"Kinds": st.lists(st.sampled_from(["event", "summary", "segment"])), "Types": st.lists(st.just("a note"))}
            ),
            "Retrieve": st.fixed_dictionaries({}, optional={"Profile": names, "Mode": st.sampled_from(MODES), "Paths": paths}),
        },
    )


@pytest.mark.parametrize("name", method_names())
def test_each_method_extends_every_shipped_schema(name: str) -> None:
    for schema in map(scenario, scenario_names()):
        composed = with_method(schema, method_document(name))
        assert parse_schema(to_json(composed)) == composed
        assert (method_name(composed), base_name(composed)) == (name, schema.name)


@pytest.mark.parametrize("name", method_names())
def test_each_method_names_itself_and_its_paper(name: str) -> None:
    method = check_method(method_document(name))
    assert method.name == name
    assert method.source
    assert method.description


def test_the_default_method_changes_nothing() -> None:
    companion = scenario("companion")
    assert with_method(companion, method_document(DEFAULT_METHOD)) is companion
    assert (method_name(companion), base_name(companion)) == (DEFAULT_METHOD, "companion")


@given(documents(PATHS))
def test_a_written_document_reads_as_the_same_method(document: dict[str, Any]) -> None:
    method = check_method(document)
    assert read_method(Node(write_method(method, []))) == method


@given(documents(FREE_PATHS))
def test_composition_survives_its_json(document: dict[str, Any]) -> None:
    schema = parse_schema({"Name": "base", "EventTypes": [{"EventType": "a note", "Description": "A note."}]})
    composed = with_method(schema, document)
    assert parse_schema(to_json(composed)) == composed
    read_again = parse_schema(orjson.loads(orjson.dumps(to_json(composed))))
    assert read_again.method == composed.method


def test_a_method_can_replace_the_entity_types() -> None:
    composed = with_method(scenario("companion"), DIARY)
    assert composed.name == "companion+diary"
    assert [each.name for each in composed.entity_types] == ["talk"]
    assert composed.event_types[-1].name == "turn"
    assert composed.method is not None
    assert composed.method.retrieval.profile == "weighted"
    kept = copy.deepcopy(DIARY)
    kept["Manage"]["KeepEntityTypes"] = True
    own = [each.name for each in scenario("companion").entity_types]
    assert [each.name for each in with_method(scenario("companion"), kept).entity_types] == [*own, "talk"]


def test_a_composed_schema_takes_no_second_method() -> None:
    composed = with_method(scenario("companion"), DIARY)
    with pytest.raises(SchemaError, match="'companion\\+diary' has the method 'diary' already"):
        with_method(composed, method_document("memgpt"))
    renamed = parse_schema({**to_json(composed), "Name": "notes"})
    assert base_name(renamed) is None


@pytest.mark.parametrize(
    ("place", "value", "path", "problem"),
    [
        (("Method",), "a+b", "Method.Method", "must not contain"),
        (("Colour",), 1, "Method.Colour", "unknown field"),
        (("Archive", "Turns"), "yes", "Method.Archive.Turns", "expected true or false"),
        (("Retrieve", "Paths", 0, "Quota"), 0, "Method.Retrieve.Paths[0].Quota", "from 1 to 50"),
        (("Retrieve", "Paths", 0, "Path"), "magic", "Method.Retrieve.Paths[0].Path", "expected one of"),
        (("Store",), {"Kinds": ["graph"]}, "Method.Store.Kinds[0]", "expected one of"),
        (("Store",), {"Types": ["turn", "trun"]}, "Method.Store.Types[1]", "did you mean 'turn'"),
        (("Retrieve", "Paths", 0, "Types"), ["talks"], "Method.Retrieve.Paths[0].Types[0]", "did you mean 'talk'"),
        (("Manage", "KeepEntityTypes"), 1, "Method.Manage.KeepEntityTypes", "expected true or false"),
        (
            ("Manage", "EntityTypes", 0, "Properties", 0, "AggregateExpression", "Op"),
            "GUESS",
            "Method.Manage.EntityTypes[0].Properties[0].AggregateExpression.Op",
            "expected one of",
        ),
        (
            ("Manage", "EntityTypes", 0, "Properties", 0, "AggregateExpression", "EventType"),
            "segment",
            "Method.Manage.EntityTypes[0].Properties[0].AggregateExpression.EventType",
            "no event type 'segment'",
        ),
    ],
)
def test_an_error_names_its_path(place: tuple[Any, ...], value: Any, path: str, problem: str) -> None:
    document = copy.deepcopy(DIARY)
    parent: Any = document
    for each in place[:-1]:
        parent = parent[each]
    parent[place[-1]] = value
    with pytest.raises(SchemaError, match=problem) as caught:
        with_method(scenario("companion"), document)
    assert caught.value.path == path


@pytest.mark.parametrize(("path", "operators"), [("tree", "TREE"), ("links", "LINK or EDGE")])
def test_a_path_needs_an_operator_that_publishes_for_it(path: str, operators: str) -> None:
    document = copy.deepcopy(DIARY)
    document["Retrieve"]["Paths"].append({"Path": path, "Quota": 3})
    with pytest.raises(SchemaError, match=f"'{path}' searches what {operators} publishes") as caught:
        with_method(scenario("companion"), document)
    assert caught.value.path == "Method.Retrieve.Paths[1].Path"
    method = "memtree" if path == "tree" else "amem"
    document["Manage"] = method_document(method)["Manage"]
    document["Archive"] = method_document(method)["Archive"]
    composed = with_method(scenario("companion"), document)
    assert composed.method is not None
    assert composed.method.retrieval.path(path) is not None  # type: ignore[arg-type]


def test_a_type_of_the_schema_is_not_redefined() -> None:
    schema = parse_schema({"Name": "own", "EventTypes": [{"EventType": "turn", "Description": "A turn of a game."}]})
    with pytest.raises(SchemaError, match="the method 'diary' adds an event type 'turn'") as caught:
        with_method(schema, DIARY)
    assert caught.value.path == "EventTypes[0].EventType"


def test_a_file_is_read_or_named_in_the_error(tmp_path: Path) -> None:
    path = tmp_path / "diary.json"
    path.write_bytes(orjson.dumps(DIARY))
    assert load_method(path) == DIARY
    path.write_bytes(orjson.dumps({**DIARY, "Version": [3]}))
    with pytest.raises(SchemaError, match=r"expected text such as .* \(in .*diary.json\)") as caught:
        load_method(path)
    assert caught.value.path == "Method.Version"
    path.write_text("{")
    with pytest.raises(SchemaError, match="is not JSON"):
        load_method(path)
    with pytest.raises(SchemaError, match="cannot read the method file"):
        load_method(tmp_path / "absent.json")


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(SchemaError, match="did you mean 'memgpt'"):
        method_document("mem-gpt")


def test_a_method_without_additions_is_the_default() -> None:
    plain = {"Method": "plain", "Description": "Nothing more."}
    assert check_method(plain) == Method(name="plain", description="Nothing more.")
    assert with_method(scenario("meetings"), plain).method is None


def fading_document(**strength: Any) -> dict[str, Any]:
    """A method whose memories fade."""
    document = copy.deepcopy(DIARY)
    properties = document["Manage"]["EntityTypes"][0]["Properties"]
    aggregate = {"Op": "STRENGTH", "EventType": "turn", **strength}
    properties.append({"PropertyName": "remembered", "PropertyValueType": "int64", "AggregateExpression": aggregate})
    document["Retrieve"]["Fading"] = {"EntityType": "talk", "Least": 5, "Types": ["turn"]}
    return document


def test_fading_is_part_of_the_method() -> None:
    composed = with_method(scenario("companion"), fading_document(Ranks=True))
    assert composed.method is not None
    assert composed.method.retrieval.fading == Fading(entity_type="talk", properties=("remembered",), least=5, types=("turn",))
    assert parse_schema(to_json(composed)) == composed


def test_fading_types_exist() -> None:
    document = fading_document(Ranks=True)
    document["Retrieve"]["Fading"]["Types"] = ["turns"]
    with pytest.raises(SchemaError, match="did you mean 'turn'") as caught:
        with_method(scenario("companion"), document)
    assert caught.value.path == "Method.Retrieve.Fading.Types[0]"


@pytest.mark.parametrize("change", [{}, {"EntityType": "nobody"}, {"Least": 0}, {"Colour": 1}])
def test_fading_needs_counted_recalls(change: dict[str, Any]) -> None:
    document = fading_document(Ranks=bool(change))
    document["Retrieve"]["Fading"] |= change
    place = next(iter(change), "EntityType")
    with pytest.raises(SchemaError) as caught:
        check_method(document)
    assert caught.value.path == f"Method.Retrieve.Fading.{place}"
