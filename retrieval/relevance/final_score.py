"""The final score of a recalled memory (VikingMem 3.3, multi-path recall with time decay and business weights), and of its messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memory.records import Memory
from stores.port import ScoredMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """``S_final = (1 - w_time - w_busi) * S_origin + w_time * S_time + w_busi * S_busi``. All scores are in [0, 1]."""

    time: float = 0.0
    business: float = 0.0
    freshness_window_s: float = 86400.0
    """Memories of at most this age have S_time = 1."""
    half_life_s: float = 30 * 86400.0
    """For each such time beyond the window, S_time halves; in seconds."""

    def __post_init__(self) -> None:
        if self.time < 0 or self.business < 0 or self.time + self.business > 1:
            raise ValueError(f"w_time and w_busi must not be negative nor exceed 1 together, got {self.time:g} and {self.business:g}")
        if self.freshness_window_s < 0 or self.half_life_s <= 0:
            raise ValueError(
                f"the window must be at least 0 s and the half-life above it, got {self.freshness_window_s:g} and {self.half_life_s:g}"
            )

    @property
    def origin_alone(self) -> bool:
        """Whether S_final is S_origin."""
        return not (self.time or self.business)


class FinalScore(NamedTuple):
    """A final score and its parts."""

    final: float
    origin: float
    time: float
    business: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """The final scoring of one recall."""

    weights: Weights
    type_weights: Mapping[str, float]
    """Importance of event and entity types in [0, 1]. Default of a type: 1."""
    now: datetime
    """The moment that ages refer to."""

    def of(self, memory: Memory, origin: float) -> FinalScore:
        """Scores a memory.

        Args:
            memory: The memory.
            origin: S_origin in [0, 1].
        """
        return final_score(memory, origin=origin, now=self.now, weights=self.weights, type_weights=self.type_weights)


def final_score(
    memory: Memory, *, origin: float, now: datetime, weights: Weights, type_weights: Mapping[str, float] | None = None
) -> FinalScore:
    """Scores a memory.

    Args:
        memory: The memory.
        origin: S_origin in [0, 1].
        now: The moment that the memory's age refers to.
        weights: The weights of time and business.
        type_weights: Importance of event and entity types in [0, 1]. Default of a type: 1.
    """
    time = temporal_score((now - memory.event_time).total_seconds(), weights)
    business = business_score(memory, type_weights or {})
    final = (1 - weights.time - weights.business) * origin + weights.time * time + weights.business * business
    return FinalScore(final, origin, time, business)


def temporal_score(age_s: float, weights: Weights) -> float:
    """S_time: 1 within the freshness window and for future times; exponential decay beyond it."""
    beyond = max(0.0, age_s - weights.freshness_window_s)
    return float(2.0 ** (-beyond / weights.half_life_s))


def business_score(memory: Memory, type_weights: Mapping[str, float]) -> float:
    """S_busi: the type's weight times the memory's own importance, clamped to [0, 1]."""
    return min(1.0, max(0.0, type_weights.get(memory.type, 1.0) * memory.importance))


def evidence_scores(memory: Memory, score: float, decay: float) -> tuple[float, ...]:
    """The scores of a memory's source messages, in their order.

    An event names its most important message first, so later messages get lower scores. Other memories have many messages in no order.

    Args:
        memory: A result.
        score: Its score, in [0, 1].
        decay: The score of each further message relative to the one before it (docs/internals/adr/0021).
    """
    messages = len(memory.message_ids)
    if messages == 1 or memory.kind != "event":
        return (score,) * messages
    return tuple(score * decay**place for place in range(messages))


def ranks_of(candidates: Sequence[ScoredMemory]) -> dict[str, dict[str, int]]:
    """The rank of each candidate, by id, from 1: by each part of its score, and by the whole score (``store``).

    Args:
        candidates: With the parts of their scores. A candidate that lacks a part has no rank by it.
    """
    names = dict.fromkeys(name for each in candidates for name in each.parts)
    scores = {name: {each.memory.id: each.parts[name] for each in candidates if name in each.parts} for name in names}
    scores["store"] = {each.memory.id: each.score for each in candidates}
    ranks: dict[str, dict[str, int]] = {each.memory.id: {} for each in candidates}
    for name, scored in scores.items():
        for rank, memory_id in enumerate(sorted(scored, key=scored.__getitem__, reverse=True), start=1):
            ranks[memory_id][name] = rank
    return ranks
