"""A recall with every default filled in: the input of all steps after the rewriting."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memory.schema.method import Method, RetrievalPath
from memory.times import in_zone
from retrieval.profiles import Profile, named
from retrieval.rankers.base import Ranker
from retrieval.relevance.final_score import Scoring, Weights
from retrieval.relevance.time_prior import names_time
from retrieval.request import RecallMode, RecallRequest
from runtime.settings import RecallSettings
from stores.port import NON_ENTITY_KINDS, MemoryFilter

MARGIN: Final = 8
"""Candidates fetched beyond the limit, to replace duplicates and events that an entity among the results covers. If more than the store's
score ranks them, ``prefetch`` candidates are fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPlan:
    """One recall. The request's open fields have the profile's values or the settings'."""

    request: RecallRequest
    filter: MemoryFilter
    """The request's, without expired memories, and without entities if they are retrieved separately."""
    ranker: Ranker
    scoring: Scoring
    """Contains the moment of the recall: the request's ``as_of``, or now."""
    limit: int
    prefetch: int
    mode: RecallMode
    """The request's, or else the memory method's, or else ``fast``."""
    further_paths: Mapping[str, RetrievalPath]
    """Further retrievers by name, with their quotas: the keyword graph, and those of the memory method."""
    min_origin_score: float
    min_confidence: float

    @property
    def now(self) -> datetime:
        """The moment of the recall: ages and relative dates of the query refer to it."""
        return self.scoring.now

    @property
    def needs_confidence(self) -> bool:
        """Whether the confidence of the results is computed."""
        return self.ranker.gives_confidence or self.min_confidence > 0

    @property
    def needs_features(self) -> bool:
        """Whether the features of the query's own candidates are computed."""
        return self.ranker.uses_features or self.needs_confidence or self.request.keeps_ranking

    @property
    def needs_parts(self) -> bool:
        """Whether the store returns the parts of each score."""
        return self.request.explain or self.ranker.uses_parts or self.needs_features

    @property
    def names_time(self) -> bool:
        """Whether the query asks for a time."""
        return names_time(self.request.query, self.now)

    def candidates(self, text: str) -> int:
        """How many candidates the store returns for a text."""
        weights = self.scoring.weights
        reorders = self.ranker.uses_parts or self.needs_features or self.request.expansions or not weights.origin_alone
        fewest = self.limit + MARGIN
        return max(fewest, self.prefetch) if reorders or names_time(text, self.now) else fewest


def plan_recall(request: RecallRequest, *, settings: RecallSettings, profiles: Mapping[str, Profile], now: datetime) -> RecallPlan:
    """Plans a recall.

    Args:
        request: The recall.
        settings: The defaults.
        profiles: The profiles that the request may name.
        now: The time.

    Raises:
        ValueError: If the weights exceed 1 together, or the profile is unknown.
    """
    method = request.method
    profile = _profile_of(request, settings, profiles)
    defaults = profile.over(settings)
    searched = replace(request.filter, not_expired_at=now)
    moment = request.filter.as_of or now
    if request.time_zone is not None:
        moment = in_zone(moment, request.time_zone)
    if method is not None and not (searched.kinds or searched.types):
        searched = replace(searched, kinds=method.kinds, types=method.types)
    if (request.entity_types or request.shared_types) and not searched.kinds:
        # The nearest entities are retrieved separately, and are returned once.
        searched = replace(searched, kinds=NON_ENTITY_KINDS)
    weights = Weights(
        time=_given(request.time_weight, defaults.time_weight),
        business=_given(request.business_weight, defaults.business_weight),
        freshness_window_s=_given(request.freshness_window_s, defaults.freshness_window_s),
        half_life_s=defaults.half_life_s,
    )
    return RecallPlan(
        request=request,
        filter=searched,
        ranker=profile.ranker,
        scoring=Scoring(weights=weights, type_weights=request.type_weights, now=moment),
        limit=request.limit or defaults.limit,
        prefetch=defaults.prefetch,
        mode=mode_of(request),
        further_paths=_further_paths(request, defaults.keyword_quota),
        min_origin_score=_given(request.min_origin_score, defaults.min_origin_score),
        min_confidence=_given(request.min_confidence, defaults.min_confidence),
    )


def mode_of(request: RecallRequest) -> RecallMode:
    """The request's mode, or the memory method's, or else ``fast``."""
    return request.mode or (request.method and request.method.retrieval.mode) or "fast"


def profile_name(given: str | None, method: Method | None, settings: RecallSettings) -> str:
    """The name of a recall's ranking profile: the given one, or else the memory method's, or else the setting's.

    Args:
        given: The profile that the request names.
        method: The tenant's memory method.
        settings: Name the default profile.
    """
    return given or (method and method.retrieval.profile) or settings.profile


def reads_of(
    request: RecallRequest, *, settings: RecallSettings, profiles: Mapping[str, Profile]
) -> tuple[int, Mapping[str, RetrievalPath]]:
    """The most hits of a recall, and its further retrievers by name.

    Args:
        request: The recall.
        settings: The defaults.
        profiles: The profiles that the request may name.

    Raises:
        ValueError: If the profile is unknown.
    """
    defaults = _profile_of(request, settings, profiles).over(settings)
    return request.limit or defaults.limit, _further_paths(request, defaults.keyword_quota)


def _profile_of(request: RecallRequest, settings: RecallSettings, profiles: Mapping[str, Profile]) -> Profile:
    return named(profiles, profile_name(request.profile, request.method, settings))


def _further_paths(request: RecallRequest, keyword_quota: int) -> dict[str, RetrievalPath]:
    paths: dict[str, RetrievalPath] = {} if request.method is None else {each.name: each for each in request.method.retrieval.paths}
    quota = request.keyword_quota
    if quota is None and "keywords" not in paths:
        quota = keyword_quota
    if quota is not None:
        paths["keywords"] = RetrievalPath(name="keywords", quota=quota)
    return {name: path for name, path in paths.items() if path.quota > 0}


def _given(value: float | None, default: float) -> float:
    return default if value is None else value
