"""Looks tenants up for the stages, and says which failures are poison and which are transient."""

from collections.abc import Iterator
from typing import Final

from control.documents import SchemaRef
from control.errors import ControlLogBehindError, UnknownTenantError
from control.tenants import Tenant, TenantDirectory
from memory.errors import SchemaError
from memory.records import Contribution, Extraction, MergeRequest
from memory.schema.model import MemorySchema
from memory.topics import TopicSpec
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError

_LOOK_AGAIN_S: Final = 0.5
"""The log is read to its end at least once a second."""

MadeUnderSchema = Extraction | Contribution | MergeRequest
"""A record that names the schema it was made under; by a revision of 0 the one in force for its generation."""


def tenant_of(tenants: TenantDirectory, tenant: str) -> Tenant:
    """Looks a tenant up.

    Raises:
        PoisonRecordError: If it is unknown.
        TransientError: If what this process knows is too old to tell.
    """
    try:
        return tenants.get(tenant)
    except UnknownTenantError as error:
        raise PoisonRecordError(UnknownTenantError.reason, str(error)) from error
    except ControlLogBehindError as error:
        raise _behind(error) from error


def schema_at(tenants: TenantDirectory, ref: SchemaRef) -> MemorySchema:
    """One revision of a schema.

    Raises:
        PoisonRecordError: If the control log has no such schema.
        TransientError: If this process does not know it yet, or what it knows is too old.
    """
    try:
        return tenants.schema(ref)
    except SchemaError as error:
        raise PoisonRecordError("unknown_schema", str(error)) from error
    except ControlLogBehindError as error:
        raise _behind(error) from error


def schema_of_record(tenants: TenantDirectory, record: MadeUnderSchema) -> MemorySchema:
    """The schema that a record was made under, so that it is handled alike whenever it is handled.

    Raises:
        PoisonRecordError: If the tenant or the schema is unknown.
        TransientError: If this process does not know them yet, or what it knows is too old.
    """
    known = tenant_of(tenants, record.tenant)
    return schema_at(tenants, _named_schema(record) or known.schema_of(record.generation))


def earlier_schemas(tenants: TenantDirectory, record: MadeUnderSchema) -> Iterator[MemorySchema]:
    """The revisions of a record's schema before the one that it was made under, the newest first; raises as :func:`schema_of_record`.

    Revisions are never removed, so that a rebuild finds the same.
    """
    ref = _named_schema(record) or tenant_of(tenants, record.tenant).schema_of(record.generation)
    for number in range(ref.revision - 1, 0, -1):
        yield schema_at(tenants, SchemaRef(name=ref.name, revision=number))


def is_erased(tenants: TenantDirectory, tenant: str, user: str | None, record: ConsumedRecord, topic: TopicSpec) -> bool:
    """Whether an erasure reaches a record where it first lay: it is passed over then.

    Args:
        tenants: Who is known, and who was erased.
        tenant: Whose record.
        user: The user that it is of; None: it is no user's.
        record: As it lies in its topic.
        topic: That topic.

    Raises:
        TransientError: If what this process knows is too old to tell.
    """
    origin = record.origin
    place = origin if origin.topic == record.topic else record.position
    return is_place_erased(tenants, tenant, user, topic.name, place.partition, place.offset)


def is_place_erased(tenants: TenantDirectory, tenant: str, user: str | None, topic: str, partition: int, offset: int) -> bool:
    """The same of a place in a topic.

    Args:
        tenants: Who is known, and who was erased.
        tenant: Whose record lies there.
        user: The user that it is of; None: it is no user's.
        topic: The topic's name without the prefix.
        partition: The partition.
        offset: The offset.

    Raises:
        TransientError: If what this process knows is too old to tell.
    """
    try:
        return tenants.is_erased(tenant, user, topic, partition, offset)
    except ControlLogBehindError as error:
        raise _behind(error) from error


def erasure_epoch(tenants: TenantDirectory, tenant: str, user: str) -> str:
    """What tells a user's messages from those of before the last erasure; empty: the user was never erased.

    Args:
        tenants: Who was erased.
        tenant: Whose user.
        user: Who.

    Raises:
        TransientError: If what this process knows is too old to tell.
    """
    try:
        return tenants.erasure_epoch(tenant, user)
    except ControlLogBehindError as error:
        raise _behind(error) from error


def weight_of(tenants: TenantDirectory, tenant: str) -> float:
    """A tenant's weight in fair queueing; 1 for an unknown one, whose records are handled to be refused."""
    try:
        return tenants.get(tenant).weight
    except (UnknownTenantError, ControlLogBehindError):
        return 1.0


def _named_schema(record: MadeUnderSchema) -> SchemaRef | None:
    return SchemaRef(name=record.schema_name, revision=record.schema_revision) if record.schema_revision else None


def _behind(error: ControlLogBehindError) -> TransientError:
    return TransientError(str(error), dependency="control", retry_after=_LOOK_AGAIN_S, counts_as_attempt=False)
