"""Edge values of each field of an operation, from the OpenAPI document: raw JSON for bodies, texts for queries and paths."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

Schema = Mapping[str, Any]

DIGITS: Final = "9" * 5000
"""More than Python reads into an integer."""
TOO_LONG: Final = "y" * 1_000_000
MANY: Final = 100_000
LONG_IN_URL, MANY_IN_URL = 20_000, 4000
"""The server refuses a longer request line before it looks at it."""
SURROGATE: Final = "\\ud800"
"""As JSON escapes a lone one."""
SURROGATE_IN_UTF8: Final = "%ED%A0%80"
TIMES: Final = ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00-14:00", "9999-12-31T23:59:59.999999-14:00", "9999-12-31T23:59:59+14:00")
NUMBERS: Final = (DIGITS, f"-{DIGITS}", str(2**64), str(-(2**63) - 1), "1e400")
DEPTHS: Final = (200, 900, 50_000)
"""Beyond what a record may have, near what the parser takes, and far beyond."""

_MARK: Final = "@edge@"
_TEXTS: Final = {
    "date-time": "2024-05-06T12:00:00Z",
    r"^[0-9]{1,9}/[0-9]{1,18}$": "0/0",
    r"^([0-9]{1,9})\.[0-9]{1,9}$": "1.0",
    "^[0-9a-f]{64}$": "0" * 64,
    "^[A-Z]{2}$": "DE",
}
_KEY: Final = "k"
"""The property of an object with arbitrary properties."""


@dataclass(frozen=True, slots=True)
class Field:
    """One place in a request that takes a value."""

    where: str
    """``body``, ``query`` or ``path``."""
    path: tuple[str | int, ...]
    schema: Schema

    @property
    def name(self) -> str:
        """The innermost name that a problem has to say; empty: that of the whole body."""
        return next((each for each in reversed(self.path) if isinstance(each, str) and each != _KEY), "")


def fields_of(operation: Schema) -> Iterator[Field]:
    """Every field of an operation but its headers: lists and objects, and what is in them."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "header":
            yield Field(parameter["in"], (parameter["name"],), _one_of(parameter["schema"]))
    if "requestBody" in operation:
        yield from _within(_body_schema(operation), ())


def edge_values(field: Field) -> Iterator[str]:
    """The values at the edge of a field: raw JSON in a body, else encoded text."""
    if field.where != "body":
        yield from map(quote, TIMES if _is_time(field.schema) else NUMBERS if _is_number(field.schema) else ())
        yield from (TOO_LONG[:LONG_IN_URL], SURROGATE_IN_UTF8)
        if field.schema.get("type") == "array":
            yield f"&{field.name}=".join([quote(example(field.schema["items"]))] * MANY_IN_URL)
        return
    kind = field.schema.get("type")
    if kind == "array":
        yield f"[{','.join([json.dumps(example(field.schema['items']))] * MANY)}]"
    if kind in ("array", "object", None):
        yield from ("[" * depth + "]" * depth for depth in DEPTHS)
        yield '{"a":' * DEPTHS[0] + "1" + "}" * DEPTHS[0]
    if kind in ("integer", "number", None):
        yield from NUMBERS
    if kind in ("string", None):
        yield from (f'"{TOO_LONG}"', f'"{SURROGATE}"')
    if _is_time(field.schema):
        yield from map(json.dumps, TIMES)


def body_with(operation: Schema, field: Field, value: str, base: Mapping[str, Any]) -> bytes:
    """The smallest body that has a value in one field.

    Args:
        operation: The operation with the body.
        field: Where the value goes.
        value: Raw JSON.
        base: Fields that the body needs in addition to those that its schema requires.
    """
    body: Any = {**example(_body_schema(operation)), **base}
    whole = _put(body, field.path, _body_schema(operation)) if field.where == "body" else body
    return json.dumps(whole).replace(f'"{_MARK}"', value).encode()


def example(schema: Schema) -> Any:
    """The smallest value that a schema takes."""
    schema = _one_of(schema)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: example(schema["properties"][name]) for name in schema.get("required", ())}
        case "array":
            return [example(schema["items"])] * schema.get("minItems", 0)
        case "integer" | "number":
            return max(schema.get("minimum", 0), 0)
        case "boolean":
            return False
        case "string":
            return _TEXTS.get(schema.get("format", schema.get("pattern", "")), "text")
        case _:
            return {}


def _put(value: Any, path: tuple[str | int, ...], schema: Schema) -> Any:
    """A value with the mark at a path; what is missing on the way to it is made."""
    if not path:
        return _MARK
    schema, (step, *rest) = _one_of(schema), path
    if isinstance(step, int):
        return [_put(example(schema["items"]), (*rest,), schema["items"])]
    inner = schema.get("properties", {}).get(step, {})
    return {**value, step: _put(value.get(step) or example(inner), (*rest,), inner)}


def _within(schema: Schema, path: tuple[str | int, ...]) -> Iterator[Field]:
    schema = _one_of(schema)
    yield Field("body", path, schema)
    for name, inner in schema.get("properties", {}).items():
        yield from _within(inner, (*path, name))
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        yield from _within(schema["additionalProperties"], (*path, _KEY))
    if schema.get("type") == "array":
        yield from _within(schema["items"], (*path, 0))


def _body_schema(operation: Schema) -> Schema:
    schema: Schema = _one_of(operation["requestBody"]["content"]["application/json"]["schema"])
    return schema


def _one_of(schema: Schema) -> Schema:
    """The first alternative that is not null."""
    alternatives: list[Schema] = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return alternatives[0] if alternatives else schema


def _is_time(schema: Schema) -> bool:
    return schema.get("format") == "date-time"


def _is_number(schema: Schema) -> bool:
    return schema.get("type") in ("integer", "number")
