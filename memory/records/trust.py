"""Levels of trust, and the records that change them."""

from typing import Literal

from pydantic import Field

from memory.records.base import Record
from memory.records.limits import Time
from memory.records.message import Name

TrustLevel = Literal["distrusted", "untrusted", "normal", "trusted"]
"""``distrusted``: counts as not said. ``untrusted``: found by recalls, but changes no entity, unless the tenant allows it."""
EntityTrust = Literal["untrusted", "normal"]
"""The lowest level of what changes entities."""


class TrustRules(Record):
    """A tenant's levels of trust: a record of each partition of the extractions log.

    They apply to the extractions that follow in the partition. What was published before gets them by a :class:`TrustReview`.
    """

    tenant: Name
    version: int = Field(ge=1)
    """Version of the tenant's rules. Rules never replace newer ones."""
    sources: dict[str, TrustLevel] = Field(default_factory=dict)
    """By source: :data:`memory.sources.SourceName`."""
    entities_from: EntityTrust = "normal"
    time: Time
    """Time at which the rules were set."""


class TrustReview(Record):
    """A window whose published results get the levels of the newest rules."""

    tenant: Name
    user: Name
    window_id: str
    version: int = Field(ge=1)
    """Version of the rules that the review was made for."""
