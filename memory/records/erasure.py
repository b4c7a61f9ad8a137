"""What tells the stages behind the sessions that a user is erased."""

from pydantic import Field

from memory.records.base import Record, Value
from memory.records.message import Name


class ErasedWindow(Value):
    """What is published of a window in one generation is taken back, and forgotten."""

    window_id: str
    generation: str = ""
    memory_ids: list[str] = Field(default_factory=list)
    """Memories of the window that the change feed or the store still has: the ledger may not know them, after a rebuild."""


class ErasedEntity(Value):
    """An entity that the user's words have reached at any time."""

    entity_type: Name
    entity_key: str = Field(min_length=1)
    generation: str = ""
    own: bool
    """Whether its key names the user: it is given up as a whole. Of another one that is taken back which the user's windows gave."""
    message_ids: list[str] = Field(default_factory=list)
    """Of one that is not the user's own: the newest of the user's messages that it has come by."""
    memory_ids: list[str] = Field(default_factory=list)
    """Its memory, summaries and steps that the change feed or the store still has: its state may not know them, after a rebuild."""
    outcomes: list[tuple[str, str]] = Field(default_factory=list)
    """Property and part of each text that a model wrote of it, and that ``merged`` still has."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    """As :class:`~memory.records.Extraction` has it: the last under which they have reached it."""


class ErasureCommand(Record):
    """A user of a tenant is erased: a record of the extractions log, and of the recalls. Carried out again, it finds nothing more."""

    tenant: Name
    user: Name
    windows: list[ErasedWindow] = Field(default_factory=list)
    """Among the extractions: some of the user's windows."""
    entities: list[ErasedEntity] = Field(default_factory=list)
    """Among the extractions: some of the entities."""
