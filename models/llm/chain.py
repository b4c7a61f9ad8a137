"""The LLM that the stages see: answer cache, budget and accounts before a chain of endpoints."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Final

from memory.records import Usage
from memory.text import estimate_tokens
from models.errors import BudgetExceededError, ModelConfigurationError, TransientModelError
from models.llm.account import Account, Spent
from models.llm.budget import BudgetLedger
from models.llm.cache import AnswerCache, prompt_hash
from models.llm.guarded_endpoint import GuardedEndpoint, LiveCall
from models.llm.hedging import first_to_speak
from models.llm.metrics import LLMMetrics
from models.llm.port import LLMAnswer, LLMRequest
from models.llm.prices import PriceTable
from models.llm.single_flight import SingleFlight
from models.llm.usage import UsageSink
from runtime.clocks import Clock
from runtime.logs import logger

_LOG = logger(__name__)

_LOOK_EVERY_CHARS: Final = 400


class EndpointChain:
    """Endpoints by priority, as one LLM."""

    def __init__(
        self,
        *,
        endpoints: Sequence[GuardedEndpoint],
        cache: AnswerCache,
        budget: BudgetLedger,
        prices: PriceTable,
        sink: UsageSink,
        metrics: LLMMetrics,
        clock: Clock,
        hedge_after_s: float | None = None,
    ) -> None:
        """Puts the parts together.

        Args:
            endpoints: The endpoints, at least one, the preferred one first.
            cache: Answers paid for before.
            budget: What tenants may use up.
            prices: What tokens cost.
            sink: Where usage goes.
            metrics: Where to count.
            clock: The time of usage records and budgets.
            hedge_after_s: Silence, in seconds, after which the next endpoint is asked too.

        Raises:
            ModelConfigurationError: If there is no endpoint, or one whose model has no price while others have.
        """
        if not endpoints:
            raise ModelConfigurationError("an LLM needs at least one endpoint (VARVE_LLM__BASE_URL)")
        for guarded in endpoints:
            prices.require(guarded.endpoint.model)
        self._endpoints = tuple(endpoints)
        self._cache = cache
        self._budget = budget
        self._prices = prices
        self._sink = sink
        self._metrics = metrics
        self._clock = clock
        self._hedge_after_s = hedge_after_s
        self._flights: SingleFlight[LLMAnswer] = SingleFlight()
        self._bookings: set[asyncio.Task[None]] = set()

    @property
    def model(self) -> str:
        """The model that is asked first."""
        return self._endpoints[0].endpoint.model

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        """See :meth:`models.llm.port.LLM.complete`. The same question asked twice at once is asked once."""
        asked = self._hash(request)
        return await self._flights.join(f"{request.tenant}/{asked}", lambda: self._complete(request, asked))

    async def stream(self, request: LLMRequest) -> AsyncIterator[str]:
        """See :meth:`models.llm.port.LLM.stream`. Close the iterator to hang up. Once text has come, no other endpoint can take over."""
        asked = self._hash(request)
        known = await self._known(request, asked)
        if known is not None:
            yield known.text
            return
        prompt_tokens = _prompt_tokens(request)
        async with self._accounted(request) as account:
            call = await self._open(request, prompt_tokens, account, deque(self._endpoints))
            try:
                async with aclosing(call.tokens()) as tokens:
                    async for text in tokens:
                        yield text
            finally:
                await call.close()
        await self._keep(request, asked, self._answer(call))

    async def close(self) -> None:
        """Ends the calls under way, settles accounts, and closes the connections."""
        await self._flights.close()
        await asyncio.gather(*self._bookings)
        for guarded in self._endpoints:
            await guarded.limiter.close()
            await guarded.endpoint.close()

    async def _complete(self, request: LLMRequest, asked: str) -> LLMAnswer:
        known = await self._known(request, asked)
        if known is not None:
            return known
        prompt_tokens = _prompt_tokens(request)
        async with self._accounted(request) as account:
            call = await self._whole_call(request, prompt_tokens, account)
        answer = self._answer(call)
        await self._keep(request, asked, answer)
        return answer

    async def _whole_call(self, request: LLMRequest, prompt_tokens: int, account: Account) -> LiveCall:
        untried = deque(self._endpoints)
        while True:
            call = await self._open(request, prompt_tokens, account, untried)
            try:
                await _read_on(call, request.hang_up_if)
                return call
            except TransientModelError as fault:
                if not untried:
                    raise
                _LOG.warning("llm_answer_broken_off", error=str(fault), endpoints_left=len(untried))
            finally:
                await call.close()

    async def _open(self, request: LLMRequest, prompt_tokens: int, account: Account, untried: deque[GuardedEndpoint]) -> LiveCall:
        return await first_to_speak(
            lambda guarded: LiveCall(guarded=guarded, request=request, prompt_tokens=prompt_tokens, account=account, metrics=self._metrics),
            untried,
            hedge_after_s=self._hedge_after_s,
        )

    async def _known(self, request: LLMRequest, asked: str) -> LLMAnswer | None:
        known = await self._cache.get(request.tenant, asked)
        if known is not None:
            self._metrics.answers.labels("cache").inc()
        return known

    async def _keep(self, request: LLMRequest, asked: str, answer: LLMAnswer) -> None:
        self._metrics.answers.labels("endpoint").inc()
        await self._cache.put(request.tenant, asked, answer)

    @asynccontextmanager
    async def _accounted(self, request: LLMRequest) -> AsyncIterator[Account]:
        """An account for the answer's calls, which is booked however they end."""
        account = Account(request=request, ledger=self._budget, prices=self._prices, clock=self._clock)
        try:
            yield account
        except BudgetExceededError as refusal:
            self._metrics.refused.labels("soft" if refusal.soft else "hard").inc()
            raise
        finally:
            booking = asyncio.create_task(self._book(request, account))
            self._bookings.add(booking)
            booking.add_done_callback(self._bookings.discard)
            await asyncio.shield(booking)

    async def _book(self, request: LLMRequest, account: Account) -> None:
        # Settled first: what is set aside must not stay so because a report fails.
        await account.settle()
        for spent in account.spent:
            await self._report(self._usage_record(request, spent))

    async def _report(self, usage: Usage) -> None:
        for kind, tokens in (
            ("prompt", max(0, usage.prompt_tokens - usage.cached_tokens)),
            ("cached", usage.cached_tokens),
            ("completion", usage.completion_tokens),
        ):
            self._metrics.tokens.labels(usage.stage, usage.model, kind).inc(tokens)
        self._metrics.cost.labels(usage.stage, usage.model).inc(usage.cost)
        try:
            await self._sink.record(usage)
        except Exception:
            # The answer is paid for: to give it up because the books are away would cost it twice.
            self._metrics.unrecorded.inc()
            _LOG.exception("usage_not_recorded", usage=usage.model_dump(mode="json"))

    def _usage_record(self, request: LLMRequest, spent: Spent) -> Usage:
        return Usage(
            tenant=request.tenant,
            stage=request.stage,
            model=spent.model,
            purpose=request.purpose,
            prompt_tokens=spent.usage.prompt_tokens,
            cached_tokens=spent.usage.cached_tokens,
            completion_tokens=spent.usage.completion_tokens,
            cost=self._prices.cost(spent.model, spent.usage),
            latency_ms=spent.latency_ms,
            estimated=spent.estimated,
            time=self._clock.now(),
            subject=request.subject,
        )

    def _answer(self, call: LiveCall) -> LLMAnswer:
        if call.spent is None or call.finish_reason is None:
            raise TransientModelError(f"{call.guarded.endpoint.name} was hung up on before its answer was whole")
        return LLMAnswer(
            text=call.text,
            model=call.spent.model,
            finish_reason=call.finish_reason,
            usage=call.spent.usage,
            cost=self._prices.cost(call.spent.model, call.spent.usage),
            latency_ms=call.spent.latency_ms,
        )

    def _hash(self, request: LLMRequest) -> str:
        return prompt_hash(request, model=self.model, max_tokens=self._max_tokens(request))

    def _max_tokens(self, request: LLMRequest) -> int:
        longest = self._endpoints[0].endpoint.max_completion_tokens
        return min(request.max_tokens or longest, longest)


async def _read_on(call: LiveCall, hang_up_if: Callable[[str], bool] | None) -> None:
    """Reads a call's answer to its end, or to where it is of no use to read on."""
    looked_at = 0
    async with aclosing(call.tokens()) as tokens:
        async for _ in tokens:
            if hang_up_if is None or len(call.text) - looked_at < _LOOK_EVERY_CHARS:
                continue
            looked_at = len(call.text)
            if hang_up_if(call.text):
                _LOG.warning("llm_answer_cut_short", endpoint=call.guarded.endpoint.name, characters=looked_at)
                call.cut_short()
                return


def _prompt_tokens(request: LLMRequest) -> int:
    return sum(estimate_tokens(each.content) for each in request.messages)
