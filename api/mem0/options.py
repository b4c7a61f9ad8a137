"""The options of mem0's requests: filters, numbers, fields and ids. An option that Varve does not have is refused, never ignored. Pure."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.datastructures import QueryParams

from api.mem0.filters import MemoryFilters
from api.mem0.owners import ID_FIELDS
from api.mem0.translation import RequestError
from memory.texts.text import quoted

_MOST_OF_BATCH: Final = 1000
_REFUSED_FILTERS: Final[Mapping[str, str]] = {
    "metadata": "Varve does not return the metadata of messages with memories, so it cannot filter by it",
    "show_expired": "Varve does not return expired memories",
    "reference_date": "POST /v1/recall of Varve has as_of",
}
"""Options of ``search`` and ``get_all`` that would change the results, with what Varve has instead."""
_DELETED_BY: Final = (*ID_FIELDS, "filters", "org_id", "project_id")
"""Parameters of ``delete_all``. mem0's client adds the ids of the project."""


def refuse_ambiguous(query: QueryParams) -> None:
    """Refuses a query of ``delete_all`` that may name less than it deletes.

    Args:
        query: The parameters of the query.

    Raises:
        RequestError: If it has an unknown parameter, or one more than once: both would be ignored otherwise.
    """
    names = [name for name, _ in query.multi_items()]
    for name in names:
        if name not in _DELETED_BY:
            raise RequestError(f"{name}: unknown parameter; expected filters, or some of {', '.join(ID_FIELDS)}")
        if names.count(name) > 1:
            raise RequestError(f"{name}: given more than once; send filters with a list")


def filters_of(body: Mapping[str, Any]) -> MemoryFilters:
    """The filter of a request. Ids, categories and dates outside of it count as well.

    Raises:
        RequestError: If an option would restrict or change the results, and Varve does not have it.
    """
    for name in _REFUSED_FILTERS:
        if body.get(name) not in (None, False, {}, []):
            raise RequestError(f"{name}: not available; {_REFUSED_FILTERS[name]}")
    ids = {name: body[name] for name in ID_FIELDS if body.get(name) not in (None, "")}
    dates = {comparison: body[name] for name, comparison in (("start_date", "gte"), ("end_date", "lte")) if body.get(name) is not None}
    categories = body.get("categories")
    given = body.get("filters")
    parts = [
        each
        for each in (
            ids,
            given,
            {"created_at": dates} if dates else None,
            {"categories": categories if isinstance(categories, list) else [categories]} if categories not in (None, []) else None,
        )
        if each not in (None, {})
    ]
    return MemoryFilters({"AND": parts} if len(parts) > 1 else parts[0] if parts else None)


def fields_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a memory that a request wants. Empty: all."""
    fields = body.get("fields") or ()
    if not isinstance(fields, list | tuple) or not all(isinstance(each, str) for each in fields):
        raise RequestError("fields: expected a list of names")
    return (*fields,)


def only(item: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """A memory with its id and the wanted fields."""
    return {name: item[name] for name in ("id", *fields) if name in item} if fields else item


def number(fields: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """A whole number of a body or a query, from 1.

    Args:
        fields: The body or the query.
        name: The field.
        default: The value if it is missing.
        most: The largest allowed value.

    Raises:
        RequestError: If it is another value.
    """
    value = fields.get(name)
    if value in (None, ""):
        return default
    try:
        found = int(str(value))
    except ValueError as error:
        raise RequestError(f"{name}: expected a whole number, found {quoted(value)}") from error
    if not 1 <= found <= most:
        raise RequestError(f"{name}: expected a number from 1 to {most}, found {quoted(found)}")
    return found


def batch_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The memories of a batch.

    Raises:
        RequestError: If there is none, one has no id, or there are too many.
    """
    memories = body.get("memories")
    if not isinstance(memories, list) or not memories or not all(isinstance(each, dict) and each.get("memory_id") for each in memories):
        raise RequestError("memories: expected a list of objects with memory_id")
    if len(memories) > _MOST_OF_BATCH:
        raise RequestError(f"memories: at most {_MOST_OF_BATCH}, found {len(memories)}")
    return memories


def id_of(memory_id: Any) -> str:
    """The id of a memory: mem0 refuses those that are no UUID.

    Raises:
        RequestError: If it is none.
    """
    try:
        uuid.UUID(memory_id)
    except (ValueError, AttributeError, TypeError) as error:
        raise RequestError(f"memory_id: expected a UUID, found {quoted(memory_id)}") from error
    return str(memory_id)
