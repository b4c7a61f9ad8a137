"""The filter that keeps requests within their tenant."""

from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.collection import TOP, AnyOf, HasId, MatchAny
from stores.edge.protocol import read_filter
from stores.filters import MemoryFilter, owner_of
from stores.port import TenantScope
from stores.position import FeedPosition
from tests.stores.factories import FILTER_FIELDS, NOON, memory

KINDS = ("event", "entity", "summary", "segment")
NAMES = st.text(min_size=1, max_size=5)
FILTERS = st.builds(
    MemoryFilter,
    scope=st.builds(TenantScope, NAMES, st.none() | NAMES),
    ids=st.none() | st.lists(NAMES, max_size=3).map(tuple),
    kinds=st.lists(NAMES | st.sampled_from(KINDS), max_size=4).map(tuple),
    types=st.lists(NAMES, max_size=3).map(tuple),
    sessions=st.lists(NAMES, max_size=3).map(tuple),
    keys=st.lists(NAMES, max_size=3).map(tuple),
    messages=st.lists(NAMES, max_size=3).map(tuple),
    parents=st.lists(NAMES, max_size=3).map(tuple),
    since=st.none() | st.just(NOON),
    until=st.none() | st.just(NOON + timedelta(microseconds=1)),
    as_of=st.none() | st.just(NOON),
    generation=st.none() | st.text(max_size=3),
    not_expired_at=st.none() | st.just(NOON),
    at=st.lists(st.builds(FeedPosition, st.integers(0, 7), st.integers(0, 2**62)), max_size=3).map(tuple),
)


def on_the_wire(memory_filter: MemoryFilter) -> dict[str, Any]:
    fields: dict[str, Any] = orjson.loads(orjson.dumps(memory_filter))
    return fields


@given(FILTERS)
def test_the_first_condition_is_the_tenants(memory_filter: MemoryFilter) -> None:
    first = next(memory_filter.conditions())
    tenant, user = memory_filter.scope.tenant, memory_filter.scope.user
    assert isinstance(first, MatchAny)
    if user is None:
        assert first == MatchAny("tenant", (tenant,))
    else:
        kinds = {*memory_filter.kinds} or {*KINDS}
        if memory_filter.as_of is not None:
            kinds = kinds - {"entity"} or {*KINDS}
        expected_owners = {owner_of(tenant, user, of_entity=each == "entity") for each in kinds}
        assert (first.field, {*first.values}) == ("owner", expected_owners)


@given(FILTERS, st.sampled_from(KINDS))
def test_a_filter_passes_exactly_its_kinds(memory_filter: MemoryFilter, kind: str) -> None:
    tenant, user = memory_filter.scope.tenant, memory_filter.scope.user
    point = {"tenant": tenant, "owner": user and owner_of(tenant, user, of_entity=kind == "entity"), "kind": kind}
    checked = [each for each in memory_filter.conditions() if isinstance(each, MatchAny) and each.field in point]
    passes = all(point[each.field] in each.values for each in checked) and not memory_filter.passes_nothing
    is_current_state = memory_filter.as_of is not None and kind == "entity"
    assert passes == (not is_current_state and (not memory_filter.kinds or kind in memory_filter.kinds))


OWNERS = st.tuples(NAMES, NAMES, st.booleans())


@given(OWNERS, OWNERS)
def test_no_two_tenants_or_users_own_the_same(one: tuple[str, str, bool], other: tuple[str, str, bool]) -> None:
    owners = [owner_of(tenant, user, of_entity=of_entity) for tenant, user, of_entity in (one, other)]
    assert (owners[0] == owners[1]) == (one == other)


def test_steps_for_a_single_user_are_rejected() -> None:
    conditions = [*MemoryFilter(scope=TenantScope("acme", "ann"), steps_of="e", generation=None).conditions()]
    assert conditions == [
        MatchAny("step_tenant", ("acme",)),
        MatchAny("step_of", ("e",)),
        MatchAny("owner", ("acme/ann", "acme/ann/entity")),
    ]


@given(FILTERS)
def test_a_rough_filter_passes_no_less(memory_filter: MemoryFilter) -> None:
    rough, whole = [*memory_filter.without_liveness.of_other_kinds_too.conditions()], [*memory_filter.conditions()]
    assert rough[0] == whole[0]
    assert all(each in whole for each in rough)


