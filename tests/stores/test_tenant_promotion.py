"""A large tenant gets its own shard on a real Qdrant cluster, while it is written and read."""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from qdrant_client import AsyncQdrantClient, models

from stores.errors import StoreRejectedError, StoreUnavailableError
from stores.port import MemoryFilter, MemoryStore, RecallQuery, StepPoint, TenantScope
from stores.server.creation import Placement, shard_keys
from stores.server.promotion import TenantPromotion
from stores.server.store import QdrantStore
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL, NOON, at, deletions, embedding, memory, point, stable_id, step
from tests.stores.store_kinds import BY_TENANT, SERVER, TENANT_SHARDS, options_on_server, qdrant_store, server_client

if SERVER is None:
    pytest.skip("no Qdrant cluster: name a node of one in VARVE_TEST_QDRANT_URL", allow_module_level=True)

ACME = TenantScope("acme")
SHARED = Placement(TENANT_SHARDS).shared_key_of("acme")
NEIGHBOUR = next(each for each in map("tenant-{}".format, range(100)) if Placement(TENANT_SHARDS).shared_key_of(each) == SHARED)


@pytest.fixture
async def client() -> AsyncIterator[AsyncQdrantClient]:
    client = server_client()
    yield client
    await client.close()


@pytest.fixture
async def store() -> AsyncIterator[QdrantStore]:
    built = qdrant_store(BY_TENANT)
    assert isinstance(built, QdrantStore)
    await built.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    yield built
    await built.drop()
    await built.close()


