"""The fitted models of the ranker `learned` that ship, and the choice of one for a query."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from memory.texts.scripts import is_latin
from models.embedding.weights import MODEL_NAME
from retrieval.query.question import is_foreign_question
from retrieval.relevance.conversation_context import is_with_assistant
from retrieval.relevance.feature_vector import FeatureVector
from stores.port import ScoredMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingModel:
    """``S_origin = sigmoid(slope * sum(weight * feature) + intercept)``: the probability that a memory answers the query."""

    weights: Mapping[str, float]
    """By feature of :data:`retrieval.relevance.features.FEATURES`."""
    slope: float
    intercept: float
    same_session: float = 0.0
    """Subtracted from the weighted sum of a memory for each memory of its session with a higher sum. The first results then show more
    sessions, as maximal marginal relevance (Carbonell and Goldstein 1998) with the session as the similarity."""

    def probabilities(self, linear: FeatureVector) -> FeatureVector:
        """The sigmoid of weighted sums."""
        # ``np.clip`` takes three times as long.
        shifted = np.minimum(np.maximum(self.slope * linear + self.intercept, -60), 60)
        return np.asarray(1 / (1 + np.exp(-shifted)))


LEARNED: Final = RankingModel(
    weights=MappingProxyType(
        {
            "late": 0.8578,
            "dense": 0.3778,
            "neighbours_late": 0.0,
            "neighbours_bm25": 0.2,
            "nearby": 0.6022,
            "session_late": 0.1903,
            "session_size": -0.3522,
            "coverage": 0.6,
            "session_coverage": 1.8468,
            "related": 0.0,
            "named": 0.9112,
            "month": 0.8599,
            "time": 2.252,
            "opening": 0.0,
            "recent": 0.0,
            "importance": 2.1411,
            "question": -0.3858,
            "length": -0.5042,
        }
    ),
    slope=0.7803,
    intercept=-4.9973,
)
"""Fitted to questions of at most 20 words, of several kinds of conversations: five of LoCoMo, three users of RealMem, and the invented
chats, meetings and assistants of ``evaluation/recall/invented`` (events of the offline extractor, all-MiniLM-L6-v2, 64 candidates, ridge
10; each kind counts by the 0.65th power of its questions). ``docs/internals/evaluation.md`` has the figures with each kind left out.
The weights of ``neighbours_bm25`` (fitted: 0.105) and ``coverage`` (0.2647) are raised, so that a shared word decides in languages that the
embedding model does not know (``LEAST_WEIGHTS`` of the command)."""

LONGEST_QUESTION: Final = 20
"""Words. A longer query to chats with an assistant is a turn, which continues a task, rather than a question."""

OF_TURNS: Final = RankingModel(
    weights=MappingProxyType(
        {
            "late": 0.0,
            "dense": 0.5571,
            "neighbours_late": 0.0,
            "neighbours_bm25": 0.702,
            "nearby": 0.0,
            "session_late": 0.4897,
            "session_size": 0.0685,
            "coverage": 1.1647,
            "session_coverage": 0.3121,
            "related": 0.6,
            "named": 1.743,
            "month": 0.0,
            "time": 1.0389,
            "opening": 1.1235,
            "recent": 1.5,
            "importance": -0.6608,
            "question": -0.4321,
            "length": 0.1129,
        }
    ),
    slope=0.6077,
    intercept=-4.94,
    same_session=0.5,
)
"""For turns. Fitted to those of three users of RealMem and of the invented assistants, as :data:`LEARNED`, but by the 0.25th
power of their number. Many words of a turn ask for nothing, so single words count less, and rare words, the session and its opening
more. ``same_session`` was chosen on the three users: recall of sessions among the first ten results 0.547 without it, 0.633 with it; of
messages 0.339 and 0.350.
``related``, ``recent`` and ``same_session`` were then chosen together on seven users, for the sessions; ``recent`` is smaller than the fit
(2.9), which favours new sessions too much for the invented assistants."""

_HALVED: Final = ("late", "dense", "nearby", "session_late")
BY_WORDS: Final = RankingModel(
    weights=MappingProxyType(
        {name: weight / 2 if name in _HALVED else weight for name, weight in LEARNED.weights.items()} | {"neighbours_bm25": 1.0}
    ),
    slope=LEARNED.slope,
    intercept=LEARNED.intercept,
)
"""For queries in a script or language that the embedded model was not trained on: vectors count less, shared words count more."""


def is_turn(query: str, candidates: Iterable[ScoredMemory]) -> bool:
    """Whether a query is a turn of a conversation with an assistant, for :data:`OF_TURNS`.

    It has more than :data:`LONGEST_QUESTION` words, and its candidates are of chats with an assistant. To memories of conversations among
    people, a long query is a question in many words.

    Args:
        query: Its text.
        candidates: What was found.
    """
    return len(query.split()) > LONGEST_QUESTION and is_with_assistant(each.memory for each in candidates)


def model_for(query: str, candidates: Iterable[ScoredMemory], *, embedder: str) -> RankingModel:
    """The shipped model for a query.

    :data:`BY_WORDS` if the embedded model was not trained on its language, :data:`OF_TURNS` for a turn (:func:`is_turn`), otherwise
    :data:`LEARNED`.

    Args:
        query: Its text.
        candidates: What was found.
        embedder: The name of the embedding model.
    """
    if embedder == MODEL_NAME and (not is_latin(query) or is_foreign_question(query)):
        return BY_WORDS
    return OF_TURNS if is_turn(query, candidates) else LEARNED