@given(FILTERS)
def test_a_filter_survives_its_json_form(memory_filter: MemoryFilter) -> None:
    assert read_filter(on_the_wire(memory_filter)) == memory_filter


@given(FILTERS, st.lists(NAMES, max_size=4))
def test_narrowing_by_ids_never_widens_a_filter(memory_filter: MemoryFilter, ids: list[str]) -> None:
    narrowed = memory_filter.within(ids)
    assert narrowed.scope == memory_filter.scope
    allowed = [each.ids for each in narrowed.conditions() if isinstance(each, HasId)][-1]
    assert set(allowed) <= set(ids)
    assert memory_filter.ids is None or set(allowed) <= set(memory_filter.ids)


@given(FILTERS)
def test_term_statistics_cover_exactly_the_whole_tenant(memory_filter: MemoryFilter) -> None:
    own, *at = memory_filter.whole_tenant.conditions()
    assert own == MatchAny("tenant", (memory_filter.scope.tenant,))
    assert at == [each for each in memory_filter.conditions() if isinstance(each, AnyOf)]


@given(FILTERS)
def test_a_filter_at_no_positions_has_no_condition(memory_filter: MemoryFilter) -> None:
    assert len([each for each in memory_filter.conditions() if isinstance(each, AnyOf)]) == bool(memory_filter.at)


@pytest.mark.parametrize(
    "change", [{"scope": {"tenant": ""}}, {"scope": None}, {"kinds": None}, {"since": "noon"}, {"at": [1]}, {"place": "Oslo"}]
)
def test_a_malformed_filter_is_refused(change: dict[str, object]) -> None:
    fields = on_the_wire(MemoryFilter(scope=TenantScope("acme")))
    with pytest.raises(ValueError):  # noqa: PT011 - several causes
        read_filter({**fields, **change})


@pytest.mark.parametrize("name", sorted(FILTER_FIELDS))
def test_a_filter_without_one_field_is_refused(name: str) -> None:
    fields = on_the_wire(MemoryFilter(scope=TenantScope("acme")))
    del fields[name]
    with pytest.raises(ValueError, match=name):
        read_filter(fields)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        MemoryFilter(scope=TenantScope("acme"), since=datetime(2024, 1, 1))


def test_a_scope_needs_a_tenant_and_no_empty_user() -> None:
    with pytest.raises(ValueError, match="tenant"):
        TenantScope("")
    with pytest.raises(ValueError, match="user"):
        TenantScope("acme", "")


def test_as_of_includes_the_moment_and_excludes_entities() -> None:
    asked = MemoryFilter(scope=TenantScope("acme"), as_of=NOON)
    assert asked.rejected_by(memory(event_time=NOON)) is None
    assert asked.rejected_by(memory(event_time=NOON + timedelta(microseconds=1))) == "as_of"
    assert asked.rejected_by(memory(kind="entity")) == "as_of"
    assert MatchAny("kind", ("event", "summary", "segment")) in asked.conditions()


def test_entities_as_of_a_time_match_no_point() -> None:
    asked = MemoryFilter(scope=TenantScope("acme", "ann"), kinds=("entity",), as_of=NOON)
    assert asked.passes_nothing
    assert HasId(()) in asked.conditions()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scope": TenantScope("acme", "ann")}, "user"),
        ({"generation": "blue"}, "generation"),
        ({"kinds": ("entity",)}, "kinds"),
        ({"types": ("person",)}, "types"),
        ({"sessions": ("s9",)}, "sessions"),
        ({"keys": ("ann",)}, "keys"),
        ({"parents": (TOP,)}, "parents"),
        ({"since": NOON + timedelta(seconds=1)}, "since"),
        ({"until": NOON}, "until"),
        ({"time_is": NOON + timedelta(microseconds=1)}, "time_is"),
        ({"not_expired_at": NOON}, "not_expired_at"),
    ],
)
def test_the_rejecting_field_is_named(change: dict[str, Any], field: str) -> None:
    found = memory(user="bob", expires_at=NOON)
    assert MemoryFilter(scope=TenantScope("acme")).rejected_by(found) is None
    assert MemoryFilter(**{"scope": TenantScope("acme"), **change}).rejected_by(found) == field
