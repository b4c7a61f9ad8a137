"""What a ranking model looks at: each candidate's scores, words and neighbours, against those of the other candidates.

All of it comes from what the store returned for one query: nothing further is read. Scores are standardised over the candidates (mean 0,
standard deviation 1), so that a model does not depend on their scale.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.dates.calendar import MONTH_NAMES, MONTHS
from memory.dates.event_date import months_of
from memory.records import Memory
from memory.records.wording import further_indexed_text, indexed_text
from memory.scripts import INSIDE_WORD
from memory.terms import length_of, terms_of
from memory.words import STOP_WORDS
from retrieval.feature_vector import FeatureVector
from retrieval.time_prior import time_fits
from runtime.sized_cache import sized_cache
from stores.lexical_analysis import K1, B, searched_text
from stores.port import ScoredMemory

FEATURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "late": "late interaction, with the question as asked and in the first person",
        "dense": "cosine of the dense vectors",
        "neighbours_late": "the best late interaction of the events up to two turns away",
        "neighbours_bm25": "BM25 of the event and the events up to two turns away, as one text",
        "session_late": "mean of the three best of its session by late interaction",
        "coverage": "share of the query's terms that it has, weighted by their rarity among the candidates",
        "session_coverage": "the same of all candidates of its session together",
        "named": "1 if the query names whom it is about, -1 if the query names another candidate's person",
        "month": "1 if it may have happened in a month that the query names, whatever the year",
        "time": "how well its days fit the times that the query asks for, from 0 to 1",
        "importance": "its importance",
        "question": "1 if it is a question",
        "length": "logarithm of its length in characters",
    }
)
"""What each feature is."""

NEVER_AGAINST: Final = frozenset(FEATURES) - {"importance", "question", "length"}
"""What may speak for a memory, and never against it: a word that it shares with the query, however little it says among some judged ones,
does not make it a worse answer."""

NEIGHBOURHOOD: Final = 2
"""Turns on each side."""
_NEIGHBOURHOOD_LENGTH: Final = 40.0
"""Terms of an average event with its neighbours."""
_BEST_OF_SESSION: Final = 3
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(MONTH_NAMES)})\b", re.IGNORECASE)
_SUBJECT: Final = re.compile(rf"^([^\W\d_][\w.'’{INSIDE_WORD}-]*)")
_NAME: Final = re.compile(rf"[^\W\d_][\w.'’{INSIDE_WORD}-]*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_WORDS_CACHED_BYTES: Final = 16_000_000
"""7,000 sentences."""
_CACHED_BYTES: Final = 40_000_000
"""8,000 memories of a sentence."""


def features_of(query: str, candidates: Sequence[ScoredMemory], now: datetime) -> dict[str, FeatureVector]:
    """The features of candidates, by the names in :data:`FEATURES`, a number for each candidate in their order.

    Args:
        query: The query's text.
        candidates: With the parts of their scores; at least one.
        now: The moment of the query, which its "last May" is taken from.
    """
    late = _standardised(_part(candidates, "late"))
    texts = [look_at(each.memory) for each in candidates]
    words = _Words(query, candidates, texts)
    neighbours = _neighbours(candidates)
    return {
        "late": late,
        "dense": _standardised(_part(candidates, "dense")),
        "neighbours_late": np.where(neighbours, late, late.min()).max(axis=1),
        "neighbours_bm25": _standardised(words.neighbourhood_scores(neighbours)),
        "session_late": _session_best(candidates, late),
        "coverage": words.coverage(),
        "session_coverage": words.session_coverage(),
        "named": _named(query, texts),
        "month": _month(query, candidates),
        "time": time_fits(query, candidates, now),
        "importance": np.array([each.memory.importance for each in candidates]),
        "question": np.array([float(each.is_question) for each in texts]),
        "length": np.log1p([len(indexed_text(each.memory)) for each in candidates]),
    }


@dataclass(frozen=True, slots=True)
class _Text:
    """What the features look at in a memory, whatever the query."""

    terms: Mapping[str, int]
    """Of its :func:`stores.lexical_analysis.searched_text`, as BM25 counts them."""
    number_of_terms: int
    subject: str
    """Folded: see :func:`_subject`."""
    content: str | None
    """Of an event without a subject, any of whose words may be whom it is about; None: that is its subject alone."""
    subject_terms: frozenset[str]
    is_question: bool

    def may_be_about(self, asked: frozenset[str]) -> bool:
        """Whether it may be about one of these, folded."""
        return self.subject in asked if self.content is None else not asked.isdisjoint(words_in(self.content))


class _Words:
    """The query's terms in the candidates, and how rare each is among them."""

    def __init__(self, query: str, candidates: Sequence[ScoredMemory], texts: Sequence[_Text]) -> None:
        self._sessions = [(each.memory.user, each.memory.session) for each in candidates]
        terms = [*dict.fromkeys(terms_of(query))]
        column_of = {term: column for column, term in enumerate(terms)}
        # Names of persons are another feature, and are in nearly every candidate.
        names = frozenset[str]().union(*(each.subject_terms for each in texts))
        self._counts = np.zeros((len(texts), len(terms)))
        for row, each in enumerate(texts):
            # A text has few of the query's terms: looking for each of them in each text takes three times as long.
            for term in each.terms.keys() & column_of:
                self._counts[row, column_of[term]] = each.terms[term]
        self._lengths = np.array([each.number_of_terms for each in texts], dtype=np.float64)
        having = (self._counts > 0).sum(axis=0)
        self._rarity = np.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        self._topical_rarity = np.where([term in names for term in terms], 0.0, self._rarity)
        self._whole = self._topical_rarity.sum()

    def coverage(self) -> FeatureVector:
        """By candidate."""
        return self._covered(self._counts > 0)

    def session_coverage(self) -> FeatureVector:
        """By candidate, of its session; 0 where it has none."""
        numbers: dict[tuple[str | None, str | None], int] = {}
        session_of = [numbers.setdefault(each, len(numbers)) for each in self._sessions]
        members = np.zeros((len(numbers), len(session_of)))
        members[session_of, range(len(session_of))] = 1
        covered = self._covered((members @ self._counts > 0)[session_of])
        return np.where([session is None for _, session in self._sessions], 0.0, covered)

    def neighbourhood_scores(self, neighbours: NDArray[np.bool_]) -> FeatureVector:
        """By candidate, BM25 of its terms and its neighbours' together."""
        neighbourhood = (neighbours | np.eye(len(neighbours), dtype=np.bool_)).astype(np.float64)
        counts = neighbourhood @ self._counts
        norms = K1 * (1 - B + B * (neighbourhood @ self._lengths) / _NEIGHBOURHOOD_LENGTH)
        return np.asarray((counts * (K1 + 1) / (counts + norms[:, np.newaxis])) @ self._rarity)

    def _covered(self, has: NDArray[np.bool_]) -> FeatureVector:
        return np.asarray(has @ self._topical_rarity / self._whole) if self._whole else np.zeros(len(has))


