"""Models whose answers are kept in a file: no question is paid for twice, and an interrupted run continues."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from weakref import WeakValueDictionary

import orjson
from pydantic import SecretStr

from evaluation.errors import EvaluationError
from models.llm.build import build_llm
from models.llm.cache import prompt_hash
from models.llm.port import LLM, LLMAnswer, LLMRequest, LLMUsage
from models.llm.usage import DiscardedUsage
from runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, with its tokens and time."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cost: float
    finish_reason: Literal["stop", "length", "other"] = "stop"
    is_estimated: bool = False
    """Whether the endpoint did not count the tokens."""
    seconds: float = 0.0
    """Time from the call to the whole reply."""
    thoughts: str = ""
    """Reasoning that the endpoint returned in a separate field."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of a model, with their tokens, cost and time."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Spent") -> "Spent":
        """The sum."""
        return Spent(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
            self.seconds + other.seconds,
        )

    def __sub__(self, earlier: "Spent") -> "Spent":
        """The difference to an earlier total."""
        return self + Spent(-earlier.calls, -earlier.prompt_tokens, -earlier.completion_tokens, -earlier.cost, -earlier.seconds)


class KeptReplies:
    """Replies by model and prompt, in a file of JSON lines; each is written when it arrives.

    Args:
        path: The file; created if missing.

    Raises:
        EvaluationError: If a complete line is not a reply; names the line.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, Reply] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                # The run was killed while it wrote this one: it is asked again.
                path.write_bytes(b"".join(lines[:-1]))
                break
            try:
                fields = orjson.loads(line)
                key = fields.pop("key")
                self._replies[key] = Reply(**fields)
            except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
                raise EvaluationError(
                    f"{path}, line {number}: no kept reply; name another file with --replies, or delete this one"
                ) from error

    def get(self, key: str) -> Reply | None:
        """The reply of a key."""
        return self._replies.get(key)

    def lock(self, key: str) -> asyncio.Lock:
        """A lock to hold while a reply is requested, so that equal prompts at the same time are asked once."""
        return self._locks.setdefault(key, asyncio.Lock())

    def put(self, key: str, reply: Reply) -> None:
        """Keeps a reply."""
        self._replies[key] = reply
        with self._path.open("ab") as file:
            file.write(orjson.dumps({"key": key, **asdict(reply)}, option=orjson.OPT_APPEND_NEWLINE))


class KeptLLM:
    """The LLM of the settings. It is asked only if the file has no reply.

    Args:
        settings: The settings, with the LLM's endpoint, limits, time-outs and prices.
        kept: The replies so far.
        purpose: Its purpose, for an error message.
        turn: Bounds the concurrent calls of several models. Default: the settings' number for each model.

    Raises:
        EvaluationError: If the settings name no endpoint.
    """

    def __init__(self, settings: Settings, *, kept: KeptReplies, purpose: str, turn: asyncio.Semaphore | None = None) -> None:
        llm = build_llm(settings, redis=None, usage=DiscardedUsage())
        if llm is None:
            raise EvaluationError(f"no endpoint for {purpose}: give --endpoint URL, or set VARVE_LLM__BASE_URL")
        self._llm: LLM = llm
        self._kept = kept
        self._max_tokens = settings.llm.max_completion_tokens
        self._turn = turn or asyncio.Semaphore(settings.llm.concurrency)
        self.asked = 0
        """Calls that the file had no reply for."""
        self.said: list[str] = []
        """The answers so far, including kept ones."""
        self.spent = Spent()
        """All calls so far. A kept reply counts as it did the first time."""

    @property
    def model(self) -> str:
        """See :attr:`models.llm.port.LLM.model`."""
        return self._llm.model

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        """See :meth:`models.llm.port.LLM.complete`. A kept answer counts its tokens and cost as the first time."""
        max_tokens = min(request.max_tokens or self._max_tokens, self._max_tokens)
        key = prompt_hash(request, model=self.model, max_tokens=max_tokens)
        async with self._kept.lock(key):
            reply = self._kept.get(key)
            if reply is None:
                reply = await self._requested(request)
                self._kept.put(key, reply)
        self.said.append(reply.text)
        self.spent += Spent(1, reply.prompt_tokens, reply.completion_tokens, reply.cost, reply.seconds)
        usage = LLMUsage(prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens)
        return LLMAnswer(
            text=reply.text,
            model=self.model,
            finish_reason=reply.finish_reason,
            usage=usage,
            cost=reply.cost,
            latency_ms=reply.seconds * 1000,
            is_estimated=reply.is_estimated,
            thoughts=reply.thoughts,
        )

    async def _requested(self, request: LLMRequest) -> Reply:
        async with self._turn:
            started = time.perf_counter()
            answer = await self._llm.complete(request)
            seconds = round(time.perf_counter() - started, 3)
        self.asked += 1
        used = answer.usage
        return Reply(
            answer.text,
            used.prompt_tokens,
            used.completion_tokens,
            answer.cost,
            answer.finish_reason,
            answer.is_estimated,
            seconds,
            answer.thoughts,
        )

    async def stream(self, request: LLMRequest) -> AsyncIterator[str]:
        """See :meth:`models.llm.port.LLM.stream`: in one piece."""
        yield (await self.complete(request)).text

    async def serves(self, tenant: str, *, stage: str) -> bool:
        """See :meth:`models.llm.port.LLM.serves`."""
        return await self._llm.serves(tenant, stage=stage)

    async def close(self) -> None:
        """Frees the connections."""
        await self._llm.close()


def endpoint_settings(
    settings: Settings, *, concurrency: int, url: str | None = None, model: str | None = None, api_key: str | None = None
) -> Settings:
    """The settings with another endpoint, without fallbacks: figures are of one model.

    Args:
        settings: The settings in force.
        concurrency: Concurrent calls.
        url: Another endpoint. None: that of the settings.
        model: Another model. None: that of the settings.
        api_key: Another key. None: that of the settings.
    """
    given: dict[str, Any] = {"fallbacks": (), "cache_ttl_s": 0.0, "concurrency": concurrency}
    if url is not None:
        given["base_url"] = url
    if model is not None:
        given["model"] = model
    if api_key is not None:
        given["api_key"] = SecretStr(api_key)
    return settings.model_copy(update={"llm": settings.llm.model_copy(update=given)})
