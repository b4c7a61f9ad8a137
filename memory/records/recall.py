"""A recall: the returned memories, the ranking of its candidates, and feedback. Ranking and feedback train ranking models."""

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


class RecalledEvent(Value):
    """A returned event that belongs to a timeline, and so would expire one day."""

    id: str
    user: Name
    window_id: str


class RecallRecord(Record):
    """The memories that a recall returned."""

    id: str
    tenant: Name
    user: Name | None = None
    generation: str = ""
    """The generation of the memories."""
    memory_ids: list[str]
    events: list[RecalledEvent] = Field(default_factory=list)
    """The events of timelines among them: the recall extends their time to live."""
    content_hashes: list[str] = Field(default_factory=list)
    """SHA-256 of the returned contents: text of the conversation with such a hash is an echo and is not extracted."""
    ranking: Ranking | None = None
    """How the candidates were ranked. Only for the share of recalls that `VARVE_RECALL__TRAINING_SHARE` sets, if there were candidates."""
    time: Time


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
