"""Chunks of a streamed answer with a reasoning model's thoughts."""

from typing import Any

from tests.models.llm.raw_endpoint import chunk


def thought(text: Any, name: str = "reasoning_content", *, content: str | None = None) -> dict[str, Any]:
    delta = {name: text, "content": content}
    return {**chunk(), "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
