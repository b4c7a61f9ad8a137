"""The primary path of a recall (VikingMem 3.3): hybrid search in one request to the store, then weights and deduplication."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memory.records import Memory
from models.embedding.port import Embedder
from models.errors import InputRefusedError
from retrieval import memx
from retrieval.candidate_outcome import ranks_of
from retrieval.confidence import confidence_of, is_calibrated
from retrieval.deduplication import Deduplication
from retrieval.evidence import EVIDENCE_DECAYS, evidence_scores
from retrieval.expansion.combining import noisy_or
from retrieval.features import features_of, look_at
from retrieval.keyword_graph import with_linked
from retrieval.keyword_path import keyword_hits
from retrieval.nearest_entities import nearest_of_types
from retrieval.prepared_store import PreparedStore
from retrieval.profiles import BUILT_IN, Profile, named
from retrieval.query_embedding import embed_query_texts, embed_question
from retrieval.ranking import Scoring, Weights
from retrieval.ranking_model import MAX_RERANKED, model_for, reranked
from retrieval.request import RecallHit, RecallRequest, RecallResponse
from retrieval.selection import Ranked, selected
from retrieval.time_prior import names_time, with_time_prior
from retrieval.training.ranked import ranked_candidates, values_of
from runtime.clocks import Clock
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.pieces import map_in_pieces
from runtime.retrieval_counts import RetrievalCounts, Retrievals
from runtime.settings import RecallSettings
from stores.port import MemoryFilter, MemoryStore, RecallQuery, ScoredMemory, TenantScope
from stores.position import FeedPosition

MARGIN: Final = 8
"""Candidates fetched beyond the limit, to take the places of duplicates and of what entities repeat. Where more than the store's score
ranks, ``prefetch`` ones are fetched."""

_log = logger(__name__)


@dataclass(frozen=True, slots=True)
class _Found:
    """What one text finds."""

    candidates: Sequence[ScoredMemory]
    """As the store scores them."""
    accepted: Sequence[ScoredMemory]
    """As the profile scores them, best first."""
    confidence: float | None
    is_answered: bool
    """By the profile's own rule."""
    values: Mapping[str, list[float]] = field(default_factory=dict)
    """With ``keeps_ranking``: what the candidates' features are, by their ids."""


