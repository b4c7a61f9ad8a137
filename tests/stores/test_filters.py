"""The filter that keeps requests within their tenant."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.conditions import AnyOf, HasId, MatchAny
from stores.filters import TenantFilter, owner_of
from stores.port import TenantScope
from stores.position import FeedPosition
from tests.stores.factories import NOON

KINDS = ("event", "entity", "summary", "segment")
NAMES = st.text(min_size=1, max_size=5)
FILTERS = st.builds(
    TenantFilter,
    scope=st.builds(TenantScope, NAMES, st.none() | NAMES),
    ids=st.none() | st.lists(NAMES, max_size=3).map(tuple),
    kinds=st.lists(NAMES | st.sampled_from(KINDS), max_size=4).map(tuple),
    types=st.lists(NAMES, max_size=3).map(tuple),
    sessions=st.lists(NAMES, max_size=3).map(tuple),
    keys=st.lists(NAMES, max_size=3).map(tuple),
    messages=st.lists(NAMES, max_size=3).map(tuple),
    since=st.none() | st.just(NOON),
    until=st.none() | st.just(NOON + timedelta(microseconds=1)),
    generation=st.none() | st.text(max_size=3),
    not_expired_at=st.none() | st.just(NOON),
    at=st.lists(st.builds(FeedPosition, st.integers(0, 7), st.integers(0, 2**62)), max_size=3).map(tuple),
)


@given(FILTERS)
def test_the_first_condition_is_the_tenants(tenant_filter: TenantFilter) -> None:
    first = next(tenant_filter.conditions())
    tenant, user = tenant_filter.scope.tenant, tenant_filter.scope.user
    assert isinstance(first, MatchAny)
    if user is None:
        assert first == MatchAny("tenant", (tenant,))
    else:
        kinds = {*tenant_filter.kinds} or {*KINDS}
        told = {owner_of(tenant, user, of_entity=each == "entity") for each in kinds}
        assert (first.field, {*first.values}) == ("owner", told)


@given(FILTERS, st.sampled_from(KINDS))
def test_a_filter_passes_exactly_its_kinds(tenant_filter: TenantFilter, kind: str) -> None:
    tenant, user = tenant_filter.scope.tenant, tenant_filter.scope.user
    point = {"tenant": tenant, "owner": user and owner_of(tenant, user, of_entity=kind == "entity"), "kind": kind}
    told = [each for each in tenant_filter.conditions() if isinstance(each, MatchAny) and each.field in point]
    assert all(point[each.field] in each.values for each in told) == (not tenant_filter.kinds or kind in tenant_filter.kinds)


OWNERS = st.tuples(NAMES, NAMES, st.booleans())


@given(OWNERS, OWNERS)
def test_no_two_tenants_or_users_own_the_same(one: tuple[str, str, bool], other: tuple[str, str, bool]) -> None:
    owners = [owner_of(tenant, user, of_entity=of_entity) for tenant, user, of_entity in (one, other)]
    assert (owners[0] == owners[1]) == (one == other)


def test_the_steps_of_one_user_alone_are_none() -> None:
    conditions = [*TenantFilter(scope=TenantScope("acme", "ann"), steps_of="e").conditions()]
    assert conditions == [
        MatchAny("step_tenant", ("acme",)),
        MatchAny("step_of", ("e",)),
        MatchAny("owner", ("acme/ann", "acme/ann/entity")),
    ]


@given(FILTERS)
def test_a_rough_filter_passes_no_less(tenant_filter: TenantFilter) -> None:
    rough, whole = [*tenant_filter.without_liveness.of_other_kinds_too.conditions()], [*tenant_filter.conditions()]
    assert rough[0] == whole[0]
    assert all(each in whole for each in rough)


@given(FILTERS)
def test_a_filter_survives_its_json_form(tenant_filter: TenantFilter) -> None:
    assert TenantFilter.from_json(tenant_filter.to_json()) == tenant_filter


@given(FILTERS, st.lists(NAMES, max_size=4))
def test_narrowing_by_ids_never_widens_a_filter(tenant_filter: TenantFilter, ids: list[str]) -> None:
    narrowed = tenant_filter.within(ids)
    assert narrowed.scope == tenant_filter.scope
    [allowed] = [each.ids for each in narrowed.conditions() if isinstance(each, HasId)]
    assert set(allowed) <= set(ids)
    assert tenant_filter.ids is None or set(allowed) <= set(tenant_filter.ids)


@given(FILTERS)
def test_term_statistics_cover_exactly_the_whole_tenant(tenant_filter: TenantFilter) -> None:
    own, *at = tenant_filter.whole_tenant.conditions()
    assert own == MatchAny("tenant", (tenant_filter.scope.tenant,))
    assert at == [each for each in tenant_filter.conditions() if isinstance(each, AnyOf)]


@given(FILTERS)
def test_a_filter_at_no_positions_has_no_condition(tenant_filter: TenantFilter) -> None:
    assert len([each for each in tenant_filter.conditions() if isinstance(each, AnyOf)]) == bool(tenant_filter.at)


@pytest.mark.parametrize("change", [{"tenant": ""}, {"tenant": None}, {"kinds": None}, {"since": 7}, {"at": [1]}])
def test_a_malformed_filter_is_refused(change: dict[str, object]) -> None:
    fields = TenantFilter(scope=TenantScope("acme")).to_json()
    with pytest.raises(ValueError):  # noqa: PT011 - several causes
        TenantFilter.from_json({**fields, **change})
    with pytest.raises(ValueError, match="tenant"):
        TenantFilter.from_json({name: value for name, value in fields.items() if name != "tenant"})


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        list(TenantFilter(scope=TenantScope("acme"), since=datetime(2024, 1, 1)).conditions())


def test_a_scope_needs_a_tenant_and_no_empty_user() -> None:
    with pytest.raises(ValueError, match="tenant"):
        TenantScope("")
    with pytest.raises(ValueError, match="user"):
        TenantScope("acme", "")
