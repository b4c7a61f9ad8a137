"""The request and the response of a recall."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from memory.records import Memory, RankedCandidate
from stores.port import MemoryFilter, TenantScope


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One query to the memory. None stands for the setting."""

    filter: MemoryFilter
    """The memories that may be returned. The recall adds that they have not expired."""
    query: str
    expansions: tuple[str, ...] = ()
    """Texts that are searched beside the query, each on its own: what a memory that answers it may say."""
    limit: int | None = None
    """Most hits."""
    profile: str | None = None
    """How S_origin comes of the store's scores: one of :data:`retrieval.profiles.BUILT_IN`, or a named one."""
    time_weight: float | None = None
    """w_time, in [0, 1]."""
    business_weight: float | None = None
    """w_busi, in [0, 1]; with w_time at most 1."""
    min_origin_score: float | None = None
    """Hits that the store scores lower are rejected, whatever the profile: that score does not depend on the other candidates."""
    min_confidence: float | None = None
    """Where the recall's confidence is lower, it has no hits at all. Without effect where the confidence is not calibrated."""
    keyword_quota: int | None = None
    """Most hits that the keyword graph leads to; 0: that path is not taken."""
    type_weights: Mapping[str, float] = field(default_factory=dict)
    """Type-level importance in [0, 1], as the tenant's schema has it; a type that is not named weighs 1."""
    explain: bool = False
    """Adds the parts of S_origin to each hit's ``parts``, and ``ranks``."""
    trace: bool = False
    """Tells what became of each candidate."""
    keeps_ranking: bool = False
    """Tells how the candidates were ranked: what a ranking can be fitted to."""

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise ValueError("a recall needs a query that is not blank")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"a recall's limit must be at least 1, got {self.limit}")

    @property
    def scope(self) -> TenantScope:
        """The tenant or user whose memories may be returned."""
        return self.filter.scope


class RecallHit(NamedTuple):
    """A memory that matches the query."""

    memory: Memory
    score: float
    """S_final, in [0, 1]."""
    parts: dict[str, float]
    """``origin``, ``time`` and ``business``, before their weights. With ``explain`` also the parts of S_origin: ``dense`` (cosine),
    ``bm25`` and ``late`` (MaxSim, a sum over the query's tokens), and of the ranking model ``ranking_`` and a feature's name: what the
    feature adds before the sigmoid; of `memx` ``memx_`` and a factor's name, what it adds before standardising; ``prior_time``:
    what fitting the time that the query asks for adds, where no model has it as a feature; ``keyword``: the score of the keyword that led
    to it, where ``origin`` is its own; ``as_asked`` and ``as_expanded``: the score by
    the query and the best by an expansion, where it was expanded."""
    evidence: tuple[str, ...]
    """Ids of the messages that the memory and its duplicates were extracted from, best first."""
    evidence_scores: tuple[float, ...]
    """Of each of these messages: the best that those memories give it (:mod:`retrieval.evidence`)."""
    superseded_by: str | None = None
    """Where this one's value has changed since: the memory with the newest of those that were ranked, or the entity that tells it. Either
    is in the answer."""
    keyword: str | None = None
    """Which keyword led to it, where the keyword graph did: its score is then that path's, which is ranked by itself."""
    ranks: Mapping[str, int] = MappingProxyType({})
    """With ``explain``: its place among the candidates by each part of the store's score, and by ``store``, that score itself, from 1."""


Outcome = Literal["returned", "rank", "duplicate", "repeated", "below_threshold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOutcome:
    """What became of one candidate."""

    outcome: Outcome
    """``rank``: others were better, and the limit came before it. ``repeated``: an entity that was returned says it word by word."""
    score: float
    """The final one; of a rejected candidate the store's."""
    rank: int | None = None
    """Its place among all that were ranked, from 1."""
    of: str | None = None
    """The memory that stands for it."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What its score is made of, as a hit has it; of a rejected candidate the parts of the store's score."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    """As a hit has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResponse:
    """The hits of a recall."""

    hits: tuple[RecallHit, ...]
    """Best first."""
    rejected: int = 0
    """Candidates that were left out for a low score of the store."""
    duplicates: int = 0
    """Candidates that were left out as duplicates of a hit."""
    confidence: float | None = None
    """How likely it is that the memories answer the query, in [0, 1]; None where it is not calibrated: with
    another embedding model than the embedded one, and with a profile that has none, unless a least one is asked for."""
    fates: Mapping[str, CandidateOutcome] = field(default_factory=dict)
    """With ``trace``: what became of each candidate, by its id; those that were ranked come first, best first."""
    kept_ranking: tuple[RankedCandidate, ...] = ()
    """With ``keeps_ranking``: the best of the ranked candidates."""
