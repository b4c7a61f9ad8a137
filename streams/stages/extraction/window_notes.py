"""Data that windows leave for later windows, in Redis: results of the session, routines, patches and recalled contents.

Without Redis a window is extracted without this data.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

from extraction.port import ExtractionContext
from extraction.recurrence import possible_routines, repeated_routines, short_routines
from memory.records import Dropped, Extraction, Window
from memory.schema.model import MemorySchema
from runtime.errors import RedisUnavailableError
from runtime.redis.recall_history import RecallHistory
from runtime.redis.recent_patches import WindowPlace
from runtime.redis.session_history import EarlierWindows, SessionHistory
from streams.stages.extraction.entity_context import EntityNotes
from streams.stages.extraction.lanes import is_patched
from streams.stages.extraction.recent_patches import patches_of


class WindowNotes:
    """Reads the notes of earlier windows, and writes those of a window.

    Args:
        sessions: Results of the session's earlier windows. None: there are none.
        recalls: Recent results of recalls. None: there are none.
        entities: Entity data that is newer than the store. None: there is none.
    """

    def __init__(self, *, sessions: SessionHistory | None, recalls: RecallHistory | None, entities: EntityNotes | None) -> None:
        self._sessions = sessions
        self._recalls = recalls
        self._entities = entities

    async def earlier_windows(self, views: Iterable[Window], generation: str) -> EarlierWindows:
        """The earlier windows of the session, of each user in turn."""
        if self._sessions is None:
            return EarlierWindows()
        try:
            found = [await self._sessions.before(each, generation) for each in views]
        except RedisUnavailableError:
            return EarlierWindows()
        topics = tuple(topic for each in found for topic in each.topics)
        return EarlierWindows(topics=topics, events=tuple(event for each in found for event in each.events))

    async def recalled_hashes(self, window: Window, closed_at: datetime) -> frozenset[str]:
        """Hashes of the contents that recalls had returned to the window's users."""
        if self._recalls is None:
            return frozenset()
        try:
            found = [await self._recalls.of(window.tenant, user, until=closed_at) for user in window.users or [window.user]]
            return frozenset().union(*found)
        except RedisUnavailableError:
            return frozenset()

    async def without_routines(self, extraction: Extraction, window: Window) -> Extraction:
        """The extraction without events that repeat a routine of another session. A shared window keeps all of its events."""
        assistants = _assistants_texts(window)
        may_repeat = bool(possible_routines(extraction.events) or short_routines(extraction.events, assistants))
        if self._sessions is None or window.users or not may_repeat:
            return extraction
        try:
            known = await self._sessions.routines(window, extraction.generation)
        except RedisUnavailableError:
            return extraction
        tools = {each.id for each in window.messages if each.role == "tool" and each.id is not None}
        repeated = repeated_routines(
            extraction.events,
            known,
            window_id=window.id,
            tool_messages=tools,
            assistant_messages=assistants,
        )
        if not repeated:
            return extraction
        events = [each for each in extraction.events if each.id not in repeated]
        dropped = [*extraction.dropped, Dropped(what="event", reason="repeated_routine", count=len(repeated))]
        return extraction.model_copy(update={"events": events, "dropped": dropped})

    async def remember(
        self,
        window: Window,
        as_made: Extraction,
        settled: Extraction,
        schema: MemorySchema,
        context: ExtractionContext,
        place: WindowPlace,
    ) -> None:
        """Stores the result for later windows before the window is acknowledged, because the next one may begin then."""
        with suppress(RedisUnavailableError):
            if self._sessions is not None:
                # In the extractor's own words, so that repetitions are recognised.
                await self._sessions.add(as_made)
                events = [] if window.users else as_made.events
                short = short_routines(events, _assistants_texts(window))
                await self._sessions.add_routines(as_made, possible_routines(events), short)
            # Patches are noted by their order among the user's windows. A shared window is in another partition, outside that order.
            if self._entities is not None and is_patched(schema) and not window.users:
                # In a thread: the searches may take about 100 ms.
                patches = await asyncio.to_thread(patches_of, settled, schema, context.entities)
                await self._entities.patches.add(place, patches, window_id=window.id, replaces_earlier=window.revision > 0)


def _assistants_texts(window: Window) -> frozenset[str]:
    """The ids of the messages in which an assistant speaks."""
    return frozenset(each.id for each in window.messages if each.id is not None and each.role == "assistant" and each.tool_call is None)
