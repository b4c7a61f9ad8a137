"""The document of a legal hold on a user or on a whole tenant."""

from typing import Annotated, Final

from pydantic import AwareDatetime, StringConstraints

from control.document_base import Document, Label
from memory.keys import encode_key
from memory.records.message import Name

HOLD: Final = "hold"
"""First part of the document's key."""
ALL_USERS: Final = "-"
"""The subject of a hold on a whole tenant."""

Subject = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64}|-)$")]
Reason = Annotated[Label, StringConstraints(min_length=1)]


class Hold(Document):
    """A legal hold. The document stays after the release, so that the control log shows who held what, when and why.

    It contains only a digest of the user, like an erasure.
    """

    tenant: Name
    subject: Subject
    """Digest of the user (:func:`control.erasure.subject_of`); :data:`ALL_USERS`: every user of the tenant."""
    reason: Reason
    placed_at: AwareDatetime
    placed_by: str
    released_at: AwareDatetime | None = None
    """None: the hold is in force."""
    released_by: str | None = None
    release_reason: Label = ""

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return encode_key(HOLD, self.tenant, self.subject)

    @property
    def is_in_force(self) -> bool:
        """Whether it has not been released."""
        return self.released_at is None
