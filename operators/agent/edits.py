"""Edits of a block by agents outside Varve, as AGENT keeps them. Pure.

An edit is one call of a memory tool, with its author and time. It arrives through the log, as the value of a change, and is applied in the
order of the log. The result is part of the outcome that the log keeps, so a rebuild applies no edit again. An edit that does not fit the
block as it is then changes nothing and is recorded as a conflict.

The newest :data:`MAX_KEPT` applied edits keep their texts: they can be undone one by one, and survive the retraction of statements.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import JsonValue

from memory.records import TextEdit
from operators.agent.tools import Call, CallError, edited
from operators.errors import RefusedChangeError

MAX_KEPT: Final = 16
"""Applied edits with their texts."""
MAX_LISTED: Final = 32
"""Edits with their results."""
MAX_EDIT: Final = 2000
"""Characters of a text of an edit."""
EDIT_TOOLS: Final = ("append", "replace", "insert")
UNDO: Final = "undo"

_APPLIED: Final = "applied"
_CONFLICT: Final = "conflict"
_UNDONE: Final = "undone"
_FIELD: Final = "edit"

Entry = dict[str, Any]
"""``id``, ``tool``, ``by``, ``time``, ``status``, and ``detail`` of a conflict. An edit that can be undone also has ``text``, ``old``,
``line``, ``at`` (the line where it changed the block, from 0), and ``settled``: whether the settled text has it. After an undo: ``undo``
(the id of the request), ``undone_by`` and ``undone_time``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A block with the results of its edits."""

    settled: str
    """The text without the recent statements, with the settled edits."""
    text: str
    older: str = ""
    """A text with only those applied edits whose texts are no longer listed."""
    entries: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, base: Mapping[str, Any]) -> "Edited":
        """The block of an outcome."""
        return cls(settled=base["settled"], text=base["text"], older=base.get("older", ""), entries=tuple(base.get("edits", ())))

    def fields(self) -> dict[str, Any]:
        """The block as fields of an outcome."""
        return {"settled": self.settled, "text": self.text, "older": self.older, "edits": [*self.entries]}

    def alone(self, limit: int) -> str:
        """A text with only the edits: it depends on no statement."""
        return replayed(self.older, self.entries, limit=limit, all_of_them=True)


def change_value(
    tool: str,
    *,
    by: str,
    time: str,
    text: str | None = None,
    old: str | None = None,
    line: int | None = None,
    version: int | None = None,
    edit: str | None = None,
) -> dict[str, JsonValue]:
    """The value of a change that makes an edit, or with the tool :data:`UNDO` takes one back.

    Args:
        tool: One of :data:`EDIT_TOOLS`, or :data:`UNDO`.
        by: The author.
        time: The wall-clock time of the request.
        text: The new text.
        old: The text to replace.
        line: The line before which to insert, from 1.
        version: The version of the block that the author has seen. None: any.
        edit: The id of the edit to undo.
    """
    fields = {"tool": tool, "text": text, "old": old, "line": line, "by": by, "time": time, "version": version, "edit": edit}
    return {_FIELD: {name: each for name, each in fields.items() if each is not None}}


def edit_of(value: JsonValue) -> dict[str, Any] | None:
    """The edit in the value of a change; None if the value is a statement.

    Raises:
        RefusedChangeError: ``bad_edit``: it lacks a field or is too long.
    """
    if not isinstance(value, dict):
        return None
    edit = value.get(_FIELD)
    if not isinstance(edit, dict) or edit.get("tool") not in (*EDIT_TOOLS, UNDO):
        raise RefusedChangeError("bad_edit")
    texts = [edit.get(name, "") for name in ("text", "old", "by", "time", "edit")]
    numbers = [edit.get(name, 1) for name in ("line", "version")]
    is_well_formed = all(isinstance(each, str) and len(each) <= MAX_EDIT for each in texts)
    if not is_well_formed or not all(isinstance(each, int) and not isinstance(each, bool) for each in numbers):
        raise RefusedChangeError("bad_edit")
    return edit


def with_edit(block: Edited, edit_id: str, edit: dict[str, Any], *, version: int, limit: int) -> Edited:
    """The block after an edit, with its result.

    Args:
        block: The block.
        edit_id: The id of the edit.
        edit: From :func:`edit_of`.
        version: The version of the block.
        limit: Most characters of the block.
    """
    entry: Entry = {name: edit.get(name, "") for name in ("tool", "by", "time")} | {"id": edit_id}
    try:
        if edit.get("version") not in (None, version):
            raise CallError(f"the block has changed: it has the version {version}, not {edit['version']}; read it again")
        text, _ = edited(block.text, _call_of(edit), limit=limit)
    except CallError as error:
        return _listed(block, {**entry, "status": _CONFLICT, "detail": str(error)})
    kept: Entry = {name: edit[name] for name in ("text", "old", "line") if name in edit}
    applied = {**entry, **kept, "status": _APPLIED, "at": _first_difference(block.text, text), "settled": False}
    return _bounded(_listed(replace(block, text=text), applied), limit)


def without_edit(block: Edited, undo_id: str, undo: dict[str, Any], *, limit: int) -> Edited:
    """The block after an edit was undone. An edit that is unknown, or whose text is no longer in the block, changes nothing.

    Args:
        block: The block.
        undo_id: The id of the request.
        undo: From :func:`edit_of`.
        limit: Most characters of the block.
    """
    entry = next((each for each in block.entries if each["id"] == undo.get("edit")), None)
    if entry is None or not is_undoable(entry):
        return block
    others = [each for each in block.entries if each is not entry]
    if not entry["settled"] and block.text == replayed(block.settled, block.entries, limit=limit):
        text: str | None = replayed(block.settled, others, limit=limit)
    else:
        text = _inverted(block.text, entry)
    if text is None or len(text) > limit:
        kept = {**entry, "undo": undo_id, "detail": "it was not undone: its text is no longer in the block as the edit left it"}
        return replace(block, entries=tuple(kept if each is entry else each for each in block.entries))
    settled = (_inverted(block.settled, entry) or block.settled) if entry["settled"] else block.settled
    by = {"undo": undo_id, "undone_by": undo.get("by", ""), "undone_time": undo.get("time", "")}
    undone: Entry = {**{name: entry[name] for name in ("id", "tool", "by", "time")}, "status": _UNDONE, **by}
    return replace(block, settled=settled, text=text, entries=tuple(undone if each is entry else each for each in block.entries))


def replayed(text: str, entries: Sequence[Entry], *, limit: int, all_of_them: bool = False) -> str:
    """A text with edits applied to it again. No edit is lost: one that does not fit adds its text at the end.

    Args:
        text: The text.
        entries: The edits.
        limit: Most characters.
        all_of_them: Whether to apply settled edits, too.
    """
    for entry in entries:
        if not is_undoable(entry) or (entry["settled"] and not all_of_them):
            continue
        for call in (_call_of(entry), Call(tool="append", arguments={"text": entry.get("text", "")})):
            try:
                text, _ = edited(text, call, limit=limit)
                break
            except CallError:
                continue
    return text


def as_settled(entries: Sequence[Entry], *, is_settled: bool = True) -> list[Entry]:
    """The edits, now part of the settled text, or to be replayed on it."""
    return [{**each, "settled": is_settled} if is_undoable(each) else each for each in entries]


def shown(entries: Sequence[Entry]) -> list[TextEdit]:
    """The edits as a memory shows them, newest first."""
    return [
        TextEdit(
            id=entry["id"],
            tool=entry["tool"],
            by=entry["by"],
            time=entry["time"],
            status=entry["status"],
            detail=entry.get("detail", ""),
            undoable=is_undoable(entry),
            **{name: entry[name] for name in ("undo", "undone_by", "undone_time") if name in entry},
        )
        for entry in reversed(entries)
    ]


def _call_of(edit: dict[str, Any]) -> Call:
    return Call(tool=edit["tool"], arguments={name: edit[name] for name in ("text", "old", "line") if name in edit})


def is_undoable(entry: Entry) -> bool:
    """Whether an edit can be undone."""
    return entry["status"] == _APPLIED and "at" in entry


def _listed(block: Edited, entry: Entry) -> Edited:
    others = [each for each in block.entries if each["id"] != entry["id"]]
    kept = [*others, entry]
    while len(kept) > MAX_LISTED:
        # Edits that can be undone stay.
        kept.pop(next((index for index, each in enumerate(kept) if not is_undoable(each)), 0))
    return replace(block, entries=tuple(kept))


def _bounded(block: Edited, limit: int) -> Edited:
    """The block with the texts of its newest edits only."""
    kept = [each for each in block.entries if is_undoable(each)]
    entries = list(block.entries)
    for oldest in kept[: max(0, len(kept) - MAX_KEPT)]:
        settled = replayed(block.settled, [oldest], limit=limit)
        block = replace(block, settled=settled, older=replayed(block.older, [oldest], limit=limit, all_of_them=True))
        entries[entries.index(oldest)] = {name: oldest[name] for name in ("id", "tool", "by", "time", "status")}
    return replace(block, entries=tuple(entries))


def _first_difference(before: str, after: str) -> int:
    """The first line that differs."""
    old, new = before.splitlines(), after.splitlines()
    return next((index for index, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))


def _inverted(text: str, entry: Entry) -> str | None:
    """A text without what an edit wrote; None if it is not in the text as the edit left it."""
    written = [line.rstrip() for line in entry.get("text", "").splitlines() if line.strip()]
    if entry["tool"] == "replace":
        if not written:
            lines = text.splitlines()
            place = min(entry["at"], len(lines))
            return "\n".join([*lines[:place], *entry["old"].splitlines(), *lines[place:]])
        new = "\n".join(written)
        return text.replace(new, entry["old"]) if text.count(new) == 1 else None
    lines = text.splitlines()
    places = [index for index in range(len(lines) - len(written) + 1) if lines[index : index + len(written)] == written]
    if len(places) != 1:
        return None
    return "\n".join([*lines[: places[0]], *lines[places[0] + len(written) :]])
