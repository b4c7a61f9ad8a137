"""The memory methods that ship with Varve, and their composition with a schema.

A method is selected by composing it with a schema. The result is a further schema, named ``SCHEMA+METHOD``, whose JSON contains the whole
document. So replay, rebuild and erasure treat it like any other schema.
"""

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import Any, Final, cast

import orjson
from pydantic import JsonValue

from memory.errors import SchemaError
from memory.schema.load import parse_schema, read_file
from memory.schema.method import Method, entity_type_nodes, read_method
from memory.schema.model import MemorySchema
from memory.schema.node import Node, suggestion
from memory.schema.operator_specs import operator_specs
from memory.schema.write import to_json

DEFAULT_METHOD: Final = "vikingmem"
"""The method of a schema without a ``Method``."""

MethodDocument = Mapping[str, JsonValue]
"""``{Method, Version, Description, Source, Archive, Extract, Manage, Store, Retrieve}``: see :mod:`memory.schema.method`."""

_JOINT: Final = "+"
_RESERVED: Final = "+@/"
"""Characters that separate a schema's name from its method, its revision and its place in a URL."""


def method_names() -> tuple[str, ...]:
    """The names of all shipped methods, sorted."""
    return tuple(sorted(PurePath(each.name).stem for each in _data().iterdir() if each.name.endswith(".json")))


def method_document(name: str) -> dict[str, JsonValue]:
    """A shipped method's document.

    Raises:
        SchemaError: If there is no method with the name.
    """
    if name not in method_names():
        raise SchemaError("", f"there is no memory method {name!r}; {suggestion(name, method_names())}")
    return cast(dict[str, JsonValue], orjson.loads((_data() / f"{name}.json").read_bytes()))


def load_method(path: Path) -> dict[str, JsonValue]:
    """A method's document from a JSON file.

    Raises:
        SchemaError: If the file cannot be read or is not a valid document; names the file and the path in it.
    """

    def read(document: object) -> dict[str, JsonValue]:
        check_method(document)
        return cast(dict[str, JsonValue], document)

    return read_file(path, "method", read)


def check_method(document: object) -> Method:
    """Reads a document, without its entity types: those are checked together with a schema.

    Raises:
        SchemaError: With the path of the first error, such as ``Method.Retrieve.Paths[0].Quota``.
    """
    node = Node({"Method": document}).at("Method")
    method = read_method(node)
    if any(each in method.name for each in _RESERVED):
        raise node.at("Method").fault(f"the name of a method must not contain any of {' '.join(_RESERVED)}, found {method.name!r}")
    return method


def with_method(schema: MemorySchema, document: MethodDocument) -> MemorySchema:
    """Composes a schema with a method.

    Args:
        schema: A schema without a method.
        document: The method. One that adds nothing, such as ``vikingmem``, returns the schema itself.

    Returns:
        The schema ``SCHEMA+METHOD``.

    Raises:
        SchemaError: If the schema has a method already, or the method does not fit to it; with the path of the first error.
    """
    method = check_method(document)
    if schema.method is not None:
        raise SchemaError("Method", f"the schema {schema.name!r} has the method {schema.method.name!r} already; name a schema without one")
    if _adds_nothing(method):
        return schema
    content: dict[str, Any] = {**to_json(schema), "Name": f"{schema.name}{_JOINT}{method.name}", "Method": dict(document)}
    if not method.keeps_entity_types:
        content["EntityTypes"] = []
    # Written and read again, so that a document without defaults equals the one with them.
    return parse_schema(to_json(parse_schema(content)))


def missing_without_model(document: MethodDocument) -> tuple[str, ...]:
    """The parts of a method that need a model, each with the consequence of having none.

    Args:
        document: The method.

    Raises:
        SchemaError: If the document is invalid.
    """
    method, specs = check_method(document), operator_specs()
    missing: list[str] = []
    for entity_type in entity_type_nodes(Node({"Method": document}).at("Method")):
        for node in entity_type.at("Properties").items():
            op = node.at("AggregateExpression").at("Op").value if node.has("AggregateExpression") else None
            spec = specs.get(op) if isinstance(op, str) else None
            if spec is not None and spec.without_model:
                missing.append(f"{entity_type.at('EntityType').name()}.{node.at('PropertyName').name()} ({op}): {spec.without_model}")
    if method.extracts_segments:
        missing.append("segments: a segment consists of its messages, without a summary")
    if method.extracts_relations:
        missing.append("relations: only those that profile fields of the schema state")
    if method.retrieval.path("topics") is not None:
        missing.append("retriever topics (VARVE_TOPICS__BASE_URL): the search by meaning selects topics")
    if method.retrieval.mode not in (None, "fast"):
        setting = {"expand": "EXPANSION", "sift": "SIFT"}[str(method.retrieval.mode)]
        missing.append(f"recalls with mode={method.retrieval.mode} (VARVE_{setting}__BASE_URL): they are answered without the model")
    return tuple(missing)


def base_name(schema: MemorySchema) -> str | None:
    """The name of the schema that a composed schema was made from; None if it was not composed by :func:`with_method`."""
    if schema.method is None:
        return schema.name
    suffix = f"{_JOINT}{schema.method.name}"
    return schema.name.removesuffix(suffix) if schema.name.endswith(suffix) else None


def method_name(schema: MemorySchema) -> str:
    """The name of a schema's method."""
    return DEFAULT_METHOD if schema.method is None else schema.method.name


def _data() -> Traversable:
    return files("methods")


def _adds_nothing(method: Method) -> bool:
    plain = Method(name=method.name, version=method.version, description=method.description, source=method.source)
    return method == plain
