"""Metadata of a group's committed offset. With it, a worker detects a truncated log that grew again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import orjson

from runtime.kafka import OffsetAndTimestamp

_LAST: Final = "last"
_CUT_AT: Final = "cut_at"
_UNFINISHED: Final = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetMetadata:
    """Metadata of a committed offset, as JSON: ``{"last":[41,1700000000000],"cut_at":18}`` plus the stage's own fields."""

    last: OffsetAndTimestamp | None = None
    """The last handled record. If the log is unchanged, it still has that record with the same time."""
    cut_at: int | None = None
    """Upper bound of the offset at which the log was found truncated, until the loss is accepted."""
    unfinished: str | None = None
    """The command that dropped some of the stage's state and was killed before its end: no worker may continue until it has run again."""
    stage_metadata: Mapping[str, Any] = field(default_factory=dict)
    """The stage's own fields (:mod:`runtime.kafka.parked_note`)."""

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Reads the metadata. Text written by other tools counts as none.

        Args:
            text: The metadata; None or empty: none.
        """
        try:
            fields = orjson.loads(text or "")
        except orjson.JSONDecodeError:
            return cls()
        if not isinstance(fields, dict):
            return cls()
        last, cut_at, unfinished = (fields.pop(name, None) for name in (_LAST, _CUT_AT, _UNFINISHED))
        is_stamp = isinstance(last, list) and len(last) == 2 and all(isinstance(number, int) for number in last)
        return cls(
            last=OffsetAndTimestamp(*last) if is_stamp else None,
            cut_at=cut_at if isinstance(cut_at, int) else None,
            unfinished=unfinished if isinstance(unfinished, str) else None,
            stage_metadata=fields,
        )

    @property
    def text(self) -> str:
        """The metadata's JSON; empty if there are no fields."""
        own = {_LAST: None if self.last is None else list(self.last), _CUT_AT: self.cut_at, _UNFINISHED: self.unfinished}
        fields = {**self.stage_metadata, **{name: value for name, value in own.items() if value is not None}}
        return orjson.dumps(fields).decode() if fields else ""


def unfinished_command(notes: Iterable[str | None]) -> str | None:
    """The command that was killed before its end, from the metadata of a group's offsets; None if there is none.

    Args:
        notes: The metadata of the offsets.
    """
    return next((command for note in notes if (command := OffsetMetadata.parse(note).unfinished) is not None), None)
