"""The published schema of the wire format, compared with real records."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from memory import headers
from memory.records import Message, MessageChange, SessionCommand
from memory.schema import sample_conversation
from memory.topic_records import KINDS, RECORDS, USUAL
from memory.wire_schema import asyncapi, records_schema

DOCUMENTS = Path(__file__).parents[2] / "docs"
SCHEMA = records_schema()


def valid(record: str, value: Any) -> bool:
    return bool(jsonschema_rs.validator_for({**SCHEMA, "$ref": f"#/$defs/{record}"}).is_valid(value))


@pytest.mark.parametrize("scenario", ["companion", "agent_tools"])
def test_messages_are_valid_under_the_wire_schema(scenario: str) -> None:
    for fields in sample_conversation(scenario):
        message = {"tenant": "acme", **fields}
        assert valid("Message", message)
        assert valid("Message", json.loads(Message.from_fields(message).to_json()))


@pytest.mark.parametrize("change", [{"user": None}, {"user": ""}, {"role": "narrator"}, {"event_time": 3}, {"metadata": []}, {"text": 1}])
def test_messages_refused_by_varve_fail_the_wire_schema(change: dict[str, Any]) -> None:
    message = {"tenant": "acme", **next(iter(sample_conversation("companion")))}
    assert not valid("Message", {**message, **change})


def test_unknown_fields_are_accepted() -> None:
    command = json.loads(SessionCommand(command="flush", tenant="acme").to_json())
    assert valid("SessionCommand", {**command, "schema_version": "1.7", "invented": True})


def test_topics_of_records_are_channels() -> None:
    document = asyncapi()
    assert document["channels"].keys() == RECORDS.keys()
    messages = document["components"]["messages"]
    assert references(document["channels"]) == {f"#/components/messages/{each}" for each in messages}
    assert references(messages) <= {f"#/components/schemas/{each}" for each in document["components"]["schemas"]}
    assert references(document["operations"]) <= {f"#/channels/{each}" for each in document["channels"]}
    assert messages["merged.Contribution"]["bindings"] != messages["contributions.Contribution"]["bindings"]


def test_headers_distinguish_the_records_of_a_topic() -> None:
    assert {topic: records for topic, records in USUAL.items() if len(records) != 1} == {"messages": (Message, MessageChange)}
    kinds = [kind for of_topic in KINDS.values() for kind in of_topic]
    assert set(kinds) == {value for value in vars(headers).values() if isinstance(value, bytes)}
    messages = asyncapi()["components"]["messages"]
    assert messages["extractions.Expiry"]["headers"]["properties"] == {"varve-kind": {"const": "expiry"}}
    erasures = [messages[f"{topic}.ErasureCommand"]["headers"]["properties"] for topic in ("extractions", "recalls")]
    assert erasures == [{"varve-kind": {"const": "erasure"}}] * 2
    assert "headers" not in messages["contributions.Contribution"]


def test_the_architecture_names_every_kind() -> None:
    row = next(line for line in (DOCUMENTS / "internals" / "architecture.md").read_text().splitlines() if line.startswith("| `varve-kind`"))
    _, _, topics, meaning, _ = row.split("|")
    assert {name for name in RECORDS if f"`{name}`" in topics} == KINDS.keys()
    assert [kind for of_topic in KINDS.values() for kind in of_topic if f"`{kind.decode()}`" not in meaning] == []


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()
