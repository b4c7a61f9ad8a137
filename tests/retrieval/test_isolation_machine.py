"""Writes, recalls, contexts and deletions of several tenants and users, in any order: nobody learns anything of another.

``VARVE_TEST_ISOLATION_OPERATIONS`` says how many operations each engine gets (the long run: 10000).
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from memory.records import Contribution, Memory, Step
from retrieval.recall import Recall, RecallRequest
from retrieval.recall.context import pack
from retrieval.stores.port import MemoryStore, StepPoint, TenantScope
from runtime.clocks import ManualClock
from runtime.settings import RecallSettings
from tests.retrieval.edge_owner_process import EdgeOwnerProcess
from tests.retrieval.factories import DIMENSION, LATE_DIMENSION, MODEL, NOON, BagOfWordsEmbedder, deletions, memory, point, stable_id
from tests.retrieval.factories import at as feed_position
from tests.retrieval.store_kinds import KINDS, edge_store_on, qdrant_store

OPERATIONS: Final = int(os.environ.get("VARVE_TEST_ISOLATION_OPERATIONS", "400"))
STEPS: Final = 40
WORDS: Final = ("tea", "coffee", "bicycle", "Oslo")

T = TypeVar("T")

tenants = st.sampled_from(["acme", "rival", "third"])
users = st.sampled_from([None, "ann", "bob"])
messages = st.sampled_from(["m1", "m2", "m3"])
words = st.sampled_from(WORDS)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


class IsolationMachine(RuleBasedStateMachine):
    """One engine, and what it ought to hold. Every content names its tenant and user, so that a trace of another's shows."""

    open_store: Callable[[], MemoryStore]
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self.store = type(self).open_store()
        self.run(self.store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION))
        self.recall = Recall(store=self.store, embedder=BagOfWordsEmbedder(), settings=RecallSettings(), clock=ManualClock(NOON))
        self.held: dict[str, Memory] = {}
        self.written_at: dict[str, int] = {}
        self.steps: dict[str, Step] = {}
        self.every_id: set[str] = set()
        self.offset = 0

    def run(self, operation: Coroutine[Any, Any, T]) -> T:
        return type(self).runner.run(operation)

    def teardown(self) -> None:
        self.run(self.store.drop())
        self.run(self.store.close())

    def seen_by(self, scope: TenantScope) -> dict[str, Memory]:
        return {memory_id: each for memory_id, each in self.held.items() if each.tenant == scope.tenant and scope.user in (None, each.user)}

    def check(self, scope: TenantScope, found: Iterable[Memory]) -> None:
        own = self.seen_by(scope)
        assert all(own.get(each.id) == each for each in found)

    def secrets_of_others(self, scope: TenantScope) -> set[str]:
        own = {secret_of(each.tenant, each.user) for each in self.seen_by(scope).values()}
        return {secret_of(tenant, user) for tenant in ("acme", "rival", "third") for user in (None, "ann", "bob")} - own

    @rule(tenant=tenants, user=users, word=words, message=messages, kind=st.sampled_from(["event", "event", "entity", "summary"]))
    def write(self, tenant: str, user: str | None, word: str, message: str, kind: str) -> None:
        content = f"{word} {secret_of(tenant, user)}"
        written = memory(
            content,
            tenant=tenant,
            user=user,
            id=stable_id(tenant, user, word, message, kind),
            message_ids=[message],
            session="s",
            kind=kind,
            type="thing",
            entity_keys=[message],
            properties={"text": content} if kind == "entity" else {"subject": "tea", "likes": message == "m1"},
        )
        self.offset += 1
        self.run(self.store.upsert([point(written, position=feed_position(self.offset))]))
        self.held[written.id] = written
        self.written_at[written.id] = self.offset
        self.every_id.add(written.id)

    @precondition(lambda self: self.every_id)
    @rule(data=st.data(), tenant=tenants, user=users)
    def delete(self, data: st.DataObject, tenant: str, user: str | None) -> None:
        target = data.draw(st.sampled_from(sorted(self.every_id)))
        scope = TenantScope(tenant, user)
        is_own = target in self.seen_by(scope)
        if not is_own and target not in self.held:
            return
        self.offset += 1
        self.run(self.store.delete(scope, deletions(target, position=feed_position(self.offset))))
        if is_own:
            del self.held[target]

    @rule(tenant=tenants, entity=words, number=st.integers(1, 3))
    def write_step(self, tenant: str, entity: str, number: int) -> None:
        self.offset += 1
        contribution = Contribution(
            tenant=tenant, entity_type="thing", entity_key=secret_of(tenant, None), source="s", position=self.offset, time=NOON
        )
        name = stable_id(tenant, entity, "step", number)
        step = Step(id=name, tenant=tenant, entity=stable_id(entity), number=number, contribution=contribution)
        self.run(self.store.put_steps([StepPoint(step, feed_position(self.offset))]))
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
        request = RecallRequest(scope=scope, query=word, limit=limit, profile=profile, explain=True, trace=True)
        answer = self.run(self.recall.recall(request))
        own = self.seen_by(scope)
        self.check(scope, (hit.memory for hit in answer.hits))
        named = {*answer.fates, *(fate.of for fate in answer.fates.values() if fate.of), *(hit.superseded_by for hit in answer.hits)}
        assert named - {None} <= set(own)
        assert answer.rejected + answer.duplicates + len(answer.hits) <= len(own)
        ranks = [rank for hit in answer.hits for rank in hit.ranks.values()]
        assert max(ranks, default=0) <= len(own)

    @rule(tenant=tenants, user=users, word=words, message=messages, offset=st.integers(0, STEPS))
    def recalled_at_positions(self, tenant: str, user: str | None, word: str, message: str, offset: int) -> None:
        scope, at = TenantScope(tenant, user), (feed_position(offset),)
        own = {each.id: each for each in self.seen_by(scope).values() if self.written_at[each.id] <= offset}
        request = RecallRequest(scope=scope, query=word, limit=1000, profile="weighted", at=at, keys=(message,), trace=True)
        found = {*self.run(self.recall.recall(request)).fates}
        assert found == {each.id for each in own.values() if each.entity_keys == [message]}
        assert self.run(self.store.count(scope, at=at)) == len(own)

    @rule(tenant=tenants, user=users, word=words)
    def packed(self, tenant: str, user: str | None, word: str) -> None:
        scope = TenantScope(tenant, user)
        hits = self.run(self.recall.recall(RecallRequest(scope=scope, query=word, limit=40))).hits
        states = self.run(self.recall.nearest_entities(scope, [word], ["thing"]))
        context = pack(scope, states=states, hits=hits, tail=[], tokens=2000)
        assert {each.id for each in context.citations} <= set(self.seen_by(scope))
        assert not [secret for secret in self.secrets_of_others(scope) if secret in context.text]

    @rule(tenant=tenants, user=users, message=messages, sessions=st.sampled_from([(), ("s",), ("t",)]))
    def rested_on(self, tenant: str, user: str | None, message: str, sessions: tuple[str, ...]) -> None:
        scope = TenantScope(tenant, user)
        found = self.run(self.store.resting_on(scope, [message], sessions=sessions, limit=100))
        wanted = {each.id for each in self.seen_by(scope).values() if message in each.message_ids and each.kind != "entity"}
        assert {each.id for each in found} == (set() if sessions == ("t",) else wanted)
        self.check(scope, found)

    @rule(tenant=tenants, user=users)
    def read(self, tenant: str, user: str | None) -> None:
        scope = TenantScope(tenant, user)
        own = self.seen_by(scope)
        assert {each.id for each in self.run(self.store.get(scope, sorted(self.every_id)))} == set(own)
        assert {each.id for each in self.run(self.store.scroll(scope, limit=1000))} == set(own)

    @invariant()
    def counts_are_each_tenants_own(self) -> None:
        for tenant in ("acme", "rival"):
            scope = TenantScope(tenant)
            assert self.run(self.store.count(scope)) == len(self.seen_by(scope))


def secret_of(tenant: str, user: str | None) -> str:
    return f"{tenant}-{user or 'nobody'}-secret"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.timeout(1800)
def test_nobody_learns_anything_of_another(kind: str, request: pytest.FixtureRequest) -> None:
    def open_store() -> MemoryStore:
        if kind != "edge":
            return qdrant_store(kind)
        owner: EdgeOwnerProcess = request.getfixturevalue("edge_owner_process")
        return edge_store_on(owner.socket)

    with asyncio.Runner() as runner:
        machine = type("Machine", (IsolationMachine,), {"open_store": staticmethod(open_store), "runner": runner})
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
