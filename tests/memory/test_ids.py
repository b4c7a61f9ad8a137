"""Ids are the same for the same source and differ for different ones."""

import uuid

from hypothesis import given
from hypothesis import strategies as st

from memory import ids

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
INDICES = st.integers(0, 10**6)


@given(NAMES, NAMES, INDICES)
def test_an_id_is_a_uuid_of_its_source(tenant: str, session: str, sequence: int) -> None:
    first = ids.window_id(tenant, session, sequence)
    assert first == ids.window_id(tenant, session, sequence)
    assert str(uuid.UUID(first)) == first
    assert uuid.UUID(first).version == 5


@given(st.lists(st.tuples(NAMES, NAMES, INDICES), min_size=2, max_size=10, unique=True))
def test_windows_of_different_sources_have_different_ids(sources: list[tuple[str, str, int]]) -> None:
    assert len({ids.window_id(*each) for each in sources}) == len(sources)


@given(NAMES, INDICES, NAMES.filter(lambda name: name != "-"))
def test_kinds_and_generations_never_share_an_id(window: str, index: int, generation: str) -> None:
    derived = [
        ids.event_id(window, index),
        ids.event_id(window, index, generation),
        ids.segment_id(window, index),
        ids.segment_id(window, index, generation),
    ]
    assert len(set(derived)) == len(derived)


@given(NAMES, NAMES, NAMES, NAMES)
def test_an_entity_of_another_tenant_has_another_id(tenant: str, other: str, entity_type: str, key: str) -> None:
    same = ids.entity_id(tenant, entity_type, key) == ids.entity_id(other, entity_type, key)
    assert same == (tenant == other)


def test_ids_do_not_change_between_releases() -> None:
    assert ids.window_id("acme", "session-1", 0) == "604e9d30-81e7-5af2-80e5-56ba345b60b1"
    assert ids.event_id("w", 3) == "a133f615-492c-55e0-ad6d-a6661b4b1084"
    assert ids.entity_id("acme", "user_profile", "alice") == "807748e7-1440-5708-9546-69e4849e6a83"
