"""Administration of dead letters: list, select, open, redrive, purge."""

from runtime.dead_letters.box import DeadLetterBox, RedriveResult
from runtime.dead_letters.metadata import PREFIX, read_metadata, without_metadata
from runtime.dead_letters.records import DeadLetter, DeadLetterSelection, DeadLetterState, DeadLetterWithContent

__all__ = [
    "PREFIX",
    "DeadLetter",
    "DeadLetterBox",
    "DeadLetterSelection",
    "DeadLetterState",
    "DeadLetterWithContent",
    "RedriveResult",
    "read_metadata",
    "without_metadata",
]
