"""Writes, corrections, recalls, contexts and deletions of several tenants and users, in any order: no tenant or user sees another's data.

``VARVE_TEST_ISOLATION_OPERATIONS`` says how many operations each engine gets (``make isolation``: 10000).
"""

import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine, Iterable
from contextlib import ExitStack
from dataclasses import replace
from operator import methodcaller
from typing import Any, Final, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from api.reads.explain_missing import WhyNot, WhyNots
from memory.records import Contribution, HistoryEntry, Link, Memory
from memory.schema.methods import check_method, method_document
from retrieval.context import pack
from retrieval.entity_lookup import EntityLookup
from retrieval.nearest import NearestMemories
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.settings import RecallSettings
from stores.port import MemoryFilter, MemoryStore, RecallQuery, StepPoint, TenantScope
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.stores.factories import (
    DIMENSION,
    LATE_DIMENSION,
    MODEL,
    NOON,
    BagOfWordsEmbedder,
    deletions,
    embedding,
    memory,
    point,
    stable_id,
)
from tests.stores.factories import at as feed_position
from tests.stores.noted_store import NotedStore
from tests.stores.store_kinds import KINDS, edge_store_on, qdrant_store

OPERATIONS: Final = int(os.environ.get("VARVE_TEST_ISOLATION_OPERATIONS", "400"))
STEPS: Final = 40
WORDS: Final = ("tea", "coffee", "bicycle", "Oslo")
TENANTS: Final = ("acme", "rival", "third")
USERS: Final = (None, "ann", "bob")
ALONE: Final = "acme"
"""The only tenant of the second engine."""
SCOPES: Final = tuple(TenantScope(tenant, user) for tenant in TENANTS for user in USERS)
MORE_THAN_ANY_HOLDS: Final = 2 * STEPS
_PATHS: Final[dict[str, Any]] = {
    "Paths": [{"Path": "links", "Quota": 20, "Hops": 2, "FanOut": 9}, {"Path": "tree", "Quota": 20, "FanOut": 9}]
}
TRAVERSING: Final = check_method({**method_document("zep"), "Retrieve": _PATHS})
"""A method that follows links and descends trees."""

T = TypeVar("T")

tenants = st.sampled_from(TENANTS)
users = st.sampled_from(USERS)
messages = st.sampled_from(["m1", "m2", "m3"])
words = st.sampled_from(WORDS)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


