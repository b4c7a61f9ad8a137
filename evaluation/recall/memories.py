"""Makes the memories of one user's windows with the pure parts of the stages, without Kafka."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from evaluation.locomo import TENANT
from extraction.method import MethodExtractor
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.records import Change, Contribution, Evolution, Extraction, Memory, Merged, MergeRequest, NoteUpdate, Window
from memory.schema import MemorySchema, scenario
from memory.schema.model import EntityType
from models.embedding.port import Embedder
from operators.entities.apply import apply_contribution
from operators.entities.entity_state import EntityState
from operators.entities.render import published_memories, render
from operators.entities.routing import EntityRef, contributions_of
from operators.links.link_updates import note_digest, note_text
from operators.llm.llm_operator import LLMOperator, Question
from operators.llm.merging import apply_outcome, merge_requests, plan_questions, updates_of
from operators.registry import bound_operator
from streams.stages.events.corrections import PresentEvent
from streams.stages.events.evolution import MAX_OWNED, change_of
from streams.stages.events.ledger_entries import PublishedWindow
from streams.stages.events.publishing import fed_entities, memory_of

SCHEMA: Final = "companion"
_SOURCE: Final = "extractions/0"


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
    """One user's memories, made by the logic of the stages events and entities.

    Args:
        schema: The memory types.
        has_llm: Whether a model answers the operators' questions. False: operators that can decide without one do not ask.
    """

    def __init__(self, schema: MemorySchema, *, has_llm: bool = False) -> None:
        self._schema = schema
        self._has_llm = has_llm
        self._states: dict[EntityRef, EntityState] = {}
        self._position = 0
        self._changes: dict[tuple[str, str, str], tuple[Contribution, Change]] = {}
        self._caused: Counter[str] = Counter()
        self._changed: dict[EntityRef, None] = {}
        self._expired: set[str] = set()
        self.events: list[Memory] = []
        """In the order of their windows."""

    def add(self, extraction: Extraction) -> None:
        """Adds the extraction of the next window. Questions are answered by rule; lookups find nothing."""
        for contribution in self.contributions(extraction):
            waiting = deque(self.apply(contribution))
            while waiting:
                waiting.extend(self.apply(answer_by_rule(waiting.popleft(), self._schema)))

    def contributions(self, extraction: Extraction) -> list[Contribution]:
        """Adds the events of the next window, and returns its contributions; entities of single events in the order of the events."""
        contributions = contributions_of(extraction, self._schema, source=_SOURCE, position=self._position)
        self._position += 1
        fed = fed_entities(contributions)
        self.events += [memory_of(PresentEvent(event, event), PublishedWindow(0, extraction, ()), fed=fed) for event in extraction.events]
        place = {event.id: number for number, event in enumerate(extraction.events)}
        return sorted(contributions, key=lambda each: self._place(each, place))

    def _place(self, contribution: Contribution, place: Mapping[str, int]) -> int:
        entity_type = self._schema.entity_type(contribution.entity_type)
        if entity_type is None or "event" not in entity_type.keys:
            return -1
        return max((place.get(each.source_id, -1) for each in contribution.changes), default=-1)

    def apply(self, contribution: Contribution) -> list[MergeRequest]:
        """Applies one contribution, or the answer to a request, and the changes of other entities that follow from an answer.

        Returns:
            The questions that the changed entities ask.
        """
        ref, entity_type = _ref(contribution), self._schema.entity_type(contribution.entity_type)
        if entity_type is None:
            return []
        before = self._states.get(ref)
        if contribution.merged is not None:
            applied = apply_outcome(before, contribution.merged, entity_type, contribution.generation)
        else:
            applied = apply_contribution(before, contribution, entity_type)
            self._changes |= {
                (entity_type.name, each.property, each.source_id): (contribution, each)
                for each in contribution.changes
                if each.op == "apply" and not each.is_update
            }
        self._states[ref] = applied.state
        self._changed[ref] = None
        asked = self._ask(contribution, entity_type)
        if contribution.merged is not None and applied.changed:
            for change in self._evolved(contribution, contribution.merged, applied.state, entity_type):
                asked += self.apply(change)
        return asked

    def entities(self) -> list[Memory]:
        """The memories of the entities."""
        return [memory for ref in self._states if (memory := self._rendered(ref)) is not None]

    def changed_entities(self) -> list[Memory]:
        """The memories of the entities that changed since the last call."""
        found = [memory for ref in self._changed if (memory := self._rendered(ref)) is not None]
        self._changed.clear()
        return found

    def published(self) -> list[Memory]:
        """The memories that operators publish, such as the nodes of a tree."""
        return [
            memory
            for (name, key), state in self._states.items()
            if (entity_type := self._schema.entity_type(name)) is not None
            for memory in published_memories(state, entity_type, TENANT, key).values()
        ]

    def aged(self, now: datetime) -> list[Memory]:
        """The remaining events and the published memories at a later time. The state does not change."""
        found: list[Memory] = []
        expired = set(self._expired)
        for (name, key), state in self._states.items():
            entity_type = self._schema.entity_type(name)
            if entity_type is not None:
                applied = apply_contribution(state, _tick((name, key), now), entity_type)
                expired.update(each.id for _, each in applied.aged)
                found.extend(published_memories(applied.state, entity_type, TENANT, key).values())
        return [*(each for each in self.events if each.id not in expired), *found]

    def tick(self, now: datetime) -> list[MergeRequest]:
        """Ages the entities, as the timers of the entities stage do.

        Returns:
            The questions that the aged entities ask, such as those for summaries.
        """
        asked: list[MergeRequest] = []
        for ref, state in list(self._states.items()):
            entity_type = self._schema.entity_type(ref[0])
            if entity_type is not None:
                tick = _tick(ref, now)
                applied = apply_contribution(state, tick, entity_type)
                self._states[ref] = applied.state
                self._expired.update(each.id for _, each in applied.aged)
                asked += self._ask(tick, entity_type)
        return asked

    def _rendered(self, ref: EntityRef) -> Memory | None:
        (name, key), state = ref, self._states[ref]
        entity_type = self._schema.entity_type(name)
        return None if state.empty or entity_type is None else render(state, entity_type, TENANT, key)

    def _ask(self, cause: Contribution, entity_type: EntityType) -> list[MergeRequest]:
        ref = _ref(cause)
        planned = plan_questions(self._states[ref], entity_type, has_llm=self._has_llm)
        self._states[ref] = planned.state
        return merge_requests(planned, cause)

    def _evolved(self, answer: Contribution, merged: Merged, state: EntityState, entity_type: EntityType) -> list[Contribution]:
        """The changes of other entities that follow from an answer, one for each changed entity, as the events stage makes them."""
        updates = updates_of(state, entity_type, merged.property)
        if not updates or answer.user is None:
            return []
        evolution = Evolution(
            tenant=answer.tenant,
            user=answer.user,
            generation=answer.generation,
            entity_type=answer.entity_type,
            property=merged.property,
            updates=[*updates],
            time=answer.time,
        )
        position, made = self._position, dict[str, Contribution]()
        self._position += 1
        for update in updates:
            target = self._target(update, evolution)
            if target is None or self._caused[update.owner.id] >= MAX_OWNED:
                continue
            self._caused[update.owner.id] += 1
            of_target, own = target
            key = of_target.entity_key
            empty = of_target.model_copy(update={"changes": [], "position": position, "time": evolution.time, "cause": "evolution"})
            before = made.get(key, empty)
            made[key] = before.model_copy(update={"changes": [*before.changes, change_of(update, evolution, own)]})
        return [made[key] for key in sorted(made)]

    def _target(self, update: NoteUpdate, evolution: Evolution) -> tuple[Contribution, Change] | None:
        """The change that made the target of an update; None if the target or the owner has another wording."""
        found: tuple[Contribution, Change] | None = None
        for ref in (update.owner, update.target):
            found = self._changes.get((evolution.entity_type, evolution.property, ref.id))
            if found is None or note_digest(note_text(found[1].value)) != ref.digest:
                return None
        return found


def operator_of(request: MergeRequest, schema: MemorySchema) -> LLMOperator | None:
    """The operator that asked."""
    entity_type = schema.entity_type(request.entity_type)
    bound = None if entity_type is None else bound_operator(entity_type, request.property)
    return bound.operator if bound is not None and isinstance(bound.operator, LLMOperator) else None


def answer_by_rule(request: MergeRequest, schema: MemorySchema) -> Contribution:
    """The answer to a request by the operator's rule: there is no model.

    Raises:
        ValueError: If no operator of the schema asks such a question.
    """
    operator = operator_of(request, schema)
    if operator is None:
        raise ValueError(f"no operator of {request.entity_type}.{request.property} asks")
    outcome = operator.outcome_by_rule(Question(request.question, request.part))
    return Contribution(
        tenant=request.tenant,
        user=request.user,
        entity_type=request.entity_type,
        entity_key=request.entity_key,
        kind="merged",
        source="merges/0",
        position=0,
        merged=Merged(property=request.property, part=outcome.part, outcome=outcome.content),
        time=request.time,
        generation=request.generation,
    )


def last_moment(windows: Sequence[Window]) -> datetime:
    """The time of the last message."""
    return max(message.event_time for window in windows for message in window.messages)


def _tick(ref: EntityRef, now: datetime) -> Contribution:
    return Contribution(tenant=TENANT, entity_type=ref[0], entity_key=ref[1], kind="tick", source=_SOURCE, position=0, time=now)


def _ref(contribution: Contribution) -> EntityRef:
    return contribution.entity_type, contribution.entity_key
