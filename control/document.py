"""What a record of the control log holds."""

from abc import ABC, abstractmethod
from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from memory.records.base import Record

Label = Annotated[str, StringConstraints(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Document(Record, ABC):
    """What one key of the log stands for."""

    revision: int = Field(default=0, ge=0)
    """How often it has been written."""

    @property
    @abstractmethod
    def key(self) -> bytes:
        """Its key in the log."""

    def audited(self) -> dict[str, JsonValue]:
        """What the audit says of it, which is kept for ever: so it names no user."""
        fields: dict[str, JsonValue] = self.model_dump(mode="json")
        return fields
