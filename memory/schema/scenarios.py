"""The scenarios that ship with Varve, each with a schema and a sample conversation (VikingMem 4.1)."""

from importlib.resources import files
from pathlib import PurePath
from typing import Any

import orjson

from memory.errors import SchemaError
from memory.schema.load import parse_schema
from memory.schema.model import MemorySchema
from memory.schema.node import suggestion

_DATA = files("memory.scenarios")


def scenario_names() -> tuple[str, ...]:
    """The names of all scenarios, sorted."""
    return tuple(sorted(PurePath(each.name).stem for each in _DATA.iterdir() if each.name.endswith(".json")))


def scenario(name: str) -> MemorySchema:
    """The schema of a scenario.

    Raises:
        SchemaError: If there is no scenario with the name.
    """
    return parse_schema(orjson.loads(_read(name, "json")), name=name)


def sample_conversation(name: str) -> list[dict[str, Any]]:
    """A scenario's sample conversation.

    Returns:
        The turns in the order of their event times, each with the fields of a :class:`memory.records.Message` except the tenant.

    Raises:
        SchemaError: If there is no scenario with the name.
    """
    return [orjson.loads(line) for line in _read(name, "jsonl").splitlines() if line.strip()]


def _read(name: str, kind: str) -> bytes:
    if name not in scenario_names():
        raise SchemaError("", f"there is no scenario {name!r}; {suggestion(name, scenario_names())}")
    return (_DATA / f"{name}.{kind}").read_bytes()
