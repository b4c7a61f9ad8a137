"""Ordering keys of windows: one per user if each window builds on the user's earlier ones, else one per session."""

from collections.abc import Hashable

import orjson

from control.errors import ControlLogBehindError, UnknownTenantError
from control.tenants import TenantDirectory
from memory.errors import RecordError, SchemaError
from memory.keys import decode_key
from memory.schema.model import MemorySchema
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.driver import key_of


class WindowLanes:
    """Ordering key of a window.

    A window's patches apply to the entities in its prompt, and its key values are matched with existing ones. Two windows of a user running
    concurrently would see the same entities and store the same facts twice. Without patches and matching, only a session's windows build on
    each other.

    Args:
        tenants: The known tenants, with their schemas.
        generation: The generation that the worker creates. None: each tenant's live one.
    """

    def __init__(self, *, tenants: TenantDirectory, generation: str | None) -> None:
        self._tenants = tenants
        self._generation = generation

    def ordering_key(self, record: ConsumedRecord) -> Hashable:
        """The user in the record's key, or the user's session; never raises."""
        user = key_of(record)
        if self._builds_on_its_users(record):
            return user
        try:
            session = orjson.loads(record.value or b"")["session"]
        except (orjson.JSONDecodeError, TypeError, KeyError):
            return user
        return (*user, session) if isinstance(session, str) else user

    def _builds_on_its_users(self, record: ConsumedRecord) -> bool:
        """Whether the tenant's schema has patches, or matches key values; True if unknown."""
        try:
            tenant = self._tenants.get(decode_key(record.key or b"")[0])
            generation = tenant.generation if self._generation is None else self._generation
            if not tenant.has_generation(generation):
                return False
            schema = self._tenants.schema(tenant.schema_of(generation))
        except (RecordError, SchemaError, UnknownTenantError, ControlLogBehindError):
            return True
        return is_patched(schema) or bool(schema.similarities())


def is_patched(schema: MemorySchema) -> bool:
    """Whether any property of a schema's entities is set by patches."""
    return any(each.patched_properties() for each in schema.entity_types)
