"""The index gets each vector once, of the right user only, and works without them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memory.vectors import unit_rows
from models.embedding import handover as module
from models.embedding.embedder import BatchedEmbedder
from models.embedding.handover import VectorHandover, forget_vectors
from models.embedding.port import Embedding, Vector
from runtime.redis.client import GuardedRedis, open_redis
from runtime.settings import RedisSettings
from tests.extraction.embedders import CountingEmbedder
from tests.models.embedding.limited_backend import LimitedBackend
from tests.redis_server import RedisServer

pytestmark = pytest.mark.integration

ANN = ("acme", "ann")
TEXTS = ["Ann (8 May 2023): I moved to Bergen.", "Ann (8 May 2023): I keep bees."]


def handover_of(redis: GuardedRedis, embedder: CountingEmbedder | BatchedEmbedder, **options: float) -> VectorHandover:
    return VectorHandover(redis=redis, embedder=embedder, **({"ttl_s": 60.0} | options))  # type: ignore[arg-type]


async def test_vectors_are_handed_over_once(redis: GuardedRedis) -> None:
    embedder = CountingEmbedder()
    first, second = await embedder.embed_documents(TEXTS)
    assert await handover_of(redis, embedder).offer(ANN, TEXTS) == 2

    index = handover_of(redis, CountingEmbedder())
    taken = await index.take({ANN: [*TEXTS, "never embedded"]})

    assert taken.keys() == set(TEXTS)
    for text, embedding in zip(TEXTS, (first, second), strict=True):
        np.testing.assert_allclose(taken[text].dense, embedding.dense, atol=1e-3)
    assert await index.take({ANN: TEXTS}) == {}


async def test_only_recently_computed_vectors_are_offered(redis: GuardedRedis) -> None:
    embedder = CountingEmbedder()
    await embedder.embed_documents(TEXTS[:1])

    assert await handover_of(redis, embedder).offer(ANN, TEXTS) == 1

    assert embedder.embedded == 1, "nothing is embedded for the index's sake"


@pytest.mark.parametrize("owner", [("acme", "bob"), ("rival", "ann"), ("acme", None)])
async def test_no_user_gets_vectors_of_another(redis: GuardedRedis, owner: tuple[str, str | None]) -> None:
    embedder = CountingEmbedder()
    await embedder.embed_documents(TEXTS)
    await handover_of(redis, embedder).offer(ANN, TEXTS)

    assert await handover_of(redis, embedder).take({owner: TEXTS}) == {}


async def test_another_models_vectors_are_not_taken(redis: GuardedRedis) -> None:
    embedder, other = CountingEmbedder(), CountingEmbedder()
    other.name = "another"
    await embedder.embed_documents(TEXTS)
    await handover_of(redis, embedder).offer(ANN, TEXTS)

    assert await handover_of(redis, other).take({ANN: TEXTS}) == {}


async def test_an_erasure_deletes_waiting_vectors(redis: GuardedRedis) -> None:
    embedder = CountingEmbedder()
    await embedder.embed_documents(TEXTS)
    handover = handover_of(redis, embedder)
    for owner in (ANN, ("acme", "bob")):
        await handover.offer(owner, TEXTS)

    await forget_vectors(redis, [ANN])

    assert await handover.take({ANN: TEXTS}) == {}
    assert len(await handover.take({("acme", "bob"): TEXTS})) == 2


async def test_a_stopped_index_fills_no_redis(redis: GuardedRedis) -> None:
    embedder, now = CountingEmbedder(), [0.0]
    await embedder.embed_documents(TEXTS)
    handover = VectorHandover(redis=redis, embedder=embedder, ttl_s=60, max_bytes=100, clock=lambda: now[0])

    assert [await handover.offer(ANN, TEXTS[:1]) for _ in range(3)] == [1, 0, 0]

    now[0] = 61.0
    assert await handover.offer(ANN, TEXTS[:1]) == 1


async def test_without_redis_nothing_is_handed_over(mortal_redis: RedisServer) -> None:
    embedder = CountingEmbedder()
    await embedder.embed_documents(TEXTS)
    async with open_redis(RedisSettings(url=f"unix://{mortal_redis.socket}", prefix="v:", timeout_s=1.0)) as redis:
        handover = handover_of(redis, embedder)

        assert await handover.offer(ANN, TEXTS) == 0
        assert await handover.take({ANN: TEXTS}) == {}


async def test_the_embedders_own_cache_is_offered(redis: GuardedRedis) -> None:
    embedder = BatchedEmbedder(backend=LimitedBackend(calls=1), batch_size=4, cache_entries=10)
    try:
        (embedding,) = await embedder.embed_documents(TEXTS[:1])
        handover = handover_of(redis, embedder)
        assert await handover.offer(ANN, TEXTS) == 1
        taken = await handover.take({ANN: TEXTS})
    finally:
        await embedder.close()

    assert taken.keys() == {TEXTS[0]}
    np.testing.assert_allclose(taken[TEXTS[0]].dense, unit_rows(embedding.dense.reshape(1, -1))[0], atol=1e-3)


@given(
    arrays.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 8)), elements=st.floats(-1, 1, width=32)),
    st.booleans(),
)
def test_stored_vectors_stay_close(rows: Vector, has_late: bool) -> None:
    rows = unit_rows(np.asarray(rows + 1e-3, dtype=np.float32))
    embedding = Embedding(rows[0], rows if has_late else None)

    decoded = module._decoded(module._encoded(embedding))

    np.testing.assert_allclose(decoded.dense, embedding.dense, atol=2e-3)
    assert (decoded.late is None) == (not has_late)
    if decoded.late is not None:
        np.testing.assert_allclose(decoded.late, rows, atol=2e-3)
