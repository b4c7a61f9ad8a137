"""The entities in the prompt of a window, found in a real store."""

import pytest

from control.tenants import TenantDirectory
from memory.records import Memory, MemoryChange
from retrieval.pipeline import RecallPipeline
from runtime.clocks import ManualClock
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from stores.indexing.writer import IndexWriter
from tests.stores.factories import NOON, BagOfWordsEmbedder, in_feed, memory
from tests.streams.agent_extractions import TENANT
from tests.streams.stages.extraction.doubles import ScriptedExtractor, new_handler, window_record

pytestmark = pytest.mark.integration


def experience(tool: str, *, tenant: str = TENANT, user: str | None = None) -> Memory:
    return memory(f"tool experience of {tool}", tenant=tenant, user=user, kind="entity", type="tool_experience", entity_key=tool)


async def test_context_has_shared_entities_but_no_foreign_ones(settings: Settings, tenants: TenantDirectory, store: EdgeStore) -> None:
    embedder = BagOfWordsEmbedder()
    stored = [experience("grep"), experience("sed", user="another"), experience("awk", tenant="rival"), experience("ls", user="agent")]
    changes = [MemoryChange(op="upsert", memory_id=each.id, tenant=each.tenant, memory=each) for each in stored]
    await IndexWriter(store=store, embedder=embedder).write(in_feed(changes))
    recall = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=ManualClock(NOON))
    extractor = ScriptedExtractor()
    await new_handler(settings, tenants, extractor, recall=recall).handle(window_record(text="tool experience of grep sed awk ls"))
    assert [each.entity_key for each in extractor.contexts[0].entities] == ["grep"]
