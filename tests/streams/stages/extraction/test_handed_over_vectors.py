"""The index takes the vectors of a window's events over from the extraction: no text is embedded twice."""

import pytest

from control.tenants import TenantDirectory
from extraction.offline.extractor import OfflineExtractor
from memory.records import Extraction
from memory.records.wording import indexed_text
from models.embedding.handover import VectorHandover
from runtime.redis.client import open_redis
from runtime.settings import RedisSettings, Settings
from tests.extraction.embedders import CountingEmbedder
from tests.streams.agent_extractions import TENANT
from tests.streams.stages.extraction.doubles import new_handler, window_record

pytestmark = pytest.mark.integration


async def test_each_event_has_its_vectors_waiting(settings: Settings, tenants: TenantDirectory, redis_url: str, topic_prefix: str) -> None:
    embedder = CountingEmbedder()
    async with open_redis(RedisSettings(url=redis_url, prefix=topic_prefix, timeout_s=60.0)) as redis:
        handover = VectorHandover(redis=redis, embedder=embedder, ttl_s=60)
        handler = new_handler(settings, tenants, OfflineExtractor(embedder=embedder), handover=handover)

        (output,) = await handler.handle(window_record(text="Yesterday I moved to Bergen with my sister Lene."))

        events = Extraction.from_json(output.value or b"").events
        texts = [indexed_text(event) for event in events]
        assert texts
        assert (await handover.take({(TENANT, "agent"): texts})).keys() == set(texts)
