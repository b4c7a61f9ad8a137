"""What the caller of a recall says of its results: with the recall's own record, where that has its ranking, training data."""

from pydantic import Field

from memory.records.base import Record
from memory.records.limits import Time
from memory.records.message import Name


class FeedbackRecord(Record):
    """Which results of one recall were of use. It lies in ``recalls``, under the header :data:`memory.headers.FEEDBACK`."""

    recall_id: Name
    """Of the :class:`~memory.records.RecallRecord`. Of several records about one recall the last one counts."""
    tenant: Name
    user: Name | None = None
    """As the recall named it: both records then have one key, and lie in one partition."""
    useful: list[Name] = Field(default_factory=list)
    """Ids of memories."""
    useless: list[Name] = Field(default_factory=list)
    """Ids of memories. Of those that neither list names nothing is said."""
    time: Time
