"""The extractor that calls no LLM."""

import asyncio
from functools import partial
from typing import Final

from extraction.assemble import build_extraction
from extraction.bounds import build_bounded
from extraction.deduplication import Thresholds, candidates_of
from extraction.drafts import Draft
from extraction.offline.drafting import draft_of, may_hold_repetitions, read_window, without_repetitions
from extraction.offline.events.event_types import type_text
from extraction.offline.facts.places import PlaceScores
from extraction.offline.facts.profile_facts import edited_entities
from extraction.port import EntityName, ExtractionContext
from memory.records import Extraction, Window
from memory.schema import MemorySchema
from memory.schema.method import DERIVED_TYPES
from memory.texts.prefiltered_patterns import prepare
from models.embedding.port import Embedder
from runtime.settings import ExtractionSettings

NAME = "offline"
_THRESHOLDS: Final = Thresholds.of(ExtractionSettings())


class OfflineExtractor:
    """Segments, events and patches without an LLM: the cheap tier, the budget's fallback, and what works without any network.

    The same window gives the same extraction, byte for byte: its rules have no randomness, and the embedding model gives a text the same
    vectors whatever is embedded with it.

    Args:
        embedder: Shared with others; :meth:`close` leaves it open.
        thresholds: The cosines from which two events are one.
    """

    def __init__(self, *, embedder: Embedder, thresholds: Thresholds = _THRESHOLDS) -> None:
        self._embedder = embedder
        self._thresholds = thresholds
        self._places = PlaceScores(embedder)
        prepare()

    @property
    def name(self) -> str:
        """``offline``."""
        return NAME

    def edited_entities(self, window: Window, schema: MemorySchema) -> list[EntityName]:
        """The user's and the session's own entities that patches edit: no rule edits any other."""
        return edited_entities(window, schema)

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """See :meth:`extraction.port.Extractor.extract`.

        The rules run in a thread, since a blocked event loop makes the stage leave its consumer group.

        Raises:
            models.errors.ModelError: If the embedder cannot embed now.
        """
        # Relations follow from the patches (extraction/relations.py).
        schema = schema.without_event_types(*DERIVED_TYPES)
        read = await asyncio.to_thread(read_window, window, context.recalled_hashes, [each.content for each in context.session_events])
        texts = read.texts.distinct()
        embeddings = dict(zip(texts, await self._embedder.embed_documents(texts), strict=True))
        type_embeddings = await asyncio.gather(*(self._embedder.embed_query(type_text(each)) for each in schema.event_types))
        place_scores = await self._places.of(read.named_places())
        draft = await asyncio.to_thread(
            draft_of,
            read,
            embeddings=embeddings,
            type_embeddings=type_embeddings,
            place_scores=place_scores,
            window=window,
            schema=schema,
            context=context,
        )
        draft = await self._without_repetitions(draft, window, context)
        build = partial(build_extraction, window=window, schema=schema, extractor=NAME, generation=context.generation, usage=())
        return await asyncio.to_thread(build_bounded, draft, build)

    async def _without_repetitions(self, draft: Draft, window: Window, context: ExtractionContext) -> Draft:
        candidates = candidates_of(draft.events, context.session_events, window.messages)
        if not await asyncio.to_thread(may_hold_repetitions, candidates):
            return draft
        embeddings = await self._embedder.embed_documents([each.statement.content for each in candidates])
        vectors = [each.dense for each in embeddings]
        return await asyncio.to_thread(without_repetitions, draft, candidates, vectors, self._thresholds)

    async def close(self) -> None:
        """Does nothing: the embedder is shared."""
