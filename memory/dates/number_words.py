"""Numbers in English words: ``twelve``, ``twenty-five``, ``a hundred and twenty``, ``half a dozen``."""

import re
from typing import Final

_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_BELOW_TWENTY: Final = {word: number for number, word in enumerate(_SMALL.split())}
_TENS: Final = {
    word: 10 * number for number, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2)
}
_SCALES: Final = {"dozen": 12, "hundred": 100, "thousand": 1000}

_WORD: Final = "|".join(sorted((*_BELOW_TWENTY, *_TENS, *_SCALES), key=len, reverse=True))
NUMBER_IN_WORDS: Final = rf"(?:(?:half an? |an? )(?:{'|'.join(_SCALES)})\b|(?:{_WORD})\b)(?:(?:-|\s+and\s+|\s+)(?:{_WORD})\b){{0,8}}"
"""Pattern of a number in words. :func:`number_from_words` rejects sequences that are no number ("two three")."""


def number_from_words(text: str) -> int | None:
    """The value of a number in words; None if the words are not one number.

    Args:
        text: The words, joined by spaces or hyphens.
    """
    words = [word for word in re.split(r"[-\s]+", text.lower()) if word not in ("and", "a", "an", "")]
    if words[:1] == ["half"]:
        return _SCALES[words[1]] // 2 if len(words) == 2 and words[1] in _SCALES else None
    total = current = 0
    previous = ""
    for word in words:
        if word in _SCALES:
            if previous in _SCALES and _SCALES[previous] >= _SCALES[word]:
                return None
            current = max(1, current) * _SCALES[word]
            if word == "thousand":
                total, current = total + current, 0
        elif word in _TENS and current % 100 == 0:
            current += _TENS[word]
        elif word in _BELOW_TWENTY and _fits_after(previous, word):
            current += _BELOW_TWENTY[word]
        else:
            return None
        previous = word
    return total + current if words else None


def _fits_after(previous: str, word: str) -> bool:
    if previous in _TENS:
        return 1 <= _BELOW_TWENTY[word] <= 9
    return not previous or (previous in _SCALES and previous != "dozen")
