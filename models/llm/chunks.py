"""What one chunk of a streamed answer says, whatever its shape: endpoints keep to the form only more or less."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from models.llm.port import LLMUsage

FinishReason = Literal["stop", "length", "other"]

_FINISH_REASONS: Final[dict[str, FinishReason]] = {"stop": "stop", "length": "length"}
_MOST_TOKENS: Final = 10**9
"""No call has more; such a number is no count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The part of a chunk that matters."""

    text: str = ""
    is_thought: bool = False
    """A reasoning model thinks before it speaks."""
    finish_reason: FinishReason | None = None
    usage: LLMUsage | None = None
    """None where the endpoint does not count both prompt and completion."""


def read_chunk(chunk: object) -> Chunk:
    """Reads a chunk; what is missing, null or of another type than expected is as if it were not there. Never raises."""
    usage = _usage_of(_field(chunk, "usage"))
    choices = _field(chunk, "choices")
    if not isinstance(choices, list | tuple) or not choices:
        return Chunk(usage=usage)
    delta = _field(choices[0], "delta")
    content = _field(delta, "content")
    parts = content if isinstance(content, list | tuple) else ()
    text = "".join(map(_text_of, parts)) if parts else _text_of(content)
    return Chunk(
        text=text,
        is_thought=bool(_field(delta, "reasoning_content") or _field(delta, "reasoning") or (parts and not text)),
        finish_reason=_finish_reason(_field(choices[0], "finish_reason")),
        usage=usage,
    )


def _field(holder: object, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _text_of(part: object) -> str:
    if isinstance(part, str):
        return part
    text = _field(part, "text") if _field(part, "type") in (None, "text") else None
    return text if isinstance(text, str) else ""


def _finish_reason(reason: object) -> FinishReason | None:
    if not reason:
        return None
    return _FINISH_REASONS.get(reason, "other") if isinstance(reason, str) else "other"


def _usage_of(usage: object) -> LLMUsage | None:
    prompt, completion = _count(_field(usage, "prompt_tokens")), _count(_field(usage, "completion_tokens"))
    if prompt is None or completion is None:
        return None
    cached = _count(_field(_field(usage, "prompt_tokens_details"), "cached_tokens")) or 0
    return LLMUsage(prompt_tokens=prompt, cached_tokens=min(cached, prompt), completion_tokens=completion)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST_TOKENS <= value <= _MOST_TOKENS:
        return None
    return max(0, int(value))
