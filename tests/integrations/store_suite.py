"""Tests of the store for LangGraph with ``InMemoryStore`` as the oracle, run in an environment that has both, on a tenant for items."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, Item, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from varve_client import AsyncVarveClient, ServiceProblemError, VarveClient
from varve_integrations.langgraph import VarveStore
from varve_integrations.store_items import ITEM_TYPE, ItemTooLargeError

from tests.waiting import until, until_async

URL, KEY, BOUND_KEY = (os.environ[name] for name in ("VARVE_CLIENT__URL", "VARVE_TEST_STORE_KEY", "VARVE_TEST_STORE_BOUND_KEY"))


class Clock:
    """A clock that a test advances. It begins hours ago: the service refuses messages of the future."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC) - timedelta(hours=3)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


@pytest.fixture(scope="module")
def client() -> Iterator[VarveClient]:
    with VarveClient(URL, api_key=KEY) as client:
        yield client


@pytest.fixture
def root() -> str:
    """The first label of a test's namespaces."""
    return f"test-{uuid4().hex}"


@pytest.fixture
def store(client: VarveClient) -> VarveStore:
    return VarveStore(client, user="shared")


def plain(items: Sequence[Item]) -> list[tuple[Any, ...]]:
    return sorted((each.namespace, each.key, repr(each.value)) for each in items)


values = st.dictionaries(
    st.sampled_from(["name", "count", "tags", "nested"]),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
        st.lists(st.integers(0, 3), max_size=2),
        st.dictionaries(st.sampled_from(["a", "$b"]), st.integers(0, 2), max_size=2),
    ),
    max_size=3,
)
namespaces = st.lists(st.sampled_from(["a", "b", "ü", "*"]), max_size=2).map(tuple)
keys = st.sampled_from(["k", "K", " k", "é", "e\u0301", ""])
filters = st.one_of(
    st.none(),
    # A name with $ is an unknown comparison, which both stores refuse.
    values.filter(lambda value: not any(isinstance(each, dict) and "$b" in each for each in value.values())),
    st.builds(
        lambda comparison, limit: {"count": {comparison: limit}},
        st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]),
        st.integers(-2, 2),
    ),
)
conditions = st.lists(st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), namespaces), max_size=2).map(tuple)
puts = st.builds(lambda namespace, key, value: PutOp(namespace, key, value), namespaces, keys, st.one_of(st.none(), values))
gets = st.builds(lambda namespace, key: GetOp(namespace, key), namespaces, keys)
searches = st.builds(
    lambda prefix, chosen, query: SearchOp(prefix, filter=chosen, limit=100, query=query),
    namespaces,
    filters,
    st.sampled_from([None, "a name"]),
)
listings = st.builds(
    lambda chosen, depth, limit, offset: ListNamespacesOp(chosen, depth, limit, offset),
    conditions,
    st.one_of(st.none(), st.integers(1, 3)),
    st.sampled_from([1, 100]),
    st.integers(0, 1),
)
batches = st.lists(st.lists(st.one_of(puts, puts, gets, searches, listings), min_size=1, max_size=3), min_size=1, max_size=6)


def below(root: str, op: Any) -> Any:
    """An operation with all namespaces below a label, so that the examples of one tenant do not meet."""
    match op:
        case PutOp() | GetOp():
            return op._replace(namespace=(root, *op.namespace))
        case SearchOp():
            return op._replace(namespace_prefix=(root, *op.namespace_prefix))
    suffixes = tuple(each for each in op.match_conditions if each.match_type == "suffix")
    prefixes = [each._replace(path=(root, *each.path)) for each in op.match_conditions if each.match_type == "prefix"]
    return op._replace(match_conditions=(*(prefixes or [MatchCondition("prefix", (root,))]), *suffixes))


