"""The ranking of a recall's candidates, and feedback on its results. Together they are training data for ranking models."""

from pydantic import Field

from memory.records.base import Record, Value
from memory.records.limits import Time
from memory.records.message import Name


class RankedCandidate(Value):
    """One memory that a recall ranked, whether or not it was returned."""

    memory_id: str
    rank: int = Field(ge=1)
    """Rank among all candidates."""
    score: float
    """The final score."""
    features: list[float]
    """Values in the order of the ranking's ``features``, rounded."""


class Ranking(Value):
    """A query and the best of its ranked candidates. The query is personal data."""

    query: str
    profile: str
    features: list[str]
    """Names of the candidates' features."""
    candidates: list[RankedCandidate]
    """Candidates, best first."""


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
