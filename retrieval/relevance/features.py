"""The features of a candidate: its scores, words and neighbours in relation to those of the other candidates.

All features are computed from the response of the store to one query. Scores are standardised over the candidates (mean 0, standard
deviation 1), so that a model does not depend on their scale. To add a feature: write its function, add a row to :data:`FEATURES`, fit the
models again (``python -m evaluation fit-ranking``) and copy the weight into :mod:`retrieval.rankers.fitted_models`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.dates.calendar import MONTH_NAMES, MONTHS
from memory.dates.event_date import months_of
from retrieval.query.question import terms_in
from retrieval.relevance.conversation_context import nearby_scores, neighbours_of, openings, recency, session_late, session_size
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.related_sessions import related_sessions
from retrieval.relevance.time_prior import time_fits
from retrieval.relevance.traits import Traits, subject_terms_of, traits_of, words_in
from stores.lexical_analysis import K1, B
from stores.port import ScoredMemory

_NEIGHBOURHOOD_LENGTH: Final = 40.0
"""Terms of an average event with its neighbours."""
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(MONTH_NAMES)})\b", re.IGNORECASE)


class CandidateSet:
    """The candidates of a query, and what several features need of them.

    Args:
        query: The query's text.
        memories: The candidates with the parts of their scores; at least one.
        now: The moment of the query: "last May" is relative to it.
    """

    def __init__(self, query: str, memories: Sequence[ScoredMemory], now: datetime) -> None:
        self.query = query
        self.memories = memories
        self.now = now
        self.plain = [each.memory for each in memories]
        """The candidates without their scores."""
        self.traits = [*map(traits_of, self.plain)]
        self.late = standardised(self.part("late"))
        """The standardised scores of late interaction."""
        self.dense = standardised(self.part("dense"))
        """The standardised cosines."""
        self.words = _Words(query, memories, self.traits)
        """The query's terms in the candidates."""
        self.neighbours = neighbours_of(self.plain)
        """For each candidate, which others are in the same window and up to two turns away, but not in the same turn."""

    def part(self, name: str) -> FeatureVector:
        """One part of the store's scores; 0 for candidates without it."""
        return np.array([each.parts.get(name, 0.0) for each in self.memories])


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature of a ranking model."""

    description: str
    compute: Callable[[CandidateSet], FeatureVector]
    """A number for each candidate, in their order."""
    may_be_negative: bool = False
    """Whether a fitted weight may be negative. A word that a memory shares with the query never makes it a worse answer, even if it says
    little among the judged ones."""


class Features(Mapping[str, FeatureVector]):
    """The features of candidates by their names in :data:`FEATURES`, each computed when it is first used.

    Args:
        found: The candidates.
    """

    def __init__(self, found: CandidateSet) -> None:
        self._found = found
        self._computed: dict[str, FeatureVector] = {}

    def __getitem__(self, name: str) -> FeatureVector:
        computed = self._computed.get(name)
        if computed is None:
            computed = self._computed[name] = FEATURES[name].compute(self._found)
        return computed

    def __iter__(self) -> Iterator[str]:
        return iter(FEATURES)

    def __len__(self) -> int:
        return len(FEATURES)


def features_of(query: str, candidates: Sequence[ScoredMemory], now: datetime) -> Features:
    """The features of candidates.

    Args:
        query: The query's text.
        candidates: With the parts of their scores; at least one.
        now: The moment of the query: "last May" is relative to it.
    """
    return Features(CandidateSet(query, candidates, now))


class _Words:
    """The query's terms in the candidates, and the rarity of each among them."""

    def __init__(self, query: str, candidates: Sequence[ScoredMemory], traits: Sequence[Traits]) -> None:
        self._sessions = [(each.memory.user, each.memory.session) for each in candidates]
        terms = [*dict.fromkeys(terms_in(query))]
        column_of = {term: column for column, term in enumerate(terms)}
        # Names of persons are a separate feature. Nearly every candidate contains some.
        names = subject_terms_of(traits)
        self._counts = np.zeros((len(traits), len(terms)))
        for row, each in enumerate(traits):
            # A text has few of the query's terms: looking for each of them in each text takes three times as long.
            for term in each.terms.keys() & column_of:
                self._counts[row, column_of[term]] = each.terms[term]
        self._lengths = np.array([each.number_of_terms for each in traits], dtype=np.float64)
        having = (self._counts > 0).sum(axis=0)
        self._rarity = np.log(1 + (len(traits) - having + 0.5) / (having + 0.5))
        self._topical_rarity = np.where([term in names for term in terms], 0.0, self._rarity)
        self._whole = self._topical_rarity.sum()

    def coverage(self) -> FeatureVector:
        """For each candidate, the share of the query's terms in it."""
        return self._covered(self._counts > 0)

    def session_coverage(self) -> FeatureVector:
        """For each candidate, the same for its whole session; 0 without a session."""
        numbers: dict[tuple[str | None, str | None], int] = {}
        session_of = [numbers.setdefault(each, len(numbers)) for each in self._sessions]
        members = np.zeros((len(numbers), len(session_of)))
        members[session_of, range(len(session_of))] = 1
        covered = self._covered((members @ self._counts > 0)[session_of])
        return np.where([session is None for _, session in self._sessions], 0.0, covered)

    def neighbourhood_scores(self, neighbours: NDArray[np.bool_]) -> FeatureVector:
        """For each candidate, BM25 of its terms and its neighbours' terms together."""
        neighbourhood = (neighbours | np.eye(len(neighbours), dtype=np.bool_)).astype(np.float64)
        counts = neighbourhood @ self._counts
        norms = K1 * (1 - B + B * (neighbourhood @ self._lengths) / _NEIGHBOURHOOD_LENGTH)
        return np.asarray((counts * (K1 + 1) / (counts + norms[:, np.newaxis])) @ self._rarity)

    def _covered(self, has: NDArray[np.bool_]) -> FeatureVector:
        return np.asarray(has @ self._topical_rarity / self._whole) if self._whole else np.zeros(len(has))


