"""Books all calls for one request with the budget that pays for them."""

import asyncio
from dataclasses import dataclass

from models.llm.budget import Amount, Budget, Reservation
from models.llm.port import LLMRequest, LLMUsage
from models.llm.usage import PriceTable
from runtime.clocks import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUsage:
    """The usage of one call."""

    model: str
    tokens: LLMUsage
    is_estimated: bool
    latency_ms: float


@dataclass(slots=True)
class Admission:
    """One call's permission to use its reservation."""

    reserving: asyncio.Task[Reservation]
    usage: CallUsage | None = None
    """None also for a call that the endpoint does not charge for."""
    has_ended: bool = False

    def end(self) -> None:
        """Marks the call as ended: unused tokens are free for other calls."""
        self.has_ended = True


class RequestAccount:
    """Books all calls for one request: the first, fallbacks and hedged calls."""

    def __init__(self, *, request: LLMRequest, ledger: Budget, prices: PriceTable, clock: Clock) -> None:
        self._request = request
        self._ledger = ledger
        self._prices = prices
        self._clock = clock
        self._admitted: list[Admission] = []
        self._settled: list[Admission] = []

    @property
    def usages(self) -> list[CallUsage]:
        """The usage of each call, in the order of admission."""
        return [each.usage for each in (*self._settled, *self._admitted) if each.usage is not None]

    async def admit(self, model: str, maximum: LLMUsage) -> Admission:
        """Reserves the most that one more call may use. The caller ends the admission.

        Raises:
            BudgetExceededError: As :meth:`Budget.reserve` does.
        """
        admission = Admission(asyncio.create_task(self._reserve(self._amount(model, maximum))))
        self._admitted.append(admission)
        # Shielded: if the call is cancelled in the meantime, the reservation must still be known, to be settled.
        await asyncio.shield(admission.reserving)
        return admission

    async def settle(self) -> None:
        """Replaces all reservations by the actual usage."""
        await self._settle(list(self._admitted))

    async def _reserve(self, maximum: Amount) -> Reservation:
        await self._settle([each for each in self._admitted if each.has_ended])
        return await self._ledger.reserve(self._request.tenant, maximum, deferrable=self._request.deferrable, now=self._clock.now())

    async def _settle(self, admissions: list[Admission]) -> None:
        for admission in admissions:
            self._admitted.remove(admission)
            self._settled.append(admission)
            (reservation,) = await asyncio.gather(admission.reserving, return_exceptions=True)
            if isinstance(reservation, Reservation):
                used = Amount() if admission.usage is None else self._amount(admission.usage.model, admission.usage.tokens)
                await self._ledger.settle(reservation, used)

    def _amount(self, model: str, tokens: LLMUsage) -> Amount:
        return Amount(tokens.prompt_tokens + tokens.completion_tokens, self._prices.cost(model, tokens))
