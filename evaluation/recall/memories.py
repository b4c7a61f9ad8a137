"""Makes the memories of one user's windows with the pure parts of the stages, without Kafka."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from evaluation.locomo import TENANT
from extraction.method import MethodExtractor
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.records import Contribution, Extraction, Memory, Merged, Window
from memory.schema import MemorySchema, scenario
from memory.schema.model import EntityType
from models.embedding.port import Embedder
from operators.apply import apply_contribution
from operators.entity_state import EntityState
from operators.llm_operator import LLMOperator
from operators.merging import apply_outcome, plan_questions
from operators.registry import driver_of
from operators.render import published_memories, render
from operators.routing import contributions_of
from streams.stages.events.corrections import PresentEvent
from streams.stages.events.publishing import fed_entities, memory_of

SCHEMA: Final = "companion"


async def memories_of(
    windows: Sequence[Window], embedder: Embedder, *, aged_days: int | None = None, schema: MemorySchema | None = None
) -> list[Memory]:
    """All memories that the stages make of one user's windows, with the offline extractor and the schema's memory method.

    Args:
        windows: In their order.
        embedder: The model of the extractor.
        aged_days: Age of timelines, in days after the last message: events are summarised or expire. None: nothing ages.
        schema: The memory types. Default: those of :data:`SCHEMA`.
    """
    extractor, schema = MethodExtractor(OfflineExtractor(embedder=embedder), embedder), schema or scenario(SCHEMA)
    user = UserMemories(schema)
    for window in windows:
        user.add(await extractor.extract(window, schema, ExtractionContext()))
    if aged_days is None:
        return [*user.events, *user.published(), *user.entities()]
    return [*user.aged(last_moment(windows) + timedelta(days=aged_days)), *user.entities()]


class UserMemories:
    """One user's memories, made by the logic of the stages events, entities and merging, without a model.

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
        """Adds the extraction of the next window."""
        contributions = contributions_of(extraction, self._schema, source="extractions/0", position=self._windows)
        fed = fed_entities(contributions)
        self.events += [memory_of(PresentEvent(event, event), extraction, position=0, fed=fed) for event in extraction.events]
        for contribution in contributions:
            key = (contribution.entity_type, contribution.entity_key)
            entity_type = self._schema.entity_type(contribution.entity_type)
            if entity_type is not None:
                self._states[key] = _settled(apply_contribution(self._states.get(key), contribution, entity_type).state, entity_type)
        self._windows += 1

    def entities(self) -> list[Memory]:
        """The memories of the entities."""
        return [
            render(state, entity_type, TENANT, key)
            for (name, key), state in self._states.items()
            if not state.empty and (entity_type := self._schema.entity_type(name)) is not None
        ]

    def published(self) -> list[Memory]:
        """The memories that operators publish, such as the nodes of a tree."""
        return [
            memory
            for (name, key), state in self._states.items()
            if (entity_type := self._schema.entity_type(name)) is not None
            for memory in published_memories(state, entity_type, TENANT, key).values()
        ]

    def aged(self, now: datetime) -> list[Memory]:
        """The remaining events and the published memories at a later time."""
        found: list[Memory] = []
        expired: set[str] = set()
        for (name, key), state in self._states.items():
            entity_type = self._schema.entity_type(name)
            if entity_type is None:
                continue
            tick = Contribution(tenant=TENANT, entity_type=name, entity_key=key, kind="tick", source="extractions/0", position=0, time=now)
            applied = apply_contribution(state, tick, entity_type)
            expired.update(each.id for _, each in applied.aged)
            found.extend(published_memories(applied.state, entity_type, TENANT, key).values())
        return [*(each for each in self.events if each.id not in expired), *found]


def _settled(state: EntityState, entity_type: EntityType) -> EntityState:
    """The state after its operators' questions, answered by rule: there is no model."""
    planned = plan_questions(state, entity_type, has_llm=False)
    after = planned.state
    for name, question in planned.questions:
        driver = driver_of(entity_type.by_name[name], entity_type)
        if driver is not None and isinstance(driver.operator, LLMOperator):
            outcome = driver.operator.outcome_by_rule(question)
            merged = Merged(property=name, part=outcome.part, outcome=outcome.content)
            after = apply_outcome(after, merged, entity_type, after.generation).state
    return after


def last_moment(windows: Sequence[Window]) -> datetime:
    """The time of the last message."""
    return max(message.event_time for window in windows for message in window.messages)
