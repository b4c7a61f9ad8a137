"""Simulates the answer of a good model for each window, at realistic length, by LoCoMo's annotations in the types of a schema.

Events are LoCoMo's observations (9 a window, 15 words each), typed by embedding. Segments are those of the offline extractor. Entities
change by the session's significant events, and topics by the observations on them.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from evaluation.locomo import AnnotatedWindow, Observation
from evaluation.tokens.schemas import PAPER
from extraction.offline.extractor import OfflineExtractor
from extraction.one_pass.answer import form
from extraction.one_pass.prompt.limits import ENTITIES_PER_TYPE
from extraction.port import ExtractionContext
from memory.keys import entity_key
from memory.records import Memory, Segment
from memory.schema import EntityType, EventType, MemorySchema, Property
from models.embedding.port import Embedder, Vector
from operators.patches.patch_edit import MAX_TEXT
from runtime.redis.session_history import EarlierWindows

_SAME_TOPIC: Final = 0.5
_WORDS_IN_VALUE: Final = 3
_EVERY_THIRD: Final = 3
_WORDS_SEARCHED: Final = 5


@dataclass(slots=True)
class SimulatedEntity:
    """An entity in its state before a window."""

    type: EntityType
    key: tuple[str, ...]
    """The key parts that an answer has to give."""
    texts: dict[str, str] = field(default_factory=dict)
    vector: Vector | None = None

    def memory(self, user: str) -> Memory:
        """The entity as an extractor gets it."""
        key = entity_key(user, *self.key)
        return Memory(
            id=key,
            tenant="evaluation",
            kind="entity",
            type=self.type.name,
            content=key,
            properties=dict(self.texts),
            event_time="2023-01-01T00:00:00Z",
            entity_key=key,
        )


@dataclass(frozen=True, slots=True)
class EntityChange:
    """New facts of a window about one field of an entity."""

    entity: SimulatedEntity
    field: str
    facts: tuple[str, ...]
    before: dict[str, str]
    after: dict[str, str]
    patch: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedWindow:
    """A window, the context of its prompt, and the simulated answer."""

    annotated: AnnotatedWindow
    before: EarlierWindows
    """The extraction stage's context from the session's earlier windows."""
    nearest: tuple[Memory, ...]
    segments: tuple[dict[str, Any], ...]
    events: tuple[dict[str, Any], ...]
    changes: tuple[EntityChange, ...]


class AnswerSimulator:
    """Simulates a conversation window by window, with entities that grow.

    Args:
        schema: The memory types.
        embedder: Places observations in types and topics.
    """

    def __init__(self, *, schema: MemorySchema, embedder: Embedder) -> None:
        self._schema = schema
        self._embedder = embedder
        self._offline = OfflineExtractor(embedder=embedder)

    async def simulate(self, windows: Sequence[AnnotatedWindow]) -> AsyncIterator[SimulatedWindow]:
        """Simulates the windows of one conversation, in order."""
        types = [f"{each.name}: {each.description}" for each in self._schema.event_types]
        type_vectors = await self._vectors(types)
        entities: list[SimulatedEntity] = []
        topics: dict[str, list[str]] = defaultdict(list)
        for annotated in windows:
            texts = [each.text for each in annotated.observations]
            vectors = await self._vectors(texts)
            offline = await self._offline.extract(annotated.window, self._schema, ExtractionContext())
            segment_indexes = [_segment_index(each, offline.segments) for each in annotated.observations]
            nearest = await self._nearest(entities, annotated)
            changes = [
                *self._profile_changes(entities, annotated),
                *await self._topic_changes(entities, annotated, offline.segments, segment_indexes),
            ]
            yield SimulatedWindow(
                annotated=annotated,
                before=EarlierWindows(topics=tuple(topics[annotated.window.session])),
                nearest=nearest,
                segments=tuple({form.TOPIC: each.topic, form.RANGES: [list(pair) for pair in each.ranges]} for each in offline.segments),
                events=tuple(
                    _event(self._schema.event_types[int(np.argmax(type_vectors @ vector))], observation, annotated, number)
                    for number, (observation, vector) in enumerate(zip(annotated.observations, vectors, strict=True))
                ),
                changes=tuple(changes),
            )
            topics[annotated.window.session] += [each.topic for each in offline.segments]

    async def _vectors(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        embeddings = await self._embedder.embed_documents(list(texts)) if texts else []
        return np.array([each.dense for each in embeddings], dtype=np.float32).reshape(len(texts), self._embedder.dimension)

    async def _nearest(self, entities: Sequence[SimulatedEntity], annotated: AnnotatedWindow) -> tuple[Memory, ...]:
        (window,) = await self._vectors([" ".join(message.text for message in annotated.window.messages)])
        nearest: list[Memory] = []
        for entity_type in form.patched_types(self._schema):
            own = [each for each in entities if each.type is entity_type]
            own.sort(key=lambda each: 0.0 if each.vector is None else -float(each.vector @ window))
            nearest += [each.memory(annotated.window.user) for each in own[:ENTITIES_PER_TYPE]]
        return tuple(nearest)

    def _profile_changes(self, entities: list[SimulatedEntity], annotated: AnnotatedWindow) -> list[EntityChange]:
        """Adds each significant event of the session to a text field of each entity type that needs no key."""
        changes: list[EntityChange] = []
        for entity_type in form.patched_types(self._schema):
            if form.named_key_parts(entity_type):
                continue
            entity = next((each for each in entities if each.type is entity_type), None)
            if entity is None:
                entity = SimulatedEntity(entity_type, ())
                entities.append(entity)
            fields = entity_type.patched_properties()
            for number, fact in enumerate(annotated.significant_events):
                changes.append(_apply_facts(entity, fields[number % len(fields)].name, (fact,), number=number, message_indexes=(0,)))
        return changes

    async def _topic_changes(
        self,
        entities: list[SimulatedEntity],
        annotated: AnnotatedWindow,
        segments: Sequence[Segment],
        segment_indexes: Sequence[int | None],
    ) -> list[EntityChange]:
        """Adds the observations in a segment to the nearest keyed entity, or to a new one."""
        changes: list[EntityChange] = []
        for entity_type in form.patched_types(self._schema):
            named = form.named_key_parts(entity_type)
            if self._schema.name != PAPER or not named:
                continue
            for index, segment in enumerate(segments):
                observations = [each for each, of in zip(annotated.observations, segment_indexes, strict=True) if of == index]
                if not observations:
                    continue
                (vector,) = await self._vectors([" ".join(each.text for each in observations)])
                entity = _nearest_topic(entities, entity_type, vector)
                if entity is None:
                    entity = SimulatedEntity(entity_type, (segment.topic,) * len(named), vector=vector)
                    entities.append(entity)
                field_name = entity_type.patched_properties()[0].name
                facts = tuple(each.text for each in observations)
                changes.append(
                    _apply_facts(entity, field_name, facts, number=len(changes), message_indexes=observations[0].message_indexes)
                )
        return changes


def _nearest_topic(entities: Sequence[SimulatedEntity], entity_type: EntityType, vector: Vector) -> SimulatedEntity | None:
    own = [each for each in entities if each.type is entity_type and each.vector is not None]
    best = max(own, key=lambda each: float(np.dot(np.asarray(each.vector), vector)), default=None)
    return best if best is not None and float(np.dot(np.asarray(best.vector), vector)) >= _SAME_TOPIC else None


def _apply_facts(
    entity: SimulatedEntity, name: str, facts: tuple[str, ...], *, number: int, message_indexes: tuple[int, ...]
) -> EntityChange:
    """Adds facts to an entity's field, within the limit of patches. The patch adds a sentence; every third replaces words."""
    before = dict(entity.texts)
    old = before.get(name, "")
    is_replacement = bool(old) and number % _EVERY_THIRD == _EVERY_THIRD - 1
    patch: dict[str, Any] = {form.TYPE: entity.type.name}
    if entity.key:
        patch[form.KEY] = list(entity.key)
    patch |= {
        form.FIELD: name,
        form.MESSAGES: list(message_indexes),
        form.SEARCH: " ".join(old.split()[-_WORDS_SEARCHED:]) if is_replacement else "",
        form.REPLACE: facts[0],
    }
    remaining = old.removesuffix(patch[form.SEARCH])
    entity.texts[name] = f"{remaining} {' '.join(facts)}".strip()[-MAX_TEXT:]
    return EntityChange(entity, name, facts, before, dict(entity.texts), patch)


