"""The entities in the prompt of a window, found in a real store."""

from typing import Any

import pytest

from control.tenants import TenantDirectory
from extraction.port import EntityName
from memory.ids import entity_id
from memory.records import Memory
from models.embedding.port import Embedding
from retrieval.entity_lookup import EntityLookup
from runtime.clocks import ManualClock
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from tests.stores.factories import NOON, BagOfWordsEmbedder, memory, store_memories
from tests.streams.agent_extractions import TENANT
from tests.streams.stages.extraction.doubles import ScriptedExtractor, new_handler, window_record

pytestmark = pytest.mark.integration


def experience(tool: str, *, tenant: str = TENANT, user: str | None = None, **fields: Any) -> Memory:
    return memory(f"tool experience of {tool}", tenant=tenant, user=user, kind="entity", type="tool_experience", entity_key=tool, **fields)


class NoQueries(BagOfWordsEmbedder):
    """An embedder that fails on queries."""

    async def embed_query(self, text: str) -> Embedding:
        raise AssertionError(f"{text!r} was embedded")


async def test_context_has_shared_entities_but_no_foreign_ones(settings: Settings, tenants: TenantDirectory, store: EdgeStore) -> None:
    embedder = BagOfWordsEmbedder()
    await store_memories(
        store, experience("grep"), experience("sed", user="another"), experience("awk", tenant="rival"), experience("ls", user="agent")
    )
    lookup = EntityLookup(store=store, embedder=embedder, prefetch=settings.recall.prefetch, clock=ManualClock(NOON))
    extractor = ScriptedExtractor()
    await new_handler(settings, tenants, extractor, lookup=lookup).handle(window_record(text="tool experience of grep sed awk ls"))
    assert [each.entity_key for each in extractor.contexts[0].entities] == ["grep"]


async def test_edited_entities_are_read_without_embedding(settings: Settings, tenants: TenantDirectory, store: EdgeStore) -> None:
    names = {key: EntityName("tool_experience", key) for key in ("grep", "sed", "awk", "old")}
    ids = {key: entity_id(TENANT, name.type, name.key) for key, name in names.items()}
    await store_memories(
        store,
        experience("grep", id=ids["grep"]),
        experience("sed", id=ids["sed"], user="another"),
        experience("ls"),
        experience("old", id=ids["old"], expires_at=NOON),
    )
    lookup = EntityLookup(store=store, embedder=NoQueries(), prefetch=settings.recall.prefetch, clock=ManualClock(NOON))
    extractor = ScriptedExtractor(edited=list(names.values()))
    await new_handler(settings, tenants, extractor, lookup=lookup).handle(window_record(text="tool experience of ls"))
    assert [each.entity_key for each in extractor.contexts[0].entities] == ["grep"]


async def test_window_that_edits_nothing_has_no_entities(settings: Settings, tenants: TenantDirectory, store: EdgeStore) -> None:
    await store_memories(store, experience("grep"))
    lookup = EntityLookup(store=store, embedder=NoQueries(), prefetch=settings.recall.prefetch, clock=ManualClock(NOON))
    extractor = ScriptedExtractor(edited=[])
    await new_handler(settings, tenants, extractor, lookup=lookup).handle(window_record(text="tool experience of grep"))
    assert extractor.contexts[0].entities == ()
