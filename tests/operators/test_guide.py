"""The examples of the pages on operators and schemas are schemas."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory.schema import parse_schema, to_json
from memory.schema.model import ANY_EVENT

BUILD = Path(__file__).parents[2] / "docs" / "build"
TEXT = "".join((BUILD / name).read_text() for name in ("operators.md", "structured-memories.md", "schemas.md"))
EXAMPLES = [orjson.loads(each) for each in re.findall(r"^```json\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)]
TYPES = {"string": ("tool_name", "error", "topic", "subject", "relation", "object"), "bool": ("success",), "float32": ("seconds",)}
"""The fields of the examples' events."""


def event_type(name: str) -> dict[str, Any]:
    properties = [{"PropertyName": each, "PropertyValueType": kind} for kind, names in TYPES.items() for each in names]
    return {"EventType": name, "Properties": properties}


@pytest.mark.parametrize("example", [each for each in EXAMPLES if "EntityType" in each or "AggregateExpression" in each])
def test_an_example_is_a_schema(example: dict[str, Any]) -> None:
    entity: dict[str, Any] = example if "EntityType" in example else {"EntityType": "story", "Properties": [example]}
    named = {each["AggregateExpression"]["EventType"] for each in entity["Properties"] if "AggregateExpression" in each}
    events = named - {ANY_EVENT} or {"any_other"}
    schema = parse_schema({"Name": "guide", "EventTypes": [event_type(name) for name in events], "EntityTypes": [entity]})
    assert parse_schema(to_json(schema)) == schema


def test_a_whole_schema_is_shown() -> None:
    (whole,) = [each for each in EXAMPLES if "EventTypes" in each]
    schema = parse_schema(whole)
    assert parse_schema(to_json(schema)) == schema
    (call,) = [each["tool_call"] for each in EXAMPLES if "tool_call" in each]
    event_type = next(each for each in schema.event_types if each.name == call["name"])
    assert call["arguments"].keys() <= {each.name for each in event_type.properties}, "it states an event of that schema"


def test_the_pages_show_every_kind_of_example() -> None:
    shown = [each.get("EntityType", each.get("PropertyName")) for each in EXAMPLES if "EventTypes" not in each and "role" not in each]
    assert shown == ["errors", "life", "topic_story", "remembered", "node", "community", "topics", "tier_sizes", "tool_use"]
