"""Ablation: the quality of recalls without one of their parts at a time.

The parts are switched off from outside: by changing the query to the store, its response or the settings, or by subtracting the
contribution that ``explain`` reports. The weights of `learned` stay as they were fitted with the part. ``fit-ranking`` leaves out the
features of the ranking model one by one.

Supersession is not measured: it marks results, and moves one only if the limit separates an old value from the new one.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, cast

from evaluation.recall.asking import Asked, messages_of, recalled
from evaluation.recall.baselines import WHOLE_USER
from evaluation.recall.corpus import Corpus
from evaluation.recall.measures import Outcome, differences, outcome_of, ranked_messages, summary
from models.embedding.port import Embedder, Embedding
from retrieval.plan import MARGIN
from retrieval.request import RecallHit, RecallResponse
from runtime.settings import RankingProfile, Settings
from stores.port import MemoryStore, RecallQuery, ScoredMemory
from stores.query_plan import DENSE_WEIGHT, origin_score, plan_query

_PREFETCHES: Final = (32, 128)

Search = Callable[[MemoryStore, Embedder, RecallQuery], Awaitable[list[ScoredMemory]]]


async def ablation(
    corpus: Corpus, settings: Settings, asked: Sequence[Asked], answers: Sequence[RecallResponse], *, profile: RankingProfile
) -> dict[str, dict[str, object]]:
    """The quality without each part, and in ``difference`` the difference to the whole recall.

    Args:
        corpus: The memories, in a store.
        settings: How recalls rank.
        asked: Questions that have answers.
        answers: The responses of the whole recall, explained.
        profile: The ranker.
    """
    whole = _outcomes(asked, [messages_of(each) for each in answers])
    rankings: dict[str, list[list[str]]] = {}
    for name, search in SEARCHES.items():
        rankings[name] = [messages_of(await recalled(altered(corpus, search), settings, *each, profile=profile)) for each in asked]
    rankings["time_prior"] = [without_time(each) for each in answers]
    if profile == "learned":
        rankings["ranking_model"] = [messages_of(await recalled(corpus, settings, *each, profile="weighted")) for each in asked]
    for prefetch in _PREFETCHES:
        other = settings.model_copy(update={"recall": settings.recall.model_copy(update={"prefetch": prefetch})})
        # More results would fetch more candidates.
        limit = prefetch - MARGIN
        rankings[f"prefetch_{prefetch}"] = [
            messages_of(await recalled(corpus, other, *each, profile=profile, limit=limit)) for each in asked
        ]
    outcomes = {name: _outcomes(asked, of_part) for name, of_part in rankings.items()}
    return {name: {**summary(each), "difference": differences(each, whole)} for name, each in outcomes.items()}


def altered(corpus: Corpus, search: Search) -> Corpus:
    """The corpus with another search of its store.

    Args:
        corpus: The memories, in a store.
        search: One of :data:`SEARCHES`.
    """
    return replace(corpus, store=cast(MemoryStore, _AlteredStore(corpus, search)))


def without_time(answer: RecallResponse) -> list[str]:
    """The first messages by their scores without the contribution of the question's time.

    Args:
        answer: Explained.
    """

    def score(hit: RecallHit) -> float:
        by_model = [added for name, added in hit.parts.items() if name.startswith("ranking_") and name != "ranking_time"]
        return sum(by_model) if by_model else hit.score - hit.parts.get("prior_time", 0.0)

    return ranked_messages(hit.evidence for hit in sorted(answer.hits, key=score, reverse=True))


class _AlteredStore:
    """The part of a store that recalls use, with another search."""

    def __init__(self, corpus: Corpus, search: Search) -> None:
        self._corpus = corpus
        self._search = search

    async def prepare(self, *, model: str, dimension: int, late_dimension: int | None) -> None:
        """See :meth:`MemoryStore.prepare`."""
        await self._corpus.store.prepare(model=model, dimension=dimension, late_dimension=late_dimension)

    async def recall(self, query: RecallQuery) -> list[ScoredMemory]:
        """See :meth:`MemoryStore.recall`."""
        return await self._search(self._corpus.store, self._corpus.embedder, query)


async def _without_bm25(store: MemoryStore, _: Embedder, query: RecallQuery) -> list[ScoredMemory]:
    """A query without words: candidates are the nearest by dense vector, and their scores lack BM25."""
    return await store.recall(replace(query, text=""))


async def _without_dense(store: MemoryStore, _: Embedder, query: RecallQuery) -> list[ScoredMemory]:
    """Candidates are the best by BM25, and their scores are of late interaction and BM25 alone, in their proportion."""
    everything = await store.recall(replace(query, limit=WHOLE_USER, prefetch=WHOLE_USER, explain=True))
    formula = [each for each in plan_query(query).formula() if each.stage != "dense"]
    by_words = sorted((each for each in everything if "bm25" in each.parts), key=lambda each: -each.parts["bm25"])[: query.prefetch]
    found = []
    for candidate in by_words:
        parts = {name: score for name, score in candidate.parts.items() if name != "dense"}
        found.append(candidate._replace(score=origin_score(formula, parts) / (1 - DENSE_WEIGHT), parts=parts))
    return sorted(found, key=lambda each: -each.score)[: query.limit]


async def _without_late(store: MemoryStore, _: Embedder, query: RecallQuery) -> list[ScoredMemory]:
    """A query without token vectors: the dense cosine replaces them."""
    return await store.recall(replace(query, embedding=Embedding(query.embedding.dense, None)))


async def _without_first_person(store: MemoryStore, embedder: Embedder, query: RecallQuery) -> list[ScoredMemory]:
    return await store.recall(replace(query, embedding=await embedder.embed_query(query.text)))


async def _without_deduplication(store: MemoryStore, _: Embedder, query: RecallQuery) -> list[ScoredMemory]:
    """Each memory is of something else, so that none is a duplicate of another."""
    found = await store.recall(query)
    return [each._replace(memory=each.memory.model_copy(update={"entity_key": each.memory.id})) for each in found]


SEARCHES: Final[Mapping[str, Search]] = MappingProxyType(
    {
        "bm25": _without_bm25,
        "dense": _without_dense,
        "late": _without_late,
        "first_person": _without_first_person,
        "deduplication": _without_deduplication,
    }
)
"""The search without each part."""


def _outcomes(asked: Sequence[Asked], rankings: Sequence[Sequence[str]]) -> list[Outcome]:
    return [outcome_of(messages, question.evidence) for (_, question), messages in zip(asked, rankings, strict=True)]
