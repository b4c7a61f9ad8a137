"""The final score of a recalled memory (VikingMem 3.3, multi-path recall with time decay and business weights)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from memory.records import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """``S_final = (1 - w_time - w_busi) * S_origin + w_time * S_time + w_busi * S_busi``; all scores lie in [0, 1]."""

    time: float = 0.0
    business: float = 0.0
    freshness_window_s: float = 86400.0
    """Memories of at most this age have S_time = 1."""
    half_life_s: float = 30 * 86400.0
    """Beyond the window S_time halves in this time, in seconds."""

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
    """How all memories of one recall are scored."""

    weights: Weights
    type_weights: Mapping[str, float]
    """Type-level importance in [0, 1] by event or entity type; other types weigh 1."""
    now: datetime
    """The time at which ages are taken."""

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
        origin: S_origin in [0, 1], from the store.
        now: The time at which the memory's age is taken.
        weights: The weights of time and business.
        type_weights: Type-level importance in [0, 1] by event or entity type; other types weigh 1.
    """
    time = temporal_score((now - memory.event_time).total_seconds(), weights)
    business = business_score(memory, type_weights or {})
    final = (1 - weights.time - weights.business) * origin + weights.time * time + weights.business * business
    return FinalScore(final, origin, time, business)


def temporal_score(age_s: float, weights: Weights) -> float:
    """S_time: 1 within the freshness window and for times ahead, beyond it exponential decay, fast at first and then slow."""
    beyond = max(0.0, age_s - weights.freshness_window_s)
    return float(2.0 ** (-beyond / weights.half_life_s))


def business_score(memory: Memory, type_weights: Mapping[str, float]) -> float:
    """S_busi: the type's weight times the instance's own importance, held in [0, 1]."""
    return min(1.0, max(0.0, type_weights.get(memory.type, 1.0) * memory.importance))
