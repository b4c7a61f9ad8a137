"""The interface of a ranker, and its input: the scored candidates of one text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final, Protocol

from retrieval.rankers.fitted_models import LEARNED, RankingModel
from retrieval.relevance.feature_vector import FeatureVector
from runtime.redis.retrieval_counts import Retrievals
from stores.port import ScoredMemory

MAX_RERANKED: Final = 200
"""Candidates of a text whose features are computed. Each costs some tens of microseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The candidates of one text, with everything that a ranker may use. Parts that the ranker does not ask for are empty."""

    text: str
    """The query, or an expansion of it."""
    found: Sequence[ScoredMemory]
    """All candidates."""
    accepted: Sequence[ScoredMemory]
    """The candidates above the threshold, best first by the store's score."""
    now: datetime
    """The moment of the recall."""
    features: Mapping[str, FeatureVector] = field(default_factory=dict)
    """For the first :data:`MAX_RERANKED` accepted candidates, the features of :data:`retrieval.relevance.features.FEATURES`."""
    model: RankingModel = LEARNED
    """The shipped model for the text."""
    retrievals: Mapping[str, Retrievals] = field(default_factory=dict)
    """By memory id, how often and when last a recall returned the memory."""
    confidence: float | None = None
    """Probability that the candidates answer the text."""


class Ranker(Protocol):
    """Gives each candidate S_origin, in [0, 1].

    To add one: implement this in a module of this package, name it in :data:`retrieval.profiles.RANKERS` and in
    ``runtime.settings.RankingProfile``. To give the learned ranker another signal, add a feature in :mod:`retrieval.relevance.features`.
    """

    evidence_decay: ClassVar[float]
    """See :func:`retrieval.relevance.final_score.evidence_scores`."""
    uses_parts: ClassVar[bool]
    """Whether it uses the parts of the store's score."""
    uses_features: ClassVar[bool]
    """Whether it uses the features."""
    uses_retrievals: ClassVar[bool]
    """Whether it uses the counts of retrievals. Then each recall is counted."""
    gives_confidence: ClassVar[bool]
    """Whether the confidence is always computed, not only if the request has a minimum."""

    def rank(self, scored: Scored, *, explain: bool) -> list[ScoredMemory] | None:
        """The accepted candidates with S_origin. None: by the ranker's own rule, no candidate is relevant.

        Args:
            scored: The candidates.
            explain: Whether to add the parts of the new score.
        """
        ...
