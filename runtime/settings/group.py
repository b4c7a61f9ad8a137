"""Base class of groups of settings."""

from typing import Self

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """A group of settings; rejects unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def overridden_by(self, own: Self) -> Self:
        """These settings, overridden by all values that ``own`` sets explicitly, including nulls."""
        return self if not own.model_fields_set else self.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})
