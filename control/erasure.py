"""The document of an erasure: its end offsets in every topic, and its receipt."""

import hashlib
from functools import lru_cache
from typing import Annotated, Final

from pydantic import AwareDatetime, Field, StringConstraints, TypeAdapter, ValidationError

from control.document_base import Document, Label
from control.errors import ChangeRefusedError
from memory.keys import encode_key
from memory.records.message import Id, Name

ERASURE: Final = "erasure"
"""First part of the document's key."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Offset = Annotated[int, Field(ge=0)]
_USER: Final[TypeAdapter[str]] = TypeAdapter(Id)


class Erasure(Document):
    """Erasure of one user's data, requested once or several times.

    It contains only a digest of the user, because the log and its audit are kept forever and must not contain the name of an erased user.
    """

    tenant: Name
    subject: Digest
    """Digest of the user, from :func:`subject_of`."""
    reason: Label = ""
    requested_at: AwareDatetime
    """Time of the last request (wall clock)."""
    reaches: dict[str, tuple[Offset, ...]] = Field(default_factory=dict)
    """End offsets by topic and partition: readers skip the user's records before them. They never decrease."""
    finished_at: AwareDatetime | None = None
    """Time at which no data was readable through Varve any more; None: the erasure is unfinished."""
    gone_by: AwareDatetime | None = None
    """Time at which Kafka and the embedded vector store will have deleted the last bytes."""
    found: dict[str, int] = Field(default_factory=dict)
    """The receipt: number of erased items by kind."""
    remains: tuple[str, ...] = ()
    """Descriptions of data that could not be erased."""

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return encode_key(ERASURE, self.tenant, self.subject)

    def covers(self, topic: str, partition: int, offset: int) -> bool:
        """Whether the erasure covers a position in a topic.

        Args:
            topic: The topic's name without the prefix.
            partition: The partition.
            offset: The original offset of the record.
        """
        reach = self.reaches.get(topic, ())
        return partition < len(reach) and offset < reach[partition]


@lru_cache(maxsize=65_536)
def subject_of(tenant: str, user: str) -> str:
    """The SHA-256 (hex) that identifies a user of a tenant."""
    return hashlib.sha256(encode_key(tenant, user)).hexdigest()


def require_user_id(user: str) -> None:
    """Refuses a user that no message can have: the receipt or the hold would be for nobody, such as ``ann`` with a line break.

    Raises:
        ChangeRefusedError: If it is one; says why.
    """
    try:
        _USER.validate_python(user)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ChangeRefusedError(f"no message can have the user {user[:80]!r}: {problem}") from error


def erasures_key(tenant: str) -> bytes:
    """Prefix of the keys of a tenant's erasures."""
    return encode_key(ERASURE, tenant)