def _neighbours_late(candidates: CandidateSet) -> FeatureVector:
    late = candidates.late
    return np.asarray(np.where(candidates.neighbours, late, late.min()).max(axis=1))


def _named(candidates: CandidateSet) -> FeatureVector:
    traits = candidates.traits
    asked = words_in(candidates.query) & {each.subject for each in traits if each.subject}
    if not asked:
        return np.zeros(len(traits))
    return np.array([1.0 if each.may_be_about(asked) else -1.0 for each in traits])


def _related(candidates: CandidateSet) -> FeatureVector:
    return standardised(related_sessions(candidates.plain, candidates.traits, candidates.late + candidates.dense))


def _month(candidates: CandidateSet) -> FeatureVector:
    named = {MONTHS[found.casefold()] for found in _MONTH.findall(candidates.query) if found.casefold() != "may" or found == "May"}
    if not named:
        return np.zeros(len(candidates.memories))
    return np.array([float(not named.isdisjoint(months_of(each.memory.event_time, each.memory.date))) for each in candidates.memories])


def standardised(scores: FeatureVector) -> FeatureVector:
    """The scores with mean 0 and standard deviation 1; all 0 if they are equal."""
    # ``scores.mean()`` takes three times as long, and ``scores.std()`` would take the mean again.
    centred = scores - np.add.reduce(scores) / len(scores)
    spread = np.sqrt(np.add.reduce(centred * centred) / len(scores))
    return centred / spread if spread > 0 else np.zeros_like(scores)


FEATURES: Final[Mapping[str, Feature]] = MappingProxyType(
    {
        "late": Feature("late interaction, with the question as asked and in the first person", lambda found: found.late),
        "dense": Feature("cosine of the dense vectors", lambda found: found.dense),
        "neighbours_late": Feature("the best late interaction of the events up to two turns away", _neighbours_late),
        "neighbours_bm25": Feature(
            "BM25 of the event and the events up to two turns away, as one text",
            lambda found: standardised(found.words.neighbourhood_scores(found.neighbours)),
        ),
        "nearby": Feature(
            "the scores of the candidates near it in the conversation, the more the nearer",
            lambda found: nearby_scores(found.plain, found.late, found.dense),
        ),
        "session_late": Feature(
            "mean of the three best of its session by late interaction", lambda found: session_late(found.plain, found.late)
        ),
        "session_size": Feature(
            "logarithm of the number of its session's candidates", lambda found: session_size(found.plain), may_be_negative=True
        ),
        "coverage": Feature(
            "share of the query's terms in it, weighted by their rarity among the candidates",
            lambda found: found.words.coverage(),
        ),
        "session_coverage": Feature("the same for all candidates of its session together", lambda found: found.words.session_coverage()),
        "related": Feature("cosine of its session's terms to those of the best three other sessions", _related),
        "named": Feature("1 if the query names its person, -1 if the query names another candidate's person", _named),
        "month": Feature("1 if it may have happened in a month that the query names, whatever the year", _month),
        "time": Feature(
            "how well its days fit the times that the query asks for, from 0 to 1",
            lambda found: time_fits(found.query, found.memories, found.now),
        ),
        "opening": Feature(
            "1 if it opens a session of a user with an assistant, less for later turns", lambda found: openings(found.plain)
        ),
        "recent": Feature("1 if it is new, halved with each week", lambda found: recency(found.plain, found.now)),
        "importance": Feature(
            "its importance", lambda found: np.array([each.memory.importance for each in found.memories]), may_be_negative=True
        ),
        "question": Feature(
            "1 if it is a question", lambda found: np.array([float(each.is_question) for each in found.traits]), may_be_negative=True
        ),
        "length": Feature(
            "logarithm of its length in characters",
            lambda found: np.log1p([len(each.text) for each in found.traits]),
            may_be_negative=True,
        ),
    }
)
"""The features by name. Records of recalls (:class:`memory.records.Ranking`) keep their values in this order."""

NEVER_AGAINST: Final = frozenset(name for name, feature in FEATURES.items() if not feature.may_be_negative)
"""The features whose weights may not be negative."""
