"""Differences between two documents, as readable lines. Hashes of keys are not shown."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from control.document_base import Document
from control.draft import DocumentChange

_UNSHOWN: Final = frozenset({"schema_version", "hash", "created"})
_COUNTS_CHANGES: Final = "revision"
"""Hidden for a document, because the other lines show the changes; shown for a tenant's schema, where it is the change."""
_NOTHING: Final = "-"


def difference_lines(changes: Iterable[DocumentChange]) -> Iterator[str]:
    """A line for each changed field: ``tenant/acme weight: 1.0 -> 2.0``."""
    for change in changes:
        subject = change.after.key.decode("ascii")
        before = {} if change.before is None else dict(_leaves(_fields(change.before)))
        after = dict(_leaves(_fields(change.after)))
        if change.before is None:
            yield f"{subject}: new"
        for path in sorted(before.keys() | after.keys()):
            old, new = _shown(before, path), _shown(after, path)
            if old != new:
                yield f"{subject} {path}: {old} -> {new}"


def _fields(document: Document) -> dict[str, Any]:
    return document.model_dump(mode="json", exclude_none=True)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name not in _UNSHOWN and (path or name != _COUNTS_CHANGES):
                yield from _leaves(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        for index, part in enumerate(value):
            # Identified by name, so that an inserted element does not change the paths of the others.
            name = part.get("id") or part.get("name") or part.get("EventType") or part.get("EntityType") or str(index)
            yield from _leaves(part, f"{path}[{name}]")
    else:
        yield path, value


def _shown(leaves: Mapping[str, Any], path: str) -> str:
    return orjson.dumps(leaves[path]).decode() if path in leaves else _NOTHING
