"""Settings of recalls."""

from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import Field, model_validator

from runtime.settings.group import Group

RankingProfile = Literal["learned", "weighted", "memx"]
"""Computation of S_origin from the store's scores: the ranking model, fixed weights of the three scores, or MemX's four factors."""

BUILT_IN_PROFILES: Final[tuple[RankingProfile, ...]] = get_args(RankingProfile)


class RecallSettings(Group):
    """Recalls (VikingMem 3.3): defaults of the query service for requests that do not say otherwise."""

    profile: str = Field(
        default="learned",
        description="Default ranking: `learned`, `weighted`, `memx`, or a profile of `VARVE_RECALL__PROFILES`.",
    )
    profiles: Path | None = Field(
        default=None,
        description="JSON file of further ranking profiles by name, as `varve ranking fit` writes it. Read at start.",
    )
    limit: int = Field(default=10, ge=1, description="Default number of results.")
    context_tokens: int = Field(default=2000, ge=100, le=100_000, description="Default token limit of a context, as estimated.")
    deadline_s: float = Field(
        default=20.0,
        gt=0,
        le=60,
        description="Default deadline of a recall, from its arrival. Parts that are not ready by then are left out.",
    )
    prefetch: int = Field(default=64, ge=1, description="Candidates from each of dense search and BM25.")
    keyword_quota: int = Field(
        default=0,
        ge=0,
        description="Default number of results from the keyword graph, at most half of the results. 0: the graph is not used.",
    )
    time_weight: float = Field(default=0.0, ge=0, le=1, description="Default share of the age in the final score.")
    business_weight: float = Field(default=0.0, ge=0, le=1, description="Default share of the importance in the final score.")
    freshness_window_s: float = Field(default=86400.0, ge=0, description="Memories younger than this have an age score of 1.")
    half_life_s: float = Field(default=30 * 86400.0, gt=0, description="Time in which the age score halves after that.")
    min_origin_score: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Results with a lower `weighted` score (0 to 1) are rejected. 0 rejects none.",
    )
    min_confidence: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Default minimum confidence; a recall below it returns no results. 0 rejects none. No effect if the confidence is not "
        "calibrated for the embedding model.",
    )
    training_share: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Share of recalls whose records also contain the query and the ranking, for `varve ranking fit`. A query is personal "
        "data. 0 stores none.",
    )

    @model_validator(mode="after")
    def _knows_its_profile(self) -> "RecallSettings":
        if self.profiles is None and self.profile not in BUILT_IN_PROFILES:
            known = ", ".join(BUILT_IN_PROFILES)
            raise ValueError(f"profile is {self.profile!r}, and VARVE_RECALL__PROFILES names no file of profiles: there are {known}")
        return self

    @model_validator(mode="after")
    def _weights_sum_to_at_most_one(self) -> "RecallSettings":
        if self.time_weight + self.business_weight > 1:
            raise ValueError(f"time_weight + business_weight must not exceed 1, got {self.time_weight:g} + {self.business_weight:g}")
        return self