def oracle_batch(oracle: InMemoryStore, ops: Sequence[Any]) -> list[Any]:
    """The oracle's results; ``...`` for those of values that it cannot compare.

    It lists namespaces whose items were deleted, or only looked for. So each operation reads a copy.
    """
    everything = oracle.search((), limit=10**6)
    results: list[Any] = []
    for op in ops:
        if isinstance(op, PutOp):
            results.append(None)
            continue
        copy = InMemoryStore()
        for each in everything:
            copy.put(each.namespace, each.key, each.value)
        try:
            results += copy.batch([op])
        except (TypeError, ValueError, OverflowError):
            results.append(...)
    oracle.batch([op for op in ops if isinstance(op, PutOp)])
    return results


def compare(result: Any, expected: Any) -> None:
    if expected is ...:
        return
    if isinstance(expected, Item):
        assert plain([result]) == plain([expected])
    elif isinstance(expected, list) and expected and isinstance(expected[0], Item):
        assert plain(result) == plain(expected)
    else:
        assert result == expected


@settings(max_examples=12, deadline=None, suppress_health_check=[*HealthCheck])
@given(batches)
def test_sequences_of_operations_agree_with_the_oracle(client: VarveClient, sequence: list[list[Any]]) -> None:
    root = f"test-{uuid4().hex}"
    store, oracle = VarveStore(client, user="shared"), InMemoryStore()
    for ops in sequence:
        # The oracle holds the keys of one batch once, and the last put counts.
        placed = [below(root, op) for op in ops]
        for result, expected in zip(store.batch(placed), oracle_batch(oracle, placed), strict=True):
            compare(result, expected)
    expected = plain(oracle.search((root,), limit=100))
    until(lambda: plain(VarveStore(client, user="shared").search((root,), limit=100)) == expected)


async def test_asynchronous_operations_do_the_same(root: str) -> None:
    async with AsyncVarveClient(URL, api_key=KEY) as client:
        store = VarveStore(async_client=client, user="shared")
        await store.aput((root, "a"), "k", {"name": "first"})
        await store.aput((root, "a"), "k", {"name": "second"})
        await store.aput((root, "b"), "k", {"name": "third"})
        found = await store.aget((root, "a"), "k")
        assert found is not None
        assert found.value == {"name": "second"}
        await store.adelete((root, "a"), "k")
        assert await store.aget((root, "a"), "k") is None
        assert await store.alist_namespaces(prefix=(root,)) == [(root, "b")]
        assert [each.key for each in await store.asearch((root,), filter={"name": "third"})] == ["k"]
        await until_async(lambda: VarveStore(async_client=client, user="shared").asearch((root,)), lambda found: len(found) == 1)


def test_reads_of_a_batch_see_the_state_before_it(store: VarveStore, root: str) -> None:
    namespace = (root,)
    results = store.batch([PutOp(namespace, "k", {"n": 1}), GetOp(namespace, "k"), PutOp(namespace, "k", {"n": 2}), SearchOp(namespace)])
    assert results == [None, None, None, []]
    found = store.get(namespace, "k")
    assert found is not None
    assert found.value == {"n": 2}


def test_an_update_keeps_the_creation(store: VarveStore, root: str) -> None:
    store.put((root,), "k", {"n": 1})
    first = store.get((root,), "k")
    store.put((root,), "k", {"n": 2})
    second = store.get((root,), "k")
    assert first is not None
    assert second is not None
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_other_processes_see_puts_and_deletions(client: VarveClient, store: VarveStore, root: str) -> None:
    def other() -> VarveStore:
        return VarveStore(client, user="shared")

    store.put((root,), "k", {"n": 1})
    until(lambda: (found := other().get((root,), "k")) is not None and found.value == {"n": 1})
    until(lambda: len(other().search((root,))) == 1)
    replacing = other()
    replacing.put((root,), "k", {"n": 2})
    until(lambda: (found := store.get((root,), "k")) is not None and found.value == {"n": 2})
    replacing.delete((root,), "k")
    until(lambda: store.get((root,), "k") is None)
    until(lambda: store.search((root,)) == [])


