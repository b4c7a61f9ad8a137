"""The shards of a server's collection that have a tenant's points."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import models

from stores.server.creation import Placement

TENANTS = st.text(min_size=1, max_size=256)


@given(TENANTS)
def test_where_nothing_is_chosen_the_server_places_points(tenant: str) -> None:
    assert Placement().key_of(tenant) is None
    assert Placement().key_of(None) is None
    assert Placement().shared_keys == []


@given(TENANTS, st.integers(1, 1000))
def test_a_tenant_keeps_its_shared_shard(tenant: str, shared: int) -> None:
    placement = Placement(shared)
    assert placement.shared_key_of(tenant) == Placement(shared).shared_key_of(tenant)
    assert placement.shared_key_of(tenant) in placement.shared_keys
    assert len({*placement.shared_keys}) == shared


@given(TENANTS, st.integers(1, 1000))
def test_a_tenants_own_shard_has_precedence(tenant: str, shared: int) -> None:
    placement = Placement(shared)
    assert placement.key_of(tenant) == models.ShardKeyWithFallback(target=tenant, fallback=placement.shared_key_of(tenant))


def test_the_shard_of_a_tenant_never_changes() -> None:
    assert [Placement(8).shared_key_of(each) for each in ("acme", "globex", "initech")] == [80006, 80002, 80000]


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_no_shard_of_another_count_is_named(shared: int, other: int) -> None:
    if shared != other:
        assert not {*Placement(shared).shared_keys} & {*Placement(other).shared_keys}


def test_tenants_are_spread_over_the_shared_shards() -> None:
    tenants = Counter(Placement(8).shared_key_of(f"tenant-{index}") for index in range(8000))
    assert len(tenants) == 8
    assert min(tenants.values()) > 800


@pytest.mark.parametrize(("metadata", "shared"), [(None, 0), ({}, 0), ({"tenant_shards": None}, 0), ({"tenant_shards": 4}, 4)])
def test_a_collection_reports_its_number_of_shared_shards(metadata: dict[str, int] | None, shared: int) -> None:
    assert Placement.recorded_in(metadata) == Placement(shared)
