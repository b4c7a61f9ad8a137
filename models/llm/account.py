"""The account of one answer: the most that a call may use up is set aside before it, what it did use up is booked once it has ended."""

import asyncio
from dataclasses import dataclass

from models.llm.budget import Amount, BudgetLedger, Reservation
from models.llm.port import LLMRequest, LLMUsage
from models.llm.prices import PriceTable
from runtime.clocks import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one call used up."""

    model: str
    usage: LLMUsage
    estimated: bool
    latency_ms: float


@dataclass(slots=True)
class Admission:
    """One call's leave to use up what was set aside for it."""

    reserving: asyncio.Task[Reservation]
    spent: Spent | None = None
    """None as well of a call that the endpoint does not charge for."""
    has_ended: bool = False

    def end(self) -> None:
        """Says that the call is over: what it did not use up is free for others."""
        self.has_ended = True


class Account:
    """Of all calls for one answer: the first, those to other endpoints after it or beside it."""

    def __init__(self, *, request: LLMRequest, ledger: BudgetLedger, prices: PriceTable, clock: Clock) -> None:
        """Nothing is set aside yet."""
        self._request = request
        self._ledger = ledger
        self._prices = prices
        self._clock = clock
        self._admitted: list[Admission] = []
        self._settled: list[Admission] = []

    @property
    def spent(self) -> list[Spent]:
        """What the calls used up, as they were admitted."""
        return [each.spent for each in (*self._settled, *self._admitted) if each.spent is not None]

    async def admit(self, model: str, most: LLMUsage) -> Admission:
        """Sets aside the most that one more call may use up. The caller ends the admission.

        Raises:
            BudgetExceededError: As :meth:`models.llm.budget.BudgetLedger.reserve` does.
        """
        admission = Admission(asyncio.create_task(self._reserve(self._amount(model, most))))
        self._admitted.append(admission)
        # Shielded: of a call that is hung up on meanwhile it has to be known what was set aside.
        await asyncio.shield(admission.reserving)
        return admission

    async def settle(self) -> None:
        """Replaces all that is set aside by what was used up."""
        await self._settle(list(self._admitted))

    async def _reserve(self, most: Amount) -> Reservation:
        await self._settle([each for each in self._admitted if each.has_ended])
        return await self._ledger.reserve(self._request.tenant, most, deferrable=self._request.deferrable, now=self._clock.now())

    async def _settle(self, admissions: list[Admission]) -> None:
        for each in admissions:
            self._admitted.remove(each)
            self._settled.append(each)
            (reservation,) = await asyncio.gather(each.reserving, return_exceptions=True)
            if isinstance(reservation, Reservation):
                used = Amount() if each.spent is None else self._amount(each.spent.model, each.spent.usage)
                await self._ledger.settle(reservation, used)

    def _amount(self, model: str, usage: LLMUsage) -> Amount:
        return Amount(usage.prompt_tokens + usage.completion_tokens, self._prices.cost(model, usage))
