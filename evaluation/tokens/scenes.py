"""What a good model would answer for each window, at realistic length: LoCoMo's own annotations put into the types of a schema.

Events are the observations that LoCoMo's authors wrote down (9 a window, 15 words each), typed by embedding; their segments are those of
the offline extractor; what changes an entity are the session's significant events, and for a topic the observations on it.
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
from operators.patch import MAX_TEXT
from runtime.session_history import EarlierWindows

_SAME_TOPIC: Final = 0.5
_WORDS_IN_VALUE: Final = 3
_EVERY_THIRD: Final = 3
_WORDS_SEARCHED: Final = 5


@dataclass(slots=True)
class Entity:
    """An entity as it stands before a window."""

    type: EntityType
    key: tuple[str, ...]
    """The parts that an answer has to name."""
    texts: dict[str, str] = field(default_factory=dict)
    vector: Vector | None = None

    def memory(self, user: str) -> Memory:
        """The entity as an extractor is shown it."""
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
class Change:
    """What a window says that is new about one entity's field."""

    entity: Entity
    field: str
    facts: tuple[str, ...]
    before: dict[str, str]
    after: dict[str, str]
    patch: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A window, what a model is shown beside it, and what it answers."""

    annotated: AnnotatedWindow
    before: EarlierWindows
    """What the extraction stage knows of the session's windows before."""
    nearest: tuple[Memory, ...]
    segments: tuple[dict[str, Any], ...]
    events: tuple[dict[str, Any], ...]
    changes: tuple[Change, ...]


