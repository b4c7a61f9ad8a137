"""What every group of settings is."""

from typing import Self

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """A group of settings: refuses names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def but(self, own: Self) -> Self:
        """These settings with what another group of their kind sets, be it to null."""
        return self.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})
