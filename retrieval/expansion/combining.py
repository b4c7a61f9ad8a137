"""Combines what was found with a query and with its expansions."""

from collections.abc import Sequence
from typing import Final

from stores.port import ScoredMemory

EXPANSION_WEIGHT: Final = 0.5
"""How far a sentence that a model made up is believed: half as much as the query itself. ADR 41 has what other weights find."""


def noisy_or(asked: Sequence[ScoredMemory], expanded: Sequence[Sequence[ScoredMemory]], *, explain: bool) -> list[ScoredMemory]:
    """The candidates of all searches, best first, each by ``1 - (1 - S) * (1 - w * S_e)``.

    That is the noisy-or (Pearl 1988, section 4.3.2) of two reasons for which a memory may be right: its score S by the query, and its best
    score S_e by an expansion, which weighs ``w``, :data:`EXPANSION_WEIGHT`. A search that has not found it gives it 0.

    Args:
        asked: By the query.
        expanded: By each expansion.
        explain: Whether both scores stand in the parts, as ``as_asked`` and ``as_expanded``.
    """
    if not expanded:
        return list(asked)
    best: dict[str, ScoredMemory] = {}
    for each in (found for search in expanded for found in search):
        if each.memory.id not in best or best[each.memory.id].score < each.score:
            best[each.memory.id] = each
    by_query = {each.memory.id: each for each in asked}
    ranked = []
    for found in (by_query | {key: each for key, each in best.items() if key not in by_query}).values():
        key = found.memory.id
        as_asked = by_query[key].score if key in by_query else 0.0
        as_expanded = best[key].score if key in best else 0.0
        score = 1 - (1 - as_asked) * (1 - EXPANSION_WEIGHT * as_expanded)
        parts = found.parts | {"as_asked": as_asked, "as_expanded": as_expanded} if explain else found.parts
        ranked.append(ScoredMemory(found.memory, score, parts))
    return sorted(ranked, key=lambda each: -each.score)
