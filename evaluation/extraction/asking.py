"""A conversation as a model extracts it: its windows in turn, each shown what the ones before it gave, as the extraction stage does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from evaluation.recall.corpus import MemoryWriter, empty_store
from evaluation.recall.memories import UserMemories
from extraction.errors import UnusableAnswerError
from extraction.port import ExtractionContext, Extractor
from memory.records import Extraction, Window
from memory.schema import MemorySchema
from models.embedding.port import Embedder
from retrieval.entity_lookup import EntityLookup
from runtime.clocks import ManualClock
from runtime.redis.recent_patches import WindowPlace
from runtime.redis.session_history import MAX_WINDOWS, EarlierWindows
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.stages.extraction.entity_context import EntityContext
from streams.stages.extraction.similar_keys import SimilarKeys


@dataclass(frozen=True, slots=True)
class Extracted:
    """The extractions of a conversation's windows."""

    extractions: tuple[Extraction, ...]
    unusable: int
    """Windows without a usable answer: the stage would write them to the dead letters."""


class WindowExtraction:
    """Extracts the windows of one user in turn. Each is shown the session so far, and the nearest entities in the store.

    Args:
        extractor: Asks the model.
        schema: The memory types.
        settings: How recalls rank, and how often an unusable answer is requested again.
        store: Contains the user's entities as the earlier windows left them.
        embedder: The model that they were embedded with.
    """

    def __init__(self, extractor: Extractor, schema: MemorySchema, settings: Settings, *, store: MemoryStore, embedder: Embedder) -> None:
        self._extractor = extractor
        self._schema = schema
        self._attempts = settings.extraction.attempts
        self._clock = ManualClock(datetime.fromtimestamp(0, UTC))
        lookup = EntityLookup(store=store, embedder=embedder, prefetch=settings.recall.prefetch, clock=self._clock)
        self._entities = EntityContext(lookup=lookup, notes=None)
        self._keys = SimilarKeys(lookup=lookup, embedder=embedder, notes=None)
        self._made: list[Extraction] = []
        self._offset = 0

    async def of(self, window: Window) -> Extraction | None:
        """The extraction of the next window; None if no answer could be used, which is a dead letter in the stage.

        Raises:
            models.errors.ModelError: If the model cannot be asked.
        """
        self._clock.set(window.messages[-1].event_time)
        earlier = _earlier(self._made, window)
        place = WindowPlace(window.tenant, window.user, "", window.source_partition, self._offset)
        self._offset += 1
        context = ExtractionContext(
            session_summary=earlier.summary,
            session_events=earlier.events,
            entities=await self._entities.entities_for(
                window, self._schema, place, edited=self._extractor.edited_entities(window, self._schema)
            ),
        )
        extraction = await usable_extraction(window, self._extractor, self._schema, context, attempts=self._attempts)
        if extraction is None:
            return None
        self._made.append(extraction)
        return await self._keys.settled(extraction, self._schema, place)


async def extracted(windows: Sequence[Window], extractor: Extractor, schema: MemorySchema, settings: Settings) -> Extracted:
    """Extracts one user's windows in turn, in their own store.

    Args:
        windows: In their order.
        extractor: Asks the model.
        schema: The memory types.
        settings: The embedding model, and see :class:`WindowExtraction`.

    Raises:
        models.errors.ModelError: If the model cannot be asked.
    """
    user, settled = UserMemories(schema), list[Extraction]()
    async with empty_store(settings) as (store, embedder):
        writer = MemoryWriter(store, embedder)
        extraction = WindowExtraction(extractor, schema, settings, store=store, embedder=embedder)
        for window in windows:
            found = await extraction.of(window)
            if found is not None:
                settled.append(found)
                user.add(found)
                await writer.write(user.entities())
    return Extracted(tuple(settled), len(windows) - len(settled))


async def usable_extraction(
    window: Window, extractor: Extractor, schema: MemorySchema, context: ExtractionContext, *, attempts: int
) -> Extraction | None:
    """The first usable extraction of a window; None if no attempt gives one."""
    for attempt in range(attempts):
        try:
            return await extractor.extract(window, schema, replace(context, attempt=attempt))
        except UnusableAnswerError:
            continue
    return None


def _earlier(extractions: Sequence[Extraction], window: Window) -> EarlierWindows:
    """The extractions of the user's latest windows in the session, in the stage's form."""
    place = (window.user, window.session)
    before = [each for each in extractions if (each.user, each.session) == place and each.sequence < window.sequence]
    return EarlierWindows.of(before[-MAX_WINDOWS:])
