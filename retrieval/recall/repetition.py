"""Which memories say the same again: told apart so that a repetition never takes a place, and an update never loses one.

Two texts repeat each other only if the same words stand in the same order, whatever the case, the punctuation and a few words that
carry no fact. Everything else may be an update: another number, a negation, a tense, a name.
"""

import re
import unicodedata
from typing import Final

from memory.records import Memory

_WEIGHTLESS: Final = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "and", "so", "also", "just", "really", "very", "quite", "well", "oh")
)
_WORD: Final = re.compile(r"\w+(?:[.,:/'’-]\w+)*|[^\w\s.,;:!?\"'’()\[\]…–—-]|(?<!\w)-(?=\d)")

RepetitionKey = tuple[str | None, ...]


def repetition_key(memory: Memory) -> RepetitionKey:
    """Memories with equal keys say the same of the same: one user's, one kind and type, one entity's."""
    return (memory.user, memory.kind, memory.type, memory.entity_key, *_said(memory.content))


def _said(text: str) -> tuple[str, ...]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))
    weighty = tuple(word for word in words if word not in _WEIGHTLESS)
    return weighty or tuple(words)


def is_newer(one: Memory, other: Memory) -> bool:
    """Whether one memory tells a later state than another: by event time, then by version."""
    return (one.event_time, one.version, one.id) > (other.event_time, other.version, other.id)
