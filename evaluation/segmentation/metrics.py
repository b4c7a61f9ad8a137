"""Pk and WindowDiff: how far a segmentation is from the reference. Pure."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple


class Distance(NamedTuple):
    """Two distances, each from 0 (equal) to 1."""

    pk: float
    window_diff: float


def window_size(lengths: Sequence[int]) -> int:
    """Half the mean length of the reference's segments, rounded, at least 1 (Beeferman et al. 1999, section 4.2)."""
    return max(1, round(sum(lengths) / len(lengths) / 2))


def distance(reference: Sequence[int], hypothesis: Sequence[int]) -> Distance | None:
    """The distance between two segmentations of one dialogue.

    A window of :func:`window_size` gaps slides over the dialogue. Pk is the share of its positions where one segmentation has its two ends
    in one segment and the other has not (Beeferman et al. 1999); WindowDiff the share where they differ in the number of boundaries
    between them (Pevzner and Hearst 2002, section 5).

    Args:
        reference: Lengths of the reference's segments.
        hypothesis: Lengths of the segments to be judged.

    Returns:
        None for a dialogue no longer than the window: nothing can be judged.

    Raises:
        ValueError: If a length is below 1, or the sums differ.
    """
    if min((*reference, *hypothesis), default=0) < 1 or sum(reference) != sum(hypothesis):
        raise ValueError(f"two segmentations of one dialogue need lengths of 1 or more and equal sums, got {reference} and {hypothesis}")
    size = window_size(reference)
    expected, found = _segment_numbers(reference), _segment_numbers(hypothesis)
    starts = range(len(expected) - size)
    if not starts:
        return None
    differences = [(expected[start + size] - expected[start], found[start + size] - found[start]) for start in starts]
    return Distance(
        pk=sum((one == 0) != (other == 0) for one, other in differences) / len(starts),
        window_diff=sum(one != other for one, other in differences) / len(starts),
    )


def lengths_of(openings: Sequence[int], utterances: int) -> list[int]:
    """The lengths of the segments that begin at 0 and at each of some ascending indices."""
    edges = [0, *openings, utterances]
    return [end - start for start, end in pairwise(edges)]


def openings_of(lengths: Sequence[int]) -> list[int]:
    """The indices where segments of those lengths begin, without the first."""
    return list(accumulate(lengths))[:-1]


def _segment_numbers(lengths: Sequence[int]) -> list[int]:
    return [number for number, length in enumerate(lengths) for _ in range(length)]


def mean_distance(distances: Sequence[Distance | None]) -> dict[str, float | None]:
    """The means over dialogues, by metric; those that are too short to be judged do not count."""
    known = [each for each in distances if each is not None]
    if not known:
        return {"pk": None, "window_diff": None}
    return {
        "pk": round(sum(each.pk for each in known) / len(known), 4),
        "window_diff": round(sum(each.window_diff for each in known) / len(known), 4),
    }
