"""One user's data in the extractions log, and the commands that erase it. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, TypeVar

import orjson

from control.documents import SchemaRef
from control.tenants import TenantDirectory
from memory.errors import KeyFormatError, VarveError
from memory.headers import CORRECTION, ERASURE, RETRACTION, TICK, TRUST_REVIEW, kind_of
from memory.ids import entity_id
from memory.records import (
    Change,
    Contribution,
    Correction,
    EntityPatch,
    ErasedEntity,
    ErasedWindow,
    ErasureCommand,
    Extraction,
)
from memory.schema.model import MemorySchema
from memory.topic_records import read_extractions_record, windows_named
from operators.entities.apply import MAX_MESSAGE_IDS
from operators.entities.entity_keys import belongs_to_user
from operators.entities.routing import contributions_of, key_of_patch
from runtime.tracing import Headers

_T = TypeVar("_T")
_EntityRef = tuple[str, str, str]
"""Type, key and generation."""

_WINDOWS_OF_A_COMMAND: Final = 5
_BYTES_OF_WINDOWS: Final = 300_000
"""Limit of a command's windows: all that they gave one entity is sent to it in one record."""
_ENTITIES_OF_A_COMMAND: Final = 300
_BYTES_OF_ENTITIES: Final = 300_000
"""Limit of a command's entities with their messages."""
_NAMES_OF_A_COMMAND: Final = 1000
"""Most memories, and most texts of models, of one entity in a command."""

_REMOVED: Final = frozenset({TICK, ERASURE, RETRACTION, TRUST_REVIEW, CORRECTION})
"""Kinds of later records that are removed in any case. The first four quote nothing that a user has said. The events stage ignores
corrections that were sent before the erasure ends."""


