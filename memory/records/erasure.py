"""The command that tells the stages after `sessions` to erase a user."""

from pydantic import Field

from memory.records.base import Record, Value
from memory.records.message import Name


class ErasedWindow(Value):
    """A window of one generation whose published results are retracted and forgotten."""

    window_id: str
    generation: str = ""


class ErasedEntity(Value):
    """An entity that has ever contained the user's words."""

    entity_type: Name
    entity_key: str = Field(min_length=1)
    generation: str = ""
    own: bool
    """Whether its key names the user. Then the whole entity is deleted; otherwise only the contributions of the user's windows."""
    message_ids: list[str] = Field(default_factory=list)
    """Only for entities that are not the user's own: the user's newest messages that it is based on."""
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
