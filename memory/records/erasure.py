"""The command to the stages after `sessions` to erase a user."""

from pydantic import Field

from memory.records.base import Record, Value
from memory.records.message import Name


class ErasedWindow(Value):
    """A window of one generation whose published results are retracted and forgotten."""

    window_id: str
    generation: str = ""
    memory_ids: list[str] = Field(default_factory=list)
    """Memories of the window that the change feed or the store still has: the ledger may not know them, after a rebuild."""


class ErasedEntity(Value):
    """An entity that has ever contained the user's words."""

    entity_type: Name
    entity_key: str = Field(min_length=1)
    generation: str = ""
    own: bool
    """Whether its key names the user. Then the whole entity is deleted; otherwise only the contributions of the user's windows."""
    is_quoted: bool = True
    """Whether records that the erasure does not cover may have brought the user's words there. False: only the user's own extractions,
    which a rebuild skips."""
    message_ids: list[str] = Field(default_factory=list)
    """Only for entities that are not the user's own: the user's newest messages that it is based on."""
    memory_ids: list[str] = Field(default_factory=list)
    """Its memory, summaries and history entries in the change feed or the store. After a rebuild its state may not know them."""
    outcomes: list[tuple[str, str]] = Field(default_factory=list)
    """Property and part of each text that a model wrote about it, and that ``merged`` still has."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    """See :class:`~memory.records.Extraction`: the newest schema under which the words reached the entity."""


class ErasureCommand(Record):
    """Erases a user: a record of the extractions log and of the recalls. It is idempotent."""

    tenant: Name
    user: Name
    windows: list[ErasedWindow] = Field(default_factory=list)
    """In the extractions log: some of the user's windows."""
    entities: list[ErasedEntity] = Field(default_factory=list)
    """In the extractions log: some of the entities."""
    sessions: list[Name] = Field(default_factory=list)
    """In the extractions log: sessions whose open windows the sessions stage has dropped. The erasure removes their tails from Redis."""
