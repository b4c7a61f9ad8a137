"""BESTAPPROXSPAN of VikingMem's Algorithm 1: where in a text a search text stands, give or take a few edits."""

import re
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, ``[start, end)``."""

    start: int
    end: int
    distance: int
    """Levenshtein distance from what was searched."""


def best_approximate_span(text: str, search: str) -> Span:
    """The span of a text with the least Levenshtein distance from a search text.

    Of equally near spans in the leftmost place, the one that cuts the fewest words, then the one nearest in length. Time grows with
    the length of the text times that of the search in machine words: G. Myers, "A fast bit-vector algorithm for approximate string
    matching based on dynamic programming", J. ACM 46(3), 1999. (rapidfuzz aligns whole texts, or windows of a fixed length: neither finds
    this minimum, so it only finds the start, once the end is known.)

    Args:
        text: Where to look.
        search: What to look for, not empty.
    """
    exact = [Span(found.start(), found.end(), 0) for found in re.finditer(re.escape(search), text)]
    if exact:
        return min(exact, key=lambda span: (_cuts(text, span), span.start))
    distances = _distances_by_end(text, search)
    least = min(distances)
    first = distances.index(least)
    ends = [first]
    while ends[-1] + 1 < len(distances) and distances[ends[-1] + 1] == least:
        ends.append(ends[-1] + 1)
    spans = (Span(start, end, least) for end in ends for start in _starts(text, search, end, least))
    return min(spans, key=lambda span: (_cuts(text, span), abs(span.end - span.start - len(search)), span.start))


def _cuts(text: str, span: Span) -> int:
    """How many words the ends of a span cut."""
    return sum(1 for at in (span.start, span.end) if 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum())


def _starts(text: str, search: str, end: int, distance: int) -> list[int]:
    """Where spans that end there and have that distance begin."""
    earliest = max(0, end - len(search) - distance)
    latest = max(0, min(end, end - len(search) + distance))
    return [
        start for start in range(earliest, latest + 1) if Levenshtein.distance(search, text[start:end], score_cutoff=distance) == distance
    ]


def _distances_by_end(text: str, search: str) -> list[int]:
    """For each end from 0 to the text's length, the least distance of a span that ends there."""
    places: dict[str, int] = {}
    for place, character in enumerate(search):
        places[character] = places.get(character, 0) | 1 << place
    everywhere = (1 << len(search)) - 1
    last = 1 << (len(search) - 1)
    rises, falls, distance = everywhere, 0, len(search)
    distances = [distance]
    for character in text:
        equal = places.get(character, 0)
        diagonal = (((equal & rises) + rises) ^ rises) | equal
        across_up = falls | (everywhere & ~(diagonal | rises))
        across_down = rises & diagonal
        distance += bool(across_up & last) - bool(across_down & last)
        distances.append(distance)
        across_up = across_up << 1 & everywhere
        equal |= falls
        rises = across_down << 1 & everywhere | (everywhere & ~(equal | across_up))
        falls = across_up & equal
    return distances
