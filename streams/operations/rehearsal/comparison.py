"""Compares the results of two generations for the same queries. Pure.

Two generations have different memories, so results are compared by their evidence: two results match if they share a source message.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, quantiles
from typing import Any, Final

from streams.operations.rehearsal.questions import Question

TOP: Final = 10
"""Results that the overlap counts."""

Results = Sequence[frozenset[str]]
"""The evidence of each result, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallComparison:
    """The results of two generations for one query."""

    question: Question
    served: Results
    candidate: Results
    served_ms: float
    candidate_ms: float

    @property
    def new_ranks(self) -> list[int | None]:
        """For each result of the served generation, the best rank of a matching result of the other one, from 1; None: there is none."""
        return [next((rank for rank, each in enumerate(self.candidate, 1) if each & evidence), None) for evidence in self.served]

    @property
    def overlap(self) -> float | None:
        """Share of the first :data:`TOP` served results that match one of the other generation's first ones. None: nothing was served."""
        ranks = self.new_ranks[:TOP]
        return sum(rank is not None and rank <= TOP for rank in ranks) / len(ranks) if ranks else None

    @property
    def rank_changes(self) -> list[int]:
        """New rank minus old rank of each served result that has a match."""
        return [new - old for old, new in enumerate(self.new_ranks, 1) if new is not None]

    @property
    def evidence(self) -> frozenset[str]:
        """All messages that the served generation returned."""
        return frozenset().union(*self.served)

    @property
    def lost(self) -> frozenset[str]:
        """Messages that the served generation returned, and the other one did not."""
        return self.evidence.difference(*self.candidate)

    @property
    def gained(self) -> frozenset[str]:
        """Messages that only the other generation returned."""
        return frozenset().union(*self.candidate) - self.evidence

    @property
    def is_first_lost(self) -> bool:
        """Whether the first served result has no match."""
        return bool(self.served) and self.new_ranks[0] is None

    @property
    def is_first_new(self) -> bool:
        """Whether the first result of the other generation matches no served one."""
        return bool(self.candidate) and not any(self.candidate[0] & each for each in self.served)

    def as_json(self, *, with_query: bool) -> dict[str, Any]:
        """The fields for ``--json``. The query is personal data."""
        return {
            "id": self.question.id,
            **({"query": self.question.query, "user": self.question.user} if with_query else {}),
            "overlap_at_10": None if self.overlap is None else round(self.overlap, 4),
            "new_ranks": self.new_ranks,
            "first_lost": self.is_first_lost,
            "first_new": self.is_first_new,
            "lost": sorted(self.lost),
            "gained": sorted(self.gained),
            "served_ms": round(self.served_ms, 2),
            "candidate_ms": round(self.candidate_ms, 2),
        }


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies of one generation, in milliseconds."""

    p50: float
    p95: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Latency":
        """The percentiles of values; 0 without values."""
        if len(values) < 2:
            return cls(*(2 * list(values) or [0.0, 0.0]))
        return cls(round(median(values), 2), round(quantiles(values, n=20, method="inclusive")[-1], 2))


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The comparison of all queries."""

    tenant: str
    served: str
    """The live generation."""
    candidate: str
    """The other generation."""
    recalls: tuple[RecallComparison, ...]

    @property
    def overlap(self) -> float:
        """Mean overlap of the queries with served results; 1 without such a query."""
        found = [each.overlap for each in self.recalls if each.overlap is not None]
        return fmean(found) if found else 1.0

    @property
    def rank_change(self) -> float:
        """Mean absolute rank change of the served results that have a match."""
        changes = [abs(change) for each in self.recalls for change in each.rank_changes]
        return fmean(changes) if changes else 0.0

    @property
    def served_evidence(self) -> int:
        """Number of messages that the served generation returned, over all queries."""
        return sum(len(each.evidence) for each in self.recalls)

    @property
    def lost_evidence(self) -> int:
        """Number of them that the other generation did not return."""
        return sum(len(each.lost) for each in self.recalls)

    @property
    def lost_share(self) -> float:
        """Share of the served evidence that is lost."""
        return self.lost_evidence / self.served_evidence if self.served_evidence else 0.0

    def worst(self, most: int) -> list[RecallComparison]:
        """The queries with the most lost evidence, then those with the least overlap; queries without a loss are left out."""
        worse = [each for each in self.recalls if each.lost or each.is_first_lost]
        return sorted(worse, key=lambda each: (-len(each.lost), each.overlap or 0.0, each.question.id))[:most]

    def as_json(self, *, worst: int, with_queries: bool) -> dict[str, Any]:
        """The fields for ``--json``.

        Args:
            worst: Most queries in the list of the worst.
            with_queries: Whether the list has the queries and their users, which are personal data.
        """
        latencies = {
            "served": Latency.of([each.served_ms for each in self.recalls]),
            "candidate": Latency.of([each.candidate_ms for each in self.recalls]),
        }
        return {
            "tenant": self.tenant,
            "served": self.served or "-",
            "candidate": self.candidate or "-",
            "recalls": len(self.recalls),
            "overlap_at_10": round(self.overlap, 4),
            "rank_change": round(self.rank_change, 4),
            "first_lost": sum(each.is_first_lost for each in self.recalls),
            "first_new": sum(each.is_first_new for each in self.recalls),
            "evidence": self.served_evidence,
            "lost": self.lost_evidence,
            "lost_share": round(self.lost_share, 4),
            "gained": sum(len(each.gained) for each in self.recalls),
            "latency_ms": {name: {"p50": each.p50, "p95": each.p95} for name, each in latencies.items()},
            "worst": [each.as_json(with_query=with_queries) for each in self.worst(worst)],
        }
