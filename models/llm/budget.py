"""The amounts that a budget counts, and the interface of all budgets."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens (prompt and completion) and their cost."""

    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens - other.tokens, self.cost - other.cost)

    def exceeds(self, tokens: float | None, cost: float | None) -> bool:
        """Whether it is more than either limit; None: no limit."""
        return (tokens is not None and self.tokens > tokens) or (cost is not None and self.cost > cost)


class Limit(NamedTuple):
    """Most tokens and cost. None: no limit."""

    tokens: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """The usage of the calls of a budget, including the reservations of running calls."""

    amount: Amount = field(default_factory=Amount)
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Reservation:
    """The amount reserved for one call."""

    tenant: str
    day: date
    amount: Amount


class Budget(Protocol):
    """Limits the usage of calls: each reserves the most that it may use, and returns the rest."""

    async def reserve(self, tenant: str, maximum: Amount, *, deferrable: bool, now: datetime) -> Reservation:
        """Reserves the most that a call may use; see :meth:`models.llm.daily_budget.BudgetLedger.reserve`."""
        ...

    async def settle(self, reservation: Reservation, used: Amount) -> None:
        """Replaces the reservation by the actual usage."""
        ...
