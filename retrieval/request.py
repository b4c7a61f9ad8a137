"""The request and the response of a recall."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from memory.positions import LogPosition
from memory.records import Memory, RankedCandidate
from memory.schema.method import Method, RewritingMode
from retrieval.paths import PartName
from runtime.redis.session_tail import SessionView
from stores.port import MemoryFilter, TenantScope

RecallMode = RewritingMode
"""How a model rewrites the recall: ``expand`` adds generated sentences to the query, ``sift`` ranks the sessions. ``fast``: no model."""

HistoryContent = Literal["turns", "events"]
"""The content of the sessions that the model of ``sift`` reads. ``turns``: the messages, as a memory method archives them; of windows
without archived messages, their events. ``events``: what was extracted."""
MOST_SIFTED: Final = 15
"""Most sessions that the model of ``sift`` ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiftOptions:
    """How ``sift`` ranks. For fields that are None, the setting applies."""

    history: HistoryContent | None = None
    """None: ``turns`` if the memory method archives them, else ``events``."""
    sessions: int | None = None
    """Number of sessions to rank, from 1 to :data:`MOST_SIFTED`."""
    reasoning: bool | None = None
    """Whether the model reasons before it ranks."""

    def __post_init__(self) -> None:
        if self.sessions is not None and not 1 <= self.sessions <= MOST_SIFTED:
            raise ValueError(f"sift ranks 1 to {MOST_SIFTED} sessions, got {self.sessions}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TailRequest:
    """The session whose latest messages are returned."""

    session: str
    user: str | None
    """Only messages of this user. None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One query to the memory. For fields that are None, the profile's value applies, or else the setting's."""

    filter: MemoryFilter
    """The memories that may be returned. The recall also excludes expired ones."""
    query: str
    mode: RecallMode | None = None
    """None: the memory method's, or else ``fast``."""
    sift: SiftOptions = SiftOptions()
    """With the mode ``sift``."""
    expansions: tuple[str, ...] = ()
    """Texts that are searched in addition to the query, each separately: what a memory that answers it may say."""
    entity_types: tuple[str, ...] = ()
    """The nearest entities of these types are returned in addition to the hits; then they are no hits, unless the filter names kinds.
    Empty: none."""
    shared_types: tuple[str, ...] = ()
    """The same for types whose entities belong to no user, such as an agent's tools: they are searched in the whole tenant."""
    time_zone: str | None = None
    """IANA name of the zone whose days "yesterday" and "last week" in the query mean. Default: UTC."""
    tail: TailRequest | None = None
    """None: no messages are returned."""
    limit: int | None = None
    """Most hits."""
    profile: str | None = None
    """The name of the ranker: one of :data:`retrieval.profiles.BUILT_IN`, or of the deployment's own profiles."""
    time_weight: float | None = None
    """w_time, in [0, 1]."""
    business_weight: float | None = None
    """w_busi, in [0, 1]; with w_time at most 1."""
    freshness_window_s: float | None = None
    """Memories of at most this age have S_time = 1."""
    min_origin_score: float | None = None
    """Candidates with a lower score from the store are rejected. This score does not depend on the other candidates, nor on the profile."""
    min_confidence: float | None = None
    """If the recall's confidence is lower, it has no hits. No effect if the confidence is not calibrated."""
    keyword_quota: int | None = None
    """Most hits from the keyword graph. 0: the graph is not searched."""
    method: Method | None = None
    """The memory method of the searched generation. None: ``vikingmem``."""
    type_weights: Mapping[str, float] = field(default_factory=dict)
    """Importance of event and entity types in [0, 1], from the tenant's schema. Default of a type: 1."""
    explain: bool = False
    """Adds the parts of S_origin to each hit's ``parts``, and ``ranks``."""
    trace: bool = False
    """Reports the outcome of each candidate."""
    keeps_ranking: bool = False
    """Reports how the candidates were ranked, to fit a ranking to."""

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
    """Parts of the score, before their weights.

    Always: ``origin``, ``time`` and ``business``. For a hit of the keyword graph: ``keyword``, the score of its keyword. For a hit of
    links: ``start``, the score of the memory from which links lead to it. In `sift` mode: ``session``, the discount of its session's rank.
    With ``explain``:

    - ``dense`` (cosine), ``bm25`` and ``late`` (MaxSim, a sum over the query's tokens): the store's scores;
    - ``ranking_<feature>``: what a feature adds before the sigmoid of a learned ranker;
    - ``ranking_same_session``: what better memories of its session subtract there, for the model of long turns;
    - ``memx_<factor>``: what a factor of MemX adds before the scores are standardised;
    - ``prior_time``: what the time that the query asks for adds, with a ranker that has no feature for it;
    - ``unsupported``: what the score loses because the window does not have the event's words;
    - ``retention``: how well a memory that fades is remembered, in [0, 1];
    - ``as_asked`` and ``as_expanded``: the score by the query, and the best by an expansion, if there are expansions.
    """
    evidence: tuple[str, ...]
    """Ids of the messages that the memory and its duplicates were extracted from, best first."""
    evidence_scores: tuple[float, ...]
    """For each of these messages, its best score (:func:`retrieval.relevance.final_score.evidence_scores`)."""
    superseded_by: str | None = None
    """If the value has changed since: the id of the memory with the newest value, or of the entity that contains it. It is in the
    response."""
    repeated_by: str | None = None
    """The id of the entity, returned in addition to the hits, that contains the event word by word. A text that has both would say it
    twice."""
    keyword: str | None = None
    """The keyword that led to it, if the keyword graph found it. Then its score comes from the graph."""
    path: str | None = None
    """The further retriever that found it (:data:`memory.schema.method.PathName`). None: the search of memories."""
    ranks: Mapping[str, int] = MappingProxyType({})
    """With ``explain``: its rank among the candidates, from 1, by each of the store's scores, and by their sum (``store``)."""


Outcome = Literal["returned", "rank", "duplicate", "repeated", "below_threshold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOutcome:
    """The outcome of one candidate."""

    outcome: Outcome
    """``rank``: it ranks below the limit. ``repeated``: an entity among the results contains it word by word."""
    score: float
    """The final score; for a rejected candidate the store's."""
    rank: int | None = None
    """Its rank among all ranked candidates, from 1."""
    of: str | None = None
    """The memory that is returned instead."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """As :attr:`RecallHit.parts`; for a rejected candidate only the store's scores."""
    ranks: Mapping[str, int] = field(default_factory=dict)
    """As :attr:`RecallHit.ranks`."""


NO_TAIL: Final = SessionView()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResponse:
    """The results of a recall."""

    hits: tuple[RecallHit, ...]
    """Best first."""
    rejected: int = 0
    """Number of candidates with a score of the store below the threshold."""
    duplicates: int = 0
    """Number of candidates that are duplicates of others."""
    confidence: float | None = None
    """Probability that the memories answer the query. None if it is not calibrated for the embedding model, or if neither the ranker nor
    the request asks for it."""
    outcomes: Mapping[str, CandidateOutcome] = field(default_factory=dict)
    """With ``trace``: the outcome of each candidate by its id; the ranked ones first, best first."""
    kept_ranking: tuple[RankedCandidate, ...] = ()
    """With ``keeps_ranking``: the best of the ranked candidates."""
    entities: Sequence[Memory] = ()
    """The entities nearest to the query, best first within a type, without those among the hits."""
    tail: SessionView = NO_TAIL
    """The latest messages of the requested session."""
    positions: tuple[LogPosition, ...] = ()
    """The store contained all records up to these positions of the change feed when it was searched."""
    degraded: tuple[PartName, ...] = ()
    """The parts that are missing: late, unavailable or failed."""
    rewriting: Mapping[str, Any] = field(default_factory=dict)
    """By the mode's field in the HTTP response, what the model contributed; None: nothing."""
