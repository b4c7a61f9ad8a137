"""Blocks of text that agents edit with memory tools: the operator AGENT keeps one per user, and edits reach it through the log.

An edit is a record of the extractions log, as a correction is. The entities stage applies it in the order of the log, and the block lists
its result. So of two agents that replace the same text, the second gets a conflict, whichever process took its request.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.auth.caller import Caller
from api.problems import ProblemError
from api.writes.correction_records import author_of
from control.tenants import TenantDirectory
from memory.errors import RecordTooLargeError
from memory.headers import CORRECTION, KIND
from memory.ids import entity_id
from memory.keys import distinct_key, entity_key
from memory.positions import LogPosition
from memory.records import Change, Correction, EntityCorrection, Memory, TextEdit, WrittenText
from memory.schema.model import AGENT, EntityProperty, EntityType
from memory.topics import EXTRACTIONS
from operators.agent.edits import UNDO, change_value
from operators.entities.correction import BY_HAND
from runtime.kafka import OutgoingRecord, Producer
from runtime.settings import Settings
from runtime.tracing import Headers

CONFLICT: Final = "edit-conflict"
"""The kind of the problem if an edit does not fit the block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One user's block."""

    tenant: str
    user: str
    generation: str
    entity_type: EntityType
    field: EntityProperty
    """The property of its text."""

    @property
    def key(self) -> str:
        """The key of its entity."""
        return entity_key(self.user)

    @property
    def id(self) -> str:
        """The id of its entity."""
        return entity_id(self.tenant, self.entity_type.name, self.key, self.generation)

    @property
    def max_characters(self) -> int:
        """Most characters of its text."""
        aggregate = self.field.aggregate
        return int(str(dict(aggregate.parameters)["Characters"])) if aggregate is not None else 0

    def text(self, memory: Memory | None) -> str:
        """Its text in its entity."""
        value = None if memory is None else memory.properties.get(self.field.name)
        return value if isinstance(value, str) else ""

    def written(self, memory: Memory | None) -> WrittenText | None:
        """The origin of its text; None if it was never written."""
        return None if memory is None or memory.written is None else memory.written.get(self.field.name)

    def edit(self, memory: Memory | None, edit_id: str) -> TextEdit | None:
        """One of its newest edits; None if it is not among them."""
        written = self.written(memory)
        return None if written is None else next((each for each in written.edits or () if each.id == edit_id), None)

    def fields(self, memory: Memory | None) -> dict[str, Any]:
        """The block as plain values."""
        written, text = self.written(memory), self.text(memory)
        edits = () if written is None else written.edits or ()
        return {
            "entity_type": self.entity_type.name,
            "property": self.field.name,
            "description": self.field.description,
            "user": self.user,
            "text": text,
            "version": 0 if written is None else written.version or 0,
            "characters": len(text),
            "max_characters": self.max_characters,
            "edits": [each.model_dump(mode="json", exclude_none=True) for each in edits],
        }


def blocks_of(caller: Caller, tenants: TenantDirectory, user: str | None) -> Iterator[Block]:
    """A user's blocks, in the order of the schema of the tenant's live generation.

    Args:
        caller: The caller.
        tenants: The schemas.
        user: The user that the request names. Default: the user to whom the key is bound.

    Raises:
        ProblemError: 403 if the key is bound to another user, 422 if there is no user.
    """
    named, tenant = caller.user_of(user), caller.tenant
    if named is None:
        raise ProblemError(422, "invalid", "user: name the user; the API key is bound to none")
    for entity_type in tenants.schema_of(tenant.id).entity_types:
        for field in entity_type.properties:
            if entity_type.op_of(field) == AGENT:
                yield Block(tenant=tenant.id, user=named, generation=tenant.generation, entity_type=entity_type, field=field)


def block_of(caller: Caller, tenants: TenantDirectory, user: str | None, *, entity_type: str, property_name: str) -> Block:
    """One block of a user.

    Raises:
        ProblemError: 404 if the schema has no such block, and as :func:`blocks_of`.
    """
    known = list(blocks_of(caller, tenants, user))
    for block in known:
        if (block.entity_type.name, block.field.name) == (entity_type, property_name):
            return block
    names = ", ".join(f"{each.entity_type.name}/{each.field.name}" for each in known)
    raise ProblemError(
        404,
        "not-found",
        f"there is no block {entity_type}/{property_name}; {f'the blocks are {names}' if names else 'the schema has no block'}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRequest:
    """A request to edit a block, or to undo an edit."""

    id: str
    caller: Caller
    block: Block
    tool: str
    arguments: Mapping[str, Any]
    """The arguments of the tool that are set."""
    reason: str
    time: datetime
    newest: datetime
    """The newest event time of the block's entity: an edit does not advance it."""


class BlockEdits:
    """Produces edits of blocks to the log of extractions.

    Args:
        producer: The producer.
        settings: The topic prefix, and the largest record.
    """

    def __init__(self, *, producer: Producer, settings: Settings) -> None:
        self._producer = producer
        self._topic = settings.topic(EXTRACTIONS.name)
        self._max_record_bytes = settings.kafka.max_record_bytes

    async def send(self, request: EditRequest, headers: Headers) -> LogPosition:
        """Sends an edit.

        Raises:
            RecordTooLargeError: If it is too large for a record.
        """
        block, by = request.block, author_of(request.caller)
        schema = request.caller.tenant.schema_of(block.generation)
        change = Change(
            op="apply",
            property=block.field.name,
            source_id=request.id,
            value=change_value(request.tool, by=by, time=request.time.isoformat(), **request.arguments),
            event_time=request.newest,
            extractor=BY_HAND,
            # An undo is no evidence of the entity.
            is_update=True if request.tool == UNDO else None,
        )
        correction = Correction(
            id=request.id,
            tenant=block.tenant,
            user=block.user,
            action="edit",
            memory_id=block.id,
            generation=block.generation,
            entity=EntityCorrection(
                entity_type=block.entity_type.name,
                entity_key=block.key,
                changes=[change],
                schema_name=schema.name,
                schema_revision=schema.revision,
            ),
            by=by,
            reason=request.reason,
            time=request.time,
        )
        value = correction.to_json()
        if len(value) > self._max_record_bytes:
            raise RecordTooLargeError(f"an edit of {len(value)} bytes is over the limit of {self._max_record_bytes}; shorten its text")
        key = distinct_key(block.tenant, block.user)
        return (await self._producer.send_many([OutgoingRecord(self._topic, key, value, headers=(*headers, (KIND, CORRECTION)))]))[0]


def verdict_of(request: EditRequest, memory: Memory | None) -> TextEdit | None:
    """The result of an edit or an undo; None if the block does not have it yet.

    Raises:
        ProblemError: 409 if it did not fit the block.
    """
    target = request.arguments["edit"] if request.tool == UNDO else request.id
    edit = request.block.edit(memory, str(target))
    if edit is None:
        return None
    if request.tool == UNDO:
        if edit.status != "undone" and edit.undo != request.id:
            return None
        is_done = edit.status == "undone"
    else:
        is_done = edit.status != "conflict"
    if is_done:
        return edit
    raise conflict(request.block, memory, edit.detail, edit_id=request.id)


def conflict(block: Block, memory: Memory | None, detail: str, *, edit_id: str | None = None) -> ProblemError:
    """The problem of an edit that does not fit the block. It has the block, so that the agent can decide again."""
    members: dict[str, Any] = {"block": block.fields(memory)} | ({} if edit_id is None else {"edit": edit_id})
    return ProblemError(409, CONFLICT, f"{detail}; read the block and decide again", members=members)
