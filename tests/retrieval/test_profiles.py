"""A deployment's own ranking profiles: what a file may contain, and the errors of invalid ones."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from retrieval.errors import ProfilesError
from retrieval.profiles import BUILT_IN, RANKERS, ProfileEntry, load_profiles, named, read_entries, write_entry
from retrieval.rankers.fitted_models import RankingModel
from retrieval.rankers.learned import LearnedRanker
from retrieval.relevance.features import FEATURES
from runtime.settings import RecallSettings

MODEL: dict[str, Any] = {"base": "learned", "weights": dict.fromkeys(FEATURES, 0.5), "slope": 2, "intercept": -1.5}
FINITE = st.floats(-1e6, 1e6)
SHARE = st.none() | st.floats(0, 1)
MODELS = st.builds(
    ProfileEntry,
    base=st.just("learned"),
    weights=st.fixed_dictionaries(dict.fromkeys(FEATURES, FINITE)),
    slope=st.floats(1e-6, 1e6),
    intercept=FINITE,
    time_weight=SHARE,
    business_weight=SHARE,
    min_confidence=SHARE,
)
BARE = st.builds(ProfileEntry, base=st.sampled_from([*BUILT_IN]), time_weight=SHARE, min_confidence=SHARE)
NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True).filter(lambda name: name not in BUILT_IN)


def file_of(folder: Path, profiles: object) -> Path:
    path = folder / "profiles.json"
    path.write_bytes(orjson.dumps(profiles))
    return path


def load(folder: Path, profiles: object, **settings: Any) -> Any:
    return load_profiles(RecallSettings(profiles=file_of(folder, profiles), **settings))


def test_a_file_adds_to_the_built_in_profiles(tmp_path: Path) -> None:
    found = load(tmp_path, {"house": {**MODEL, "time_weight": 0.2}, "recent": {"base": "weighted", "time_weight": 0.3}}, profile="house")
    assert set(found) == {"learned", "weighted", "memx", "house", "recent"}
    assert {name: found[name] for name in BUILT_IN} == dict(BUILT_IN)
    house = found["house"]
    assert (house.time_weight, house.business_weight, house.min_confidence) == (0.2, None, None)
    assert house.ranker == LearnedRanker(RankingModel(weights=MODEL["weights"], slope=2, intercept=-1.5))
    assert found["recent"].ranker is RANKERS["weighted"]


def test_without_a_file_the_built_in_profiles_apply() -> None:
    assert load_profiles(RecallSettings()) == BUILT_IN
    with pytest.raises(ValidationError, match="there are learned, weighted, memx"):
        RecallSettings(profile="house")


@pytest.mark.parametrize(
    ("profiles", "said"),
    [
        (
            {"house": {**MODEL, "weights": {**MODEL["weights"], "latee": 1.0}}},
            "house.weights: .*latee is not a feature; the features are late",
        ),
        ({"house": {**MODEL, "weights": {"late": 1.0}}}, "house.weights: .*dense is missing"),
        ({"house": {**MODEL, "weights": {**MODEL["weights"], "late": "1"}}}, "house.weights.late: Input should be a valid number"),
        ({"house": {**MODEL, "weights": {**MODEL["weights"], "late": True}}}, "house.weights.late: Input should be a valid number"),
        ({"house": {**MODEL, "slope": -1}}, "house.slope: Input should be greater than 0"),
        ({"house": {**MODEL, "slop": 1}}, "house.slop: unknown name"),
        ({"house": {name: value for name, value in MODEL.items() if name != "slope"}}, "house: .*belong together, and slope is missing"),
        ({"house": {**MODEL, "base": "memx"}}, "house: .*belong to the base learned, and this profile's base is memx"),
        ({"house": {"base": "bm25"}}, "house.base: Input should be 'learned', 'weighted' or 'memx'"),
        ({"house": {}}, "house.base: Field required"),
        ({"house": {"base": "weighted", "time_weight": 1.5}}, "house.time_weight: Input should be less than or equal to 1"),
        ({"house": {"base": "weighted", "time_weight": 0.8}}, "house: time_weight .* must not exceed 1, got 0.8 \\+ 0.3"),
        ({"learned": MODEL}, "learned: the name of a built-in profile; choose another name"),
        ({"My House": MODEL}, "My House.*should match pattern"),
        ([MODEL], "record: Input should be an object"),
    ],
)
def test_a_fault_is_reported_with_its_location(tmp_path: Path, profiles: object, said: str) -> None:
    with pytest.raises(ProfilesError, match=said) as caught:
        load(tmp_path, profiles, business_weight=0.3)
    assert str(tmp_path / "profiles.json") in str(caught.value)


def test_an_invalid_file_is_reported(tmp_path: Path) -> None:
    missing = tmp_path / "profiles.json"
    with pytest.raises(ProfilesError, match=r"profiles.json \(VARVE_RECALL__PROFILES\) cannot be read: No such file"):
        load_profiles(RecallSettings(profiles=missing))
    missing.write_text("{")
    with pytest.raises(ProfilesError, match="not JSON"):
        load_profiles(RecallSettings(profiles=missing))


def test_the_settings_own_profile_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(ProfilesError, match=r"VARVE_RECALL__PROFILE is 'hous'.* known profiles: house, learned, memx, weighted"):
        load(tmp_path, {"house": MODEL}, profile="hous")
    with pytest.raises(ValueError, match="'hous' is not a ranking profile; known profiles: learned, memx, weighted"):
        named(BUILT_IN, "hous")


@given(st.dictionaries(NAMES, MODELS | BARE, min_size=1, max_size=4))
def test_written_profiles_can_be_read(tmp_path_factory: pytest.TempPathFactory, profiles: dict[str, ProfileEntry]) -> None:
    path = tmp_path_factory.mktemp("profiles") / "profiles.json"
    for name, entry in profiles.items():
        write_entry(path, name, entry)
    assert read_entries(path) == profiles
    assert [each.name for each in path.parent.iterdir()] == ["profiles.json"]


def test_a_fit_replaces_only_its_own_profile(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"house": MODEL, "other": {"base": "memx"}})
    write_entry(path, "house", ProfileEntry(base="weighted"))
    assert read_entries(path) == {"house": ProfileEntry(base="weighted"), "other": ProfileEntry(base="memx")}


def test_only_a_valid_profile_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    path.write_text("my notes")
    with pytest.raises(ProfilesError, match="not JSON"):
        write_entry(path, "house", ProfileEntry(base="weighted"))
    assert path.read_text() == "my notes"
    for name, said in (("learned", "built-in"), ("No Name", "is not a valid name")):
        with pytest.raises(ProfilesError, match=said):
            write_entry(tmp_path / "other.json", name, ProfileEntry(base="weighted"))
    with pytest.raises(ProfilesError, match="cannot be written: No such file"):
        write_entry(tmp_path / "none" / "profiles.json", "house", ProfileEntry(base="weighted"))