class UserTrace:
    """Collects one user's data in the extractions, record by record."""

    def __init__(self, tenant: str, user: str, *, tenants: TenantDirectory) -> None:
        self.tenant = tenant
        self.user = user
        self._tenants = tenants
        self._windows: dict[tuple[str, str], int] = {}
        """Bytes of the largest extraction, by window and generation."""
        self._window_ids: set[str] = set()
        self._entities: dict[_EntityRef, ErasedEntity] = {}
        self._quoted: set[_EntityRef] = set()
        """Entities that something else than the user's own extractions may have changed."""
        self._messages: dict[_EntityRef, dict[str, datetime]] = {}
        self._window_memories: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        self._entity_memories: defaultdict[_EntityRef, dict[str, None]] = defaultdict(dict)
        self._outcomes: defaultdict[_EntityRef, dict[tuple[str, str], None]] = defaultdict(dict)
        self.sessions: set[tuple[str, str]] = set()
        """Session and generation."""
        self.similar_keys: set[tuple[str, str]] = set()
        """Keys of entities whose similar values count as one, each with its generation."""
        self.dropped_sessions: set[str] = set()
        """Sessions whose open windows the sessions stage has dropped."""
        self.event_ids: set[str] = set()
        self.patched: set[tuple[str, str, str]] = set()
        """Type, memory id and field of shared texts that the user's windows have patched. A patch that was merged into the base stays."""
        self.unread = 0
        """Number of records that this version of Varve cannot read, so that their entities are unknown."""

    @property
    def windows(self) -> list[ErasedWindow]:
        """The user's windows, in each generation, in the order of the log."""
        return [
            ErasedWindow(window_id=window, generation=generation, memory_ids=[*self._window_memories.get((window, generation), ())])
            for window, generation in self._windows
        ]

    @property
    def entities(self) -> list[ErasedEntity]:
        """The entities that the user's messages have ever changed."""
        return [
            each.model_copy(update={"is_quoted": ref in self._quoted, "message_ids": sorted(self._messages.get(ref, ()))})
            for ref, each in self._entities.items()
        ]

    def has_window(self, window_id: str) -> bool:
        """Whether a window is among the user's, in any generation."""
        return window_id in self._window_ids

    def has_entity(self, entity_type: str, entity_key: str, generation: str) -> bool:
        """Whether the user's messages have ever changed an entity."""
        return (entity_type, entity_key, generation) in self._entities

    def note_entity(self, entity_type: str, entity_key: str, generation: str, *, schema_name: str = "", schema_revision: int = 0) -> None:
        """Adds an entity whose extractions are no longer in the log.

        Args:
            entity_type: Its type.
            entity_key: Its key.
            generation: Its generation.
            schema_name: The schema of the extraction that changed it; empty: the one in force.
            schema_revision: Its revision.

        Raises:
            VarveError: If the schema is unknown.
        """
        schema = self._schema(schema_name, schema_revision, generation)
        self._reached(schema, entity_type, entity_key, generation, revision=schema_revision)

    def note_window_memory(self, window_id: str, generation: str, memory_id: str) -> None:
        """Adds a memory of one of the user's windows that is still published."""
        self._note_window(window_id, generation)
        self._window_memories[window_id, generation][memory_id] = None
        self.event_ids.add(memory_id)

    def note_entity_memory(self, entity_type: str, entity_key: str, generation: str, memory_id: str) -> None:
        """Adds a memory or history entry of one of the entities that is still published."""
        self._entity_memories[entity_type, entity_key, generation][memory_id] = None

    def note_outcome(self, entity_type: str, entity_key: str, generation: str, name: str, part: str) -> None:
        """Adds a text that a model wrote for one of the entities and that is still published."""
        self._outcomes[entity_type, entity_key, generation][name, part] = None

    def add(self, value: bytes, headers: Headers) -> None:
        """Adds the user's next record."""
        kind = kind_of(headers)
        try:
            if kind is None:
                self._extraction(Extraction.from_json(value), size=len(value))
            elif kind == CORRECTION:
                self._correction(Correction.from_json(value))
            elif kind == ERASURE:
                self.dropped_sessions.update(ErasureCommand.from_json(value).sessions)
        except VarveError:
            self.unread += 1

    def add_shared(self, superseded: Extraction, in_force: Extraction, messages: Collection[str]) -> None:
        """Adds the entities with texts of a superseded extraction of another user's part of a shared window.

        An entity is left out if the extraction in force, made without the user's messages, gives it the same texts.
        """
        try:
            schema = self._schema(superseded.schema_name, superseded.schema_revision, superseded.generation)
            kept = {said for _, _, said in self._said(in_force)}
            for contribution, change, said in self._said(superseded):
                if said not in kept:
                    own = change.model_copy(update={"message_ids": [each for each in change.message_ids if each in messages]})
                    entity = contribution.entity_type, contribution.entity_key, contribution.generation
                    self._reached(schema, *entity, revision=contribution.schema_revision, changes=[own])
            for patch in superseded.patches:
                if not set(messages).isdisjoint(patch.message_ids):
                    self._patched(patch, superseded.generation, schema)
        except VarveError:
            self.unread += 1

    def _said(self, extraction: Extraction) -> Iterator[tuple[Contribution, Change, tuple[str, str, str, bytes]]]:
        """The changes of an extraction, each with its entity, property and value."""
        schema = self._schema(extraction.schema_name, extraction.schema_revision, extraction.generation)
        for each in contributions_of(extraction, schema, source="", position=0):
            for change in each.changes:
                yield each, change, (each.entity_type, each.entity_key, change.property, orjson.dumps(change.value))

    def is_about(self, value: bytes, headers: Headers) -> bool:
        """Whether a later record is about data of this trace, and not about newer messages of the user."""
        kind = kind_of(headers)
        try:
            return kind in _REMOVED or not self._window_ids.isdisjoint(windows_named(read_extractions_record(kind, value)))
        except VarveError:
            return False

    def commands(self) -> Iterator[ErasureCommand]:
        """The commands for the events stage: each window and each entity once.

        A user of whom the log has nothing any more gets an empty one: the stage may still remember windows that retention has removed.
        """
        if not self._windows and not self._entities:
            yield self._command()
        windows = zip(self.windows, self._windows.values(), strict=True)
        yield from (self._command(windows=part) for part in _parts(windows, _WINDOWS_OF_A_COMMAND, _BYTES_OF_WINDOWS))
        for entities in self._entities_by_round():
            sized = ((each, len(each.model_dump_json())) for each in entities)
            yield from (self._command(entities=part) for part in _parts(sized, _ENTITIES_OF_A_COMMAND, _BYTES_OF_ENTITIES))

    def _entities_by_round(self) -> Iterator[list[ErasedEntity]]:
        """All entities, in rounds: an entity with more memories than one command can name is in several rounds, and in each once."""
        left = {
            ref: ([*self._entity_memories.get(ref, ())], [*self._outcomes.get(ref, ())], each)
            for ref, each in zip(self._entities, self.entities, strict=True)
        }
        while left:
            yield [
                each.model_copy(update={"memory_ids": memories[:_NAMES_OF_A_COMMAND], "outcomes": outcomes[:_NAMES_OF_A_COMMAND]})
                for memories, outcomes, each in left.values()
            ]
            left = {
                ref: (memories[_NAMES_OF_A_COMMAND:], outcomes[_NAMES_OF_A_COMMAND:], each)
                for ref, (memories, outcomes, each) in left.items()
                if max(len(memories), len(outcomes)) > _NAMES_OF_A_COMMAND
            }

    def _command(self, *, windows: Iterable[ErasedWindow] = (), entities: Iterable[ErasedEntity] = ()) -> ErasureCommand:
        return ErasureCommand(tenant=self.tenant, user=self.user, windows=list(windows), entities=list(entities))

    def _extraction(self, extraction: Extraction, *, size: int) -> None:
        self._note_window(extraction.window_id, extraction.generation, size=size)
        self.sessions.add((extraction.session, extraction.generation))
        self.event_ids |= {each.id for each in extraction.events}
        if not extraction.events and not extraction.patches:
            return
        schema = self._schema(extraction.schema_name, extraction.schema_revision, extraction.generation)
        self.similar_keys |= {(key, extraction.generation) for key in schema.similarities()}
        for each in contributions_of(extraction, schema, source="", position=0):
            entity = each.entity_type, each.entity_key, each.generation
            self._reached(schema, *entity, revision=each.schema_revision, changes=each.changes, is_quoted=False)
        for patch in extraction.patches:
            self._patched(patch, extraction.generation, schema)

    def _note_window(self, window_id: str, generation: str, *, size: int = 0) -> None:
        self._windows[window_id, generation] = max(size, self._windows.get((window_id, generation), 0))
        self._window_ids.add(window_id)

    def _patched(self, patch: EntityPatch, generation: str, schema: MemorySchema) -> None:
        with suppress(KeyFormatError):
            key = key_of_patch(patch, schema)
            entity = self._entities.get((patch.entity_type, key, generation))
            if entity is not None and not entity.own:
                self.patched.add((patch.entity_type, entity_id(self.tenant, patch.entity_type, key, generation), patch.field))

    def _correction(self, correction: Correction) -> None:
        entity = correction.entity
        if entity is not None:
            schema = self._schema(entity.schema_name, entity.schema_revision, correction.generation)
            self._reached(schema, entity.entity_type, entity.entity_key, correction.generation, revision=entity.schema_revision)
        elif correction.event is not None:
            self._note_window(correction.event.window_id, correction.generation)

    def _reached(
        self,
        schema: MemorySchema,
        entity_type: str,
        entity_key: str,
        generation: str,
        *,
        revision: int,
        changes: Sequence[Change] = (),
        is_quoted: bool = True,
    ) -> None:
        found = schema.entity_type(entity_type)
        if found is not None:
            if is_quoted:
                self._quoted.add((entity_type, entity_key, generation))
            own = belongs_to_user(found, entity_key, self.user)
            if not own:
                self._note_messages((entity_type, entity_key, generation), changes)
            self._entities[entity_type, entity_key, generation] = ErasedEntity(
                entity_type=entity_type,
                entity_key=entity_key,
                generation=generation,
                own=own,
                schema_name=schema.name,
                schema_revision=revision,
            )

    def _note_messages(self, entity: _EntityRef, changes: Iterable[Change]) -> None:
        """Keeps the newest messages of each entity, as many as an entity remembers."""
        known = self._messages.setdefault(entity, {})
        for change in changes:
            for message_id in change.message_ids:
                known[message_id] = max(change.event_time, known.get(message_id, change.event_time))
        for message_id in sorted(known, key=lambda each: (known[each], each))[:-MAX_MESSAGE_IDS]:
            del known[message_id]

    def _schema(self, name: str, revision: int, generation: str) -> MemorySchema:
        if not revision:
            return self._tenants.schema_of(self.tenant, generation)
        return self._tenants.schema(SchemaRef(name=name, revision=revision))


def _parts(items: Iterable[tuple[_T, int]], most: int, most_bytes: int) -> Iterator[list[_T]]:
    """Items in parts of at most ``most`` items and ``most_bytes`` bytes; a larger item is alone in its part."""
    part: list[_T] = []
    held = 0
    for item, size in items:
        if part and (len(part) == most or held + size > most_bytes):
            yield part
            part, held = [], 0
        part.append(item)
        held += size
    if part:
        yield part