class IsolationMachine(RuleBasedStateMachine):
    """One engine, and its expected contents. Every content names its tenant and user, so that a leak shows.

    A second engine of the same kind gets only one tenant's operations: its answers have to be the same.
    """

    open_stores: Callable[[], tuple[MemoryStore, MemoryStore]]
    runner: asyncio.Runner
    paths: set[str]
    """The further retrievers that have found something."""

    def __init__(self) -> None:
        super().__init__()
        shared, self.alone = type(self).open_stores()
        self.noted = NotedStore(shared)
        self.store = self.noted.port
        for each in (self.store, self.alone):
            self.run(each.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION))
        self.recall, self.recall_alone = (
            RecallPipeline(store=each, embedder=BagOfWordsEmbedder(), settings=RecallSettings(), clock=ManualClock(NOON))
            for each in (self.store, self.alone)
        )
        self.lookup = EntityLookup(
            store=self.store, embedder=BagOfWordsEmbedder(), prefetch=RecallSettings().prefetch, clock=ManualClock(NOON)
        )
        self.held: dict[str, Memory] = {}
        self.written_at: dict[str, int] = {}
        self.steps: dict[str, HistoryEntry] = {}
        self.every_id: set[str] = set()
        self.offset = 0

    def run(self, operation: Coroutine[Any, Any, T]) -> T:
        return type(self).runner.run(operation)

    def teardown(self) -> None:
        for each in (self.store, self.alone):
            self.run(each.drop())
            self.run(each.close())

    def change(self, tenant: str, operation: Callable[[MemoryStore], Coroutine[Any, Any, None]]) -> None:
        for each in (self.store, self.alone) if tenant == ALONE else (self.store,):
            self.run(operation(each))

    def put(self, *written: Memory) -> None:
        self.offset += 1
        for tenant, memories in itertools.groupby(written, lambda each: each.tenant):
            points = [point(each, position=feed_position(self.offset)) for each in memories]
            self.change(tenant, methodcaller("upsert", points))
        self.held |= {each.id: each for each in written}
        self.written_at |= {each.id: self.offset for each in written}
        self.every_id |= {each.id for each in written}

    def seen_by(self, scope: TenantScope) -> dict[str, Memory]:
        return {memory_id: each for memory_id, each in self.held.items() if each.tenant == scope.tenant and scope.user in (None, each.user)}

    def check(self, scope: TenantScope, found: Iterable[Memory]) -> None:
        own = self.seen_by(scope)
        assert all(own.get(each.id) == each for each in found)

    def secrets_of_others(self, scope: TenantScope) -> set[str]:
        own = {secret_of(each.tenant, each.user) for each in self.seen_by(scope).values()}
        return {secret_of(tenant, user) for tenant in TENANTS for user in USERS} - own

    @initialize()
    def begin(self) -> None:
        """Everybody has something to begin with: random writes alone are too few for others' to be met by chance."""
        everybody = [*enumerate(itertools.product(TENANTS, USERS, WORDS))]
        self.put(*(made_of(*each, f"m{number % 3 + 1}", "event" if number % 4 else "entity") for number, each in everybody))
        self.put(*(made_of(*each, "m1", "summary") for _, each in everybody))

    @rule(tenant=tenants, user=users, word=words, message=messages, kind=st.sampled_from(["event", "event", "entity", "summary"]))
    def write(self, tenant: str, user: str | None, word: str, message: str, kind: str) -> None:
        self.put(made_of(tenant, user, word, message, kind))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), user=users, word=words, message=messages)
    def correct(self, data: st.DataObject, user: str | None, word: str, message: str) -> None:
        """Other words, other evidence, perhaps another user's: of what it was nothing may be left."""
        target = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        content = f"{word} corrected {secret_of(target.tenant, user)}"
        self.put(target.model_copy(update={"user": user, "content": content, "message_ids": [message], "properties": {"text": content}}))

    @precondition(lambda self: self.every_id)
    @rule(data=st.data(), tenant=tenants, user=users)
    def delete(self, data: st.DataObject, tenant: str, user: str | None) -> None:
        target = data.draw(st.sampled_from(sorted(self.every_id)))
        scope = TenantScope(tenant, user)
        step = self.steps.get(target)
        is_visible = target in self.seen_by(scope) or (step is not None and user is None and step.tenant == tenant)
        if not is_visible and step is None and target not in self.held:
            return
        self.offset += 1
        deleted = deletions(target, position=feed_position(self.offset))
        self.change(tenant, lambda store: store.delete(scope, deleted))
        if is_visible:
            self.held.pop(target, None)
            self.steps.pop(target, None)

    @rule(tenant=tenants, entity=words, number=st.integers(1, 3))
    def write_step(self, tenant: str, entity: str, number: int) -> None:
        self.offset += 1
        contribution = Contribution(
            tenant=tenant, entity_type="thing", entity_key=secret_of(tenant, None), source="s", position=self.offset, time=NOON
        )
        name = stable_id(tenant, entity, "step", number)
        step = HistoryEntry(id=name, tenant=tenant, entity=stable_id(entity), number=number, contribution=contribution)
        made = StepPoint(step, feed_position(self.offset))
        self.change(tenant, lambda store: store.put_steps([made]))
        self.steps[step.id] = step
        self.every_id.add(step.id)

    @rule(tenant=tenants, user=users, entity=words)
    def read_steps(self, tenant: str, user: str | None, entity: str) -> None:
        found = self.run(self.store.steps(TenantScope(tenant, user), stable_id(entity)))
        own = {each.id: each for each in self.steps.values() if (each.tenant, each.entity) == (tenant, stable_id(entity))}
        assert {each.id: each for each in found} == own

    @rule(tenant=tenants, user=users, word=words, limit=st.integers(1, 40), profile=st.sampled_from(["learned", "weighted", "memx"]))
    def recalled(self, tenant: str, user: str | None, word: str, limit: int, profile: Any) -> None:
        scope = TenantScope(tenant, user)
        request = RecallRequest(
            filter=MemoryFilter(scope=scope), query=word, limit=limit, profile=profile, keyword_quota=limit, explain=True, trace=True
        )
        answer = self.run(self.recall.recall(request))
        own = self.seen_by(scope)
        self.check(scope, (hit.memory for hit in answer.hits))
        named = {*answer.outcomes, *(fate.of for fate in answer.outcomes.values() if fate.of), *(hit.superseded_by for hit in answer.hits)}
        assert named - {None} <= set(own)
        assert answer.rejected + answer.duplicates + len(answer.hits) <= len(own)
        ranks = [rank for hit in answer.hits for rank in hit.ranks.values()]
        assert max(ranks, default=0) <= len(own)

    @rule(tenant=tenants, user=users, word=words, limit=st.integers(1, 40))
    def recalled_by_links_and_trees(self, tenant: str, user: str | None, word: str, limit: int) -> None:
        """Every memory links to other tenants' memories, and every tree node names their events, and may name their node as its parent."""
        scope = TenantScope(tenant, user)
        request = RecallRequest(filter=MemoryFilter(scope=scope), query=word, limit=limit, method=TRAVERSING, explain=True, trace=True)
        self.noted.asked.clear()
        answer = self.run(self.recall.recall(request))
        self.check(scope, (hit.memory for hit in answer.hits))
        assert {*answer.outcomes} <= set(self.seen_by(scope))
        # The search of a tree's lower level, and the read of linked memories.
        descended = any("parents=(" in asked and "parents=()" not in asked and found for _, asked, found in self.noted.asked)
        followed = any(operation == "get" and found for operation, _, found in self.noted.asked)
        self.paths |= {name for name, is_taken in (("tree", descended), ("links", followed)) if is_taken}

    @rule(tenant=tenants, user=users.filter(bool), word=words, limit=st.integers(1, 20))
    def searched_by_an_agent(self, tenant: str, user: str | None, word: str, limit: int) -> None:
        """The search of the memory tools."""
        scope = TenantScope(tenant, user)
        nearest = NearestMemories(store=self.store, embedder=BagOfWordsEmbedder(), clock=ManualClock(NOON))
        found = self.run(nearest.find(MemoryFilter(scope=scope, kinds=("event",)), text=word, vector=None, limit=limit))
        self.check(scope, (each.memory for each in found))
        own = [each for each in self.seen_by(scope).values() if each.kind == "event"]
        assert len(found) == min(limit, len(own))

    @rule(tenant=tenants, user=users, word=words, message=messages, offset=st.integers(0, STEPS))
    def recalled_at_positions(self, tenant: str, user: str | None, word: str, message: str, offset: int) -> None:
        scope, at = TenantScope(tenant, user), (feed_position(offset),)
        own = {each.id: each for each in self.seen_by(scope).values() if self.written_at[each.id] <= offset}
        request = RecallRequest(
            filter=MemoryFilter(scope=scope, at=at, keys=(message,)), query=word, limit=1000, profile="weighted", trace=True
        )
        found = {*self.run(self.recall.recall(request)).outcomes}
        assert found == {each.id for each in own.values() if each.entity_keys == [message]}
        assert self.run(self.store.count(scope, at=at)) == len(own)

    @rule(user=users, word=words, kinds=st.sampled_from([(), ("event",), ("entity", "summary")]))
    def recalled_as_if_alone(self, user: str | None, word: str, kinds: tuple[str, ...]) -> None:
        """Neither the matches nor a score, nor how many there are of anything, depend on what others hold."""
        scope, most = TenantScope(ALONE, user), MORE_THAN_ANY_HOLDS
        query = RecallQuery(
            filter=MemoryFilter(scope=scope, kinds=kinds), text=word, embedding=embedding(word), limit=most, prefetch=most, explain=True
        )
        found, expected = (
            {each.memory.id: {"score": each.score, **each.parts} for each in self.run(store.recall(query))}
            for store in (self.store, self.alone)
        )
        assert found.keys() == expected.keys()
        assert all(parts == pytest.approx(expected[each], abs=1e-5) for each, parts in found.items())
        request = RecallRequest(filter=MemoryFilter(scope=scope, kinds=kinds), query=word, limit=most, keyword_quota=most)
        answer, as_alone = (self.run(each.recall(request)) for each in (self.recall, self.recall_alone))
        assert (len(answer.hits), answer.duplicates, answer.rejected) == (len(as_alone.hits), as_alone.duplicates, as_alone.rejected)

    @precondition(lambda self: self.every_id)
    @rule(data=st.data(), tenant=tenants, user=users, word=words, message=messages)
    def asked_why_not(self, data: st.DataObject, tenant: str, user: str | None, word: str, message: str) -> None:
        """Another's id is answered as one that never was, with as much work."""
        scope = TenantScope(tenant, user)
        target = data.draw(st.sampled_from(sorted(self.every_id)))
        never = stable_id("never", target)
        request = RecallRequest(filter=MemoryFilter(scope=scope), query=word, trace=True)
        recalled = self.run(self.recall.recall(request))
        states = self.run(self.lookup.nearest(scope, [word], ["thing"]))
        found = replace(recalled, entities=states)
        why_nots = WhyNots(store=self.store, now=NOON, scope=scope, request=request, found=found)
        self.noted.asked.clear()
        unknown = self.run(why_nots.of([never]))
        work_for_unknown = self.noted.work(of=never)
        explained = self.run(why_nots.of([target]))
        work = self.noted.work(of=target)
        assert unknown == [WhyNot(id=never, outcome="unknown")]
        if target in self.seen_by(scope):
            assert explained[0].what == "memory"
        else:
            assert [replace(each, id=never) for each in explained] == unknown
            assert work == work_for_unknown
        own = {each.id for each in self.seen_by(scope).values() if message in each.message_ids and each.kind != "entity"}
        [of_message] = self.run(why_nots.of([message]))
        assert of_message.memory in own if own else of_message == WhyNot(id=message, outcome="unknown")

    @rule(tenant=tenants, user=users, word=words)
    def packed(self, tenant: str, user: str | None, word: str) -> None:
        scope = TenantScope(tenant, user)
        hits = self.run(self.recall.recall(RecallRequest(filter=MemoryFilter(scope=scope), query=word, limit=40))).hits
        states = self.run(self.lookup.nearest(scope, [word], ["thing"]))
        context = pack(scope, states=states, hits=hits, tail=[], tokens=2000)
        assert {each.id for each in context.citations} <= set(self.seen_by(scope))
        assert not [secret for secret in self.secrets_of_others(scope) if secret in context.text]

    @rule(tenant=tenants, user=users, message=messages, sessions=st.sampled_from([(), ("s",), ("t",)]))
    def rested_on(self, tenant: str, user: str | None, message: str, sessions: tuple[str, ...]) -> None:
        scope = TenantScope(tenant, user)
        found = self.run(self.store.by_evidence(scope, [message], sessions=sessions, limit=100))
        wanted = {each.id for each in self.seen_by(scope).values() if message in each.message_ids and each.kind != "entity"}
        assert {each.id for each in found} == (set() if sessions == ("t",) else wanted)
        self.check(scope, found)

    @rule(tenant=tenants, user=users)
    def read(self, tenant: str, user: str | None) -> None:
        scope = TenantScope(tenant, user)
        own = self.seen_by(scope)
        assert {each.id for each in self.run(self.store.get(scope, sorted(self.every_id)))} == set(own)
        assert {each.id for each in self.run(self.store.scroll(scope, limit=1000))} == set(own)
        everything = MemoryFilter.everything(scope)
        for order in ("newest", "oldest"):
            by_time = self.run(self.store.page_by_time(everything, order, after=None, limit=1000))
            assert {each.id for each in by_time.memories} == set(own)
        assert {each.id for each in self.run(self.store.newest(MemoryFilter.everything(scope), limit=1000))} == set(own)

    @invariant()
    def counts_are_each_tenants_and_users_own(self) -> None:
        async def counted() -> list[int]:
            return await asyncio.gather(*map(self.store.count, SCOPES))

        assert self.run(counted()) == [len(self.seen_by(each)) for each in SCOPES]


