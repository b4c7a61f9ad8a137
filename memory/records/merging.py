"""Requests to LLMs from operators, and their outcomes."""

from pydantic import Field, JsonValue

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class MergeRequest(Record):
    """A request of an entity's operator: a record of ``merges``."""

    tenant: Name
    user: Name | None = None
    entity_type: Name
    entity_key: str = Field(min_length=1)
    property: Name
    part: str = ""
    """The part of the property, if the operator has several."""
    question: dict[str, JsonValue]
    """Everything that the operator needs to call the model and to convert the answer into an outcome."""
    time: Time
    """Event time of the cause."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    generation: str = ""


class Merged(Value):
    """Outcome of a request. It is self-contained: readers need neither the request nor earlier answers."""

    property: Name
    part: str = ""
    outcome: dict[str, JsonValue]
    """The outcome in the operator's format."""


class WrittenText(Value):
    """Origin of a merged text."""

    by: str
    """The model that wrote it; without a model ``rule``, or for a summary ``extract``."""
    pending: int = 0
    """Number of statements that a rule appended to the model's text and that are not merged yet; for a summary, of its unwritten events."""
    stale: bool = False
    """Whether part of its evidence was retracted later."""
    superseded: list[str] = Field(default_factory=list)
    """Statements that the newest merge found superseded, each with its replacement."""
