"""How much a turn matters, by what is in it."""

import re
from typing import Final

from extraction.offline.noise import content_words, only_asks
from extraction.offline.turns import Passage, Turn

_OWN_LIFE: Final = re.compile(r"\b(?:I|I['’]\w+|my|we|our)\b")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


def importance_of(turn: Turn, passage: Passage) -> float:
    """A share from 0.1 to 1: content words, then numbers, dates, names and words of the speaker's own life; questions count little.

    Args:
        turn: The message.
        passage: The part of it that is weighed.
    """
    call = turn.message.tool_call
    if call is not None:
        return 0.8 if call.success is False else 0.5
    if turn.is_filler:
        return 0.2
    text = passage.text
    share = 0.2 + 0.3 * min(1.0, len(content_words(text)) / 12)
    share += 0.1 * any(character.isdigit() for character in text)
    share += 0.15 * bool(passage.mentions)
    share += 0.1 * bool(_NAME.search(text))
    share += 0.15 * bool(_OWN_LIFE.search(text))
    return round(share * (0.5 if only_asks(text) else 1.0), 3)
