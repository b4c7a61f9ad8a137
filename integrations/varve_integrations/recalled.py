"""The memories of a recall as one list, for frameworks that know no entities."""

from collections import Counter
from typing import Final

from varve_client import Memory, RecallResult

_SHARE_OF_ENTITIES: Final = 5
"""Entities get one of this many places. A context gives them the same share."""


def recalled_memories(found: RecallResult, limit: int) -> list[Memory]:
    """The best results, then the nearest entities of the user, without results that one of these entities repeats.

    Args:
        found: The response to a recall.
        limit: Most memories. Entities also get the places that results leave.
    """
    nearest = _nearest_first(found.entities)
    places = min(len(nearest), max(limit // _SHARE_OF_ENTITIES, limit - len(found.results)))
    shown = nearest[:places]
    results = [each for each in found.results if each.repeated_by not in {entity.id for entity in shown}]
    return [*results[: limit - places], *shown]


def _nearest_first(entities: list[Memory]) -> list[Memory]:
    """The nearest entity of each type, then the second nearest of each. The service returns them by type, nearest first."""
    seen: Counter[str] = Counter()
    places: list[int] = []
    for entity in entities:
        places.append(seen[entity.type])
        seen[entity.type] += 1
    return [each for _, each in sorted(zip(places, entities, strict=True), key=lambda pair: pair[0])]