def _neighbours(candidates: Sequence[ScoredMemory]) -> NDArray[np.bool_]:
    """By candidate, which are of the same window and of a turn near its own, but not of the same turn."""
    by_turn: dict[tuple[str | None, str, int], list[int]] = defaultdict(list)
    for index, each in enumerate(candidates):
        memory = each.memory
        if memory.window_id is not None and memory.turn is not None:
            by_turn[memory.user, memory.window_id, memory.turn].append(index)
    pairs: list[tuple[int, int]] = []
    for (user, window, turn), indices in by_turn.items():
        for step in range(1, NEIGHBOURHOOD + 1):
            pairs += itertools.product(indices, by_turn.get((user, window, turn + step), ()))
    found = np.zeros((len(candidates), len(candidates)), dtype=np.bool_)
    if pairs:
        one, other = zip(*pairs, strict=True)
        found[one, other] = found[other, one] = True
    return found


def _session_best(candidates: Sequence[ScoredMemory], late: FeatureVector) -> FeatureVector:
    """By candidate, the mean of its session's best; less for a session of fewer candidates, -1 without a session."""
    by_session: dict[tuple[str | None, str], list[float]] = defaultdict(list)
    for each, score in zip(candidates, late.tolist(), strict=True):
        if each.memory.session is not None:
            by_session[each.memory.user, each.memory.session].append(score)
    best = {
        session: fmean(sorted(scores)[-_BEST_OF_SESSION:]) * min(1.0, len(scores) / _BEST_OF_SESSION)
        for session, scores in by_session.items()
    }
    return np.array([best.get((each.memory.user, each.memory.session or ""), -1.0) for each in candidates])


