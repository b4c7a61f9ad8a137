"""Reading a streamed answer: endpoints keep to OpenAI's form only more or less, and some do not stream though they were asked to."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk

from models.llm.port import FinishReason, LLMUsage
from models.openai_errors import message_in_body, status_from_code

_FINISH_REASONS: Final[dict[str, FinishReason]] = {"stop": "stop", "length": "length"}
_ABORTED: Final = frozenset({"abort", "error", "insufficient_system_resource"})
"""Finish reasons that mean trouble of the endpoint itself."""
_EXCERPT_BYTES: Final = 200
_MAX_TOKEN_COUNT: Final = 10**9
"""No call has more tokens; a larger number is no count."""


@dataclass(frozen=True, slots=True)
class StreamFailure:
    """A failure of an answer after it had begun."""

    status: int | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The parts of a chunk that matter."""

    text: str = ""
    thoughts: str = ""
    """Reasoning text, separate from the answer."""
    is_reasoning: bool = False
    """It carries tokens of a reasoning model that are not part of its answer, whether or not they can be read."""
    finish_reason: FinishReason | None = None
    usage: LLMUsage | None = None
    """None where the endpoint does not count both prompt and completion."""
    failure: StreamFailure | None = None


class UnstreamedAnswer:
    """A whole answer, read as a stream of one chunk."""

    def __init__(self, chunk: dict[str, Any]) -> None:
        self._chunks = [chunk]

    async def __anext__(self) -> dict[str, Any]:
        if not self._chunks:
            raise StopAsyncIteration
        return self._chunks.pop()

    async def close(self) -> None:
        """Nothing is open."""


ChunkStream = AsyncStream[ChatCompletionChunk] | UnstreamedAnswer


async def chunk_stream(response: AsyncStream[ChatCompletionChunk]) -> ChunkStream:
    """The response's stream, or its whole answer where the endpoint sent one JSON object; a failure where it sent something else."""
    content_type = response.response.headers.get("content-type", "").lower()
    if "text/html" in content_type:
        return _no_completion("a web page", await response.response.aread())
    if "application/json" not in content_type:
        return response
    body = await response.response.aread()
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return response
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    if first is not None:
        return UnstreamedAnswer({**answer, "choices": [{**first, "delta": first.get("message")}]})
    is_error = isinstance(answer, dict) and (answer.get("error") or answer.get("object") == "error")
    return UnstreamedAnswer(answer) if is_error else _no_completion("JSON without choices", body)


def _no_completion(what: str, body: bytes) -> UnstreamedAnswer:
    excerpt = body[:_EXCERPT_BYTES].decode("utf-8", "replace")
    message = f"it sent {what} and no completion, {excerpt!r}: is the address that of an OpenAI-compatible API, up to /chat/completions?"
    return UnstreamedAnswer({"error": {"message": message}})


async def close_stream(stream: ChunkStream) -> None:
    """Closes a stream that may not have been read to its end.

    The client's stream and its generators refer to each other. If its own ``close`` alone is called, they remain until a garbage
    collection, which may find them half closed and reports an error that no caller can catch.
    """
    iterator = getattr(stream, "_iterator", None)
    if isinstance(iterator, AsyncGenerator):
        await iterator.aclose()
    await stream.close()


def read_chunk(chunk: object) -> Chunk:
    """Reads a chunk; what is missing, null or of an unexpected type counts as absent. Never raises."""
    choices = _field(chunk, "choices")
    choice = choices[0] if isinstance(choices, list | tuple) and choices else None
    counts = (_field(chunk, "usage"), _field(choice, "usage"), _field(_field(chunk, "x_groq"), "usage"))
    usage = next((found for each in counts if (found := _usage(each)) is not None), None)
    if choice is None or _field(chunk, "error"):
        return Chunk(usage=usage, failure=_failure(chunk))
    delta = _field(choice, "delta")
    content = _field(delta, "content") or _field(delta, "refusal")
    parts = content if isinstance(content, list | tuple) else ()
    text = "".join(map(_part_text, parts)) if parts else _part_text(content)
    reasoning = _field(delta, "reasoning_content") or _field(delta, "reasoning")
    reason = _field(choice, "finish_reason")
    return Chunk(
        text=text,
        thoughts=reasoning if isinstance(reasoning, str) else "".join(map(_part_thoughts, parts)),
        is_reasoning=bool(reasoning or (parts and not text)),
        finish_reason=_finish_reason(reason),
        usage=usage,
        failure=StreamFailure(None, f"finish_reason {reason}") if isinstance(reason, str) and reason in _ABORTED else None,
    )


def _failure(chunk: object) -> StreamFailure | None:
    error = _field(chunk, "error") or (chunk if _field(chunk, "object") == "error" else None)
    if not error:
        return None
    body = {name: _field(error, name) for name in ("message", "type", "code")} if not isinstance(error, str | Mapping) else error
    return StreamFailure(status_from_code(_field(error, "code")), message_in_body(body))


def _field(holder: object, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    text = _field(part, "text") if _field(part, "type") in (None, "text") else None
    return text if isinstance(text, str) else ""


def _part_thoughts(part: object) -> str:
    if _field(part, "type") != "thinking":
        return ""
    thinking = _field(part, "thinking")
    texts = thinking if isinstance(thinking, list | tuple) else [thinking or _field(part, "text")]
    return "".join(map(_part_text, texts))


def _finish_reason(reason: object) -> FinishReason | None:
    if not reason:
        return None
    return _FINISH_REASONS.get(reason, "other") if isinstance(reason, str) else "other"


def _usage(counts: object) -> LLMUsage | None:
    """A prompt of no tokens is no count. Some endpoints count reasoning tokens only in the total."""
    prompt, completion = _count(_field(counts, "prompt_tokens")), _count(_field(counts, "completion_tokens"))
    if not prompt or completion is None:
        return None
    details = _field(_field(counts, "prompt_tokens_details"), "cached_tokens")
    cached = _count(details) or _count(_field(counts, "cached_tokens")) or _count(_field(counts, "prompt_cache_hit_tokens")) or 0
    total = _count(_field(counts, "total_tokens")) or 0
    return LLMUsage(prompt_tokens=prompt, cached_tokens=min(cached, prompt), completion_tokens=max(completion, total - prompt))


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MAX_TOKEN_COUNT <= value <= _MAX_TOKEN_COUNT:
        return None
    return max(0, int(value))