def _segment_index(observation: Observation, segments: Sequence[Segment]) -> int | None:
    for index, segment in enumerate(segments):
        if any(first <= observation.message_indexes[0] <= last for first, last in segment.ranges):
            return index
    return None


def _event(event_type: EventType, observation: Observation, annotated: AnnotatedWindow, number: int) -> dict[str, Any]:
    time = annotated.window.messages[observation.message_indexes[0]].event_time
    event: dict[str, Any] = {
        form.TYPE: event_type.name,
        form.MESSAGES: list(observation.message_indexes),
        form.DATE: f"{time:%Y-%m-%d}" if number % _EVERY_THIRD == 0 else "",
        form.CONTENT: observation.text,
    }
    values = {each.name: _value(each, observation.text, index) for index, each in enumerate(event_type.properties)}
    event |= form.property_fields(values, names=values)
    words = sorted(set(observation.text.strip(".").split()), key=lambda word: (-len(word), word))
    return event | {form.KEYWORDS: words[:3], form.WEIGHT: 5}


def _value(each: Property, text: str, index: int) -> Any:
    """A value of a property's type: a few words of the text for the first two properties, nothing for every third."""
    if index % _EVERY_THIRD == _EVERY_THIRD - 1:
        return [] if each.value_type.startswith("list") else "" if each.value_type == "string" else None
    words = text.split()[index : index + _WORDS_IN_VALUE]
    values: dict[str, Any] = {"int64": 7, "float32": 2.5, "bool": True, "string": " ".join(words), "list<string>": words[:1]}
    return values.get(each.value_type, [])
