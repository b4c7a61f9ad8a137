"""What is asked and answered where an operator needs an LLM."""

from pydantic import Field, JsonValue

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class MergeRequest(Record):
    """A question of an entity's operator: a record of ``merges``."""

    tenant: Name
    user: Name | None = None
    entity_type: Name
    entity_key: str = Field(min_length=1)
    property: Name
    part: str = ""
    """Which part of the property it concerns, where the operator has several."""
    question: dict[str, JsonValue]
    """All that the operator needs to ask it, and to make an outcome of the answer."""
    time: Time
    """Event time of what gave rise to it."""
    schema_name: str = ""
    schema_revision: int = Field(default=0, ge=0)
    generation: str = ""


class Merged(Value):
    """What a question has come to. It stands for itself: whoever has it needs neither the question nor the answers before it."""

    property: Name
    part: str = ""
    outcome: dict[str, JsonValue]
    """As the operator reads it."""


class WrittenText(Value):
    """How a merged text came about."""

    by: str
    """The model that wrote it; ``rule``, of a summary ``extract``: no model did."""
    pending: int = 0
    """Statements that were put beside the model's text by rule, and wait to be merged; events of a summary that a model is to write."""
    stale: bool = False
    """Whether it rests on something that was taken back since."""
    superseded: list[str] = Field(default_factory=list)
    """What the newest merge found superseded, each with what took its place."""