class Recall:
    """Answers queries to the memory. The first query prepares the store for the embedder's model.

    Args:
        store: The memories.
        embedder: Of the model that the memories were embedded with.
        settings: Defaults of what a request leaves open.
        clock: Its time determines the age and the expiry of memories.
        counts: What recalls returned before, for the profile `memx`; None: nothing is known of it.
        profiles: What requests and settings may name.
    """

    def __init__(
        self,
        *,
        store: MemoryStore,
        embedder: Embedder,
        settings: RecallSettings,
        clock: Clock,
        counts: RetrievalCounts | None = None,
        profiles: Mapping[str, Profile] = BUILT_IN,
    ) -> None:
        self._store = PreparedStore(store, embedder)
        self._embedder = embedder
        self._settings = settings
        self._clock = clock
        self._counts = counts
        self._profiles = profiles

    async def recall(self, request: RecallRequest) -> RecallResponse:
        """Answers one query: the best of what :meth:`rank` and :meth:`linked` find, where nothing is told beside.

        Raises:
            VarveError: As these do.
        """
        ranked, linked = await asyncio.gather(self.rank(request), self.linked(request))
        return await selected(with_linked(ranked, linked, quota=self.keyword_quota(request)))

    def keyword_quota(self, request: RecallRequest) -> int:
        """Most of an answer's hits that :meth:`linked` gives: the request's, or the setting."""
        return self._settings.keyword_quota if request.keyword_quota is None else request.keyword_quota

    async def rank(self, request: RecallRequest) -> Ranked:
        """Ranks all that one query finds.

        Raises:
            ValueError: If the weights exceed 1 together, or nobody knows the profile.
            StoreUnavailableError: If the store does not answer.
            StoreRejectedError: If the store refuses the request, or holds points of another model.
            models.errors.ModelError: What the embedder raised.
        """
        profile = named(self._profiles, request.profile or self._settings.profile)
        settings = profile.over(self._settings)
        weights = _weights(request, settings)
        min_confidence = settings.min_confidence if request.min_confidence is None else request.min_confidence
        limit = request.limit or self._settings.limit
        now = self._clock.now()
        scoring = Scoring(weights=weights, type_weights=request.type_weights, now=request.filter.as_of or now)
        judges = profile.base == "learned" or min_confidence > 0
        asked, *expanded = await asyncio.gather(
            self._find(request.query, request, profile, weights, now, judges=judges, keeps_values=request.keeps_ranking),
            *(self._find_expanded(each, request, profile, weights, now) for each in request.expansions),
        )
        if not asked.is_answered or (asked.confidence is not None and asked.confidence < min_confidence):
            return Ranked(
                hits=(),
                limit=limit,
                scoring=scoring,
                rejected=asked.candidates,
                duplicates={},
                confidence=asked.confidence,
                trace=request.trace,
            )
        ranks = ranks_of(asked.candidates) if request.explain else {}
        accepted = noisy_or(asked.accepted, [each.accepted for each in expanded], explain=request.explain)
        deduplication = Deduplication(by_day=names_time(request.query, request.filter.as_of or now))
        decay = EVIDENCE_DECAYS[profile.base]
        await map_in_pieces(lambda each: deduplication.add(_hit(each, scoring, decay, ranks.get(each.memory.id, {}))), accepted)
        hits = deduplication.ranked()
        return Ranked(
            hits=hits,
            limit=limit,
            scoring=scoring,
            rejected=_rejected([asked, *expanded], accepted),
            duplicates=deduplication.left_out,
            confidence=asked.confidence,
            trace=request.trace,
            kept_ranking=ranked_candidates(hits, asked.values) if request.keeps_ranking else (),
        )

    async def linked(self, request: RecallRequest) -> list[RecallHit]:
        """What the keyword graph leads to (:mod:`retrieval.keyword_graph`), best first; nothing where its quota is 0.

        Raises:
            StoreUnavailableError: If the store does not answer.
            StoreRejectedError: If the store refuses the request, or holds points of another model.
            models.errors.ModelError: What the embedder raised.
        """
        if not self.keyword_quota(request):
            return []
        return await keyword_hits(self._store, self._embedder, request, now=self._clock.now())

    async def nearest_entities(
        self,
        scope: TenantScope,
        texts: Sequence[str],
        entity_types: Sequence[str],
        limit: int = 5,
        *,
        shared_types: Sequence[str] = (),
        keys: Sequence[str] = (),
        at: Sequence[FeedPosition] = (),
        generation: str | None = "",
    ) -> list[Memory]:
        """The entities nearest to the texts, at most ``limit`` of each type, best first within a type (VikingMem 3.1, entity patches).

        Args:
            scope: Whose entities.
            texts: The texts, which make one query together.
            entity_types: Types to search within the scope.
            limit: Most entities of a type.
            shared_types: Types whose entities belong to no single user. They are searched in the whole tenant, whatever the scope's user.
            keys: Only entities with one of these keys; empty: any.
            at: Only entities as old as these positions of the feed; empty: any.
            generation: Empty: the live one.

        Raises:
            StoreUnavailableError: If the store does not answer.
            StoreRejectedError: If the store refuses the request, or holds points of another model.
            models.errors.InputRefusedError: If the embedder refuses all of the texts.
            models.errors.ModelError: What else the embedder raised.
        """
        texts = [each for each in dict.fromkeys(texts) if each.strip()]
        if not (entity_types or shared_types) or not texts:
            return []
        query = RecallQuery(
            filter=MemoryFilter(
                scope=scope, kinds=("entity",), keys=tuple(keys), at=tuple(at), generation=generation, not_expired_at=self._clock.now()
            ),
            text="\n".join(texts),
            embedding=await embed_query_texts(self._embedder, texts),
            limit=limit,
            prefetch=self._settings.prefetch,
        )
        return await nearest_of_types(self._store, query, own=entity_types, shared=shared_types)

    async def _find(
        self,
        text: str,
        request: RecallRequest,
        profile: Profile,
        weights: Weights,
        now: datetime,
        *,
        judges: bool,
        keeps_values: bool = False,
    ) -> _Found:
        """What one text finds, ranked by a profile; with ``judges`` also how sure that is, with ``keeps_values`` what its features are."""
        looks_closer = judges or keeps_values or profile.base == "memx"
        reorders = looks_closer or weights.time or weights.business or request.expansions or names_time(text, request.filter.as_of or now)
        query = RecallQuery(
            filter=replace(request.filter, not_expired_at=now),
            text=text,
            embedding=await embed_question(self._embedder, text),
            limit=max((request.limit or self._settings.limit) + MARGIN, self._settings.prefetch if reorders else 0),
            prefetch=self._settings.prefetch,
            explain=request.explain or looks_closer,
        )
        candidates = [] if query.filter.passes_nothing else await self._store.recall(query)
        now = request.filter.as_of or now
        min_score = self._settings.min_origin_score if request.min_origin_score is None else request.min_origin_score
        accepted = [each for each in candidates if each.score >= min_score]
        confidence, values = None, {}
        if judges or keeps_values:
            ranked = accepted[:MAX_RERANKED]
            await map_in_pieces(look_at, (each.memory for each in ranked))
            features = features_of(text, ranked, now) if ranked else {}
            confidence = confidence_of(text, ranked, features) if judges and is_calibrated(self._embedder.name) else None
            values = values_of(ranked, features) if keeps_values else {}
            if profile.base == "learned":
                model = model_for(text, profile.model, embedder=self._embedder.name)
                accepted = reranked(accepted, features, model, explain=request.explain)
        if profile.base == "memx":
            if not memx.is_answered(accepted, memx.MEMX):
                return _Found(candidates, [], confidence, is_answered=False)
            retrievals = await self._retrievals_of(request.scope.tenant, accepted)
            accepted = memx.ranked(accepted, memx.MEMX, retrievals=retrievals, now=now, explain=request.explain)
        if profile.base != "learned":
            accepted = with_time_prior(text, accepted, now, explain=request.explain)
        return _Found(candidates, accepted, confidence, is_answered=True, values=values)

    async def _find_expanded(self, text: str, request: RecallRequest, profile: Profile, weights: Weights, now: datetime) -> _Found:
        try:
            return await self._find(text, request, profile, weights, now, judges=profile.base == "learned")
        except InputRefusedError as error:
            # The text is a model's, not the caller's.
            _log.warning("expansion_refused", error=str(error))
            return _Found([], [], None, is_answered=False)

    async def _retrievals_of(self, tenant: str, candidates: Sequence[ScoredMemory]) -> Mapping[str, Retrievals]:
        if self._counts is None:
            return {}
        try:
            return await self._counts.of(tenant, [each.memory.id for each in candidates])
        except RedisUnavailableError:
            return {}


def _weights(request: RecallRequest, settings: RecallSettings) -> Weights:
    return Weights(
        time=settings.time_weight if request.time_weight is None else request.time_weight,
        business=settings.business_weight if request.business_weight is None else request.business_weight,
        freshness_window_s=settings.freshness_window_s,
        half_life_s=settings.half_life_s,
    )


def _rejected(searches: Iterable[_Found], accepted: Iterable[ScoredMemory]) -> list[ScoredMemory]:
    """The candidates of all searches that none has accepted, each once."""
    kept = {each.memory.id for each in accepted}
    return list({each.memory.id: each for found in searches for each in found.candidates if each.memory.id not in kept}.values())


def _hit(found: ScoredMemory, scoring: Scoring, decay: float, ranks: Mapping[str, int]) -> RecallHit:
    # Where neither time nor business weighs, only the few hits that are returned have them looked at, when they are selected.
    score = found.score if scoring.weights.origin_alone else scoring.of(found.memory, found.score).final
    scores = evidence_scores(found.memory, score, decay)
    return RecallHit(found.memory, score, {"origin": found.score, **found.parts}, tuple(found.memory.message_ids), scores, ranks=ranks)
