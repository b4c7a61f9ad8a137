"""Long-term memory for OpenAI's client, in two lines. It recalls before each chat completion and remembers the turn afterwards.

    memory = ChatMemory("http://127.0.0.1:8080", api_key="...")
    client = memory.wrap(OpenAI(), user="ann", session="monday")

A chat completion never fails because of the memory, and waits for it at most ``recall_timeout_s``.
"""

import asyncio
import atexit
import functools
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Final, Self, TypeVar

from openai import AsyncOpenAI, AsyncStream, OpenAI, Stream
from varve_client import VarveClient

from varve_integrations.background import BackgroundSender, call_in_forks
from varve_integrations.conversation import new_messages, question_of, turn_of, with_context

logger = logging.getLogger("varve_integrations")

ClientT = TypeVar("ClientT", OpenAI, AsyncOpenAI)

_MAX_RECALLS: Final = 32
"""Most simultaneous recalls. While so many run, for example because the service hangs, further calls go without."""


class ChatMemory:
    """Gives OpenAI clients a memory. One object serves all users of an application; it is a context manager, too.

    Args:
        url: The address of the service, such as ``http://127.0.0.1:8080``.
        api_key: The tenant's key, with the scopes ``ingest`` and ``recall``.
        recall_timeout_s: Longest wait for a recall, in seconds. When it ends, the call goes without recalled text.
        context_tokens: Most tokens of recalled text in a prompt.
        queue_size: Most turns that wait to be sent. When it is full, further turns are not remembered: see ``lost``.
        send_timeout_s: Timeout of one attempt to send a turn, in seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str,
        recall_timeout_s: float = 0.5,
        context_tokens: int = 800,
        queue_size: int = 1000,
        send_timeout_s: float = 10.0,
    ) -> None:
        self._recall_timeout_s, self._context_tokens = recall_timeout_s, context_tokens
        self._reader = VarveClient(url, api_key=api_key, timeout_s=recall_timeout_s, max_attempts=1)
        self._writer = VarveClient(url, api_key=api_key, timeout_s=send_timeout_s, max_attempts=1)
        self._sender = BackgroundSender(self._writer, capacity=queue_size)
        self._begin()
        call_in_forks(self._begin)
        atexit.register(self.close)

    def _begin(self) -> None:
        self._recalls = ThreadPoolExecutor(_MAX_RECALLS, thread_name_prefix="varve-recall")
        self._free = threading.BoundedSemaphore(_MAX_RECALLS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def lost(self) -> int:
        """Number of turns that were not remembered. Each was logged as a warning with its reason."""
        return self._sender.lost

    def wrap(self, client: ClientT, *, user: str, session: str) -> ClientT:
        """Returns a copy of a client whose chat completions use the memory. The copy shares the connections of the client.

        ``chat.completions.create`` (with and without ``stream=True``), ``parse`` and ``stream`` use the memory; all else is unchanged.

        Args:
            client: An ``OpenAI`` or ``AsyncOpenAI`` client.
            user: The user to whose memory the conversation belongs.
            session: The id of the conversation.
        """
        copy = client.copy()
        completions: Any = copy.chat.completions
        wrapped = self._asynchronous if isinstance(client, AsyncOpenAI) else self._synchronous
        completions.create = wrapped(completions.create, user, session)
        completions.parse = wrapped(completions.parse, user, session)
        return copy

    def close(self, timeout_s: float = 10.0) -> None:
        """Waits until all turns are sent, and closes the connections. A process that ends without calling it calls it then.

        Args:
            timeout_s: Longest wait, in seconds. Turns that are not sent by then are lost.
        """
        atexit.unregister(self.close)
        self._sender.close(timeout_s)
        self._recalls.shutdown(wait=False, cancel_futures=True)
        self._reader.close()
        self._writer.close()

    def _synchronous(self, call: Callable[..., Any], user: str, session: str) -> Callable[..., Any]:
        @functools.wraps(call)
        def with_memory(**options: Any) -> Any:
            if "messages" not in options:
                return call(**options)
            messages = options["messages"] = list(options["messages"])
            try:
                recall = self._begin_recall(messages, user)
                if recall is not None:
                    options["messages"] = with_context(messages, recall.result(self._recall_timeout_s))
            except Exception as error:
                _warn_of_recall(error)
            answer = call(**options)
            remember = functools.partial(self._remember, messages, user, session)
            if isinstance(answer, Stream):
                return _RememberedStream(answer, remember)
            remember(_reply_of(answer))
            return answer

        return with_memory

    def _asynchronous(self, call: Callable[..., Awaitable[Any]], user: str, session: str) -> Callable[..., Awaitable[Any]]:
        @functools.wraps(call)
        async def with_memory(**options: Any) -> Any:
            if "messages" not in options:
                return await call(**options)
            messages = options["messages"] = list(options["messages"])
            try:
                recall = self._begin_recall(messages, user)
                if recall is not None:
                    found = await asyncio.wait_for(asyncio.wrap_future(recall), self._recall_timeout_s)
                    options["messages"] = with_context(messages, found)
            except Exception as error:
                _warn_of_recall(error)
            answer = await call(**options)
            remember = functools.partial(self._remember, messages, user, session)
            if isinstance(answer, AsyncStream):
                return _RememberedAsyncStream(answer, remember)
            remember(_reply_of(answer))
            return answer

        return with_memory

    def _begin_recall(self, messages: list[Any], user: str) -> Future[str] | None:
        """Starts a recall. None: there is nothing to ask, too many recalls run already, or the memory is closed."""
        question = question_of(messages)
        if not question or not self._free.acquire(blocking=False):
            return None
        try:
            recall = self._recalls.submit(self._recall, question, user)
        except RuntimeError:  # The memory is closed.
            self._free.release()
            return None
        recall.add_done_callback(lambda _: self._free.release())
        return recall

    def _recall(self, question: str, user: str) -> str:
        return self._reader.context(question, user=user, tokens=self._context_tokens).context

    def _remember(self, messages: list[Any], user: str, session: str, reply: str) -> None:
        try:
            turn = turn_of(new_messages(messages, reply), user=user, session=session, now=datetime.now(UTC))
        except Exception as error:
            logger.warning("a turn of a conversation was not remembered: %s: %s", type(error).__name__, error)
            return
        if turn:
            self._sender.put(turn)


class _RememberedStream:
    """A stream that remembers what was received once it ends, is closed or is abandoned."""

    def __init__(self, stream: Stream[Any], remember: Callable[[str], None]) -> None:
        self._stream = stream
        self._parts = _Parts(remember)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._parts.take(next(self._stream))
        except BaseException:
            self._parts.end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Closes the response."""
        self._parts.end()
        self._stream.close()


