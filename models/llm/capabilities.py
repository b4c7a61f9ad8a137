"""What an endpoint can do, found out from what it refuses."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from models.llm.port import LLMRequest

ResponseFormat = Literal["json_schema", "json_object", "none"]

TokenLimit = Literal["max_tokens", "max_completion_tokens"]

_TOKEN_LIMITS: Final[tuple[TokenLimit, ...]] = ("max_tokens", "max_completion_tokens")
_FORMATS: Final[tuple[ResponseFormat, ...]] = ("json_schema", "json_object", "none")
_FORMAT_WORDS: Final = ("response_format", "response format", "schema", "json_object", "grammar", "too many states", "sampling context")
"""Gemini's for a schema that is too complex are the last but one, Ollama's the last."""
_ANOTHER_ATTEMPT_TEMPERATURE: Final = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """How an endpoint is asked. Starts from the best, and steps down by refusals."""

    response_format: ResponseFormat = "json_schema"
    format_is_fixed: bool = False
    """The settings say which form to ask for: refusals do not change it."""
    stream_usage: bool = True
    """Takes ``stream_options: {include_usage: true}``."""
    token_limit: TokenLimit = "max_tokens"
    temperature: bool = True

    def without(
        self, refusal: str, *, may_lower_format: bool = True, guess_format: bool = False, is_server_fault: bool = False
    ) -> "Capabilities | None":
        """What to try after a refusal; None if it complains of nothing that can be left out.

        Args:
            refusal: Its text.
            may_lower_format: Whether the form of JSON was asked for at all.
            guess_format: Whether to try a lesser form where the text explains nothing.
            is_server_fault: A 5xx: most pass by themselves, but some servers fail so over a form.
        """
        words = refusal.lower()
        names_format = any(word in words for word in _FORMAT_WORDS)
        lower = self._with_lower_format() if may_lower_format else None
        if is_server_fault:
            return lower if names_format else None
        if self.stream_usage and ("stream_options" in words or "include_usage" in words):
            return replace(self, stream_usage=False)
        if self.token_limit == "max_tokens" and "max_completion_tokens" in words:
            return replace(self, token_limit="max_completion_tokens")
        if self.temperature and "temperature" in words:
            return replace(self, temperature=False)
        return lower if names_format or guess_format else None

    def lowered_to(self, other: "Capabilities") -> "Capabilities":
        """What both can do."""
        return replace(
            self,
            response_format=max(self.response_format, other.response_format, key=_FORMATS.index),
            stream_usage=self.stream_usage and other.stream_usage,
            token_limit=max(self.token_limit, other.token_limit, key=_TOKEN_LIMITS.index),
            temperature=self.temperature and other.temperature,
        )

    def _with_lower_format(self) -> "Capabilities | None":
        if self.format_is_fixed or self.response_format == "none":
            return None
        return replace(self, response_format=_FORMATS[_FORMATS.index(self.response_format) + 1])

    def arguments(self, request: LLMRequest, *, max_tokens: int, temperature: float) -> dict[str, Any]:
        """The arguments of the call that depend on what the endpoint can do."""
        arguments: dict[str, Any] = {self.token_limit: max_tokens}
        if self.stream_usage:
            arguments["stream_options"] = {"include_usage": True}
        if self.temperature:
            arguments["temperature"] = max(temperature, _ANOTHER_ATTEMPT_TEMPERATURE) if request.attempt else temperature
        if request.json_schema is not None and self.response_format == "json_schema":
            form = {"name": request.purpose, "schema": request.json_schema, "strict": closes_every_object(request.json_schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": form}
        elif request.json_schema is not None and self.response_format == "json_object":
            arguments["response_format"] = {"type": "json_object"}
        return arguments


def closes_every_object(schema: object) -> bool:
    """Whether a JSON schema may be asked for with ``strict``: each of its objects requires all its properties and allows no other."""
    if isinstance(schema, Mapping):
        if "properties" in schema:
            required = schema.get("required", ())
            if schema.get("additionalProperties") is not False or set(required) != set(schema["properties"]):
                return False
        return all(closes_every_object(each) for each in schema.values())
    if isinstance(schema, list | tuple):
        return all(closes_every_object(each) for each in schema)
    return True
