"""What every group of settings is."""

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """A group of settings: refuses names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
