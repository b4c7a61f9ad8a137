"""The history of an entity: its contributions as they were applied."""

from pydantic import Field

from memory.records.base import Record
from memory.records.contribution import Contribution
from memory.records.message import Name


class HistoryEntry(Record):
    """One step of an entity's history: an applied contribution. Applying all steps in order gives the entity."""

    id: str
    """The id of its slot. A later step of the same source reuses the slot once the limit of steps is reached."""
    tenant: Name
    entity: str
    """The entity's id."""
    number: int = Field(ge=0)
    """Number of steps of the same source up to this one. 0: an answer of a model; only the newest is kept."""
    contribution: Contribution
    """Always with ``recorded_at``."""
    before: str | None = None
    """At regular intervals, the entity before this step: later steps are replayed from here when earlier ones are no longer kept."""