async def prepared_in_the_end(store: MemoryStore) -> None:
    """Prepares it as a process does, which tries again while the server cannot say yet what there is."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
            except StoreUnavailableError:
                await asyncio.sleep(0.05)


async def filled(store: MemoryStore, tenant: str, count: int) -> list[str]:
    stored = [memory(f"note {index} about tea", tenant=tenant) for index in range(count)]
    await store.upsert([point(each) for each in stored])
    return [each.id for each in stored]


async def promoted(
    client: AsyncQdrantClient, store: QdrantStore, tenant: str = "acme", *, notice: Callable[[str], None] = lambda _: None
) -> int:
    return await TenantPromotion(client=client, collection=store.collection, settle_s=0.1).promote(tenant, notice=notice)


async def scores(store: MemoryStore, scope: TenantScope, text: str) -> dict[str, float]:
    found = await store.recall(RecallQuery(filter=MemoryFilter(scope=scope), text=text, embedding=embedding(text), limit=50))
    return {each.memory.id: each.score for each in found}


async def points_at(client: AsyncQdrantClient, store: QdrantStore, shard_key: int | str, field: str, tenant: str = "acme") -> int:
    of_tenant = models.Filter(must=[models.FieldCondition(key=field, match=models.MatchValue(value=tenant))])
    return (await client.count(store.collection, of_tenant, exact=True, shard_key_selector=shard_key)).count


async def test_a_promoted_tenant_gets_the_same_results(store: QdrantStore, client: AsyncQdrantClient) -> None:
    ids = await filled(store, "acme", 40)
    await filled(store, NEIGHBOUR, 5)
    before, neighbours = await scores(store, ACME, "tea"), await scores(store, TenantScope(NEIGHBOUR), "tea")
    assert await promoted(client, store) == 40
    assert await scores(store, ACME, "tea") == pytest.approx(before)
    assert [each.id for each in await store.get(ACME, ids)] == ids
    assert await store.count(ACME) == 40
    assert await scores(store, TenantScope(NEIGHBOUR), "tea") == pytest.approx(neighbours)


async def test_a_promotion_empties_the_shared_shard(store: QdrantStore, client: AsyncQdrantClient) -> None:
    await filled(store, "acme", 40)
    await filled(store, NEIGHBOUR, 5)
    assert await points_at(client, store, SHARED, "tenant") == 40
    await promoted(client, store)
    assert await points_at(client, store, SHARED, "tenant") == 0
    assert await points_at(client, store, "acme", "tenant") == 40
    assert await points_at(client, store, SHARED, "tenant", NEIGHBOUR) == 5


async def test_memories_deleted_before_a_promotion_stay_deleted(store: QdrantStore, client: AsyncQdrantClient) -> None:
    gone = memory("a note that goes")
    await store.upsert([point(gone), point(memory("a note that stays"))])
    await store.delete(ACME, deletions(gone.id, position=at(7)))
    await promoted(client, store)
    await store.upsert([point(gone, position=at(3))])
    assert await store.get(ACME, [gone.id]) == []
    assert await points_at(client, store, SHARED, "deleted_tenant") == 0
    await store.purge_tombstones(before=NOON + timedelta(days=36500))
    assert await points_at(client, store, "acme", "deleted_tenant") == 0


async def test_its_entities_keep_their_history(store: QdrantStore, client: AsyncQdrantClient) -> None:
    entity = stable_id("entity")
    stored = step(1, entity=entity)
    await store.upsert([point(memory())])
    await store.put_steps([StepPoint(stored, at(1))])
    await promoted(client, store)
    assert await store.steps(ACME, entity) == [stored]


async def test_writes_during_a_promotion_are_kept(store: QdrantStore, client: AsyncQdrantClient) -> None:
    first = await filled(store, "acme", 400)
    moving = asyncio.create_task(promoted(client, store))
    written: list[str] = []
    while not moving.done() or len(written) < 20:
        new = memory(f"written meanwhile {len(written)}")
        await store.upsert([point(new)])
        await store.delete(ACME, deletions(first[len(written)], position=at(1)))
        written.append(new.id)
        assert await store.count(ACME) == 400
        if len(written) == 400:
            break
    await moving
    assert [each.id for each in await store.get(ACME, written)] == written
    assert await store.get(ACME, first[: len(written)]) == []
    assert await points_at(client, store, SHARED, "tenant") == 0


async def test_a_late_write_to_the_shared_shard_is_moved(store: QdrantStore, client: AsyncQdrantClient) -> None:
    newer, older = memory("changes while it moves"), memory("stays while it moves")
    await store.upsert([point(newer, position=at(5)), point(older, position=at(5))])
    writing: list[asyncio.Task[None]] = []

    async def write() -> None:
        for each, offset in ((newer, 9), (older, 2)):
            changed = {"record": each.model_copy(update={"importance": 1.0}).to_json().decode(), "feed_offset": offset}
            await client.set_payload(store.collection, changed, points=[each.id], shard_key_selector=SHARED, wait=True)

    def notice(line: str) -> None:
        if line.startswith("copied"):
            writing.append(asyncio.create_task(write()))

    await TenantPromotion(client=client, collection=store.collection, settle_s=1.0).promote("acme", notice=notice)
    assert [task.done() for task in writing] == [True]
    assert [each.importance for each in await store.get(ACME, [newer.id, older.id])] == [1.0, older.importance]


@pytest.mark.parametrize("where", ["copying", "copied", "removing"])
async def test_an_interrupted_promotion_continues_when_run_again(where: str, store: QdrantStore, client: AsyncQdrantClient) -> None:
    await filled(store, "acme", 40)

    def broken_off(line: str) -> None:
        if line.startswith(where):
            raise KeyboardInterrupt(line)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            await promoted(client, store, notice=broken_off)
        assert await store.count(ACME) == 40
    assert await promoted(client, store) == 40
    assert await promoted(client, store) == 40


async def test_its_shard_has_as_many_copies_as_others(client: AsyncQdrantClient) -> None:
    options = replace(options_on_server(BY_TENANT), replication_factor=2)
    store = QdrantStore(clients=[client], collection=f"test-{uuid.uuid4().hex}", options=options)
    await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    await filled(store, "acme", 10)
    await promoted(client, store)
    cluster = await client.collection_cluster_info(store.collection)
    shards: list[models.LocalShardInfo | models.RemoteShardInfo] = [*cluster.local_shards, *cluster.remote_shards]
    copies = Counter(str(each.shard_key) for each in shards)
    assert {each.state for each in shards} == {models.ReplicaState.ACTIVE}
    assert copies["acme"] == copies[str(SHARED)]
    await store.drop()


@pytest.mark.parametrize("kind", ["server", BY_TENANT])
async def test_processes_that_start_together_agree(kind: str, client: AsyncQdrantClient) -> None:
    name, options = f"test-{uuid.uuid4().hex}", options_on_server(kind)
    stores = [QdrantStore(clients=[client], collection=name, options=options) for _ in range(4)]
    await asyncio.gather(*map(prepared_in_the_end, stores))
    await filled(stores[0], "acme", 3)
    assert [await each.count(ACME) for each in stores] == [3, 3, 3, 3]
    if kind == BY_TENANT:
        assert await shard_keys(client, name) == {*Placement(TENANT_SHARDS).shared_keys}
    await stores[0].drop()


async def test_a_new_number_of_shards_is_learnt(store: QdrantStore, client: AsyncQdrantClient) -> None:
    await filled(store, "acme", 3)
    resharded = QdrantStore(clients=[client], collection=store.collection, options=replace(options_on_server(BY_TENANT), tenant_shards=5))
    await resharded.drop()
    await resharded.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    await filled(resharded, "acme", 4)
    assert await store.count(ACME) == 0
    assert await store.count(ACME) == 4


async def test_a_tenant_without_points_gets_no_shard(store: QdrantStore, client: AsyncQdrantClient) -> None:
    with pytest.raises(StoreRejectedError, match="has no memory of tenant 'acmee'"):
        await promoted(client, store, "acmee")
    assert "acmee" not in await shard_keys(client, store.collection)


async def test_a_collection_without_shared_shards_is_refused(client: AsyncQdrantClient) -> None:
    plain = qdrant_store("server")
    assert isinstance(plain, QdrantStore)
    await plain.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    with pytest.raises(StoreRejectedError, match="set VARVE_STORE__TENANT_SHARDS"):
        await promoted(client, plain)
    await plain.drop()
    await plain.close()
