"""Ranking profiles by name: a profile is a ranker with its parameters. Some are built in, and a deployment's file adds others."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, field_validator, model_validator

from memory.validation_problems import problems_of
from retrieval.errors import ProfilesError
from retrieval.rankers.base import Ranker
from retrieval.rankers.fitted_models import RankingModel
from retrieval.rankers.learned import LearnedRanker
from retrieval.rankers.memx import MemXRanker
from retrieval.rankers.weighted import WeightedRanker
from retrieval.relevance.features import FEATURES
from runtime.settings import RankingProfile, RecallSettings

RANKERS: Final[Mapping[RankingProfile, Ranker]] = MappingProxyType(
    {"learned": LearnedRanker(), "weighted": WeightedRanker(), "memx": MemXRanker()}
)
"""The rankers, by the ``base`` of a profile in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A ranker with its parameters. For parameters that are None, the setting applies."""

    ranker: Ranker
    time_weight: float | None = None
    business_weight: float | None = None
    min_confidence: float | None = None

    def over(self, settings: RecallSettings) -> RecallSettings:
        """The settings, with the profile's parameters instead of theirs."""
        own = {name: getattr(self, name) for name in _INSTEAD_OF_SETTINGS}
        given = {name: value for name, value in own.items() if value is not None}
        return settings.model_copy(update=given) if given else settings


_INSTEAD_OF_SETTINGS: Final = ("time_weight", "business_weight", "min_confidence")

BUILT_IN: Final[Mapping[str, Profile]] = MappingProxyType({name: Profile(ranker=ranker) for name, ranker in RANKERS.items()})
"""The profiles of every deployment."""