def secret_of(tenant: str, user: str | None) -> str:
    return f"{tenant}-{user or 'nobody'}-secret"


def made_of(tenant: str, user: str | None, word: str, message: str, kind: str) -> Memory:
    content = f"{word} {secret_of(tenant, user)}"
    fields: dict[str, Any] = {"properties": {"subject": "tea", "likes": message == "m1"}}
    everybodys = [stable_id(*each, word, message, kind) for each in itertools.product(TENANTS, USERS)]
    if kind == "entity":
        fields = {"properties": {"text": content}}
    if kind == "summary":
        # A node of a tree. Only that of the first message is at the top; the others may have another user's or tenant's parent.
        parents = [None if message == "m1" else stable_id(*each, word, "m1", kind) for each in itertools.product(TENANTS, USERS)]
        leaves = [stable_id(*each, word, message, "event") for each in itertools.product(TENANTS, USERS)]
        place = USERS.index(user) if message == "m2" else 0
        fields = {"properties": {"leaves": leaves}, "parent": parents[place], "depth": 0 if message == "m1" else 1}
    return memory(
        content,
        tenant=tenant,
        user=user,
        id=stable_id(tenant, user, word, message, kind),
        message_ids=[message],
        session="s",
        kind=kind,
        type="thing",
        entity_keys=[message],
        keywords=[message],
        links=[Link(id=each, relation="near", score=0.9) for each in everybodys],
        **fields,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.timeout(3600)
def test_no_tenant_reads_data_of_another(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with asyncio.Runner() as runner, ExitStack() as resources:
        owners = [resources.enter_context(EdgeOwnerProcess(tmp_path_factory.mktemp("edge"))) for _ in range(2 if kind == "edge" else 0)]

        def open_stores() -> tuple[MemoryStore, MemoryStore]:
            if kind != "edge":
                return qdrant_store(kind), qdrant_store(kind)
            shared, alone = (edge_store_on(owner.socket) for owner in owners)
            return shared, alone

        paths: set[str] = set()
        machine = type("Machine", (IsolationMachine,), {"open_stores": staticmethod(open_stores), "runner": runner, "paths": paths})
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=max(1, OPERATIONS // STEPS),
                stateful_step_count=STEPS,
                deadline=None,
                derandomize=True,
                phases=[Phase.generate, Phase.shrink],
                suppress_health_check=list(HealthCheck),
            ),
        )
        assert paths >= {"links", "tree"}, "the load follows links and descends trees"
