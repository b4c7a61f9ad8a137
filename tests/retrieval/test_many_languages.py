"""In many languages, on the real Edge store and with the real model: a question finds the memory that shares a rare word with it."""

from typing import Literal
from unicodedata import normalize

import pytest

from models.embedding.port import Embedder
from retrieval.pipeline import RecallPipeline
from retrieval.request import RecallRequest
from runtime.clocks import ManualClock
from runtime.settings import RecallSettings
from stores.edge.client import EdgeStore
from stores.port import MemoryFilter, RecallQuery, TenantScope
from tests.retrieval.many_languages import LANGUAGES
from tests.stores.factories import NOON, memory, store_memories

pytestmark = pytest.mark.integration

ACME = TenantScope("acme")
FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_memory_with_the_rare_word_is_first(edge_store: EdgeStore, embedder: Embedder, language: str) -> None:
    notes = LANGUAGES[language]
    stored = [memory(text) for text in notes.memories]
    await store_memories(edge_store, *stored, embedder=embedder)
    recall = RecallPipeline(store=edge_store, embedder=embedder, settings=RecallSettings(), clock=ManualClock(NOON))
    for asked, number in ((normalize(form, question), number) for question, number in notes.questions for form in FORMS):
        embedded = await embedder.embed_query(asked)
        found = await edge_store.recall(RecallQuery(filter=MemoryFilter(scope=ACME), text=asked, embedding=embedded, explain=True))
        by_words = {each.memory.content: each.parts.get("bm25", 0.0) for each in found}
        others = [score for content, score in by_words.items() if content != notes.memories[number]]
        assert by_words[notes.memories[number]] > max(others), (asked, by_words)
        [hit] = (await recall.recall(RecallRequest(filter=MemoryFilter(scope=ACME), query=asked, limit=1))).hits
        assert hit.memory.content == notes.memories[number], asked
