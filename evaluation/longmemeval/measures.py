"""How well sessions are ranked, as LongMemEval measures it (Wu et al. 2025, section 3.3, and the evaluation that is published with it)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log2
from typing import Any, Final

from evaluation.intervals import named_means

CUTS: Final = (5, 10)


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """Quality of the first k sessions of one ranking."""

    any: float
    """1 if one of the answer's sessions is among them."""
    all: float
    """1 if all are."""
    fraction: float
    """The share that is."""
    ndcg: float


def session_outcome(ranking: Sequence[str], right: Collection[str], cut: int) -> SessionOutcome:
    """Judges a ranking of sessions.

    The published evaluation discounts rank 1 not at all and rank i by log2(i), so that ranks 1 and 2 weigh the same.

    Args:
        ranking: Sessions, best first, each once.
        right: Those that hold the answer, not empty.
        cut: k.
    """
    found = [each in right for each in ranking[:cut]]
    ideal = _gain([True] * min(len(right), cut))
    share = sum(found) / len(right)
    return SessionOutcome(float(any(found)), float(share == 1), share, _gain(found) / ideal)


def means(outcomes: Sequence[Mapping[int, SessionOutcome]]) -> dict[str, Any]:
    """Means over questions, ``any_at_5`` and so on, with their intervals (``any_at_5_interval``).

    Args:
        outcomes: Outcomes of each question, by cut.
    """
    report: dict[str, Any] = {"questions": len(outcomes)}
    for cut in CUTS if outcomes else ():
        fields = [asdict(each[cut]) for each in outcomes]
        report |= named_means([f"{name}_at_{cut}" for name in fields[0]], [list(each.values()) for each in fields])
    return report


def _gain(found: Sequence[bool]) -> float:
    return sum(is_right / max(1.0, log2(rank)) for rank, is_right in enumerate(found, start=1))
