"""Resolves names of schemas: a revision in the control log, a scenario that ships with Varve, or a file."""

from pathlib import Path
from typing import Final

from control.documents import SchemaRef
from control.draft import Draft
from control.errors import ChangeRefusedError
from memory.errors import SchemaError
from memory.schema import MemorySchema, load_schema, scenario, scenario_names

_AT: Final = "@"


def schema_named(name: str, path: Path) -> MemorySchema:
    """A shipped scenario, or else the schema in a file.

    Raises:
        SchemaError: If it is neither, or the file is invalid; names the place.
    """
    if name in scenario_names():
        return scenario(name)
    if not path.is_file():
        raise SchemaError("", f"{name!r} is neither a shipped scenario ({', '.join(scenario_names())}) nor a file at {path}")
    return load_schema(path)


def resolve_schema(draft: Draft, named: str | MemorySchema) -> SchemaRef:
    """The revision for a name. A revision that the log lacks is written to it.

    Args:
        draft: The change that needs it.
        named: ``notes@2``: that revision. ``notes``: the log's newest, or else the shipped scenario of that name. A schema: itself.

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
        f"there is no schema {name!r}: neither in the control log nor among the shipped scenarios ({', '.join(scenario_names())}); "
        "`varve schemas put FILE` writes one"
    )


def _ref(name: str, revision: str) -> SchemaRef | None:
    """A revision by its name and number; None if the name or the number is invalid."""
    try:
        return SchemaRef(name=name, revision=int(revision)) if revision.isdecimal() else None
    except ValueError:
        return None