class ProfileEntry(BaseModel):
    """A profile in the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    base: RankingProfile
    weights: dict[str, float] | None = None
    """The weights of all features. None: the shipped model."""
    slope: float | None = Field(default=None, gt=0)
    intercept: float | None = None
    time_weight: float | None = Field(default=None, ge=0, le=1)
    business_weight: float | None = Field(default=None, ge=0, le=1)
    min_confidence: float | None = Field(default=None, ge=0, le=1)

    @field_validator("weights")
    @classmethod
    def _of_every_feature(cls, weights: dict[str, float] | None) -> dict[str, float] | None:
        if weights is None:
            return None
        unknown, missing = sorted(weights.keys() - FEATURES.keys()), sorted(FEATURES.keys() - weights.keys())
        faults = [f"{each} is not a feature" for each in unknown] + [f"{each} is missing" for each in missing]
        if faults:
            raise ValueError(f"{'; '.join(faults)}; the features are {', '.join(FEATURES)}")
        return weights

    @model_validator(mode="after")
    def _has_a_whole_model(self) -> Self:
        parts = {name: getattr(self, name) for name in ("weights", "slope", "intercept")}
        missing = [name for name, value in parts.items() if value is None]
        if len(missing) < len(parts) and self.base != "learned":
            raise ValueError(f"weights, slope and intercept belong to the base learned, and this profile's base is {self.base}")
        if 0 < len(missing) < len(parts):
            raise ValueError(f"weights, slope and intercept belong together, and {' and '.join(missing)} is missing")
        return self

    def profile(self) -> Profile:
        """The profile that the entry describes."""
        ranker = RANKERS[self.base]
        if self.weights is not None and self.slope is not None and self.intercept is not None:
            weights = {name: self.weights[name] for name in FEATURES}
            ranker = LearnedRanker(RankingModel(weights=weights, slope=self.slope, intercept=self.intercept))
        return Profile(
            ranker=ranker,
            time_weight=self.time_weight,
            business_weight=self.business_weight,
            min_confidence=self.min_confidence,
        )


ProfileName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,63}$", strict=True)]
Entries = dict[ProfileName, ProfileEntry]

_ENTRIES: Final = TypeAdapter(Entries)


def load_profiles(settings: RecallSettings) -> Mapping[str, Profile]:
    """The profiles that recalls may name: the built-in ones, and those of the settings' file.

    Raises:
        ProfilesError: If the file cannot be read, a profile in it is invalid, or the settings' own profile is unknown.
    """
    if settings.profiles is None:
        return BUILT_IN
    profiles = {**BUILT_IN, **{name: each.profile() for name, each in read_entries(settings.profiles).items()}}
    for name, each in profiles.items():
        in_force = each.over(settings)
        if in_force.time_weight + in_force.business_weight > 1:
            raise ProfilesError(
                f"the ranking profiles {settings.profiles}: {name}: time_weight + business_weight must not exceed 1, got "
                f"{in_force.time_weight:g} + {in_force.business_weight:g}; a profile without them uses VARVE_RECALL__TIME_WEIGHT and "
                "VARVE_RECALL__BUSINESS_WEIGHT"
            )
    if settings.profile not in profiles:
        raise ProfilesError(
            f"VARVE_RECALL__PROFILE is {settings.profile!r}, which is not a ranking profile; known profiles: {known(profiles)}"
        )
    return MappingProxyType(profiles)


def check_profile(name: str | None, settings: RecallSettings, *, source: str) -> None:
    """Checks that a memory method names a known ranking profile, if any.

    Args:
        name: The profile. None: the setting's.
        settings: Name the file of further profiles.
        source: Where the method comes from, for the error.

    Raises:
        ProfilesError: If the profile is unknown, or as :func:`load_profiles` raises it.
    """
    profiles = load_profiles(settings)
    if name is not None and name not in profiles:
        raise ProfilesError(
            f"Method.Retrieve.Profile: {name!r} is not a ranking profile; known profiles: {known(profiles)}. For one of your own, set "
            f"VARVE_RECALL__PROFILES as for the query service (in {source})"
        )


def named(profiles: Mapping[str, Profile], name: str) -> Profile:
    """The profile of a name.

    Raises:
        ValueError: If it is unknown. The message lists the known ones.
    """
    if name not in profiles:
        raise ValueError(f"{name!r} is not a ranking profile; known profiles: {known(profiles)}")
    return profiles[name]


def known(profiles: Mapping[str, Profile]) -> str:
    """The names of the profiles, for an error."""
    return ", ".join(sorted(profiles))


def read_entries(path: Path) -> Entries:
    """The profiles in a file.

    Raises:
        ProfilesError: If it cannot be read, or a profile is invalid. The message says where.
    """
    try:
        entries = _ENTRIES.validate_python(orjson.loads(path.read_bytes()))
    except OSError as error:
        raise ProfilesError(f"the ranking profiles {path} (VARVE_RECALL__PROFILES) cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise ProfilesError(f"the ranking profiles {path} are not JSON: {error}") from error
    except ValidationError as error:
        raise ProfilesError(f"the ranking profiles {path}: {problems_of(error)}") from error
    if clashes := sorted(entries.keys() & BUILT_IN.keys()):
        raise ProfilesError(f"the ranking profiles {path}: {', '.join(clashes)}: the name of a built-in profile; choose another name")
    return entries


def write_entry(path: Path, name: str, entry: ProfileEntry) -> None:
    """Writes a profile into a file, atomically. The file's other profiles stay.

    Args:
        path: The file. It is created if it is missing.
        name: The profile's name. A profile with this name is replaced.
        entry: The profile.

    Raises:
        ProfilesError: If the name is not allowed, the file is invalid, or it cannot be written.
    """
    try:
        _ENTRIES.validate_python({name: entry})
    except ValidationError as error:
        raise ProfilesError(f"{name!r} is not a valid name of a ranking profile: {problems_of(error)}") from error
    if name in BUILT_IN:
        raise ProfilesError(f"{name} is the name of a built-in ranking profile; choose another name")
    entries = (read_entries(path) if path.exists() else {}) | {name: entry}
    text = orjson.dumps(
        {each: value.model_dump(mode="json", exclude_none=True) for each, value in entries.items()}, option=orjson.OPT_INDENT_2
    )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(text + b"\n")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ProfilesError(f"the ranking profiles {path} cannot be written: {error.strerror}") from error
