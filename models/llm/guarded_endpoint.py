"""One call to one endpoint: its turn, its tokens, what it used up, and what its end says about the endpoint."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass

from memory.text import estimate_tokens
from models.errors import ModelConfigurationError, ModelError, ModelTimeoutError, OverloadedError, TransientModelError
from models.llm.account import Account, Admission, Spent
from models.llm.chunks import FinishReason
from models.llm.endpoint import Endpoint, Finished, Token
from models.llm.limiter import Lease, Limiter
from models.llm.metrics import LLMMetrics
from models.llm.port import LLMRequest, LLMUsage
from models.llm.surrogates import SurrogateJoiner
from runtime.breaker import CircuitBreaker


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedEndpoint:
    """An endpoint with what guards it."""

    endpoint: Endpoint
    limiter: Limiter
    breaker: CircuitBreaker


class LiveCall:
    """A call under way. Begin it, read its tokens, close it; it frees its turn and accounts for itself whatever happens between."""

    def __init__(self, *, guarded: GuardedEndpoint, request: LLMRequest, prompt_tokens: int, account: Account, metrics: LLMMetrics) -> None:
        """Nothing is sent yet.

        Args:
            guarded: Whom to ask.
            request: What to ask.
            prompt_tokens: An estimate of the prompt's tokens.
            account: Admits the call, and notes what it used up.
            metrics: Where to count.
        """
        self.guarded = guarded
        self.sent = asyncio.Event()
        """Set when the call has got its turn."""
        self.text = ""
        self.finish_reason: FinishReason | None = None
        self.spent: Spent | None = None
        """Known once closed, unless the endpoint refused the call."""
        self._request = request
        self._prompt_tokens = prompt_tokens
        self._account = account
        self._metrics = metrics
        self._usage: LLMUsage | None = None
        self._fault: BaseException | None = None
        self._is_cut_short = False
        self._begun_at = 0.0
        self._stack = AsyncExitStack()
        self._stream: AsyncGenerator[Token | Finished]
        self._first: Token | Finished | None = None

    async def begin(self) -> None:
        """Sets aside what the call may use up, waits for a turn, sends, and waits for the first token.

        Raises:
            BudgetExceededError: If the tenant's budget does not allow the call.
            TransientModelError: As the endpoint does, and if there was no turn in time.
            ModelConfigurationError: As the endpoint does.
        """
        loop = asyncio.get_running_loop()
        endpoint = self.guarded.endpoint
        completion_tokens = min(self._request.max_tokens or endpoint.max_completion_tokens, endpoint.max_completion_tokens)
        most = LLMUsage(prompt_tokens=self._prompt_tokens, completion_tokens=completion_tokens)
        async with AsyncExitStack() as stack:
            admission = await self._account.admit(endpoint.model, most)
            stack.callback(admission.end)
            queued_at = loop.time()
            turn = await stack.enter_async_context(self.guarded.limiter.turn(most.prompt_tokens + most.completion_tokens))
            self._begun_at = loop.time()
            self._metrics.queue_seconds.labels(endpoint.name).observe(self._begun_at - queued_at)
            stack.callback(self._settle, turn, admission)
            self.sent.set()
            self._stream = await stack.enter_async_context(aclosing(endpoint.answer(self._request)))
            self._first = await self._next()
            self.guarded.breaker.succeeded()
            self._metrics.breaker_open.labels(endpoint.name).set(0)
            self._metrics.first_token_seconds.labels(endpoint.name).observe(loop.time() - self._begun_at)
            self._stack = stack.pop_all()

    async def tokens(self) -> AsyncGenerator[str]:
        """The answer's text as it comes; raises as :meth:`begin`."""
        item = self._first
        joiner = SurrogateJoiner()
        while isinstance(item, Token):
            self._usage = item.usage or self._usage
            if text := joiner.add(item.text):
                self.text += text
                yield text
            item = await self._next()
        if item is not None:
            self.finish_reason, self._usage = item.reason, item.usage or self._usage
        if text := joiner.end():
            self.text += text
            yield text

    def cut_short(self) -> None:
        """Takes what has come for the answer, as if it had come to its longest here. Close the call to hang up."""
        self._is_cut_short = True
        self.finish_reason = "length"

    async def close(self) -> None:
        """Hangs up if need be, and gives the turn back. May be called twice."""
        await self._stack.aclose()

    async def _next(self) -> Token | Finished:
        try:
            return await anext(self._stream)
        except ModelError as fault:
            await self._judge(fault)
            raise
        except asyncio.CancelledError as cancelled:
            self._fault = cancelled
            raise

    async def _judge(self, fault: ModelError) -> None:
        self._fault = fault
        if isinstance(fault, OverloadedError):
            await self.guarded.limiter.pause(fault.pause_s)
        elif isinstance(fault, TransientModelError):
            self.guarded.breaker.failed(asyncio.get_running_loop().time())
            self._metrics.breaker_open.labels(self.guarded.endpoint.name).set(self.guarded.breaker.is_open)

    def _settle(self, turn: Lease, admission: Admission) -> None:
        seconds = asyncio.get_running_loop().time() - self._begun_at
        endpoint = self.guarded.endpoint
        self._metrics.calls.labels(endpoint.name, self._outcome()).inc()
        self._metrics.call_seconds.labels(endpoint.name).observe(seconds)
        if self._was_refused():
            turn.used = 0
            return
        usage = self._usage or LLMUsage(prompt_tokens=self._prompt_tokens, completion_tokens=estimate_tokens(self.text))
        turn.used = usage.prompt_tokens + usage.completion_tokens
        self.spent = Spent(model=endpoint.model, usage=usage, estimated=self._usage is None, latency_ms=seconds * 1000)
        admission.spent = self.spent

    def _was_refused(self) -> bool:
        """An endpoint charges for what it began to answer, and perhaps for what we hung up on; not for what it refused."""
        return self._first is None and isinstance(self._fault, ModelError) and not isinstance(self._fault, ModelTimeoutError)

    def _outcome(self) -> str:
        if self._is_cut_short:
            return "cut_short"
        if self.finish_reason is not None:
            return "answered"
        match self._fault:
            case ModelTimeoutError():
                return "timed_out"
            case OverloadedError():
                return "overloaded"
            case TransientModelError():
                return "failed"
            case ModelConfigurationError():
                return "refused"
            case _:
                return "hung_up"
