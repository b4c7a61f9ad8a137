"""Lookups of operators in ``compare``: the same decisions as those of the stages, with the same code and a real store."""

from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from evaluation.compare.ingestion import Ingestion, Tools, asks_for_extraction
from evaluation.locomo import TENANT
from evaluation.recall.corpus import MemoryWriter, empty_store
from evaluation.recall.local_merging import LocalMerging
from evaluation.recall.memories import UserMemories
from evaluation.windows import session_windows
from memory.records import Extraction, Memory, Message, Window
from memory.schema import scenario
from memory.schema.methods import method_document, with_method
from models.llm.port import LLM
from runtime.clocks import ManualClock
from runtime.settings import Settings, StoreSettings
from stores.build import build_store
from stores.edge.client import EdgeStore
from stores.port import MemoryStore
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.stores.factories import BagOfWordsEmbedder
from tests.streams.harness import plain_settings
from tests.streams.linked_remarks import remarks, schema
from tests.streams.merged_remarks import START
from tests.streams.stages.merging.linked_stages import LinkedStages, LinkingLLM

pytestmark = pytest.mark.integration

SAID = ("My cat is ill.", "My cat is very ill.", "I bought a bicycle.", "My old cat is ill.")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[list[MemoryStore]]:
    """Two empty stores: one for the stages, one for ``compare``."""
    with EdgeOwnerProcess(tmp_path / "stages") as one, EdgeOwnerProcess(tmp_path / "compare") as other:
        found = [build_store(plain_settings(tmp_path, store=StoreSettings(socket=each.socket))) for each in (one, other)]
        yield found
        for each in found:
            await each.close()


def of_evaluation(given: Extraction) -> Extraction:
    events = [each.model_copy(update={"tenant": TENANT}) for each in given.events]
    return given.model_copy(update={"tenant": TENANT, "events": events})


def described(notes: list[Memory]) -> dict[str | None, Any]:
    return {
        note.entity_key: (note.content, note.keywords, sorted((link.relation, link.score) for link in note.links or ())) for note in notes
    }


@pytest.mark.parametrize("has_llm", [False, True])
async def test_notes_equal_those_of_the_stages(tmp_path: Path, stores: list[MemoryStore], has_llm: bool) -> None:
    given = [remarks("ann", window, text) for window, text in enumerate(SAID)]
    settings = plain_settings(tmp_path)
    stages = LinkedStages(settings, schema(decide="link"), stores[0], LinkingLLM() if has_llm else None)
    await stages.say(*given)

    embedder, clock, llm = BagOfWordsEmbedder(), ManualClock(START), LinkingLLM() if has_llm else None
    store = stores[1]
    await store.prepare(model=embedder.name, dimension=embedder.dimension, late_dimension=embedder.late_dimension)
    writer, memories = MemoryWriter(cast(EdgeStore, store), embedder), UserMemories(schema(decide="link"), has_llm=has_llm)
    merging = LocalMerging(schema(decide="link"), settings, store=store, embedder=embedder, clock=clock, llm=cast(LLM | None, llm))
    for each in given:
        for contribution in memories.contributions(of_evaluation(each)):
            waiting = deque(memories.apply(contribution))
            while waiting:
                await writer.write(memories.changed_entities())
                waiting.extend(memories.apply(await merging.answer(await merging.resolved(waiting.popleft()))))
    found = described(memories.entities())
    assert found == described([*stages.notes().values()])
    assert sum(bool(links) for _, _, links in found.values()) == 3, "the three notes about the cat"


def windows(*sessions: tuple[str, ...]) -> list[Window]:
    found: list[Window] = []
    for number, texts in enumerate(sessions):
        messages = [
            Message(tenant=TENANT, user="ann", session=str(number), id=f"{number}/{place}", role="user", text=text, event_time=START)
            for place, text in enumerate(texts)
        ]
        found += session_windows(messages, first_offset=sum(map(len, sessions[:number])))
    return found


async def ingested(method: str, *sessions: tuple[str, ...]) -> Ingestion:
    settings = Settings()
    async with empty_store(settings) as (store, embedder):
        tools = Tools(
            schema=with_method(scenario("companion"), method_document(method)),
            settings=settings,
            store=store,
            embedder=embedder,
            writer=MemoryWriter(store, embedder),
        )
        ingestion = Ingestion(tools, ages=True)
        await ingestion.add(windows(*sessions))
        await ingestion.write("ann", START)
        return ingestion


async def test_similar_messages_are_linked_in_one_window() -> None:
    said = ("I adopted a grey cat called Minka.", "Minka, my grey cat, is ill.", "The train to Kiel leaves at noon.")
    found = await ingested("amem", said)
    notes = [each for each in found.written.values() if each.type == "note"]
    linked = {text for text in said for each in notes if text in each.content and each.links}
    assert linked == set(said[:2])


async def test_a_repeated_fact_is_known() -> None:
    fact = "I adopted a grey cat called Minka."
    found = await ingested("mem0", (fact,), (fact,))
    facts = [each for each in found.written.values() if each.type == "fact_note" and "Minka" in each.content]
    hidden = [each.properties.get("hidden_because") for each in facts]
    assert "known" in hidden
    assert None in hidden, "one of them stays"


async def test_tokens_of_lookups_grow_with_neighbours() -> None:
    alone = await ingested("amem", ("I adopted a grey cat called Minka.",))
    known = await ingested("amem", ("I adopted a grey cat called Minka.",), ("Minka, my grey cat, is ill.",))
    (first,), (_, second) = alone.windows, known.windows
    assert first.spent.calls == second.spent.calls == 1
    assert second.spent.prompt_tokens > first.spent.prompt_tokens > 0


@pytest.mark.parametrize(("method", "asks"), [("amem", False), ("mem0", True), ("memochat", True), ("vikingmem", True), ("zep", True)])
def test_archived_messages_need_no_extraction(method: str, asks: bool) -> None:
    assert asks_for_extraction(with_method(scenario("companion"), method_document(method))) is asks
