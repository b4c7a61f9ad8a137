"""Requests to a simulated LLM, and the part of their prompts that a provider's prefix cache would hold."""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

from memory.texts.text import estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One chat completion request."""

    model: str
    messages: tuple[tuple[str, str], ...]
    """Role and content."""
    schema: dict[str, Any] | None
    max_tokens: int | None
    stream: bool
    stream_usage: bool
    body: dict[str, Any]

    @classmethod
    def read(cls, body: dict[str, Any]) -> Self:
        """Reads a request's JSON."""
        form = body.get("response_format") or {}
        return cls(
            model=str(body.get("model", "")),
            messages=tuple((str(each["role"]), str(each.get("content") or "")) for each in body["messages"]),
            schema=(form.get("json_schema") or {}).get("schema"),
            max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
            stream=bool(body.get("stream")),
            stream_usage=bool((body.get("stream_options") or {}).get("include_usage")),
            body=body,
        )

    @property
    def prompt(self) -> str:
        """All messages' text."""
        return "\n".join(content for _, content in self.messages)

    @property
    def hash(self) -> str:
        """SHA-256 of the prompt."""
        return sha256(self.prompt.encode()).hexdigest()


def tokens_of(text: str) -> list[str]:
    """A text cut into pieces of about one token; joined, they give the text."""
    return re.findall(r"\s*\S{1,6}|\s+$", text)


class PrefixCache:
    """Counts how much of a prompt a provider's prefix cache would hold: whole blocks that an earlier prompt began with."""

    BLOCK = 256
    """Characters in a block."""

    def __init__(self) -> None:
        self._known_blocks: set[bytes] = set()

    def cached_tokens(self, prompt: str) -> int:
        """Tokens at the prompt's beginning that an earlier prompt had too. Remembers this prompt for the next call."""
        digest, cached = sha256(), 0
        for start in range(0, len(prompt) - self.BLOCK + 1, self.BLOCK):
            digest.update(prompt[start : start + self.BLOCK].encode())
            if digest.digest() in self._known_blocks:
                cached = start + self.BLOCK
            self._known_blocks.add(digest.digest())
        return estimate_tokens(prompt[:cached])
