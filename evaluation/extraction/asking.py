"""A conversation as a model extracts it: its windows in turn, each shown what the ones before it gave, as the extraction stage does."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evaluation.recall.corpus import MemoryWriter, empty_store
from evaluation.recall.memories import UserMemories
from extraction.errors import UnusableAnswerError
from extraction.port import ExtractionContext, Extractor
from memory.records import Extraction, Window
from memory.schema import MemorySchema
from retrieval.pipeline import RecallPipeline
from runtime.clocks import ManualClock
from runtime.recent_patches import WindowPlace
from runtime.session_history import MAX_WINDOWS, EarlierWindows
from runtime.settings import Settings
from streams.stages.extraction.entity_context import EntityContext
from streams.stages.extraction.similar_keys import SimilarKeys


@dataclass(frozen=True, slots=True)
class Extracted:
    """The extractions of a conversation's windows."""

    extractions: tuple[Extraction, ...]
    unusable: int
    """Windows of which no answer could be used: dead letters, where the stage would lay them."""


async def extracted(windows: Sequence[Window], extractor: Extractor, schema: MemorySchema, settings: Settings) -> Extracted:
    """Extracts one user's windows in turn. Each is shown the session so far, and the entities as the windows before it left them.

    Args:
        windows: In their order.
        extractor: Asks the model.
        schema: The memory types.
        settings: The embedding model, how recalls rank, and how often an unusable answer is requested again.

    Raises:
        models.errors.ModelError: If the model cannot be asked.
    """
    user, made, settled, unusable = UserMemories(schema), list[Extraction](), list[Extraction](), 0
    async with empty_store(settings) as (store, embedder):
        writer, clock = MemoryWriter(store, embedder), ManualClock(windows[0].messages[0].event_time)
        recall = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=clock)
        entities, keys = EntityContext(recall=recall, notes=None), SimilarKeys(recall=recall, embedder=embedder, notes=None)
        for offset, window in enumerate(windows):
            clock.set(window.messages[-1].event_time)
            earlier = _earlier(made, window)
            place = WindowPlace(window.tenant, window.user, "", window.source_partition, offset)
            context = ExtractionContext(
                session_summary=earlier.summary,
                session_events=earlier.events,
                entities=await entities.entities_for(window, schema, place),
            )
            extraction = await _usable(window, extractor, schema, context, attempts=settings.extraction.attempts)
            if extraction is None:
                unusable += 1
                continue
            made.append(extraction)
            settled.append(await keys.settled(extraction, schema, place))
            user.add(settled[-1])
            await writer.write(user.entities())
    return Extracted(tuple(settled), unusable)


async def _usable(
    window: Window, extractor: Extractor, schema: MemorySchema, context: ExtractionContext, *, attempts: int
) -> Extraction | None:
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
