"""Base class of the documents in the control log."""

from abc import ABC, abstractmethod
from typing import Annotated

from pydantic import Field, JsonValue, StringConstraints

from memory.records.base import Record

Label = Annotated[str, StringConstraints(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Document(Record, ABC):
    """The content of one key of the log."""

    revision: int = Field(default=0, ge=0)
    """Number of writes."""

    @property
    @abstractmethod
    def key(self) -> bytes:
        """Its key in the log."""

    def audited(self) -> dict[str, JsonValue]:
        """The fields for the audit log, which is kept forever and therefore names no user."""
        fields: dict[str, JsonValue] = self.model_dump(mode="json")
        return fields