def test_quick_puts_leave_one_event(client: VarveClient, store: VarveStore, root: str) -> None:
    for number in range(5):
        store.put((root,), "k", {"n": number})
    until(lambda: [each.content[-8:] for each in events(client, root)] == ['{"n": 4}'])
    store.delete((root,), "k")
    until(lambda: events(client, root) == [])


def events(client: VarveClient, root: str) -> list[Any]:
    """The events of the items below a label."""
    page = client.memories(user="shared", types=[ITEM_TYPE], limit=200)
    found = list(page.memories)
    while page.next is not None:
        page = client.memories(user="shared", types=[ITEM_TYPE], limit=200, after=page.next)
        found += page.memories
    return [each for each in found if root in each.properties["address"]]


def test_a_query_ranks_items(client: VarveClient, store: VarveStore, root: str) -> None:
    store.put((root,), "pizza", {"text": "Ann likes pizza with mushrooms."})
    store.put((root,), "violin", {"text": "Ann plays the violin in an orchestra."})
    store.put((root,), "hidden", {"text": "Ann likes pizza with olives."}, index=False)
    store.put((root,), "title", {"title": "sailing", "text": "Ann likes pizza with ham."}, index=["title"])
    until(lambda: len(VarveStore(client, user="shared").search((root,))) == 4)
    food = store.search((root,), query="What food does Ann like?")
    assert food[0].key == "pizza"
    assert food[0].score is not None
    assert [each.key for each in food if each.score is None] == ["hidden"]
    assert {each.key for each in food} == {"pizza", "violin", "hidden", "title"}
    assert store.search((root,), query="sailing", limit=1)[0].key == "title"
    assert store.search((root,), query="orchestra music", limit=1)[0].key == "violin"
    assert [each.key for each in store.search((root,), query="orchestra music", filter={"title": "sailing"})] == ["title"]
    scores = [each.score for each in food if each.score is not None]
    assert all(earlier >= later for earlier, later in pairwise(scores))


def test_pages_are_disjoint_and_complete(store: VarveStore, root: str) -> None:
    store.batch([PutOp((root,), str(number), {"n": number}) for number in range(7)])
    pages = [store.search((root,), limit=3, offset=offset) for offset in (0, 3, 6)]
    assert [len(each) for each in pages] == [3, 3, 1]
    assert {each.key for page in pages for each in page} == {str(number) for number in range(7)}


def test_lifetimes_end_and_are_refreshed(client: VarveClient, root: str) -> None:
    clock = Clock()
    store = VarveStore(client, user="shared", ttl={"default_ttl": 10.0, "refresh_on_read": False}, clock=clock)
    store.put((root,), "default", {"n": 1})
    store.put((root,), "long", {"n": 2}, ttl=30.0)
    store.put((root,), "endless", {"n": 3}, ttl=None)
    clock.advance(9)
    before = store.get((root,), "default", refresh_ttl=True)
    assert before is not None
    clock.advance(9)
    after = store.get((root,), "default")
    assert after is not None, "the read began its lifetime again"
    assert after.updated_at == before.updated_at
    clock.advance(2)
    assert store.get((root,), "default") is None
    assert {each.key for each in store.search((root,))} == {"long", "endless"}
    clock.advance(20)
    assert {each.key for each in store.search((root,))} == {"endless"}
    until(lambda: store.sweep_ttl() >= 0 and {each.content[-8:] for each in events(client, root)} == {'{"n": 3}'})
    store.delete((root,), "endless")
    assert store.list_namespaces(prefix=(root,)) == []


def test_a_search_refreshes_lifetimes(client: VarveClient, root: str) -> None:
    clock = Clock()
    store = VarveStore(client, user="shared", clock=clock)
    store.put((root,), "k", {"n": 1}, ttl=10)
    clock.advance(8)
    assert len(store.search((root,))) == 1
    clock.advance(8)
    assert len(store.search((root,), refresh_ttl=False)) == 1
    clock.advance(3)
    assert store.search((root,)) == []


