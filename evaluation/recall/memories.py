"""Makes the memories of one user's windows with the pure parts of the stages, without Kafka."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from evaluation.locomo import TENANT
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.records import Contribution, Extraction, Memory, Window
from memory.schema import MemorySchema, scenario
from models.embedding.port import Embedder
from operators.apply import apply_contribution
from operators.entity_state import EntityState
from operators.render import published_memories, render
from operators.routing import contributions_of
from streams.stages.events.corrections import PresentEvent
from streams.stages.events.publishing import fed_entities, memory_of

SCHEMA: Final = "companion"


async def memories_of(
    windows: Sequence[Window], embedder: Embedder, *, aged_days: int | None = None, schema: MemorySchema | None = None
) -> list[Memory]:
    """The events and the entities that the stages make of one user's windows, with the offline extractor.

    Args:
        windows: In their order.
        embedder: Of the extractor.
        aged_days: Age of timelines, in days after the last message: events are summarised or expire. None: nothing ages.
        schema: The memory types; None: those of :data:`SCHEMA`.
    """
    extractor, schema = OfflineExtractor(embedder=embedder), schema or scenario(SCHEMA)
    user = UserMemories(schema)
    for window in windows:
        user.add(await extractor.extract(window, schema, ExtractionContext()))
    if aged_days is None:
        return [*user.events, *user.entities()]
    return [*user.aged(last_moment(windows) + timedelta(days=aged_days)), *user.entities()]


class UserMemories:
    """One user's memories, as the events and the entities stage make them.

    Args:
        schema: The memory types.
    """

    def __init__(self, schema: MemorySchema) -> None:
        self._schema = schema
        self._states: dict[tuple[str, str], EntityState] = {}
        self._windows = 0
        self.events: list[Memory] = []
        """In the order of their windows."""

    def add(self, extraction: Extraction) -> None:
        """Takes in what the next window gave."""
        contributions = contributions_of(extraction, self._schema, source="extractions/0", position=self._windows)
        fed = fed_entities(contributions)
        self.events += [memory_of(PresentEvent(event, event), extraction, position=0, fed=fed) for event in extraction.events]
        for contribution in contributions:
            key = (contribution.entity_type, contribution.entity_key)
            entity_type = self._schema.entity_type(contribution.entity_type)
            if entity_type is not None:
                self._states[key] = apply_contribution(self._states.get(key), contribution, entity_type).state
        self._windows += 1

    def entities(self) -> list[Memory]:
        """As they are."""
        return [
            render(state, entity_type, TENANT, key)
            for (name, key), state in self._states.items()
            if not state.empty and (entity_type := self._schema.entity_type(name)) is not None
        ]

    def aged(self, now: datetime) -> list[Memory]:
        """The events that are left at a time, and the summaries."""
        told: list[Memory] = []
        gone: set[str] = set()
        for (name, key), state in self._states.items():
            entity_type = self._schema.entity_type(name)
            if entity_type is None:
                continue
            tick = Contribution(tenant=TENANT, entity_type=name, entity_key=key, kind="tick", source="extractions/0", position=0, time=now)
            applied = apply_contribution(state, tick, entity_type)
            gone.update(each.id for _, each in applied.aged)
            told.extend(published_memories(applied.state, entity_type, TENANT, key).values())
        return [*(each for each in self.events if each.id not in gone), *told]


def last_moment(windows: Sequence[Window]) -> datetime:
    """When the last message was said."""
    return max(message.event_time for window in windows for message in window.messages)