class _RememberedAsyncStream:
    """An asynchronous stream that remembers what was received once it ends, is closed or is abandoned."""

    def __init__(self, stream: AsyncStream[Any], remember: Callable[[str], None]) -> None:
        self._stream = stream
        self._parts = _Parts(remember)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        try:
            return self._parts.take(await anext(self._stream))
        except BaseException:
            self._parts.end()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def close(self) -> None:
        """Closes the response."""
        self._parts.end()
        await self._stream.close()


class _Parts:
    """The parts of a streamed reply."""

    def __init__(self, remember: Callable[[str], None]) -> None:
        self._remember: Callable[[str], None] | None = remember
        self._texts: list[str] = []

    def take(self, chunk: Any) -> Any:
        choice = next((each for each in getattr(chunk, "choices", None) or () if each.index == 0), None)
        text = getattr(getattr(choice, "delta", None), "content", None)
        if text:
            self._texts.append(text)
        return chunk

    def end(self) -> None:
        remember, self._remember = self._remember, None
        if remember is not None:
            remember("".join(self._texts))

    def __del__(self) -> None:
        self.end()


def _reply_of(answer: Any) -> str:
    """The text of a chat completion; empty for one without text, and for a raw response."""
    choices = getattr(answer, "choices", None)
    return (getattr(getattr(choices[0], "message", None), "content", None) or "") if choices else ""


def _warn_of_recall(error: Exception) -> None:
    logger.warning("the recall failed, and the chat completion goes without it: %s: %s", type(error).__name__, error)
