"""One OpenAI-compatible endpoint: chat completions, always streamed, so that silence is noticed early."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, cast
from urllib.parse import urlsplit

from openai import APIError, APIStatusError, AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk

from models.errors import ModelConfigurationError, ModelError, ModelTimeoutError, TransientModelError
from models.llm.capabilities import Capabilities, ResponseFormat
from models.llm.chunks import Chunk, FinishReason, read_chunk
from models.llm.lessons import Lessons
from models.llm.port import LLMRequest, LLMUsage
from models.llm.surrogates import join_surrogates
from models.llm.unstreamed import Answer, as_it_came
from models.openai_errors import error_for_status, error_message, model_error
from runtime.clocks import Clock

T = TypeVar("T")

_REFUSALS: Final = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer. An empty text is a sign of life: a reasoning model thinks before it speaks."""

    text: str
    usage: LLMUsage | None = None
    """What the endpoint has counted so far, where it counts as it goes."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of an answer; ``usage`` is None where the endpoint does not count."""

    reason: FinishReason
    usage: LLMUsage | None


class Endpoint:
    """One model behind one address. Learns from refusals what it can do, and remembers it."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None,
        response_format: ResponseFormat | Literal["auto"],
        temperature: float,
        max_completion_tokens: int,
        first_token_timeout_s: float,
        timeout_s: float,
        clock: Clock,
    ) -> None:
        """Prepares the client; nothing is sent yet.

        Args:
            base_url: The address, ending before ``/chat/completions``.
            model: The model's name.
            api_key: Its key, where it wants one.
            response_format: How to ask for JSON; ``auto`` finds out.
            temperature: Sampling temperature.
            max_completion_tokens: Longest answer, unless a request says less.
            first_token_timeout_s: From the sending to the first token, in seconds.
            timeout_s: From the sending to the last token, in seconds.
            clock: Tells the time to a ``Retry-After`` that is a date.

        Raises:
            ModelConfigurationError: If the address is not one, or the model has no name.
        """
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ModelConfigurationError(f"an LLM endpoint's address must begin with http:// or https://, got {base_url!r}")
        if not model:
            raise ModelConfigurationError(f"the LLM endpoint {base_url} needs a model's name (VARVE_LLM__MODEL, or model of its fallback)")
        port = f":{address.port}" if address.port else ""
        self.name = f"{address.hostname}{port}{address.path.rstrip('/')}#{model}"
        """Names the endpoint in errors, metrics and shared limits; bears no key and no password."""
        self.model = model
        self.max_completion_tokens = max_completion_tokens
        self._temperature = temperature
        self._first_token_timeout_s = first_token_timeout_s
        self._timeout_s = timeout_s
        self._clock = clock
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)
        self._lessons = Lessons(
            Capabilities() if response_format == "auto" else Capabilities(response_format=response_format, format_is_fixed=True)
        )

    @property
    def capabilities(self) -> Capabilities:
        """What is known of the endpoint so far."""
        return self._lessons.capabilities

    async def answer(self, request: LLMRequest) -> AsyncGenerator[Token | Finished]:
        """Asks once: tokens as they come, then :class:`Finished`. Close the iterator to hang up.

        Raises:
            OverloadedError: On 429.
            ModelTimeoutError: If the first token or the whole answer is late.
            TransientModelError: On lost connections, 5xx, a stream that cannot be read, and one that ends before the answer does or says
                so itself.
            ModelConfigurationError: On any other refusal.
        """
        begun = asyncio.get_running_loop().time()
        first_by, all_by = begun + min(self._first_token_timeout_s, self._timeout_s), begun + self._timeout_s
        stream = await self._in_time(self._open(request), first_by, "first token")
        try:
            reason: FinishReason | None = None
            usage: LLMUsage | None = None
            silent = True
            while True:
                try:
                    chunk = await self._next_chunk(stream, first_by if silent else all_by, "first token" if silent else "whole answer")
                except StopAsyncIteration:
                    break
                except TransientModelError:
                    if reason is None:
                        raise
                    break
                usage = chunk.usage or usage
                reason = chunk.finish_reason or reason
                if chunk.text or chunk.is_thought:
                    silent = False
                    yield Token(chunk.text, usage)
                if chunk.fault is not None:
                    raise error_for_status(chunk.fault.status, f"{self.name} broke its answer off: {chunk.fault.said}")
            if reason is None:
                raise TransientModelError(f"{self.name} ended its stream before its answer was whole")
            yield Finished(reason, usage)
        finally:
            # However the connection ends, the answer or its fault is known by now.
            with suppress(Exception):
                await stream.close()

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _open(self, request: LLMRequest) -> Answer:
        first = asked = self._lessons.best_for(request)
        refusal: APIStatusError | None = None
        while True:
            try:
                stream = await self._send(request, asked)
            except APIStatusError as error:
                refusal = refusal or error
                lesser = None
                if error.status_code in _REFUSALS or error.status_code >= 500:
                    lesser = self._lessons.lesser(asked, request, status=error.status_code, refusal=error_message(error))
                if lesser is None:
                    raise refusal from None
                asked = lesser
            else:
                self._lessons.taken(request, first=first, asked=asked)
                return await as_it_came(stream)

    async def _send(self, request: LLMRequest, capabilities: Capabilities) -> AsyncStream[ChatCompletionChunk]:
        limit = min(request.max_tokens or self.max_completion_tokens, self.max_completion_tokens)
        messages = cast(Any, [{"role": each.role, "content": join_surrogates(each.content)} for each in request.messages])
        arguments = capabilities.arguments(request, max_tokens=limit, temperature=self._temperature)
        return cast(
            AsyncStream[ChatCompletionChunk],
            await self._client.chat.completions.create(model=self.model, messages=messages, stream=True, **arguments),
        )

    async def _next_chunk(self, stream: Answer, deadline: float, what: str) -> Chunk:
        try:
            return read_chunk(await self._in_time(anext(stream), deadline, what))
        except (StopAsyncIteration, ModelError):
            raise
        except Exception as error:
            # The client raises what its parsing happens to (no JSON, no UTF-8): the endpoint's fault, and another may do better.
            raise TransientModelError(f"{self.name} sent a stream that cannot be read: {type(error).__name__}: {error}") from error

    async def _in_time(self, work: Awaitable[T], deadline: float, what: str) -> T:
        try:
            async with asyncio.timeout_at(deadline):
                return await work
        except TimeoutError as error:
            raise ModelTimeoutError(f"{self.name} did not give its {what} in time") from error
        except APIError as error:
            raise model_error(error, endpoint=self.name, now=self._clock.now()) from error
