"""A session ranking by a simulated model, over a real store."""

import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from api.reads.recall_models import build_recall_model
from loadtest.llm_simulator import LLMSimulator
from memory.records import Memory
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from retrieval.session_ranking.llm_session_ranker import PURPOSE, History, MemoryReader, Sift, Sifted
from runtime.clocks import ManualClock
from runtime.redis.client import open_redis
from runtime.settings import LLMSettings, RecallSettings, RedisSettings, Settings, SiftSettings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, TenantScope
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, store_memories
from tests.usage_list import UsageList

ASKED = RecallRequest(filter=MemoryFilter(scope=TenantScope("acme", "ann")), query="bicycle")
SESSIONS = 12


def notes() -> list[Memory]:
    return [
        memory(f"note {number} of {session}", user="ann", session=f"s{session}", event_time=NOON + timedelta(days=session, minutes=number))
        for session in range(SESSIONS)
        for number in range(2)
    ] + [memory("the bicycle is red", user="ann", session="s0", event_time=NOON)]


@dataclass(frozen=True)
class Sifting:
    """A sift over the memories of a store."""

    sift: Sift
    reader: MemoryReader

    async def read(self, asked: RecallRequest) -> History | None:
        return await self.sift.read(asked, self.reader)

    async def rank(self, asked: RecallRequest, history: History, *, limit: int) -> Sifted:
        return await self.sift.rank(asked, history, limit=limit)


@asynccontextmanager
async def sifting(
    store: EdgeStore,
    redis_url: str,
    *,
    endpoint: LLMSimulator | None = None,
    usages: UsageList | None = None,
    more: Sequence[Memory] = (),
    prices: Path | None = None,
    **settings: Any,
) -> AsyncIterator[Sifting]:
    await store_memories(store, *notes(), *more)
    all_settings = Settings(
        redis=RedisSettings(url=redis_url, prefix=f"{uuid.uuid4()}:", timeout_s=60.0),
        llm=LLMSettings(price_table=prices),
        sift=SiftSettings(**{"base_url": endpoint.base_url if endpoint else None, "model": "proxy", **settings}),
    )
    recall = RecallPipeline(store=store, embedder=BagOfWordsEmbedder(), settings=RecallSettings(), clock=ManualClock(NOON))
    async with open_redis(all_settings.redis) as redis:
        counted = UsageList() if usages is None else usages
        llm = build_recall_model(all_settings, all_settings.sift, redis=redis, usage=counted, purpose=PURPOSE)
        sift = Sift(llm=llm, settings=all_settings.sift)
        yield Sifting(sift, recall)
        await sift.close()


async def read(sift: Sifting, asked: RecallRequest = ASKED) -> History:
    history = await sift.read(asked)
    assert history is not None
    return history
