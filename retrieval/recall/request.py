"""What a recall is asked and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from memory.records import Memory
from retrieval.stores.port import TenantScope


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One question to the memory. What is None is as the settings say."""

    scope: TenantScope
    query: str
    limit: int | None = None
    """Most results."""
    kinds: tuple[str, ...] = ()
    """``event``, ``entity``, ``summary``, ``segment``; empty: all."""
    types: tuple[str, ...] = ()
    """Event or entity types; empty: all."""
    since: datetime | None = None
    """Only memories whose event time is not before this one (aware)."""
    until: datetime | None = None
    """Only memories whose event time is before this one (aware)."""
    generation: str = ""
    """Empty: the live one."""
    time_weight: float | None = None
    """w_time, in [0, 1]."""
    business_weight: float | None = None
    """w_busi, in [0, 1]; with w_time at most 1."""
    min_origin_score: float | None = None
    """Results whose S_origin is lower are rejected."""
    type_weights: Mapping[str, float] = field(default_factory=dict)
    """Type-level importance in [0, 1], as the tenant's schema has it; a type that is not named weighs 1."""
    explain: bool = False
    """Say in each result's ``parts`` also what S_origin is made of."""

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise ValueError("a recall needs a query that is not blank")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"a recall's limit must be at least 1, got {self.limit}")
        for name in ("since", "until"):
            moment: datetime | None = getattr(self, name)
            if moment is not None and moment.tzinfo is None:
                raise ValueError(f"{name} needs a time zone, got {moment.isoformat()}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """One result."""

    memory: Memory
    score: float
    """S_final, in [0, 1]."""
    parts: dict[str, float]
    """``origin``, ``time`` and ``business``, before their weights; where asked for, also ``dense`` (cosine), ``bm25`` and ``late``
    (MaxSim, a sum over the query's tokens), of which S_origin is made."""
    evidence: tuple[str, ...]
    """Ids of the messages it rests on, best first; with those of memories that only repeat it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The answer to a recall."""

    results: tuple[Recalled, ...]
    """Best first."""
    rejected: int = 0
    """How many candidates were left out for a low original score."""
    repeated: int = 0
    """How many were left out because they say the same as a result."""
