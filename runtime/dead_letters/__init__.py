"""Administration of dead letters: list, select, open, redrive, purge."""

from runtime.dead_letters.box import DeadLetterBox, RedriveResult
from runtime.dead_letters.metadata import PREFIX, read_metadata, without_metadata
from runtime.dead_letters.records import Letter, LetterSelection, LetterState, LetterWithContent

__all__ = [
    "PREFIX",
    "DeadLetterBox",
    "Letter",
    "LetterSelection",
    "LetterState",
    "LetterWithContent",
    "RedriveResult",
    "read_metadata",
    "without_metadata",
]
