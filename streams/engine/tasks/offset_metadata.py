"""What stands beside a group's offset: by it a log that was cut, and has grown again, is told from the one that the group has read."""

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
    """The metadata of a committed offset, as JSON: ``{"last":[41,1700000000000],"cut_at":18}`` and what the stage tells there."""

    last: OffsetAndTimestamp | None = None
    """The last record that the group has handled: the log has it still, written at the same time, if it is the same log."""
    cut_at: int | None = None
    """The offset that the log ended before, at the most, when it was found cut; until the loss is accepted."""
    unfinished: str | None = None
    """The command that has dropped some of the stage's state and was killed before its end: no worker may go on until it has run again."""
    stage_metadata: Mapping[str, Any] = field(default_factory=dict)
    """The stage's own fields (:mod:`runtime.kafka.parked_note`)."""

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """Reads a note. What others write there, who set offsets by other tools, says nothing.

        Args:
            text: The metadata; None or empty: there is none.
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
        """What goes beside the offset; empty where there is nothing to say."""
        own = {_LAST: None if self.last is None else list(self.last), _CUT_AT: self.cut_at, _UNFINISHED: self.unfinished}
        fields = {**self.stage_metadata, **{name: value for name, value in own.items() if value is not None}}
        return orjson.dumps(fields).decode() if fields else ""


def unfinished_command(notes: Iterable[str | None]) -> str | None:
    """The command that was killed before its end, by what stands beside a group's offsets; None where there is none.

    Args:
        notes: The metadata of the offsets.
    """
    return next((command for note in notes if (command := OffsetMetadata.parse(note).unfinished) is not None), None)
