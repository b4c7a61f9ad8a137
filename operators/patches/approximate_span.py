"""Approximate string matching: finds a search text in a text with a few edits (VikingMem 3.1, Algorithm 1)."""

from dataclasses import dataclass
from typing import Final

from operators.work import WorkBudget

MAX_ENDS: Final = 16
"""Most equally near ends of one match that are examined. A text such as ``aaaa`` has thousands."""
MAX_ENDS_WORK: Final = 500_000
"""Work units for all ends together: for a search of 600 characters all 16 are examined, for one of 2,000 three or four."""

_FEW_EDITS: Final = 16
"""Text that a model copies rarely has more than one edit per this many characters."""
_SHORTEST_PIECE: Final = 3
_COLUMN_UNITS: Final = 32
"""Fixed cost of a character of the text in work units. Each machine word of the search adds one unit."""
_WORD_BITS: Final = 64
_MATCH_UNITS: Final = 25
_FOUND_PER_UNIT: Final = 8
"""Characters per work unit in a search for an exact string. If all characters are equal, the real cost is up to three times as high."""
_MATCHES_SHARE: Final = 4
"""A piece that occurs more often than once per this many characters is not rare: then the whole text is searched."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A part of a text, ``[start, end)``."""

    start: int
    end: int
    distance: int
    """Levenshtein distance from the search text."""


def best_approximate_span(text: str, search: str, *, max_distance: int, work: WorkBudget | None = None) -> Span | None:
    """The span of a text with the least Levenshtein distance from a search text.

    Of equally near spans, it selects from the leftmost ones the one that cuts the fewest words, then the one with the nearest length. At
    most :data:`MAX_ENDS` ends are examined, since each needs its own search for starts; for a long search fewer, as :data:`MAX_ENDS_WORK`
    allows, and first those that cut no word. The time is proportional to the searched length times the length of the search in machine
    words: G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic programming", J. ACM 46(3), 1999.
    (rapidfuzz aligns whole texts, or windows of a fixed length: neither finds this minimum.)

    Args:
        text: The text.
        search: The search text, not empty.
        max_distance: The largest accepted distance.
        work: The budget that the search is charged to. None: a new one.

    Returns:
        The span; None if the nearest one exceeds ``max_distance``.

    Raises:
        operators.work.WorkExceededError: If the search exceeds the budget.
    """
    work = work or WorkBudget()
    exact = _best_exact_span(text, search, work)
    if exact is not None:
        return exact
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


def _best_exact_span(text: str, search: str, work: WorkBudget) -> Span | None:
    """The exact match that cuts the fewest words; of several, the leftmost. None if the text does not contain the search."""
    work.spend(_find_cost(text))
    best: Span | None = None
    at = text.find(search)
    while at >= 0:
        work.spend(_MATCH_UNITS)
        span = Span(at, at + len(search), 0)
        if best is None or _cuts(text, span) < _cuts(text, best):
            best = span
        if not _cuts(text, best):
            return best
        at = text.find(search, at + 1)
    return best


def _examined_ends(text: str, search: str, distances: list[int], least: int) -> list[int]:
    """The leftmost run of consecutive ends with the least distance, ascending. Of too many, those that cut no word."""
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
    """The number of words that the ends of a span cut."""
    return _cut_at(text, span.start) + _cut_at(text, span.end)


def _cut_at(text: str, index: int) -> int:
    return int(0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum())


def _spans_to(text: str, search: str, end: int, distance: int, work: WorkBudget) -> list[Span]:
    """The spans with this end and this distance, which must be the least distance of this end."""
    earliest = max(0, end - len(search) - distance)
    work.spend(_cost(end - earliest, search))
    backwards = _distances_by_end(text[earliest:end][::-1], search[::-1], anchored=True)
    return [Span(end - length, end, distance) for length, each in enumerate(backwards) if each == distance]


def _nearest_by_end(text: str, search: str, max_distance: int, work: WorkBudget) -> list[int]:
    """The distance of the nearest span by end. For ends that are not among the nearest, it may be any larger number.

    A span with at most k edits contains one of k + 1 pieces of the search unchanged, at its position plus or minus k (the pigeonhole
    principle). So only the surroundings of such pieces are searched, as long as the pieces are long enough to be rare.
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
    """The cost of :func:`_distances_by_end` for a text of ``columns`` characters."""
    return columns * (_COLUMN_UNITS + len(search) // _WORD_BITS)


def _find_cost(text: str) -> int:
    """The cost of an exact search in a whole text."""
    return _MATCH_UNITS + len(text) // _FOUND_PER_UNIT


def _regions(text: str, search: str, edits: int, work: WorkBudget) -> list[tuple[int, int]] | None:
    """Disjoint, ascending regions that contain every span with at most ``edits`` edits; None if there may be too many.

    In a text such as ``aaaa`` each piece occurs at every character.
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
    """The distance by end, from 0 to the text's length: of the span that starts at 0 if ``anchored``, else of the nearest span."""
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
        # True if the last bit is set, since no higher bit exists.
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
