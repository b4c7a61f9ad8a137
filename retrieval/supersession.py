"""Values that have changed: the newest stands, and the older ones say which it is.

Two events contradict each other where their type and all of their properties are the same but for a truth value: the same thing is liked
and then not. Other differences may both hold: who lives in Oslo may have lived in Rome, and who likes tea may like coffee.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import orjson

from memory.records import Memory
from retrieval.deduplication import recency
from retrieval.request import RecallHit

_NOTHING_TOLD: Final[Mapping[str, str]] = MappingProxyType({})


def with_superseded(ranked: Sequence[RecallHit], limit: int, *, told: Mapping[str, str] = _NOTHING_TOLD) -> list[RecallHit]:
    """The best hits, those of an older value with the id of what tells the newest one.

    The newest stands among them wherever an older one does: where it ranks too low, it takes the place of the last that nothing depends on.
    Where an entity tells the newest, the older ones name the entity.

    Args:
        ranked: All hits, best first.
        limit: Most hits.
        told: By the ids of the hits that are left to an entity of the answer, the entity's id. An entity among the hits keeps its place.
    """
    newest = _newest_by_id(ranked)
    best = [_marked(hit, newest, told) for hit in ranked if hit.memory.id not in told][:limit]
    for hit in list(best):
        stands = None if hit.superseded_by is None else newest[hit.memory.id]
        if stands is not None and stands.memory.id not in told and all(each.memory.id != stands.memory.id for each in best):
            bound = {*told.values(), *(each.superseded_by for each in best)}
            dropped = next((each for each in reversed(best) if each.superseded_by is None and each.memory.id not in bound), hit)
            best.remove(dropped)
            best.append(stands)
    return best


def _marked(hit: RecallHit, newest: Mapping[str, RecallHit], told: Mapping[str, str]) -> RecallHit:
    stands = newest.get(hit.memory.id)
    return hit if stands is None else hit._replace(superseded_by=told.get(stands.memory.id, stands.memory.id))


def _newest_by_id(ranked: Sequence[RecallHit]) -> dict[str, RecallHit]:
    """By the ids of the hits whose value has changed since, the hit with the newest value."""
    groups: dict[tuple[Any, ...], list[RecallHit]] = defaultdict(list)
    for hit in ranked:
        subject = _subject(hit.memory)
        if subject is not None:
            groups[subject].append(hit)
    newest: dict[str, RecallHit] = {}
    for group in groups.values():
        stands = max(group, key=lambda hit: recency(hit.memory))
        value = _truth_values(stands.memory)
        newest |= {hit.memory.id: stands for hit in group if _truth_values(hit.memory) != value}
    return newest


def _subject(memory: Memory) -> tuple[Any, ...] | None:
    """What a truth value is about; None where there is none, or where it is about nothing that is named."""
    if memory.kind != "event" or not any(isinstance(value, bool) for value in memory.properties.values()):
        return None
    rest = {name: value for name, value in memory.properties.items() if not isinstance(value, bool)}
    if not rest:
        return None
    return memory.user, memory.type, orjson.dumps(rest, option=orjson.OPT_SORT_KEYS).lower()


def _truth_values(memory: Memory) -> dict[str, bool]:
    return {name: value for name, value in memory.properties.items() if isinstance(value, bool)}
