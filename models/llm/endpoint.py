"""One OpenAI-compatible endpoint: chat completions, always streamed, so that silence is noticed early."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeVar, cast
from urllib.parse import urlsplit

from httpx2 import RemoteProtocolError
from openai import APIConnectionError, APIError, APIStatusError, AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk

from memory.texts.text import join_surrogates
from models.credentials import CredentialOwner
from models.errors import ModelConfigurationError, ModelError, ModelTimeoutError, TransientModelError
from models.llm.capabilities import Capabilities, CapabilityNegotiation, ResponseFormat
from models.llm.port import FinishReason, LLMRequest, LLMUsage
from models.llm.streaming import Chunk, ChunkStream, chunk_stream, close_stream, read_chunk
from models.openai_errors import error_for_status, error_message, model_error
from runtime.clocks import Clock

T = TypeVar("T")

_REFUSALS: Final = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer. Its text is empty while a reasoning model reasons: it shows that the endpoint is alive."""

    text: str
    usage: LLMUsage | None = None
    """Tokens counted so far, if the endpoint counts during the answer."""
    thoughts: str = ""
    """Thoughts of a reasoning model, if the endpoint shows them."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of an answer; ``usage`` is None where the endpoint does not count."""

    reason: FinishReason
    usage: LLMUsage | None


class Endpoint:
    """One model at one address. Learns its capabilities from refusals.

    For a provider with another API, write a class with the same public members, and choose it in :mod:`models.llm.build`. The gateway adds
    limits, budgets, the answer cache and usage records to every endpoint.

    Args:
        base_url: The address, ending before ``/chat/completions``.
        response_format: How to ask for JSON; ``auto`` finds out.
        max_completion_tokens: Longest answer, unless a request says less.
        first_token_timeout_s: From sending to the first token, in seconds.
        timeout_s: From sending to the last token, in seconds.
        clock: The time, for a ``Retry-After`` that is a date.

    Raises:
        ModelConfigurationError: If the address is not one, or the model has no name.
    """

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
        key_variable: str = "VARVE_LLM__API_KEY",
    ) -> None:
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ModelConfigurationError(f"an LLM endpoint's address must begin with http:// or https://, got {base_url!r}")
        if not model:
            raise ModelConfigurationError(f"the LLM endpoint {base_url} needs a model's name (VARVE_LLM__MODEL, or model of its fallback)")
        port = f":{address.port}" if address.port else ""
        self.name = f"{address.hostname}{port}{address.path.rstrip('/')}#{model}"
        """Names the endpoint in errors, metrics and shared limits; contains no key and no password."""
        self.credentials = CredentialOwner(dependency="llm", endpoint=self.name, variable=key_variable)
        self.host = address.hostname
        self.port = address.port or (443 if address.scheme == "https" else 80)
        self.model = model
        self.max_completion_tokens = max_completion_tokens
        self._temperature = temperature
        self._first_token_timeout_s = first_token_timeout_s
        self._timeout_s = timeout_s
        self._clock = clock
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)
        self._negotiation = CapabilityNegotiation(
            Capabilities() if response_format == "auto" else Capabilities(response_format=response_format, format_is_fixed=True)
        )

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities found so far."""
        return self._negotiation.capabilities

    async def answer(self, request: LLMRequest) -> AsyncGenerator[Delta | Finish]:
        """Asks once: deltas as they arrive, then :class:`Finish`. Closing the iterator closes the connection.

        Raises:
            OverloadedError: On 429.
            ModelTimeoutError: If the first token or the whole answer is late.
            TransientModelError: On lost connections, 5xx, a stream that cannot be read, and one that ends without a finish reason or
                with an error.
            ModelConfigurationError: On any other refusal.
        """
        started = asyncio.get_running_loop().time()
        deadline = started + self._timeout_s
        awaited: tuple[float, str] = started + min(self._first_token_timeout_s, self._timeout_s), "first token"
        stream = await self._in_time(self._open(request), *awaited)
        try:
            reason: FinishReason | None = None
            usage: LLMUsage | None = None
            is_empty = True
            while True:
                try:
                    chunk = await self._next_chunk(stream, *awaited)
                except StopAsyncIteration:
                    break
                except TransientModelError:
                    if reason is None:
                        raise
                    break
                is_empty = False
                usage = chunk.usage or usage
                reason = chunk.finish_reason or reason
                if chunk.text or chunk.is_reasoning:
                    awaited = deadline, "whole answer"
                    yield Delta(chunk.text, usage, chunk.thoughts)
                if chunk.failure is not None:
                    raise error_for_status(chunk.failure.status, f"{self.name} broke its answer off: {chunk.failure.message}")
            if reason is None and is_empty:
                raise TransientModelError(f"{self.name} sent nothing of a stream: is it an OpenAI-compatible API that streams?")
            if reason is None:
                raise TransientModelError(f"{self.name} ended its stream before its answer was whole")
            yield Finish(reason, usage)
        finally:
            # However the connection closes, the answer or its error is known by now.
            with suppress(Exception):
                await close_stream(stream)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _open(self, request: LLMRequest) -> ChunkStream:
        preferred = attempted = self._negotiation.preferred(request)
        first_refusal: APIStatusError | None = None
        while True:
            try:
                response = await self._send(request, attempted)
            except APIStatusError as error:
                first_refusal = first_refusal or error
                downgraded = None
                if error.status_code in _REFUSALS or error.status_code >= 500:
                    downgraded = self._negotiation.downgraded(attempted, request, status=error.status_code, message=error_message(error))
                if downgraded is None:
                    raise first_refusal from None
                attempted = downgraded
            else:
                self._negotiation.accept(request, preferred=preferred, accepted=attempted)
                return await chunk_stream(response)

    async def _send(self, request: LLMRequest, capabilities: Capabilities) -> AsyncStream[ChatCompletionChunk]:
        max_tokens = min(request.max_tokens or self.max_completion_tokens, self.max_completion_tokens)
        messages = cast(Any, [{"role": each.role, "content": join_surrogates(each.content)} for each in request.messages])
        arguments = capabilities.arguments(request, max_tokens=max_tokens, temperature=self._temperature)
        create = partial(self._client.chat.completions.create, model=self.model, messages=messages, stream=True, **arguments)
        try:
            response = await create()
        except APIConnectionError as error:
            # A server may close an idle connection in the moment in which it is used again (RFC 9112, 9.3.1). Nothing was answered on it.
            if not isinstance(error.__cause__, RemoteProtocolError):
                raise
            response = await create()
        return cast(AsyncStream[ChatCompletionChunk], response)

    async def _next_chunk(self, stream: ChunkStream, deadline: float, awaited: str) -> Chunk:
        try:
            return read_chunk(await self._in_time(anext(stream), deadline, awaited))
        except (StopAsyncIteration, ModelError):
            raise
        except Exception as error:
            # The client lets errors of its parsing through (no JSON, no UTF-8): the endpoint sent that, and another may do better.
            raise TransientModelError(f"{self.name} sent a stream that cannot be read: {type(error).__name__}: {error}") from error

    async def _in_time(self, work: Awaitable[T], deadline: float, awaited: str) -> T:
        try:
            async with asyncio.timeout_at(deadline):
                return await work
        except TimeoutError as error:
            seconds = self._timeout_s if awaited == "whole answer" else min(self._first_token_timeout_s, self._timeout_s)
            raise ModelTimeoutError(f"{self.name} did not give its {awaited} in time: within {seconds:g} s") from error
        except APIError as error:
            raise model_error(error, endpoint=self.name, now=self._clock.now()) from error
