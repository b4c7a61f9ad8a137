"""The examples of docs/build/operators.md are schemas."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory.schema import parse_schema, to_json

GUIDE = (Path(__file__).parents[2] / "docs" / "operators.md").read_text()
EXAMPLES = [orjson.loads(each) for each in re.findall(r"^```json\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)]
TYPES = {"string": ("tool_name", "error", "topic"), "bool": ("success",), "float32": ("seconds",)}
"""What the examples' events have."""


def event_type(name: str) -> dict[str, Any]:
    properties = [{"PropertyName": each, "PropertyValueType": kind} for kind, names in TYPES.items() for each in names]
    return {"EventType": name, "Properties": properties}


@pytest.mark.parametrize("example", [each for each in EXAMPLES if "EntityType" in each or "AggregateExpression" in each])
def test_an_example_is_a_schema(example: dict[str, Any]) -> None:
    entity: dict[str, Any] = example if "EntityType" in example else {"EntityType": "story", "Properties": [example]}
    events = {each["AggregateExpression"]["EventType"] for each in entity["Properties"] if "AggregateExpression" in each}
    schema = parse_schema({"Name": "guide", "EventTypes": [event_type(name) for name in events], "EntityTypes": [entity]})
    assert parse_schema(to_json(schema)) == schema


def test_the_guide_shows_all_three_kinds() -> None:
    assert [each.get("EntityType", each.get("PropertyName")) for each in EXAMPLES if "role" not in each] == [
        "tool_use",
        "life",
        "topic_story",
    ]
