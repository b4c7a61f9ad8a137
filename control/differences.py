"""What became another between two documents, as lines for people. No hash of a key is shown whole."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from control.document import Document
from control.draft import DocumentChange

_UNSHOWN: Final = frozenset({"schema_version", "hash", "created"})
_COUNTS_CHANGES: Final = "revision"
"""Of a document it says nothing that the other lines do not; of the schema that a tenant has, it is what is another."""
_NOTHING: Final = "-"


def difference_lines(changes: Iterable[DocumentChange]) -> Iterator[str]:
    """A line for each field that became another: ``tenant/acme weight: 1.0 -> 2.0``."""
    for change in changes:
        subject = change.after.key.decode("ascii")
        before = {} if change.before is None else dict(_leaves(_fields(change.before)))
        after = dict(_leaves(_fields(change.after)))
        if change.before is None:
            yield f"{subject}: new"
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                yield f"{subject} {path}: {_shown(before.get(path))} -> {_shown(after.get(path))}"


def _fields(document: Document) -> dict[str, Any]:
    return document.model_dump(mode="json", exclude_none=True)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name not in _UNSHOWN and (path or name != _COUNTS_CHANGES):
                yield from _leaves(part, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        for index, part in enumerate(value):
            # By what names it, so that a key put before others does not make all of them look changed.
            name = part.get("id") or part.get("name") or part.get("EventType") or part.get("EntityType") or str(index)
            yield from _leaves(part, f"{path}[{name}]")
    else:
        yield path, value


def _shown(value: Any) -> str:
    return _NOTHING if value is None else orjson.dumps(value).decode()
