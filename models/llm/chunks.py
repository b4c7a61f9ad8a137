"""What one chunk of a streamed answer says, whatever its shape: endpoints keep to the form only more or less."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from models.llm.port import LLMUsage
from models.openai_errors import message_in_body, status_from_code

FinishReason = Literal["stop", "length", "other"]

_FINISH_REASONS: Final[dict[str, FinishReason]] = {"stop": "stop", "length": "length"}
_BROKEN_OFF: Final = frozenset({"abort", "error", "insufficient_system_resource"})
"""Ends that are the endpoint's own trouble."""
_MOST_TOKENS: Final = 10**9
"""No call has more; such a number is no count."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with an answer after it had begun."""

    status: int | None
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The part of a chunk that matters."""

    text: str = ""
    is_thought: bool = False
    """A reasoning model thinks before it speaks."""
    finish_reason: FinishReason | None = None
    usage: LLMUsage | None = None
    """None where the endpoint does not count both prompt and completion."""
    fault: Fault | None = None


def read_chunk(chunk: object) -> Chunk:
    """Reads a chunk; what is missing, null or of another type than expected is as if it were not there. Never raises."""
    choices = _field(chunk, "choices")
    choice = choices[0] if isinstance(choices, list | tuple) and choices else None
    places = (_field(chunk, "usage"), _field(choice, "usage"), _field(_field(chunk, "x_groq"), "usage"))
    usage = next((found for place in places if (found := _usage_of(place)) is not None), None)
    if choice is None or _field(chunk, "error"):
        return Chunk(usage=usage, fault=_fault_in(chunk))
    delta = _field(choice, "delta")
    content = _field(delta, "content") or _field(delta, "refusal")
    parts = content if isinstance(content, list | tuple) else ()
    text = "".join(map(_text_of, parts)) if parts else _text_of(content)
    return Chunk(
        text=text,
        is_thought=bool(_field(delta, "reasoning_content") or _field(delta, "reasoning") or (parts and not text)),
        finish_reason=_finish_reason(_field(choice, "finish_reason")),
        usage=usage,
        fault=Fault(None, f"finish_reason {reason}") if (reason := _field(choice, "finish_reason")) in _BROKEN_OFF else None,
    )


def _fault_in(chunk: object) -> Fault | None:
    error = _field(chunk, "error") or (chunk if _field(chunk, "object") == "error" else None)
    if not error:
        return None
    said = {name: _field(error, name) for name in ("message", "type", "code")} if not isinstance(error, str | Mapping) else error
    return Fault(status_from_code(_field(error, "code")), message_in_body(said))


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
    """A prompt of no tokens is no count. Some endpoints count a model's thoughts in the total alone."""
    prompt, completion = _count(_field(usage, "prompt_tokens")), _count(_field(usage, "completion_tokens"))
    if not prompt or completion is None:
        return None
    details = _field(_field(usage, "prompt_tokens_details"), "cached_tokens")
    cached = _count(details) or _count(_field(usage, "cached_tokens")) or _count(_field(usage, "prompt_cache_hit_tokens")) or 0
    total = _count(_field(usage, "total_tokens")) or 0
    return LLMUsage(prompt_tokens=prompt, cached_tokens=min(cached, prompt), completion_tokens=max(completion, total - prompt))


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_MOST_TOKENS <= value <= _MOST_TOKENS:
        return None
    return max(0, int(value))
