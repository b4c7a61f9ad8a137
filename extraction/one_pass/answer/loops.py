"""Finds and cuts loops: small models repeat the same words, or the same item, until the token limit."""

from typing import Final

_LONGEST_UNIT: Final = 200
_LEAST_REPETITIONS: Final = 4
_SHORTEST_LOOP: Final = 40


def ends_in_loop(text: str) -> bool:
    """Whether a text ends in the same up to 200 characters, over and over (four times or more, 40 characters at least)."""
    return _looping_unit(text) > 0


def cut_loop(text: str) -> str:
    """The text with a loop at its end cut down to one repetition."""
    unit = _looping_unit(text)
    if not unit:
        return text
    end = len(text)
    while end >= 2 * unit and text.endswith(text[end - unit : end], 0, end - unit):
        end -= unit
    return text[:end].rstrip()


def _looping_unit(text: str) -> int:
    """The length of the shortest unit that the text's end repeats; 0: none."""
    tail = text[-_LONGEST_UNIT * _LEAST_REPETITIONS :]
    for unit in range(1, min(_LONGEST_UNIT, len(tail) // _LEAST_REPETITIONS) + 1):
        loop = max(unit * _LEAST_REPETITIONS, _SHORTEST_LOOP)
        if loop <= len(tail) and tail[-loop:-unit] == tail[unit - loop :]:
            return unit
    return 0
