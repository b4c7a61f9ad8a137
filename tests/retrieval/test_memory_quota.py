"""The quota of memories counts the live generation: a generation that is being built costs a tenant nothing."""

import pytest

from api.limits.quotas import MemoryCounts, Quotas
from api.problems import ProblemError
from control.documents import Generation, SchemaRef, Tenant
from runtime.metrics import Metrics
from runtime.redis.client import GuardedRedis
from runtime.redis.rate_limits import RateLimiter
from runtime.settings import QuotaSettings
from stores.port import MemoryStore
from tests.stores.factories import memory, point
from tests.streams.harness import until

COMPANION = SchemaRef(name="companion", revision=1)


def acme(generation: str) -> Tenant:
    return Tenant(id="acme", schema_ref=COMPANION, generations=(Generation(name="v2", schema_ref=COMPANION),), generation=generation)


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")
async def test_another_generation_uses_no_quota(store: MemoryStore) -> None:
    live, being_built = [("a", ""), ("b", "")], [("a", "v2"), ("b", "v2"), ("c", "v2")]
    await store.upsert([point(memory(content, generation=generation)) for content, generation in (*live, *being_built)])
    counts, metrics = MemoryCounts(store=store), Metrics()
    limiter = RateLimiter(redis=GuardedRedis(client=None, prefix="p:"), purpose="quota", metrics=metrics)
    quotas = Quotas(settings=QuotaSettings(memories=3), limiter=limiter, memory_counts=counts, metrics=metrics)
    await until(lambda: None not in (counts.of("acme", ""), counts.of("acme", "v2")))
    assert (counts.of("acme", ""), counts.of("acme", "v2")) == (2, 3)
    await quotas.admit_messages(acme(""), count=1, size=1)
    with pytest.raises(ProblemError, match="reached its quota of 3 memories"):
        await quotas.admit_messages(acme("v2"), count=1, size=1)
    await counts.close()
