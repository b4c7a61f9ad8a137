"""Approximate string matching: where in a text a search text stands, but for a few edits (VikingMem 3.1, Algorithm 1)."""

import re
from dataclasses import dataclass
from typing import Final

MAX_ENDS: Final = 16
"""Equally near ends of one match that are examined: in a text such as ``aaaa`` there may be thousands."""

_FEW_EDITS: Final = 16
"""What a model copies has seldom more than one edit in so many characters."""
_SHORTEST_PIECE: Final = 3


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A part of a text, ``[start, end)``."""

    start: int
    end: int
    distance: int
    """Levenshtein distance from what was searched."""


def best_approximate_span(text: str, search: str, *, max_distance: int) -> Span | None:
    """The span of a text with the least Levenshtein distance from a search text.

    Among the leftmost of equally near spans it takes the one that cuts the fewest words, then the one nearest in length. At most
    :data:`MAX_ENDS` ends are examined, since each needs its own search for starts. Time grows with the length of what has to be looked at
    times that of the search in machine words: G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming", J. ACM 46(3), 1999. (rapidfuzz aligns whole texts, or windows of a fixed length: neither finds this minimum.)

    Args:
        text: Where to look.
        search: What to look for, not empty.
        max_distance: The largest distance that counts.

    Returns:
        The span; None if the nearest is farther away.
    """
    exact = [Span(found.start(), found.end(), 0) for found in re.finditer(re.escape(search), text)]
    if exact:
        return min(exact, key=lambda span: (_cuts(text, span), span.start))
    if max_distance < 1 or len(search) - len(text) > max_distance:
        return None
    distances = _nearest_by_end(text, search, max_distance)
    least = min(distances)
    if least > max_distance:
        return None
    first = distances.index(least)
    best: tuple[tuple[int, int, int], Span] | None = None
    for end in range(first, min(len(distances), first + MAX_ENDS)):
        if distances[end] != least:
            break
        if best is not None and best[0][:2] <= (_cut_at(text, end), 0):
            continue
        nearest = min((_rank(text, search, span), span) for span in _spans_to(text, search, end, least))
        best = nearest if best is None else min(best, nearest)
    return None if best is None else best[1]


def _rank(text: str, search: str, span: Span) -> tuple[int, int, int]:
    """Lower is better."""
    return _cuts(text, span), abs(span.end - span.start - len(search)), span.start


def _cuts(text: str, span: Span) -> int:
    """How many words the ends of a span cut."""
    return _cut_at(text, span.start) + _cut_at(text, span.end)


def _cut_at(text: str, index: int) -> int:
    return int(0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum())


def _spans_to(text: str, search: str, end: int, distance: int) -> list[Span]:
    """The spans with this end and this distance, which is the least of all spans with this end."""
    earliest = max(0, end - len(search) - distance)
    backwards = _distances_by_end(text[earliest:end][::-1], search[::-1], anchored=True)
    return [Span(end - length, end, distance) for length, each in enumerate(backwards) if each == distance]


def _nearest_by_end(text: str, search: str, max_distance: int) -> list[int]:
    """By end, the distance of the nearest span; where that is not among the least ones, any larger number.

    A span of at most k edits has one of k + 1 pieces of the search unchanged, at its place give or take k (the pigeonhole principle). So
    only the surroundings of such pieces have to be looked at, as long as the pieces are long enough to be rare.
    """
    edits = max(1, len(search) // _FEW_EDITS)
    while edits <= max_distance and len(search) // (edits + 1) >= _SHORTEST_PIECE:
        regions = _regions(text, search, edits)
        if sum(end - start for start, end in regions) > len(text) // 2:
            break
        distances = [len(search)] * (len(text) + 1)
        for start, end in regions:
            distances[start : end + 1] = _distances_by_end(text[start:end], search, anchored=False)
        if min(distances) <= edits:
            return distances
        edits *= 2
    return _distances_by_end(text, search, anchored=False)


def _regions(text: str, search: str, edits: int) -> list[tuple[int, int]]:
    """The parts of a text, disjoint and ascending, in which every span of at most so many edits lies."""
    length = len(search) // (edits + 1)
    found: list[tuple[int, int]] = []
    for number in range(edits + 1):
        offset = number * length
        piece = search[offset : offset + length]
        at = text.find(piece)
        while at >= 0:
            found.append((max(0, at - offset - edits), min(len(text), at - offset + len(search) + edits)))
            at = text.find(piece, at + 1)
    regions: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if regions and start <= regions[-1][1]:
            regions[-1] = regions[-1][0], max(end, regions[-1][1])
        else:
            regions.append((start, end))
    return regions


def _distances_by_end(text: str, search: str, *, anchored: bool) -> list[int]:
    """By end, from 0 to the text's length: the distance of the span that starts at 0 if anchored, of the nearest span if not."""
    masks: dict[str, int] = {}
    for index, character in enumerate(search):
        masks[character] = masks.get(character, 0) | 1 << index
    all_bits = (1 << len(search)) - 1
    last = 1 << (len(search) - 1)
    rises, falls, distance = all_bits, 0, len(search)
    distances = [distance]
    for character in text:
        equal = masks.get(character, 0)
        diagonal = (((equal & rises) + rises) ^ rises) | equal
        across_up = falls | (all_bits & ~(diagonal | rises))
        across_down = rises & diagonal
        distance += bool(across_up & last) - bool(across_down & last)
        distances.append(distance)
        across_up = (across_up << 1 | anchored) & all_bits
        equal |= falls
        rises = across_down << 1 & all_bits | (all_bits & ~(equal | across_up))
        falls = across_up & equal
    return distances
