"""Resolves names of schemas: a revision in the control log, a scenario that ships with Varve, or a file; each with a memory method."""

from pathlib import Path
from typing import Final

from control.documents import SchemaRef
from control.draft import Draft
from control.errors import ChangeRefusedError
from memory.errors import SchemaError
from memory.schema import MemorySchema, load_schema, parse_schema, scenario, scenario_names
from memory.schema.methods import MethodDocument, base_name, method_document, with_method
from memory.schema.node import suggestion

_AT: Final = "@"


def schema_named(name: str, path: Path) -> MemorySchema:
    """A shipped schema, or else the schema in a file.

    Raises:
        SchemaError: If it is neither, or the file is invalid; names the place.
    """
    if name in scenario_names():
        return scenario(name)
    if not path.is_file():
        raise SchemaError("", f"{name!r} is neither a file nor a shipped schema; {suggestion(name, scenario_names())}")
    return load_schema(path)


def resolve_schema(draft: Draft, named: str | MemorySchema) -> SchemaRef:
    """The revision for a name. A revision that the log lacks is written to it.

    Args:
        draft: The change that needs it.
        named: ``notes@2``: that revision. ``notes``: the log's newest, or else the shipped schema of that name. A schema: itself.

    Raises:
        ChangeRefusedError: If there is no schema with the name.
    """
    if isinstance(named, MemorySchema):
        return draft.put_schema(named)
    name, _, revision = named.partition(_AT)
    if revision:
        ref = _ref(name, revision)
        if ref is None or draft.schema(ref) is None:
            raise ChangeRefusedError(f"there is no schema {named}; `varve schemas list` shows them")
        return ref
    newest = draft.newest_schema(name)
    if newest is not None:
        return newest
    if name in scenario_names():
        return draft.put_schema(scenario(name))
    raise ChangeRefusedError(
        f"there is no schema {name!r}: neither in the control log nor among the shipped schemas ({', '.join(scenario_names())}); "
        "`varve schemas put FILE` writes one"
    )


def read_schema(draft: Draft, ref: SchemaRef) -> MemorySchema:
    """A revision of a schema.

    Args:
        draft: The control log.
        ref: The revision.

    Raises:
        SchemaError: If the log does not have it, or this version of Varve cannot read it.
    """
    document = draft.schema(ref)
    if document is None:
        raise SchemaError("", f"there is no schema {ref}; `varve schemas list` shows them")
    return parse_schema(document.content, name=document.name)


def resolve_method_schema(draft: Draft, named: str | MemorySchema, method: str | MethodDocument | None) -> SchemaRef:
    """The revision for a schema's name and a memory method. The schema, and the one composed with the method, are written to the log.

    Args:
        draft: The change that needs it.
        named: As for :func:`resolve_schema`. Of a schema that has a method already, the schema that the method was added to.
        method: The name of a shipped method, or a document. None: the schema as it is.

    Raises:
        ChangeRefusedError: If there is no such schema or method, or the document is invalid or does not fit to the schema.
    """
    ref = resolve_schema(draft, named)
    if method is None:
        return ref
    try:
        base = _without_method(draft, ref)
        document = draft.schema(base)
        assert document is not None
        composed = with_method(
            parse_schema(document.content, name=document.name), method_document(method) if isinstance(method, str) else method
        )
    except SchemaError as error:
        raise ChangeRefusedError(str(error)) from error
    return base if composed.method is None else draft.put_schema(composed, owner=document.owner)


def _without_method(draft: Draft, ref: SchemaRef) -> SchemaRef:
    """The revision that a composed schema extends: the newest one. Of a schema without a method, the revision itself."""
    schema = read_schema(draft, ref)
    if schema.method is None:
        return ref
    base = base_name(schema)
    if base is None:
        raise ChangeRefusedError(
            f"the schema {ref} contains the method {schema.method.name!r} in its file: name a schema without a method, or change it"
        )
    return resolve_schema(draft, base)


def _ref(name: str, revision: str) -> SchemaRef | None:
    """A revision by its name and number; None if the name or the number is invalid."""
    try:
        return SchemaRef(name=name, revision=int(revision)) if revision.isdecimal() else None
    except ValueError:
        return None
