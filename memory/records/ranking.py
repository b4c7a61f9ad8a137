"""How a recall ranked its candidates: what a ranking can be fitted to, once feedback says which of them were of use."""

from pydantic import Field

from memory.records.base import Value


class RankedCandidate(Value):
    """One memory that a recall ranked, whether or not it was returned."""

    memory_id: str
    rank: int = Field(ge=1)
    """Its place among all that were ranked."""
    score: float
    """The final one."""
    features: list[float]
    """In the order of the ranking's ``features``, rounded."""


class Ranking(Value):
    """A query and the best of its ranked candidates. The query is what somebody said: personal data."""

    query: str
    profile: str
    features: list[str]
    """What the candidates' numbers are."""
    candidates: list[RankedCandidate]
    """Best first."""
