"""Tenant lookups for the stages, with failures sorted into poison and transient errors."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final, ParamSpec, TypeVar

from control.documents import SchemaRef
from control.errors import ControlLogBehindError, UnknownTenantError, UnreadableTenantError
from control.tenants import UNFINISHED, Tenant, TenantDirectory
from memory.errors import SchemaError
from memory.records import Contribution, Extraction, MergeRequest
from memory.schema.model import MemorySchema
from memory.topics import TopicSpec, is_topic
from streams.engine.records import ConsumedRecord
from streams.errors import PoisonRecordError, TransientError, WaitedTooLongError

P = ParamSpec("P")
T = TypeVar("T")

_LOOK_AGAIN_S: Final = 0.5
"""A process reads the control log to its end at least once a second."""
LONGEST_WAIT_S: Final = 600.0
"""How long a partition waits for a tenant's document that cannot be read. Then the tenant's records become dead letters: all tenants of
the partition would wait with it."""

MadeUnderSchema = Extraction | Contribution | MergeRequest
"""A record that names its schema; revision 0 means the schema in force for its generation."""


def tenant_of(tenants: TenantDirectory, tenant: str) -> Tenant:
    """Looks a tenant up.

    Raises:
        PoisonRecordError: It is unknown.
        TransientError: This process's control data is too old to decide.
    """
    try:
        return _read_now(tenants.get, tenant)
    except UnknownTenantError as error:
        raise PoisonRecordError(UnknownTenantError.reason, str(error)) from error


def schema_at(tenants: TenantDirectory, ref: SchemaRef) -> MemorySchema:
    """One revision of a schema.

    Raises:
        PoisonRecordError: The control log has no such schema.
        TransientError: This process does not know it yet, or its control data is too old.
    """
    try:
        return _read_now(tenants.schema, ref)
    except SchemaError as error:
        raise PoisonRecordError("unknown_schema", str(error)) from error


def schema_of_record(tenants: TenantDirectory, record: MadeUnderSchema) -> MemorySchema:
    """The schema under which a record was made, so that the record is always handled in the same way.

    Raises:
        PoisonRecordError: The tenant or the schema is unknown.
        TransientError: This process does not know them yet, or its control data is too old.
    """
    known = tenant_of(tenants, record.tenant)
    return schema_at(tenants, _named_schema(record) or known.schema_of(record.generation))


def other_schemas(tenants: TenantDirectory, record: MadeUnderSchema) -> Iterator[MemorySchema]:
    """All other schemas under which the entities of a record's generation may have been made; raises as :func:`schema_of_record`.

    Earlier revisions of the record's schema come first, then the tenant's current and former schemas, newest first. Schemas are never
    removed, so a rebuild finds the same.
    """
    known = tenant_of(tenants, record.tenant)
    ref = _named_schema(record) or known.schema_of(record.generation)
    earlier = [SchemaRef(name=ref.name, revision=number) for number in range(ref.revision - 1, 0, -1)]
    for schema in dict.fromkeys((*earlier, *known.schemas_of(record.generation))):
        if schema != ref:
            yield schema_at(tenants, schema)


def is_erased(tenants: TenantDirectory, tenant: str, user: str | None, record: ConsumedRecord, topic: TopicSpec) -> bool:
    """Whether an erasure covers a record, by its first position. Such records are skipped.

    Args:
        tenants: Knows the tenants and erasures.
        tenant: The record's tenant.
        user: The record's user. None: it belongs to no user.
        record: The record.
        topic: Its topic.

    Raises:
        TransientError: This process's control data is too old to decide.
    """
    origin = record.origin
    place = origin if is_topic(topic, origin.topic) else record.place
    return is_place_erased(tenants, tenant, user, topic.name, place.partition, place.offset)


def is_place_erased(tenants: TenantDirectory, tenant: str, user: str | None, topic: str, partition: int, offset: int) -> bool:
    """Whether an erasure covers a position in a topic.

    Args:
        tenants: Knows the tenants and erasures.
        tenant: The tenant of the record there.
        user: The record's user. None: it belongs to no user.
        topic: The topic's name without the prefix.
        partition: The partition.
        offset: The offset.

    Raises:
        TransientError: This process's control data is too old to decide.
    """
    return _read_now(tenants.is_erased, tenant, user, topic, partition, offset)


def is_held(tenants: TenantDirectory, tenant: str, user: str) -> bool:
    """Whether a legal hold is in force on a user.

    Raises:
        TransientError: This process's control data is too old to decide.
    """
    return _read_now(tenants.is_held, tenant, user)


def erasure_epoch(tenants: TenantDirectory, tenant: str, user: str) -> str:
    """Epoch of the user's newest erasure; empty if the user was never erased.

    Args:
        tenants: Knows the erasures.
        tenant: The user's tenant.
        user: The user.

    Raises:
        TransientError: This process's control data is too old to decide.
    """
    return _read_now(tenants.erasure_epoch, tenant, user)


def is_being_erased(tenants: TenantDirectory, tenant: str, user: str) -> bool | None:
    """Whether an erasure of a user is running; None: the user was never erased.

    Args:
        tenants: Knows the erasures.
        tenant: The user's tenant.
        user: The user.

    Raises:
        TransientError: This process's control data is too old to decide.
    """
    end = _read_now(tenants.erased_until, tenant, user)
    return None if end is None else end == UNFINISHED


def is_sent_before_erasure(tenants: TenantDirectory, tenant: str, user: str, time: datetime) -> bool:
    """Whether a request was sent before the user's newest erasure has ended: its author saw what is erased.

    Args:
        tenants: Knows the erasures.
        tenant: The user's tenant.
        user: The user.
        time: The time of the request.

    Raises:
        TransientError: This process's control data is too old to decide.
    """
    end = _read_now(tenants.erased_until, tenant, user)
    return end is not None and time <= end


def weight_of(tenants: TenantDirectory, tenant: str) -> float:
    """A tenant's weight in fair queueing; 1 for an unknown tenant, whose records are handled in order to be rejected."""
    try:
        return tenants.get(tenant).weight
    except (UnknownTenantError, ControlLogBehindError):
        return 1.0


def _named_schema(record: MadeUnderSchema) -> SchemaRef | None:
    return SchemaRef(name=record.schema_name, revision=record.schema_revision) if record.schema_revision else None


def _read_now(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Looks something up in the directory of tenants.

    Raises:
        TransientError: This process's control data is too old to decide.
        WaitedTooLongError: The tenant's document has been unreadable for too long.
    """
    try:
        return read(*args, **kwargs)
    except UnreadableTenantError as error:
        if error.for_s < LONGEST_WAIT_S:
            raise _wait_for(error) from error
        raise WaitedTooLongError("unreadable_tenant", f"{error}; then redrive the dead letter") from error
    except ControlLogBehindError as error:
        raise _wait_for(error) from error


def _wait_for(error: ControlLogBehindError) -> TransientError:
    return TransientError(str(error), dependency="control", retry_after_s=_LOOK_AGAIN_S, counts_as_attempt=False)
