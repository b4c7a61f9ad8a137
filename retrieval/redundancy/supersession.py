"""Changed values: the newest value is returned with the older ones, which name it.

Two events contradict each other if their type and all of their properties are equal except a truth value: the same thing is liked and then
not liked. Other differences may both be true: who lives in Oslo may have lived in Rome, and who likes tea may like coffee.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import orjson

from memory.records import Memory
from retrieval.redundancy.deduplication import recency
from retrieval.request import RecallHit

_NONE_COVERED: Final[Mapping[str, str]] = MappingProxyType({})


def with_superseded(ranked: Sequence[RecallHit], limit: int, *, covered: Mapping[str, str] = _NONE_COVERED) -> list[RecallHit]:
    """The best hits; those with an older value name the memory with the newest one.

    If an older value is returned, so is the newest: if it ranks below the limit, it replaces the last hit that no other hit names. If an
    entity covers the newest, the older ones name the entity.

    Args:
        ranked: All hits, best first.
        limit: Most hits.
        covered: By the id of each hit that a returned entity covers, the entity's id. An entity among the hits keeps its place.
    """
    newest = _newest_by_id(ranked)
    best = [_marked(hit, newest, covered) for hit in ranked if hit.memory.id not in covered][:limit]
    for hit in list(best):
        current = None if hit.superseded_by is None else newest[hit.memory.id]
        if current is not None and current.memory.id not in covered and all(each.memory.id != current.memory.id for each in best):
            named = {*covered.values(), *(each.superseded_by for each in best)}
            dropped = next((each for each in reversed(best) if each.superseded_by is None and each.memory.id not in named), hit)
            best.remove(dropped)
            best.append(current)
    return best


def _marked(hit: RecallHit, newest: Mapping[str, RecallHit], covered: Mapping[str, str]) -> RecallHit:
    current = newest.get(hit.memory.id)
    return hit if current is None else hit._replace(superseded_by=covered.get(current.memory.id, current.memory.id))


def _newest_by_id(ranked: Sequence[RecallHit]) -> dict[str, RecallHit]:
    """By the id of each hit whose value has changed since, the hit with the newest value."""
    groups: dict[tuple[Any, ...], list[RecallHit]] = defaultdict(list)
    for hit in ranked:
        subject = _subject(hit.memory)
        if subject is not None:
            groups[subject].append(hit)
    newest: dict[str, RecallHit] = {}
    for group in groups.values():
        current = max(group, key=lambda hit: recency(hit.memory))
        value = _truth_values(current.memory)
        newest |= {hit.memory.id: current for hit in group if _truth_values(hit.memory) != value}
    return newest


def _subject(memory: Memory) -> tuple[Any, ...] | None:
    """The subject of a truth value. None if the memory has no truth value, or the value has no named subject."""
    if memory.kind != "event" or not any(isinstance(value, bool) for value in memory.properties.values()):
        return None
    rest = {name: value for name, value in memory.properties.items() if not isinstance(value, bool)}
    if not rest:
        return None
    return memory.user, memory.type, orjson.dumps(rest, option=orjson.OPT_SORT_KEYS).lower()


def _truth_values(memory: Memory) -> dict[str, bool]:
    return {name: value for name, value in memory.properties.items() if isinstance(value, bool)}