def _named(query: str, texts: Sequence[_Text]) -> FeatureVector:
    asked = words_in(query) & {each.subject for each in texts if each.subject}
    if not asked:
        return np.zeros(len(texts))
    return np.array([1.0 if each.may_be_about(asked) else -1.0 for each in texts])


@sized_cache(most_bytes=_WORDS_CACHED_BYTES, entry_bytes=500, growth=18)
def words_in(text: str) -> frozenset[str]:
    """The words of a text, folded, those with an apostrophe or a full stop also without what it adds."""
    words = frozenset(_NAME.findall(text.casefold()))
    # Few words have any: a memory is looked at in half the time.
    marked = [word for word in words if not word.isalnum()]
    return words.union(*((word.rstrip("."), _POSSESSIVE.sub("", word)) for word in marked)) if marked else words


def _month(query: str, candidates: Sequence[ScoredMemory]) -> FeatureVector:
    named = {MONTHS[found.casefold()] for found in _MONTH.findall(query) if found.casefold() != "may" or found == "May"}
    if not named:
        return np.zeros(len(candidates))
    return np.array([float(not named.isdisjoint(months_of(each.memory.event_time, each.memory.date))) for each in candidates])


def _subject(content: str) -> str:
    """The name that a text begins with: its speaker, or whom it tells of; empty where it begins with another word."""
    found = _SUBJECT.match(content)
    if found is None or not found[1][0].isupper() or found[1].casefold() in STOP_WORDS:
        return ""
    return _POSSESSIVE.sub("", found[1])


def _is_question(content: str) -> bool:
    """Whether a text ends in a question mark, but for what stands behind it in brackets."""
    text = content.rstrip()
    while text.endswith((")", "]")):
        depth = 0
        for index in range(len(text) - 1, -1, -1):
            depth += (text[index] in ")]") - (text[index] in "([")
            if depth == 0:
                break
        if depth or index == 0:
            break
        text = text[:index].rstrip()
    return text.endswith(("?", "？"))


def _part(candidates: Sequence[ScoredMemory], name: str) -> FeatureVector:
    return np.array([each.parts.get(name, 0.0) for each in candidates])


def _standardised(scores: FeatureVector) -> FeatureVector:
    centred = scores - scores.mean()
    # ``scores.std()`` would take the mean again.
    spread = np.sqrt((centred * centred).mean())
    return centred / spread if spread > 0 else np.zeros_like(scores)


def look_at(memory: Memory) -> _Text:
    """What a memory has whatever the query. It is kept: whoever looks at many beforehand, in pieces, has the features in one short one."""
    return _look_at(indexed_text(memory), tuple(memory.keywords), further_indexed_text(memory), memory.kind == "event")


@sized_cache(most_bytes=_CACHED_BYTES, entry_bytes=700, growth=17)
def _look_at(content: str, keywords: tuple[str, ...], further: str | None, is_event: bool) -> _Text:
    terms = Counter(terms_of(searched_text(content, keywords, further)))
    subject = _subject(content)
    # A state names everybody whom the user knows.
    whose = content if is_event and not subject else None
    return _Text(terms, length_of(terms), subject.casefold(), whose, frozenset(terms_of(subject)), _is_question(content))
