"""One call to one endpoint under its guards: the tenant's budget, the endpoint's limits, its circuit breaker."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Final

from memory.texts.text import SurrogateJoiner, estimate_tokens, join_surrogates
from models.credentials import credential_watch
from models.errors import ModelConfigurationError, ModelError, ModelTimeoutError, OverloadedError, TransientModelError
from models.llm.account import Admission, CallUsage, RequestAccount
from models.llm.endpoint import Delta, Endpoint, Finish
from models.llm.limiter import Limiter
from models.llm.limits import Lease
from models.llm.port import FinishReason, LLMRequest, LLMUsage
from models.llm.telemetry import LLMMetrics, end_call_span, start_call_span
from runtime import tracing
from runtime.resilience import CircuitBreaker

_CHARACTERS_PER_TOKEN: Final = 16
"""More than the tokens of any language have on average."""
_LEAST_CHARACTERS: Final = 20_000
_JSON: Final = re.compile(r"\s*(?:```\w*\s*)?[{\[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedEndpoint:
    """An endpoint with its guards."""

    endpoint: Endpoint
    limiter: Limiter
    breaker: CircuitBreaker


class StreamingCall:
    """A call whose answer streams. Start it, read its tokens, close it; it releases its lease and books its usage in every case."""

    def __init__(
        self, *, target: GuardedEndpoint, request: LLMRequest, prompt_tokens: int, account: RequestAccount, metrics: LLMMetrics
    ) -> None:
        self.target = target
        self.sent = asyncio.Event()
        """Set when the call has its lease."""
        self.text = ""
        self.finish_reason: FinishReason | None = None
        self.lost_race = False
        """Whether it was silent for so long that a call that was sent later answered first."""
        self.usage: CallUsage | None = None
        """Known once closed, unless the endpoint refused the call."""
        self._request = request
        self._prompt_tokens = prompt_tokens
        self._account = account
        self._metrics = metrics
        self._thoughts: list[str] = []
        self._counted: LLMUsage | None = None
        self._error: BaseException | None = None
        self._is_truncated = False
        self._sent_at = 0.0
        self._first_token_s: float | None = None
        self._span = tracing.NO_SPAN
        self._stack = AsyncExitStack()
        self._stream: AsyncGenerator[Delta | Finish]
        self._first: Delta | Finish | None = None

    async def start(self) -> None:
        """Reserves what the call may use, waits for a lease, sends, and waits for the first token.

        Raises:
            BudgetExceededError: If the tenant's budget does not allow the call.
            TransientModelError: As the endpoint does, and if no lease was granted in time.
            ModelConfigurationError: As the endpoint does.
        """
        loop = asyncio.get_running_loop()
        endpoint = self.target.endpoint
        completion_tokens = self._max_completion_tokens
        maximum = LLMUsage(prompt_tokens=self._prompt_tokens, completion_tokens=completion_tokens)
        async with AsyncExitStack() as stack:
            admission = await self._account.admit(endpoint.model, maximum)
            stack.callback(admission.end)
            queued_at = loop.time()
            lease = await stack.enter_async_context(self.target.limiter.lease(maximum.prompt_tokens + maximum.completion_tokens))
            self._sent_at = loop.time()
            self._metrics.queue_seconds.labels(endpoint.name).observe(self._sent_at - queued_at)
            self._span = start_call_span(endpoint, self._request, max_tokens=completion_tokens)
            stack.callback(self._settle, lease, admission)
            self.sent.set()
            self._stream = await stack.enter_async_context(aclosing(endpoint.answer(self._request)))
            self._first = await self._next()
            self.target.breaker.record_success()
            credential_watch().note_success(endpoint.credentials)
            self._metrics.breaker_open.labels(endpoint.name).set(0)
            self._first_token_s = loop.time() - self._sent_at
            self._metrics.first_token_seconds.labels(endpoint.name).observe(self._first_token_s)
            self._stack = stack.pop_all()

    async def tokens(self) -> AsyncGenerator[str]:
        """The answer's text as it arrives; raises as :meth:`start`. Ends an answer that exceeds the token limit many times over."""
        item = self._first
        joiner = SurrogateJoiner()
        longest = max(_LEAST_CHARACTERS, self._max_completion_tokens * _CHARACTERS_PER_TOKEN)
        while isinstance(item, Delta):
            self._counted = item.usage or self._counted
            self._thoughts.append(item.thoughts)
            if text := joiner.add(item.text)[: longest - len(self.text)]:
                self.text += text
                yield text
            if len(self.text) >= longest:
                self.truncate()
                return
            item = await self._next()
        if item is not None:
            self.finish_reason, self._counted = item.reason, item.usage or self._counted
        if text := joiner.end() or self._answer_among_thoughts():
            self.text += text
            yield text

    def truncate(self) -> None:
        """Takes the text so far as the answer, as if it had reached its token limit. Close the call to close the connection."""
        self._is_truncated = True
        self.finish_reason = "length"

    def complete(self, length: int) -> None:
        """Takes the first characters of the text so far as the whole answer. Close the call to close the connection.

        Args:
            length: Number of these characters.
        """
        self.text = self.text[:length]
        self.finish_reason = "stop"

    @property
    def thoughts(self) -> str:
        """The thoughts that the endpoint has sent in a separate field."""
        return join_surrogates("".join(self._thoughts))

    async def close(self) -> None:
        """Closes the connection if it is open, and releases the lease. May be called twice."""
        await self._stack.aclose()

    @property
    def _max_completion_tokens(self) -> int:
        most = self.target.endpoint.max_completion_tokens
        return min(self._request.max_tokens or most, most)

    def _answer_among_thoughts(self) -> str:
        """The JSON that was asked for, where a server took it for thoughts: vLLM does where a schema lets the model write JSON alone.

        What does not begin as JSON are thoughts indeed, whatever drafts they hold.
        """
        if self.finish_reason != "stop" or self._request.json_schema is None or self.text.strip():
            return ""
        thoughts = join_surrogates("".join(self._thoughts))
        if not _JSON.match(thoughts):
            return ""
        self._thoughts.clear()
        return thoughts

    async def _next(self) -> Delta | Finish:
        try:
            return await anext(self._stream)
        except ModelError as error:
            await self._report_to_guards(error)
            raise
        except asyncio.CancelledError as error:
            self._error = error
            raise

    async def _report_to_guards(self, error: ModelError) -> None:
        self._error = error
        if isinstance(error, OverloadedError):
            await self.target.limiter.pause(error.pause_s)
            return
        refuses_credentials = isinstance(error, ModelConfigurationError) and error.refuses_credentials
        if refuses_credentials:
            credential_watch().note_refusal(self.target.endpoint.credentials, str(error))
        if refuses_credentials or isinstance(error, TransientModelError):
            self.target.breaker.record_failure(asyncio.get_running_loop().time())
            self._metrics.breaker_open.labels(self.target.endpoint.name).set(not self.target.breaker.is_closed)

    def _settle(self, lease: Lease, admission: Admission) -> None:
        self._book(lease, admission)
        end_call_span(
            self._span,
            outcome=self._outcome(),
            finish_reason=self.finish_reason,
            usage=self.usage,
            first_token_s=self._first_token_s,
        )

    def _book(self, lease: Lease, admission: Admission) -> None:
        seconds = asyncio.get_running_loop().time() - self._sent_at
        endpoint = self.target.endpoint
        self._metrics.calls.labels(endpoint.name, self._outcome()).inc()
        self._metrics.call_seconds.labels(endpoint.name).observe(seconds)
        if self._was_refused():
            lease.used = 0
            return
        usage = self._counted or self._estimated()
        lease.used = usage.prompt_tokens + usage.completion_tokens
        self.usage = CallUsage(model=endpoint.model, tokens=usage, is_estimated=self._counted is None, latency_ms=seconds * 1000)
        admission.usage = self.usage

    def _estimated(self) -> LLMUsage:
        """An estimate from the streamed text: thoughts are paid for like the answer."""
        streamed = estimate_tokens(self.text) + estimate_tokens("".join(self._thoughts))
        return LLMUsage(prompt_tokens=self._prompt_tokens, completion_tokens=streamed)

    def _was_refused(self) -> bool:
        """An endpoint charges for an answer it began, and perhaps for one that timed out; not for a refusal."""
        return self._first is None and isinstance(self._error, ModelError) and not isinstance(self._error, ModelTimeoutError)

    def _outcome(self) -> str:
        if self._is_truncated:
            return "cut_short"
        if self.finish_reason is not None:
            return "answered"
        match self._error:
            case ModelTimeoutError():
                return "timed_out"
            case OverloadedError():
                return "overloaded"
            case TransientModelError():
                return "failed"
            case ModelConfigurationError():
                return "refused"
            case _:
                return "outrun" if self.lost_race else "hung_up"
