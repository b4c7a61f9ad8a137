"""Sessions that continue the best sessions: a feature of the candidates of a long turn.

A turn such as "I did what you said, what is next?" shares few words with the sessions that it continues. The best session usually
belongs to the same task, and shares the task's words with its other sessions. This is pseudo relevance feedback (Rocchio 1971) with
sessions as documents, from the candidates alone: it costs no second search.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.records import Memory
from retrieval.relevance.feature_vector import FeatureVector
from retrieval.relevance.traits import TERM_COLUMNS, Traits

BEST_SESSIONS: Final = 3
"""Sessions that the others are compared with."""


def related_sessions(memories: Sequence[Memory], traits: Sequence[Traits], scores: FeatureVector) -> FeatureVector:
    """For each memory, the mean cosine of its session's terms to those of the best other sessions; 0 without a session.

    A session's terms are those of its candidates. Each counts by the logarithm of the number of candidates that have it, times its rarity
    among the sessions.

    Args:
        memories: The candidates.
        traits: For each, its traits.
        scores: For each, its score. A session has the highest score of its candidates.
    """
    numbers: dict[tuple[str | None, str], int] = {}
    session_of = np.array(
        [-1 if each.session is None else numbers.setdefault((each.user, each.session), len(numbers)) for each in memories], dtype=np.intp
    )
    if len(numbers) < 2:
        return np.zeros(len(memories))
    within = np.flatnonzero(session_of >= 0)
    best_score = np.full(len(numbers), -np.inf)
    np.maximum.at(best_score, session_of[within], scores[within])
    best = np.argsort(-best_score, kind="stable")[:BEST_SESSIONS]
    cosines = _cosines(session_of[within], [traits[index].term_columns for index in within.tolist()], best, len(numbers))
    # A session is not compared with itself.
    cosines[range(len(best)), best] = 0.0
    others = np.full(len(numbers), len(best))
    others[best] -= 1
    return np.where(session_of >= 0, (cosines.sum(axis=0) / others)[session_of], 0.0)


def _cosines(session_of: NDArray[np.intp], columns: Sequence[NDArray[np.uint16]], best: NDArray[np.intp], sessions: int) -> FeatureVector:
    """A row for each of the best sessions: its cosine to each session."""
    cells = np.repeat(session_of * TERM_COLUMNS, [*map(len, columns)]) + np.concatenate(columns)
    frequency = np.bincount(cells, minlength=sessions * TERM_COLUMNS)
    # Few cells are filled: the logarithms of all would take most of the time.
    filled = np.flatnonzero(frequency)
    session, term = np.divmod(filled.astype(np.int32), np.int32(TERM_COLUMNS))
    having = np.bincount(term, minlength=TERM_COLUMNS)
    rarity = np.log1p((sessions - having + 0.5) / (having + 0.5))
    weights = np.log1p(frequency[filled]) * rarity[term]
    weights /= np.sqrt(np.bincount(session, weights * weights, minlength=sessions))[session]
    cosines = np.empty((len(best), sessions))
    for place, each in enumerate(best.tolist()):
        own = session == each
        row = np.zeros(TERM_COLUMNS)
        row[term[own]] = weights[own]
        cosines[place] = np.bincount(session, weights * row[term], minlength=sessions)
    return cosines
