"""The LLM that the stages see: an answer cache, budgets and usage records before endpoints by priority."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import Final

from memory.records import Usage
from memory.texts.text import estimate_tokens
from models.errors import BudgetExceededError, InputRefusedError, ModelConfigurationError, ModelError, TransientModelError
from models.llm.account import CallUsage, RequestAccount
from models.llm.budget import Budget
from models.llm.cache import AnswerCache, Lookup, Place, SingleFlight, prompt_hash
from models.llm.guarded_endpoint import GuardedEndpoint, StreamingCall
from models.llm.hedging import hedged_call
from models.llm.port import ChatMessage, LLMAnswer, LLMRequest
from models.llm.telemetry import LLMMetrics
from models.llm.usage import PriceTable, UsageSink, usage_record
from runtime.clocks import Clock
from runtime.logs import logger

_LOG = logger(__name__)

_CHECK_INTERVAL_CHARS: Final = 400
_PROBE: Final = "ping"
_WAIT_FOR_END_S: Final = 0.5
"""How long a complete answer waits for the endpoint's own end, which has the number of tokens."""


class LLMGateway:
    """Endpoints by priority, as one LLM.

    Args:
        endpoints: The endpoints, at least one, the preferred one first.
        hedge_after_s: Silence, in seconds, after which the next endpoint is asked too.

    Raises:
        ModelConfigurationError: If there is no endpoint, or one whose model has no price while others have.
    """

    def __init__(
        self,
        *,
        endpoints: Sequence[GuardedEndpoint],
        cache: AnswerCache,
        budget: Budget,
        prices: PriceTable,
        sink: UsageSink,
        metrics: LLMMetrics,
        clock: Clock,
        hedge_after_s: float | None = None,
    ) -> None:
        if not endpoints:
            raise ModelConfigurationError("an LLM needs at least one endpoint (VARVE_LLM__BASE_URL)")
        for target in endpoints:
            prices.require(target.endpoint.model)
        self._endpoints = tuple(endpoints)
        self._cache = cache
        self._budget = budget
        self._prices = prices
        self._sink = sink
        self._metrics = metrics
        self._clock = clock
        self._hedge_after_s = hedge_after_s
        self._single_flight: SingleFlight[LLMAnswer] = SingleFlight()
        self._bookings: set[asyncio.Task[None]] = set()

    @property
    def model(self) -> str:
        """The model that is asked first."""
        return self._endpoints[0].endpoint.model

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        """See :meth:`models.llm.port.LLM.complete`. Concurrent equal requests share one call."""
        key = self._key(request)
        return await self._single_flight.run(f"{request.tenant}/{key}", lambda: self._complete(request, key))

    async def stream(self, request: LLMRequest) -> AsyncGenerator[str]:
        """See :meth:`models.llm.port.LLM.stream`. Closing the iterator cancels the call. No endpoint takes over after the first token."""
        looked_up = await self._look_up(request, self._key(request))
        if looked_up.answer is not None:
            yield looked_up.answer.text
            return
        async with self._accounted(request) as account:
            call = await self._open(request, account, deque(self._endpoints))
            try:
                async with aclosing(call.tokens()) as tokens:
                    async for text in tokens:
                        yield text
            finally:
                await call.close()
        await self._store(looked_up, self._answer(call))

    async def serves(self, tenant: str, *, stage: str) -> bool:
        """See :meth:`models.llm.port.LLM.serves`. Bypasses the breakers: the caller's failures have opened them."""
        ping = LLMRequest(messages=(ChatMessage("user", _PROBE),), tenant=tenant, stage=stage, purpose="probe")
        async with self._accounted(ping) as account:
            for target in self._endpoints:
                call = self._call(target, ping, account)
                with suppress(ModelError):
                    await call.start()
                    await _hang_up(call)
                    return True
        return False

    async def close(self) -> None:
        """Cancels the running calls, settles accounts, and closes the connections."""
        await self._single_flight.close()
        await asyncio.gather(*self._bookings)
        for target in self._endpoints:
            await target.limiter.close()
            await target.endpoint.close()

    async def _complete(self, request: LLMRequest, key: str) -> LLMAnswer:
        looked_up = await self._look_up(request, key)
        if looked_up.answer is not None:
            return looked_up.answer
        try:
            async with self._accounted(request) as account:
                call = await self._finished_call(request, account)
        except InputRefusedError as refusal:
            if request.probes_refusals:
                await self._require_probe_accepted(request, refusal)
            raise
        answer = self._answer(call)
        await self._store(looked_up, answer)
        return answer

    async def _finished_call(self, request: LLMRequest, account: RequestAccount) -> StreamingCall:
        untried = deque(self._endpoints)
        while True:
            call = await self._open(request, account, untried)
            try:
                await _read_to_end(call, request)
                return call
            except TransientModelError as error:
                if not untried:
                    raise
                _LOG.warning("llm_answer_broken_off", error=str(error), endpoints_left=len(untried))
            finally:
                await call.close()

    async def _require_probe_accepted(self, request: LLMRequest, refusal: InputRefusedError) -> None:
        """Sends the request with a one-word message, without the cache, to see whether the endpoint accepts requests now.

        The probe has the request's token limit, because endpoints count the limit when they refuse a request as too long. The call ends at
        the first token.

        Raises:
            ModelConfigurationError: If the endpoint refuses the probe too: then the request was not the cause.
        """
        prefix = tuple(each for each in request.messages if each.role == "system")
        probe = replace(request, messages=(*prefix, ChatMessage("user", _PROBE)), deferrable=False)
        try:
            async with self._accounted(probe) as account:
                await _hang_up(await self._open(probe, account, deque(self._endpoints)))
        except ModelConfigurationError as error:
            raise ModelConfigurationError(str(refusal)) from error

    async def _open(self, request: LLMRequest, account: RequestAccount, untried: deque[GuardedEndpoint]) -> StreamingCall:
        return await hedged_call(lambda target: self._call(target, request, account), untried, hedge_after_s=self._hedge_after_s)

    def _call(self, target: GuardedEndpoint, request: LLMRequest, account: RequestAccount) -> StreamingCall:
        prompt_tokens = sum(estimate_tokens(each.content) for each in request.messages)
        return StreamingCall(target=target, request=request, prompt_tokens=prompt_tokens, account=account, metrics=self._metrics)

    async def _look_up(self, request: LLMRequest, key: str) -> Lookup:
        looked_up = await self._cache.get(Place(request.tenant, key, request.user or request.subject or ""))
        if looked_up.answer is not None:
            self._metrics.answers.labels("cache").inc()
        return looked_up

    async def _store(self, looked_up: Lookup, answer: LLMAnswer) -> None:
        self._metrics.answers.labels("endpoint").inc()
        await self._cache.put(looked_up, answer)

    @asynccontextmanager
    async def _accounted(self, request: LLMRequest) -> AsyncIterator[RequestAccount]:
        """An account for the request's calls; it is booked however they end."""
        account = RequestAccount(request=request, ledger=self._budget, prices=self._prices, clock=self._clock)
        try:
            yield account
        except BudgetExceededError as refusal:
            self._metrics.refused.labels(refusal.kind).inc()
            raise
        finally:
            booking = asyncio.create_task(self._book(request, account))
            self._bookings.add(booking)
            booking.add_done_callback(self._bookings.discard)
            await asyncio.shield(booking)

    async def _book(self, request: LLMRequest, account: RequestAccount) -> None:
        # Settled first: a failing sink must not keep reservations.
        await account.settle()
        for usage in account.usages:
            await self._report(self._usage_record(request, usage))

    async def _report(self, usage: Usage) -> None:
        for kind, tokens in (
            ("prompt", max(0, usage.prompt_tokens - usage.cached_tokens)),
            ("cached", usage.cached_tokens),
            ("completion", usage.completion_tokens),
        ):
            self._metrics.tokens.labels(usage.stage, usage.model, kind).inc(tokens)
        tenant = self._metrics.first_tenants.label(usage.tenant)
        self._metrics.tenant_tokens.labels(tenant).inc(usage.prompt_tokens + usage.completion_tokens)
        self._metrics.cost.labels(usage.stage, usage.model).inc(usage.cost)
        try:
            await self._sink.record(usage)
        except Exception as error:
            # The answer is paid for: failing it because the sink is unavailable would cost it twice.
            self._metrics.unrecorded.inc()
            _LOG.exception("usage_not_recorded", error=str(error), usage=usage.model_dump(mode="json"))

    def _usage_record(self, request: LLMRequest, usage: CallUsage) -> Usage:
        return usage_record(
            request,
            model=usage.model,
            tokens=usage.tokens,
            cost=self._prices.cost(usage.model, usage.tokens),
            latency_ms=usage.latency_ms,
            is_estimated=usage.is_estimated,
            time=self._clock.now(),
        )

    def _answer(self, call: StreamingCall) -> LLMAnswer:
        if call.usage is None or call.finish_reason is None:
            raise TransientModelError(f"the call to {call.target.endpoint.name} was closed before its answer was whole")
        return LLMAnswer(
            text=call.text,
            model=call.usage.model,
            finish_reason=call.finish_reason,
            usage=call.usage.tokens,
            cost=self._prices.cost(call.usage.model, call.usage.tokens),
            latency_ms=call.usage.latency_ms,
            is_estimated=call.usage.is_estimated,
            thoughts=call.thoughts,
        )

    def _key(self, request: LLMRequest) -> str:
        return prompt_hash(request, model=self.model, max_tokens=self._max_tokens(request))

    def _max_tokens(self, request: LLMRequest) -> int:
        maximum = self._endpoints[0].endpoint.max_completion_tokens
        return min(request.max_tokens or maximum, maximum)