def test_a_label_names_the_user(client: VarveClient) -> None:
    ann, bob = (f"{name}-{uuid4().hex}" for name in ("ann", "bob"))
    store = VarveStore(client, user="shared", user_label=1)
    for user in (ann, bob):
        store.put(("memories", user), "k", {"name": user})
    assert [each.value for each in store.search(("memories", ann))] == [{"name": ann}]
    until(lambda: [each.evidence for each in client.memories(user=ann).memories] != [])
    [memory] = client.memories(user=ann).memories
    assert memory.type == ITEM_TYPE
    assert len(memory.evidence) == 1
    assert {("memories", ann), ("memories", bob)} <= set(store.list_namespaces(prefix=("memories",), limit=1000))


def test_an_erasure_removes_the_items_of_a_user(client: VarveClient) -> None:
    user = f"ann-{uuid4().hex}"
    store = VarveStore(client, user="shared", user_label=0)
    store.put((user,), "k", {"n": 1})
    until(lambda: client.memories(user=user).memories != [])
    begun = client.erase_user(user)
    until(lambda: client.erasure(begun.subject).finished_at is not None)
    assert VarveStore(client, user="shared", user_label=0).get((user,), "k") is None
    assert VarveStore(client, user="shared", user_label=0).search((user,)) == []


def test_a_user_key_reaches_only_its_own_items(client: VarveClient, root: str) -> None:
    VarveStore(client, user="shared").put((root,), "k", {"n": 1})
    with VarveClient(URL, api_key=BOUND_KEY) as bound:
        store = VarveStore(bound, user="bound")
        store.put((root,), "k", {"n": 2})
        until(lambda: (found := VarveStore(bound, user="bound").get((root,), "k")) is not None and found.value == {"n": 2})
        with pytest.raises(ServiceProblemError) as refusal:
            VarveStore(bound, user="shared").get((root,), "k")
        assert refusal.value.status == 403


@pytest.mark.parametrize(
    "value",
    [
        {"image": "data:image/png;base64," + "iVBORw0KGgo" * 30},
        {"key": "0123456789abcdef" * 40},
        {"text": "ä\t\n\x00\ud7ff \\data:text/plain," + "x" * 50},
        {"text": "long " * 30_000},
        {"text": " " * 5000, "empty": [{}, [], "", None]},
    ],
)
def test_values_are_read_unchanged(client: VarveClient, store: VarveStore, root: str, value: dict[str, Any]) -> None:
    store.put((root,), "k", value)
    # A search reads events, not messages.
    until(lambda: [each.value for each in VarveStore(client, user="shared").search((root,))] == [value])


def test_oversized_values_are_refused(store: VarveStore, root: str) -> None:
    with pytest.raises(ItemTooLargeError, match="value: "):
        store.put((root,), "k", {"text": "x" * 400_000})
    with pytest.raises(ItemTooLargeError, match="namespace and key: "):
        store.put((root,), "k" * 2000, {})
    with pytest.raises(TypeError):
        store.put((root,), "k", {"set": {1}})
    assert store.search((root,)) == []


def test_setup_accepts_this_tenant(store: VarveStore) -> None:
    store.setup(timeout_s=60.0)
    assert store.get(("varve",), "setup") is None


def test_setup_refuses_a_tenant_without_the_event_type() -> None:
    with VarveClient(URL, api_key=os.environ["VARVE_CLIENT__API_KEY"]) as other:
        store = VarveStore(other, user="shared")
        for call in (store.setup, lambda: store.put(("a",), "k", {}), lambda: store.get(("a",), "k"), lambda: store.search(("a",))):
            with pytest.raises(RuntimeError, match=f"needs the event type {ITEM_TYPE} "):
                call()
