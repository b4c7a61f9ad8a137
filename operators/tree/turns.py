"""The newest turns of a tree, before they become leaves (*Memory in the LLM Era*, appendix C).

When there are more than the limit, the oldest half is divided into segments of similar neighbours, and each segment becomes one leaf.
"""

from collections.abc import Sequence
from typing import Final, TypedDict

import numpy as np

from memory.texts.text import fair_share, shortened
from operators.tree.nodes import NodeEvent, Whole, cosine, read_vector, written_vector

MAX_SEGMENT: Final = 12
"""Most turns of a segment."""
_MAX_TEXT: Final = 2400
"""Most characters of a segment's turns together."""


class Turn(TypedDict):
    """One turn, in full."""

    event: NodeEvent
    vector: str


def turn_of(event: NodeEvent, vector: Whole) -> Turn:
    """An event as a turn."""
    return Turn(event=event, vector=written_vector(vector))


def divided(turns: Sequence[Turn], limit: int) -> tuple[Sequence[Turn], Sequence[Turn]]:
    """The turns to move, and those that stay. None move while there are at most ``limit``."""
    moved = (len(turns) + 1) // 2 if len(turns) > limit else 0
    return turns[:moved], turns[moved:]


def segments(turns: Sequence[Turn], threshold: float) -> list[tuple[list[NodeEvent], Whole]]:
    """The segments of turns in their order: the events of each, with shortened texts, and the sum of the vectors.

    Args:
        turns: The turns.
        threshold: A turn whose cosine with the turn before it is lower starts a new segment.
    """
    found: list[list[int]] = []
    vectors = [read_vector(each["vector"]).astype(np.float64) for each in turns]
    for index, vector in enumerate(vectors):
        if found and len(found[-1]) < MAX_SEGMENT and cosine(vectors[index - 1], vector) >= threshold:
            found[-1].append(index)
        else:
            found.append([index])
    return [
        (
            shortened_events([turns[index]["event"] for index in segment]),
            np.asarray(sum(vectors[index] for index in segment), dtype=np.float64),
        )
        for segment in found
    ]


def shortened_events(events: Sequence[NodeEvent]) -> list[NodeEvent]:
    """Events whose texts are bounded together: only the longest are shortened."""
    most = fair_share([len(each["text"]) for each in events], _MAX_TEXT)
    return [{**each, "text": shortened(each["text"], most)} for each in events]
