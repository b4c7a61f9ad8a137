"""Feedback on the results of a recall. Together with a recall record that kept its ranking, it is training data."""

from pydantic import Field

from memory.records.base import Record
from memory.records.limits import Time
from memory.records.message import Name


class FeedbackRecord(Record):
    """The useful and useless results of one recall: a record of ``recalls`` with the header :data:`memory.headers.FEEDBACK`."""

    recall_id: Name
    """The id of the :class:`~memory.records.RecallRecord`. The last of several records about one recall counts."""
    tenant: Name
    user: Name | None = None
    """The user that the recall named, so that both records have one key and are in one partition."""
    useful: list[Name] = Field(default_factory=list)
    """Ids of memories."""
    useless: list[Name] = Field(default_factory=list)
    """Ids of memories. Memories in neither list have no feedback."""
    time: Time