class Director:
    """Plays conversations through a schema: entities grow from window to window."""

    def __init__(self, *, schema: MemorySchema, embedder: Embedder) -> None:
        """Nothing is embedded yet."""
        self._schema = schema
        self._embedder = embedder
        self._offline = OfflineExtractor(embedder=embedder)

    async def scenes(self, windows: Sequence[AnnotatedWindow]) -> AsyncIterator[Scene]:
        """The scenes of one conversation, in order."""
        types = [f"{each.name}: {each.description}" for each in self._schema.event_types]
        type_vectors = await self._vectors(types)
        entities: list[Entity] = []
        topics: dict[str, list[str]] = defaultdict(list)
        for annotated in windows:
            texts = [each.text for each in annotated.observations]
            vectors = await self._vectors(texts)
            laid_down = await self._offline.extract(annotated.window, self._schema, ExtractionContext())
            places = [_segment_of(each, laid_down.segments) for each in annotated.observations]
            nearest = await self._nearest(entities, annotated)
            changes = [
                *self._profile_changes(entities, annotated),
                *await self._topic_changes(entities, annotated, laid_down.segments, places),
            ]
            yield Scene(
                annotated=annotated,
                before=EarlierWindows(topics=tuple(topics[annotated.window.session])),
                nearest=nearest,
                segments=tuple({form.TOPIC: each.topic, form.RANGES: [list(pair) for pair in each.ranges]} for each in laid_down.segments),
                events=tuple(
                    _event(self._schema.event_types[int(np.argmax(type_vectors @ vector))], observation, annotated, number)
                    for number, (observation, vector) in enumerate(zip(annotated.observations, vectors, strict=True))
                ),
                changes=tuple(changes),
            )
            topics[annotated.window.session] += [each.topic for each in laid_down.segments]

    async def _vectors(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        embeddings = await self._embedder.embed_documents(list(texts)) if texts else []
        return np.array([each.dense for each in embeddings], dtype=np.float32).reshape(len(texts), self._embedder.dimension)

    async def _nearest(self, entities: Sequence[Entity], annotated: AnnotatedWindow) -> tuple[Memory, ...]:
        (window,) = await self._vectors([" ".join(message.text for message in annotated.window.messages)])
        shown: list[Memory] = []
        for entity_type in form.patched_types(self._schema):
            own = [each for each in entities if each.type is entity_type]
            own.sort(key=lambda each: 0.0 if each.vector is None else -float(each.vector @ window))
            shown += [each.memory(annotated.window.user) for each in own[:ENTITIES_PER_TYPE]]
        return tuple(shown)

    def _profile_changes(self, entities: list[Entity], annotated: AnnotatedWindow) -> list[Change]:
        """Each significant event of the session goes into a text field of each entity type that needs no key."""
        changes: list[Change] = []
        for entity_type in form.patched_types(self._schema):
            if form.named_key_parts(entity_type):
                continue
            entity = next((each for each in entities if each.type is entity_type), None)
            if entity is None:
                entity = Entity(entity_type, ())
                entities.append(entity)
            fields = entity_type.patched_properties()
            for number, fact in enumerate(annotated.happenings):
                changes.append(_changed(entity, fields[number % len(fields)].name, (fact,), number=number, places=(0,)))
        return changes

    async def _topic_changes(
        self, entities: list[Entity], annotated: AnnotatedWindow, segments: Sequence[Segment], places: Sequence[int | None]
    ) -> list[Change]:
        """The observations in a segment go into the nearest keyed entity, or into a new one."""
        changes: list[Change] = []
        for entity_type in form.patched_types(self._schema):
            named = form.named_key_parts(entity_type)
            if self._schema.name != PAPER or not named:
                continue
            for place, segment in enumerate(segments):
                told = [each for each, at in zip(annotated.observations, places, strict=True) if at == place]
                if not told:
                    continue
                (vector,) = await self._vectors([" ".join(each.text for each in told)])
                entity = _nearest_topic(entities, entity_type, vector)
                if entity is None:
                    entity = Entity(entity_type, (segment.topic,) * len(named), vector=vector)
                    entities.append(entity)
                field_name = entity_type.patched_properties()[0].name
                facts = tuple(each.text for each in told)
                changes.append(_changed(entity, field_name, facts, number=len(changes), places=told[0].places))
        return changes


def _nearest_topic(entities: Sequence[Entity], entity_type: EntityType, vector: Vector) -> Entity | None:
    own = [each for each in entities if each.type is entity_type and each.vector is not None]
    best = max(own, key=lambda each: float(np.dot(np.asarray(each.vector), vector)), default=None)
    return best if best is not None and float(np.dot(np.asarray(best.vector), vector)) >= _SAME_TOPIC else None


def _changed(entity: Entity, name: str, facts: tuple[str, ...], *, number: int, places: tuple[int, ...]) -> Change:
    """Works facts into an entity's field, as long as patches may make it: the patch adds a sentence, every third replaces words."""
    before = dict(entity.texts)
    old = before.get(name, "")
    is_replacement = bool(old) and number % _EVERY_THIRD == _EVERY_THIRD - 1
    patch: dict[str, Any] = {form.TYPE: entity.type.name}
    if entity.key:
        patch[form.KEY] = list(entity.key)
    patch |= {
        form.FIELD: name,
        form.MESSAGES: list(places),
        form.SEARCH: " ".join(old.split()[-_WORDS_SEARCHED:]) if is_replacement else "",
        form.REPLACE: facts[0],
    }
    kept = old.removesuffix(patch[form.SEARCH])
    entity.texts[name] = f"{kept} {' '.join(facts)}".strip()[-MAX_TEXT:]
    return Change(entity, name, facts, before, dict(entity.texts), patch)


def _segment_of(observation: Observation, segments: Sequence[Segment]) -> int | None:
    for place, segment in enumerate(segments):
        if any(first <= observation.places[0] <= last for first, last in segment.ranges):
            return place
    return None


def _event(event_type: EventType, observation: Observation, annotated: AnnotatedWindow, number: int) -> dict[str, Any]:
    said = annotated.window.messages[observation.places[0]].event_time
    event: dict[str, Any] = {
        form.TYPE: event_type.name,
        form.MESSAGES: list(observation.places),
        form.DATE: f"{said:%Y-%m-%d}" if number % _EVERY_THIRD == 0 else "",
        form.CONTENT: observation.text,
    }
    values = {each.name: _value(each, observation.text, place) for place, each in enumerate(event_type.properties)}
    event |= form.property_fields(values, names=values)
    words = sorted(set(observation.text.strip(".").split()), key=lambda word: (-len(word), word))
    return event | {form.KEYWORDS: words[:3], form.WEIGHT: 5}


def _value(each: Property, text: str, place: int) -> Any:
    """A value of a property's type: a few words of the text for the first two properties, nothing for every third."""
    if place % _EVERY_THIRD == _EVERY_THIRD - 1:
        return [] if each.value_type.startswith("list") else "" if each.value_type == "string" else None
    words = text.split()[place : place + _WORDS_IN_VALUE]
    values: dict[str, Any] = {"int64": 7, "float32": 2.5, "bool": True, "string": " ".join(words), "list<string>": words[:1]}
    return values.get(each.value_type, [])
