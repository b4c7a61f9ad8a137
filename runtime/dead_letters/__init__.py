"""The dead letters as operators handle them: listed, selected, opened, redriven, purged."""

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
