"""What kind of event a statement is, by its nearness to example statements.

Forms (:mod:`extraction.offline.events.type_forms`) know the words by which people state a plan or a mood; the embedding model knows what
other words mean the same. A linear model is fitted to the vectors of :data:`EXAMPLES` once per process, so any embedding model serves.
Nearness alone takes a treadmill's price for a workout and "I had a meeting" for a plan. So a statement must also be about the writer or
somebody close, in the tense of its kind, and of workouts and promises the forms alone decide.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from extraction.offline.events.example_statements import EXAMPLES
from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.plan_forms import AHEAD
from extraction.offline.words.people import MANY_RELATIVES, PETS, RELATIVES
from models.embedding.port import Embedder, Vector

_RIDGE: Final = 1.0
_LEAST: Final = {"preference": -0.1, "mood": -0.2, "plan": -0.1, "life_event": -0.2}
"""Least score by kind, where examples of the kind have 1 and all others -1."""

_ME: Final = re.compile(r"\b(?:i|i['’]\w+|im|ive|me|we|we['’]\w+|us)\b", re.IGNORECASE)
_CLOSE: Final = re.compile(
    rf"\b(?:i|i['’]\w+|im|ive|me|my|mine|we|we['’]\w+|us|our|{any_of(RELATIVES, MANY_RELATIVES, PETS)})\b", re.IGNORECASE
)
"""The writer or somebody close."""
_LISTENER: Final = re.compile(r"\b(?:you|your|yours|yourself|you['’]\w+|let['’]?s|luck|congrat\w*|welcome)\b", re.IGNORECASE)
_OF_OTHERS: Final = re.compile(
    r"^\W*(?:(?:and|but|so|well|oh|anyway) )*(?:he|she|they|it|this|that|these|those|there|the|an?|each|every|his|her|their|some|people"
    r"|who|what|how|when|where|why|(?-i:[A-Z])[\w'’]+ (?:is|was|has|had))\b",
    re.IGNORECASE,
)
"""Begins with a subject that is neither the writer nor left out."""
_OVER: Final = re.compile(r"\b(?:was|were|had|did|went|used to|didn['’]?t|wasn['’]?t)\b", re.IGNORECASE)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|been|died|born|got|went|broke|lost|won|bought|sold|met|left|began|became|came|flew|drove|took|gave|made|found|quit"
    r"|had|saw|split|fell|[a-z]{3,}ed|(?:i|we)(?:['’]ve| have) \w+|(?:['’]s| has) (?:just|passed|gone))\b",
    re.IGNORECASE,
)
_INTENDED: Final = re.compile(
    AHEAD
    + r"|\b(?:soon|this (?:year|summer|week|month|term|weekend)|tomorrow|later|tonight|plan(?:ning)? (?:to|on)|going to|gonna|decided to"
    r"|want to|booked|signed up|hop(?:e|ing) to|need to|have to|off to)\b",
    re.IGNORECASE,
)
_REPEATED: Final = re.compile(r"\b(?:every|each|always|usually|normally|\w+days|never|often)\b", re.IGNORECASE)


def _is_preference(statement: str) -> bool:
    is_own = _ME.search(statement) is not None or _OF_OTHERS.match(statement) is None
    return is_own and _OVER.search(statement) is None


def _is_mood(statement: str) -> bool:
    return _ME.search(statement) is not None or (_OF_OTHERS.match(statement) is None and _OVER.search(statement) is None)


def _is_plan(statement: str) -> bool:
    is_close = _CLOSE.search(statement) is not None or _OF_OTHERS.match(statement) is None
    is_ahead = _INTENDED.search(statement) is not None and _OVER.search(statement) is None
    return is_close and is_ahead and _REPEATED.search(statement) is None


def _is_life_event(statement: str) -> bool:
    return _CLOSE.search(statement) is not None and _PAST.search(statement) is not None and "used to" not in statement


_MAY_BE: Final[dict[str, Callable[[str], bool]]] = {
    "preference": _is_preference,
    "mood": _is_mood,
    "plan": _is_plan,
    "life_event": _is_life_event,
}
_TYPE_NAMES: Final = {
    name: kind
    for kind, names in {
        "preference": "preference, preferences, taste, tastes, liking, likes, dislike",
        "mood": "mood, moods, feeling, feelings, emotion, emotions",
        "plan": "plan, plans, intention, intentions, appointment, appointments",
        "life_event": "life_event, life_events, milestone, milestones",
    }.items()
    for name in listed(names)
}


@dataclass(frozen=True, slots=True)
class KindModel:
    """A linear model of the kinds."""

    kinds: tuple[str, ...]
    center: NDArray[np.floating[Any]]
    weights: NDArray[np.floating[Any]]
    bias: NDArray[np.floating[Any]]

    def kind_of(self, vector: Vector, statements: Sequence[str]) -> str | None:
        """The kind of what a passage states; None if it is none or in doubt.

        Args:
            vector: Of the passage.
            statements: Its sentences that state something plainly.
        """
        if not statements:
            return None
        scores = (vector - self.center) @ self.weights + self.bias
        best = int(scores.argmax())
        kind = self.kinds[best]
        may_be = _MAY_BE.get(kind)
        if may_be is None or scores[best] < _LEAST[kind]:
            return None
        return kind if any(_LISTENER.search(each) is None and may_be(each) for each in statements) else None


def kind_of_type(normalized_name: str) -> str | None:
    """The kind that an event type takes; None if its name names none.

    Args:
        normalized_name: The type's words, joined by underscores.
    """
    return _TYPE_NAMES.get(normalized_name)


class StatementKinds:
    """Fits the model to the examples once.

    Args:
        embedder: The model of the vectors; stays open.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._fitted: KindModel | None = None
        self._lock = asyncio.Lock()

    async def fitted(self) -> KindModel:
        """The model.

        Raises:
            models.errors.ModelError: If the embedder cannot embed now.
        """
        async with self._lock:
            if self._fitted is None:
                texts = [(kind, text) for kind, texts in EXAMPLES.items() for text in texts]
                embeddings = await self._embedder.embed_documents([text for _, text in texts])
                vectors = np.array([each.dense for each in embeddings])
                self._fitted = await asyncio.to_thread(_fit, vectors, [kind for kind, _ in texts])
            return self._fitted


def _fit(vectors: NDArray[np.floating[Any]], labels: Sequence[str]) -> KindModel:
    """Ridge regression of each kind's membership, 1 or -1, on the vectors."""
    kinds = tuple(EXAMPLES)
    targets = np.array([[1.0 if label == kind else -1.0 for kind in kinds] for label in labels])
    center, bias = vectors.mean(axis=0), targets.mean(axis=0)
    centered = vectors - center
    weights = np.linalg.solve(centered.T @ centered + _RIDGE * np.eye(vectors.shape[1]), centered.T @ (targets - bias))
    return KindModel(kinds, center, weights, bias)
