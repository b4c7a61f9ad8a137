"""The document of an erasure: how far it reaches into every topic, and its receipt."""

import hashlib
from functools import lru_cache
from typing import Annotated, Final

from pydantic import AwareDatetime, Field, StringConstraints

from control.document import Document, Label
from memory.keys import encode_key
from memory.records.message import Name

ERASURE: Final = "erasure"
"""The first part of its key."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Offset = Annotated[int, Field(ge=0)]


class Erasure(Document):
    """What was erased of one user, once or several times.

    A user is named by a digest alone: the log, and the audit of it, are kept for ever, and must not bear a name that was to be forgotten.
    """

    tenant: Name
    subject: Digest
    """The user, as :func:`subject_of` names it."""
    reason: Label = ""
    requested_at: AwareDatetime
    """The last time that it was asked for, by the wall clock."""
    reaches: dict[str, tuple[Offset, ...]] = Field(default_factory=dict)
    """By topic, for each partition: what the user has there before that offset is passed over by whoever reads it. It never goes back."""
    finished_at: AwareDatetime | None = None
    """When nothing of it was left that can be read through Varve; None: it is still being carried out."""
    gone_by: AwareDatetime | None = None
    """When Kafka will have removed the last of its bytes."""
    found: dict[str, int] = Field(default_factory=dict)
    """How much there was, by what it was: the receipt."""
    remains: tuple[str, ...] = ()
    """What could not be erased, in words."""

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return encode_key(ERASURE, self.tenant, self.subject)

    def covers(self, topic: str, partition: int, offset: int) -> bool:
        """Whether it reaches a place in a topic.

        Args:
            topic: Its name without the prefix.
            partition: The partition.
            offset: Where in it a record lies, or first lay.
        """
        reach = self.reaches.get(topic, ())
        return partition < len(reach) and offset < reach[partition]


@lru_cache(maxsize=65_536)
def subject_of(tenant: str, user: str) -> str:
    """The SHA-256 (hex) that stands for a user of a tenant."""
    return hashlib.sha256(encode_key(tenant, user)).hexdigest()


def erasures_key(tenant: str) -> bytes:
    """What the keys of a tenant's erasures begin with."""
    return encode_key(ERASURE, tenant)
