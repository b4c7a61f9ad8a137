"""Ranking of a recall's candidates: training data for ranking models, once feedback shows which candidates were useful."""

from pydantic import Field

from memory.records.base import Value


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