async def _read_to_end(call: StreamingCall, request: LLMRequest) -> None:
    """Reads a call's answer to its end, or until it is complete or the request's stop condition holds."""
    stop_when, checked_chars = request.stop_when, 0
    async with aclosing(call.tokens()) as tokens:
        async for _ in tokens:
            length = None if request.complete_at is None else request.complete_at(call.text)
            if length is not None:
                await _await_end(call, tokens, length)
                return
            if stop_when is None or len(call.text) - checked_chars < _CHECK_INTERVAL_CHARS:
                continue
            checked_chars = len(call.text)
            if stop_when(call.text):
                _LOG.warning("llm_answer_truncated", endpoint=call.target.endpoint.name, characters=checked_chars)
                call.truncate()
                return


async def _await_end(call: StreamingCall, tokens: AsyncGenerator[str], length: int) -> None:
    """Ends a complete answer; waits briefly for the endpoint's own end, unless the endpoint sends further text."""
    with suppress(TimeoutError, TransientModelError):
        async with asyncio.timeout(_WAIT_FOR_END_S):
            while not call.text[length:].strip():
                if await anext(tokens, None) is None:
                    break
    call.complete(length)


async def _hang_up(call: StreamingCall) -> None:
    """Ends a call at its first token, which shows that the endpoint processes calls."""
    call.truncate()
    await call.close()
