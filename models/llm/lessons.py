"""How an endpoint is best asked, as far as its refusals have taught."""

from dataclasses import replace
from typing import Final

import orjson

from memory.text import content_hash
from models.llm.capabilities import Capabilities, ResponseFormat
from models.llm.port import LLMRequest

_MOST_SCHEMAS: Final = 1000
"""Of more, the lessons are forgotten, and learnt again."""


class Lessons:
    """A refusal teaches nothing until the endpoint takes the request without what it seems to have refused."""

    def __init__(self, start: Capabilities) -> None:
        """Knows nothing but what the settings say."""
        self.capabilities = start
        """Of the endpoint, whatever is asked."""
        self._taken: set[ResponseFormat] = set()
        self._lowered: dict[str, Capabilities] = {}

    def best_for(self, request: LLMRequest) -> Capabilities:
        """How to ask a request first."""
        lowered = self._lowered.get(_key(request)) if self._lowered else None
        return self.capabilities if lowered is None else self.capabilities.lowered_to(lowered)

    def lesser(self, asked: Capabilities, request: LLMRequest, *, status: int, refusal: str) -> Capabilities | None:
        """What to try after a refusal; None where nothing can be left out.

        Args:
            asked: How it was asked.
            request: What was asked.
            status: The refusal's.
            refusal: Its words. Where they explain nothing, a form of JSON that the endpoint has never taken is given up for a lesser one.
        """
        has_form = request.json_schema is not None
        return asked.without(
            refusal,
            may_lower_format=has_form,
            guess_format=has_form and asked.response_format not in self._taken,
            is_server_fault=status >= 500,
        )

    def taken(self, request: LLMRequest, *, first: Capabilities, asked: Capabilities) -> None:
        """The endpoint took a request.

        Args:
            request: What was asked.
            first: How it was asked first.
            asked: How it was taken.
        """
        learnt = asked
        if asked.response_format != first.response_format and first.response_format in self._taken:
            # It has taken that form of another schema: this one alone is too much for it.
            if len(self._lowered) >= _MOST_SCHEMAS:
                self._lowered.clear()
            self._lowered[_key(request)] = Capabilities(response_format=asked.response_format)
            learnt = replace(asked, response_format=first.response_format)
        if request.json_schema is not None:
            self._taken.add(asked.response_format)
        if asked != first:
            # Another call may have learnt meanwhile: what either had to leave out is left out.
            self.capabilities = self.capabilities.lowered_to(learnt)


def _key(request: LLMRequest) -> str:
    return content_hash(orjson.dumps(request.json_schema, option=orjson.OPT_SORT_KEYS).decode())
