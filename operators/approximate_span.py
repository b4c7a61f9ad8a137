"""Approximate string matching: where in a text a search text stands, but for a few edits (VikingMem 3.1, Algorithm 1)."""

from dataclasses import dataclass
from typing import Final

from operators.work import Work

MAX_ENDS: Final = 16
"""Equally near ends of one match that are examined: in a text such as ``aaaa`` there may be thousands."""
MAX_ENDS_WORK: Final = 500_000
"""Units of work that they may take in all: of a search of 600 characters all 16 are examined, of one of 2,000 three or four."""

_FEW_EDITS: Final = 16
"""What a model copies has seldom more than one edit in so many characters."""
_SHORTEST_PIECE: Final = 3
_COLUMN_UNITS: Final = 32
"""What a character of a text costs in units of work, whatever is searched, besides one for each machine word of the search."""
_WORD_BITS: Final = 64
_MATCH_UNITS: Final = 25
_FOUND_PER_UNIT: Final = 8
"""Characters that are looked through for an unchanged string in one unit: up to three units are right where all are alike."""
_MATCHES_SHARE: Final = 4
"""A piece that is found more often than once in so many characters is not rare: the whole text is looked at then."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A part of a text, ``[start, end)``."""

    start: int
    end: int
    distance: int
    """Levenshtein distance from what was searched."""


def best_approximate_span(text: str, search: str, *, max_distance: int, work: Work | None = None) -> Span | None:
    """The span of a text with the least Levenshtein distance from a search text.

    Among the leftmost of equally near spans it takes the one that cuts the fewest words, then the one nearest in length. At most
    :data:`MAX_ENDS` ends are examined, since each needs its own search for starts; of a long search so many as :data:`MAX_ENDS_WORK`
    allows, first those that cut no word. Time grows with the length of what has to be looked at
    times that of the search in machine words: G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming", J. ACM 46(3), 1999. (rapidfuzz aligns whole texts, or windows of a fixed length: neither finds this minimum.)

    Args:
        text: Where to look.
        search: What to look for, not empty.
        max_distance: The largest distance that counts.
        work: Pays for the search; None: it has an allowance of its own.

    Returns:
        The span; None if the nearest is farther away.

    Raises:
        operators.work.WorkExceededError: The search costs more than is left.
    """
    work = work or Work()
    exact = _exact_spans(text, search, work)
    if exact:
        return min(exact, key=lambda span: (_cuts(text, span), span.start))
    if max_distance < 1 or len(search) - len(text) > max_distance:
        return None
    distances = _nearest_by_end(text, search, max_distance, work)
    least = min(distances)
    if least > max_distance:
        return None
    best: tuple[tuple[int, int, int], Span] | None = None
    for end in _examined_ends(text, search, distances, least):
        if best is not None and best[0][:2] <= (_cut_at(text, end), 0):
            continue
        nearest = min((_rank(text, search, span), span) for span in _spans_to(text, search, end, least, work))
        best = nearest if best is None else min(best, nearest)
    return None if best is None else best[1]


def _exact_spans(text: str, search: str, work: Work) -> list[Span]:
    """The spans that hold the search text itself, from the left, none of which overlaps another."""
    work.spend(_find_cost(text))
    found: list[Span] = []
    at = text.find(search)
    while at >= 0:
        work.spend(_MATCH_UNITS)
        found.append(Span(at, at + len(search), 0))
        at = text.find(search, at + len(search))
    return found


def _examined_ends(text: str, search: str, distances: list[int], least: int) -> list[int]:
    """The leftmost ends of the least distance that follow one another, ascending; of too many those that cut no word."""
    first = distances.index(least)
    last = first
    while last + 1 < min(len(distances), first + MAX_ENDS) and distances[last + 1] == least:
        last += 1
    most = max(1, MAX_ENDS_WORK // _cost(len(search) + least, search))
    return sorted(sorted(range(first, last + 1), key=lambda end: (_cut_at(text, end), end))[:most])


def _rank(text: str, search: str, span: Span) -> tuple[int, int, int]:
    """Lower is better."""
    return _cuts(text, span), abs(span.end - span.start - len(search)), span.start


def _cuts(text: str, span: Span) -> int:
    """How many words the ends of a span cut."""
    return _cut_at(text, span.start) + _cut_at(text, span.end)


def _cut_at(text: str, index: int) -> int:
    return int(0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum())


def _spans_to(text: str, search: str, end: int, distance: int, work: Work) -> list[Span]:
    """The spans with this end and this distance, which is the least of all spans with this end."""
    earliest = max(0, end - len(search) - distance)
    work.spend(_cost(end - earliest, search))
    backwards = _distances_by_end(text[earliest:end][::-1], search[::-1], anchored=True)
    return [Span(end - length, end, distance) for length, each in enumerate(backwards) if each == distance]


def _nearest_by_end(text: str, search: str, max_distance: int, work: Work) -> list[int]:
    """By end, the distance of the nearest span; where that is not among the least ones, any larger number.

    A span of at most k edits has one of k + 1 pieces of the search unchanged, at its place give or take k (the pigeonhole principle). So
    only the surroundings of such pieces have to be looked at, as long as the pieces are long enough to be rare.
    """
    edits = max(1, len(search) // _FEW_EDITS)
    while edits <= max_distance and len(search) // (edits + 1) >= _SHORTEST_PIECE:
        regions = _regions(text, search, edits, work)
        if regions is None or sum(end - start for start, end in regions) > len(text) // 2:
            break
        distances = [len(search)] * (len(text) + 1)
        for start, end in regions:
            work.spend(_cost(end - start, search))
            distances[start : end + 1] = _distances_by_end(text[start:end], search, anchored=False)
        if min(distances) <= edits:
            return distances
        edits *= 2
    work.spend(_cost(len(text), search))
    return _distances_by_end(text, search, anchored=False)


def _cost(columns: int, search: str) -> int:
    """What :func:`_distances_by_end` costs for a text of so many characters."""
    return columns * (_COLUMN_UNITS + len(search) // _WORD_BITS)


def _find_cost(text: str) -> int:
    """What it costs to look for a string through a whole text."""
    return _MATCH_UNITS + len(text) // _FOUND_PER_UNIT


def _regions(text: str, search: str, edits: int, work: Work) -> list[tuple[int, int]] | None:
    """The parts of a text, disjoint and ascending, in which every span of at most so many edits lies; None: there may be many.

    In a text such as ``aaaa`` each piece is found at every character.
    """
    length = len(search) // (edits + 1)
    most = len(text) // _MATCHES_SHARE
    found: list[tuple[int, int]] = []
    for number in range(edits + 1):
        offset = number * length
        piece = search[offset : offset + length]
        work.spend(_find_cost(text))
        at = text.find(piece)
        while at >= 0:
            if len(found) == most:
                return None
            work.spend(_MATCH_UNITS)
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
        diagonal = ((((equal & rises) + rises) ^ rises) | equal) & all_bits
        across_up = falls | (all_bits ^ (diagonal | rises))
        across_down = rises & diagonal
        # Whether the last bit is set: none lies above it.
        if across_up >= last:
            distance += 1
        elif across_down >= last:
            distance -= 1
        distances.append(distance)
        across_up = (across_up << 1 | anchored) & all_bits
        equal |= falls
        rises = across_down << 1 & all_bits | (all_bits ^ (equal | across_up))
        falls = across_up & equal
    return distances
