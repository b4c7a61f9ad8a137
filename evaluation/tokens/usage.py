"""The tokens that calls use, and their cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from evaluation.tokens.pipelines import Call
from evaluation.tokens.tokenizer import TokenCounter

_MIN_CACHED_PREFIX: Final = 1024
_CACHED_PRICE: Final = 0.5
_COMPLETION_PRICE: Final = 4.0


@dataclass(slots=True)
class TokenUsage:
    """The tokens of many calls."""

    calls: int = 0
    prefix: int = 0
    body: int = 0
    completion: int = 0
    cost: float = 0.0
    """In units of the price of an uncached prompt token."""

    def add_calls(self, calls: Iterable[Call], count: TokenCounter) -> None:
        """Adds calls, counting the tokens of their texts."""
        for call in calls:
            self.add(prefix=count(call.prefix), body=count(call.body), completion=count(call.completion))

    def add(self, *, prefix: int, body: int, completion: int) -> None:
        """Adds one call.

        Args:
            prefix: Tokens of the prompt's constant prefix.
            body: Tokens of the rest of the prompt.
            completion: Tokens of the answer.
        """
        self.calls += 1
        self.prefix += prefix
        self.body += body
        self.completion += completion
        self.cost += prefix * (_CACHED_PRICE if prefix >= _MIN_CACHED_PREFIX else 1.0) + body + completion * _COMPLETION_PRICE

    @property
    def prompt(self) -> int:
        """Prompt tokens."""
        return self.prefix + self.body

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.prompt + self.completion

    def as_report(self) -> dict[str, Any]:
        """The totals as JSON values."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt,
            "of_which_prefix": self.prefix,
            "completion_tokens": self.completion,
            "tokens": self.tokens,
            "cost": round(self.cost),
        }
