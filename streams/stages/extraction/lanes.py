"""Which windows are extracted one after the other: those of a user where each builds on the ones before it, else those of a session."""

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
    """Tells the lane of a window.

    A window's patches are written against what it is shown, and its keys' values are matched with those that are there. Two windows of one
    user that run side by side would meet the same, and lay down the same twice. Where neither is done, only a session's windows build on
    each other.

    Args:
        tenants: Who is known, with which schema.
        generation: The generation that the worker makes; None: each tenant's live one.
    """

    def __init__(self, *, tenants: TenantDirectory, generation: str | None) -> None:
        self._tenants = tenants
        self._generation = generation

    def lane_of(self, record: ConsumedRecord) -> Hashable:
        """The user, as the record's key names it, or the user's session; never raises."""
        user = key_of(record)
        if self._builds_on_its_users(record):
            return user
        try:
            session = orjson.loads(record.value or b"")["session"]
        except (orjson.JSONDecodeError, TypeError, KeyError):
            return user
        return (*user, session) if isinstance(session, str) else user

    def _builds_on_its_users(self, record: ConsumedRecord) -> bool:
        """Whether the tenant's schema patches, or matches a key's values; where that is not known, it may."""
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
