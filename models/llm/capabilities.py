"""Capabilities of an endpoint, discovered from the requests that it refuses."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import orjson

from memory.texts.text import content_hash
from models.llm.port import LLMRequest

ResponseFormat = Literal["json_schema", "json_object", "none"]
TokenLimit = Literal["max_tokens", "max_completion_tokens"]

_TOKEN_LIMITS: Final[tuple[TokenLimit, ...]] = ("max_tokens", "max_completion_tokens")
_FORMATS: Final[tuple[ResponseFormat, ...]] = ("json_schema", "json_object", "none")
_FORMAT_WORDS: Final = ("response_format", "response format", "schema", "json_object", "grammar", "too many states", "sampling context")
"""The last but one is Gemini's for a schema that is too complex, the last Ollama's."""
_RETRY_TEMPERATURE: Final = 0.4
_MAX_SCHEMAS: Final = 1000
"""With more, what is known of single schemas is dropped, and found out again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """How an endpoint is asked. Starts from the most capable endpoint; refusals downgrade it."""

    response_format: ResponseFormat = "json_schema"
    format_is_fixed: bool = False
    """The settings name the format: refusals do not change it."""
    stream_usage: bool = True
    """Accepts ``stream_options: {include_usage: true}``."""
    token_limit: TokenLimit = "max_tokens"
    temperature: bool = True
    """Accepts a temperature."""

    def downgraded(
        self, refusal: str, *, may_downgrade_format: bool = True, guess_format: bool = False, is_server_error: bool = False
    ) -> "Capabilities | None":
        """The capabilities to try after a refusal; None if its message names nothing that can be left out.

        Args:
            refusal: The message.
            may_downgrade_format: Whether the request had a response format.
            guess_format: Whether to try a lesser format if the message explains nothing.
            is_server_error: A 5xx status. Most are transient, but some servers report an unsupported format this way.
        """
        message = refusal.lower()
        names_format = any(word in message for word in _FORMAT_WORDS)
        downgraded = self._with_lesser_format() if may_downgrade_format else None
        if is_server_error:
            return downgraded if names_format else None
        if self.stream_usage and ("stream_options" in message or "include_usage" in message):
            return replace(self, stream_usage=False)
        if self.token_limit == "max_tokens" and "max_completion_tokens" in message:
            return replace(self, token_limit="max_completion_tokens")
        if self.temperature and "temperature" in message:
            return replace(self, temperature=False)
        return downgraded if names_format or guess_format else None

    def common_with(self, other: "Capabilities") -> "Capabilities":
        """The capabilities that both have."""
        return replace(
            self,
            response_format=max(self.response_format, other.response_format, key=_FORMATS.index),
            stream_usage=self.stream_usage and other.stream_usage,
            token_limit=max(self.token_limit, other.token_limit, key=_TOKEN_LIMITS.index),
            temperature=self.temperature and other.temperature,
        )

    def arguments(self, request: LLMRequest, *, max_tokens: int, temperature: float) -> dict[str, Any]:
        """The arguments of the API call that depend on what the endpoint can do."""
        arguments: dict[str, Any] = {self.token_limit: max_tokens}
        if self.stream_usage:
            arguments["stream_options"] = {"include_usage": True}
        if self.temperature:
            arguments["temperature"] = max(temperature, _RETRY_TEMPERATURE) if request.attempt else temperature
        if request.json_schema is not None and self.response_format == "json_schema":
            schema = {"name": request.purpose, "schema": request.json_schema, "strict": closes_every_object(request.json_schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.json_schema is not None and self.response_format == "json_object":
            arguments["response_format"] = {"type": "json_object"}
        return arguments

    def _with_lesser_format(self) -> "Capabilities | None":
        if self.format_is_fixed or self.response_format == "none":
            return None
        return replace(self, response_format=_FORMATS[_FORMATS.index(self.response_format) + 1])


class CapabilityNegotiation:
    """Finds an endpoint's capabilities. A refusal changes nothing until the endpoint accepts the downgraded request."""

    def __init__(self, initial: Capabilities) -> None:
        self.capabilities = initial
        """The endpoint's capabilities for any schema."""
        self._accepted_formats: set[ResponseFormat] = set()
        self._by_schema: dict[str, Capabilities] = {}

    def preferred(self, request: LLMRequest) -> Capabilities:
        """How to ask a request first."""
        for_schema = self._by_schema.get(_schema_key(request)) if self._by_schema else None
        return self.capabilities if for_schema is None else self.capabilities.common_with(for_schema)

    def downgraded(self, refused: Capabilities, request: LLMRequest, *, status: int, message: str) -> Capabilities | None:
        """The capabilities to try after a refusal; None if nothing can be left out.

        Args:
            refused: The capabilities that the request used.
            request: The request.
            status: The refusal's status.
            message: The refusal's message. If it explains nothing, a format that the endpoint has never accepted is downgraded.
        """
        has_schema = request.json_schema is not None
        return refused.downgraded(
            message,
            may_downgrade_format=has_schema,
            guess_format=has_schema and refused.response_format not in self._accepted_formats,
            is_server_error=status >= 500,
        )

    def accept(self, request: LLMRequest, *, preferred: Capabilities, accepted: Capabilities) -> None:
        """Learns from a request that the endpoint accepted.

        Args:
            request: The request.
            preferred: How it was asked first.
            accepted: How it was asked when the endpoint accepted it.
        """
        learned = accepted
        if accepted.response_format != preferred.response_format and preferred.response_format in self._accepted_formats:
            # The endpoint accepted this format for another schema: only this schema is too complex for it.
            if len(self._by_schema) >= _MAX_SCHEMAS:
                self._by_schema.clear()
            self._by_schema[_schema_key(request)] = Capabilities(response_format=accepted.response_format)
            learned = replace(accepted, response_format=preferred.response_format)
        if request.json_schema is not None:
            self._accepted_formats.add(accepted.response_format)
        if accepted != preferred:
            # A concurrent call may have learned something else: both downgrades hold.
            self.capabilities = self.capabilities.common_with(learned)


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


def _schema_key(request: LLMRequest) -> str:
    return content_hash(orjson.dumps(request.json_schema, option=orjson.OPT_SORT_KEYS).decode())
