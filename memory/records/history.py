"""What an entity has come by, step by step."""

from pydantic import Field

from memory.records.base import Record
from memory.records.contribution import Contribution
from memory.records.message import Name


class Step(Record):
    """One step of an entity: a contribution as it was applied. Whoever applies all of them, in their order, has the entity."""

    id: str
    """Of the place that it is kept in: a later step of the same source takes it over, once so many are kept."""
    tenant: Name
    entity: str
    """The entity's id."""
    number: int = Field(ge=0)
    """How many steps of the same source there were with it. 0: an answer of a model, of which the newest alone is kept."""
    contribution: Contribution
    """Its ``recorded_at`` is set."""
    before: str | None = None
    """Of one in so many steps the entity before it: from there the later ones go on when the earlier ones are no longer kept."""
