"""A proof agrees with a healthy store, and names exactly the memories in which a damaged store differs."""

import pytest

from control.state import ControlState
from control.tenants import TenantDirectory
from control.view import FixedControlView
from memory.keys import encode_key, partition_of
from memory.records import Memory, MemoryChange
from models.embedding.build import build_embedder
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from runtime.settings import ProofSettings, Settings
from stores.index_writer import FeedChange, IndexWriter
from stores.port import MemoryStore, TenantScope
from stores.position import FeedPosition
from streams.operations.jobs import jobs_of
from streams.operations.proof.prove import prove, sampled_users
from streams.operations.proof.report import Difference
from tests.streams.flow import TENANT, caught_up, flush, send_sample, serving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]
USERS = [(TENANT, "ada"), (TENANT, "bob")]
FAR = 1 << 40
"""Later than every position of the feed."""


async def test_a_proof_finds_each_difference(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    for tenant_user, session in zip(USERS, ("s-1", "s-2"), strict=True):
        await send_sample(leased, session=session, user=tenant_user[1])
    async with serving(leased):
        await flush(leased)
        await caught_up(leased)
        healthy = await prove(leased, USERS, store=store)
        assert [each.outcome for each in healthy] == ["equal", "equal"]
        assert all(each.memories > 5 and each.digest == each.served for each in healthy)
        assert sorted(await sampled_users(leased, 9, seed="s")) == USERS
        assert await sampled_users(leased, 1, seed="s") == await sampled_users(leased, 1, seed="s")

        memories = await store.scroll(TenantScope(TENANT, "ada"), limit=500)
        events = [each for each in memories if each.kind == "event"]
        entity = next(each for each in memories if each.kind == "entity" and each.user == "ada")
        changed = await _changed(leased, store, events[0], content="I never said this.")
        dropped = await _dropped(store, entity)
        added = await _changed(leased, store, events[1], id="00000000-0000-5000-8000-000000000001")
        ada, bob = await prove(leased, USERS, store=store)
        assert bob.outcome == "equal"
        assert ada.outcome == "different"
        assert ada.digest == healthy[0].digest != ada.served
        assert {each.memory_id: each for each in ada.differences} == {
            changed: Difference(changed, "event", "changed", ("content",)),
            dropped: Difference(dropped, "entity", "missing"),
            added: Difference(added, "event", "extra"),
        }
        await _check_job(leased, store, redis)


async def _check_job(settings: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    metrics = Metrics()
    assert [each.name for each in jobs_of(settings)] == ["retention", "trust"], "proofs are off by default"
    jobs = jobs_of(settings.model_copy(update={"proof": ProofSettings(interval_s=60.0)}))
    (job,) = (each for each in jobs if each.name == "proof")
    await job.work(tenants=TenantDirectory(FixedControlView(ControlState())), store=store, redis=redis, metrics=metrics)
    shown = metrics.render().decode()
    for problem in ("missing", "extra", "changed"):
        assert f'varve_proof_differences_total{{problem="{problem}"}} 1.0' in shown
    assert 'varve_proved_users_total{outcome="different"} 1.0' in shown
    assert 'varve_proved_users_total{outcome="equal"} 1.0' in shown


async def _changed(settings: Settings, store: MemoryStore, memory: Memory, **fields: str) -> str:
    """Writes a memory with other fields into the store, as no record of the feed says; returns its id."""
    after = memory.model_copy(update=fields)
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    change = MemoryChange(op="upsert", memory_id=after.id, tenant=TENANT, memory=after)
    await IndexWriter(store=store, embedder=embedder).write([FeedChange(change, _later(after))])
    await embedder.close()
    return after.id


async def _dropped(store: MemoryStore, memory: Memory) -> str:
    """Removes a memory from the store; returns its id."""
    await store.delete(TenantScope(TENANT), {memory.id: _later(memory)})
    return memory.id


def _later(memory: Memory) -> FeedPosition:
    return FeedPosition(partition_of(encode_key(TENANT, memory.id), 2), FAR)
