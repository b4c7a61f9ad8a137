"""A value is matched with the user's own entities by meaning, in a real store with the real model."""

from pathlib import Path

import pytest

from extraction.port import ExtractionContext
from memory.keys import entity_key
from memory.records import Extraction, Window
from memory.schema import MemorySchema, scenario
from models.embedding.port import Embedder
from models.errors import OverloadedError
from retrieval.entity_lookup import EntityLookup
from runtime.clocks import ManualClock
from runtime.redis.client import GuardedRedis
from runtime.redis.extraction_notes import KeyScope, KeyValueNotes
from runtime.redis.recent_patches import WindowPlace
from runtime.redis.session_history import SessionHistory
from runtime.settings import Settings
from stores.edge.client import EdgeStore
from streams.errors import TransientError
from streams.stages.extraction.similar_keys import SimilarKeys
from tests.control_log import known_tenants
from tests.extraction.embedders import RefusingEmbedder
from tests.extraction.topic_stories import extraction_of, stories
from tests.stores.factories import NOON, memory, store_memories
from tests.streams.stages.extraction.doubles import ScriptedExtractor, new_handler, window_record

pytestmark = pytest.mark.integration

OWN, SHARED = stories("user", "topic"), stories("topic")


def lookup(settings: Settings, store: EdgeStore, embedder: Embedder) -> EntityLookup:
    return EntityLookup(store=store, embedder=embedder, prefetch=settings.recall.prefetch, clock=ManualClock(NOON))


def place(user: str = "ann", tenant: str = "acme", offset: int = 0) -> WindowPlace:
    return WindowPlace(tenant, user, "", 0, offset)


def about(*topics: str) -> Extraction:
    """An extraction with an event of each topic."""
    return extraction_of([{"topic": topic} for topic in topics])


def topics_of(extraction: Extraction) -> list[object]:
    return [each.properties["topic"] for each in extraction.events]


async def write(store: EdgeStore, embedder: Embedder, stored: dict[tuple[str, str | None], list[str]]) -> None:
    """Writes topics' entities, each tenant's and user's; those of no user are shared."""
    entities = [
        memory(
            f"story of {topic}: told 3 times, 2 events in full",
            tenant=tenant,
            user=user,
            kind="entity",
            type="story",
            entity_key=entity_key(*([topic] if user is None else [user, topic])),
        )
        for (tenant, user), topics in stored.items()
        for topic in topics
    ]
    await store_memories(store, *entities, embedder=embedder)


async def test_a_value_is_matched_with_ones_own_things(settings: Settings, store: EdgeStore, embedder: Embedder) -> None:
    many = [f"hobby of {letter}" for letter in "abcdefghijklmnop"]
    await write(
        store, embedder, {("acme", "ann"): ["clothing store", *many], ("acme", "bob"): ["fashion store"], ("rival", "ann"): ["shop"]}
    )
    keys = SimilarKeys(lookup=lookup(settings, store, embedder), embedder=embedder, notes=None)
    said = about("online clothing store", "fashion store", "dance studio")
    assert topics_of(await keys.settled(said, OWN, place())) == ["clothing store", "clothing store", "dance studio"]
    assert topics_of(await keys.settled(said, OWN, place("bob"))) == ["fashion store", "fashion store", "dance studio"]
    assert topics_of(await keys.settled(said, OWN, place("cleo"))) == ["online clothing store", "online clothing store", "dance studio"]
    assert await keys.settled(said, scenario("companion"), place()) == said


async def test_shared_things_are_the_whole_tenants(settings: Settings, store: EdgeStore, embedder: Embedder, redis: GuardedRedis) -> None:
    await write(store, embedder, {("acme", None): ["clothing store"], ("rival", None): ["dance studio"]})
    keys = SimilarKeys(lookup=lookup(settings, store, embedder), embedder=embedder, notes=KeyValueNotes(redis=redis))
    said = about("fashion store", "the dance studio")
    assert topics_of(await keys.settled(said, SHARED, place("cleo"))) == ["clothing store", "the dance studio"]
    assert topics_of(await keys.settled(about("dance studio"), SHARED, place("ann", offset=1))) == ["the dance studio"]
    assert topics_of(await keys.settled(about("dance studio"), SHARED, place(tenant="umbrella"))) == ["dance studio"]


async def test_names_not_yet_in_the_store_are_known(settings: Settings, store: EdgeStore, embedder: Embedder, redis: GuardedRedis) -> None:
    notes = KeyValueNotes(redis=redis)
    keys = SimilarKeys(lookup=lookup(settings, store, embedder), embedder=embedder, notes=notes)
    await keys.settled(about("clothing store", "dance studio"), OWN, place())
    assert topics_of(await keys.settled(about("fashion store"), OWN, place(offset=1))) == ["clothing store"]
    assert topics_of(await keys.settled(about("fashion store"), OWN, place("bob", offset=2))) == ["fashion store"]
    assert await notes.latest(KeyScope("acme", "ann", "", "topic")) == ("dance studio", "clothing store")


class Telling(ScriptedExtractor):
    """Says that something happened in the fashion store."""

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        await super().extract(window, schema, context)
        place = {"user": window.user, "session": window.session, "sequence": window.sequence}
        return about("fashion store").model_copy(update=place)


async def test_a_repeated_statement_is_recognized_by_its_words(
    settings: Settings, store: EdgeStore, embedder: Embedder, redis: GuardedRedis
) -> None:
    await write(store, embedder, {("acme", "agent"): ["clothing store"]})
    history, searched = SessionHistory(redis=redis, ttl_s=60), lookup(settings, store, embedder)
    keys = SimilarKeys(lookup=searched, embedder=embedder, notes=None)
    tenants = known_tenants({"acme": OWN})
    handler = new_handler(settings, tenants, Telling(), lookup=searched, similar_keys=keys, session_history=history)
    record = window_record("acme")
    (output,) = await handler.handle(record)
    assert topics_of(Extraction.from_json(output.value or b"")) == ["clothing store"]
    after = Window.from_json(record.value or b"").model_copy(update={"sequence": 4})
    assert [each.properties["topic"] for each in (await history.before(after, "")).events] == ["fashion store"]


@pytest.mark.parametrize("away", ["store", "embedding"])
async def test_an_extraction_waits_for_an_unavailable_store(settings: Settings, embedder: Embedder, tmp_path: Path, away: str) -> None:
    store = EdgeStore(path=tmp_path / "nobody.sock")
    asked = embedder if away == "store" else RefusingEmbedder(OverloadedError("429", retry_after_s=7.0))
    keys = SimilarKeys(lookup=lookup(settings, store, asked), embedder=asked, notes=None)
    with pytest.raises(TransientError) as failure:
        await keys.settled(about("fashion store"), OWN, place())
    assert failure.value.dependency == away
    assert topics_of(await keys.settled(about(), OWN, place())) == []
    await store.close()
