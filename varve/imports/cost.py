"""An estimate of what a model's extraction of an import costs. Pure.

Windows are counted by the rules of the sessions stage. A call's prompt is the schema's part and the texts of the window; memories that a
prompt also shows are not known before the import.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from memory.records.limits import max_messages_bytes
from memory.records.message import STATEMENT
from memory.texts.text import estimate_tokens
from memory.times import milliseconds_of
from models.llm.port import LLMUsage
from models.llm.usage import PriceTable
from runtime.settings import Settings
from streams.stages.sessions.windows import SessionMessage, SessionState, WindowBuilder

COMPLETION_TOKENS: Final = 25.6
"""Completion tokens for a message, as measured in docs/operate/sizing.md."""
_READ: Final = b"-"
"""Stands for the content of a message that a model reads. Others have none."""
_OPEN_SESSIONS: Final = 1000
"""Sessions whose open window is followed. The window of the one that was silent for the most messages counts as closed."""


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """The calls of a model for an import."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """In the currency of the price table. None: the model has no price."""

    def line(self, model: str) -> str:
        """The estimate for people."""
        tokens = f"{self.prompt_tokens} prompt and {self.completion_tokens} completion tokens"
        cost = "" if self.cost is None else f", cost {self.cost:.4f} ({model})"
        return f"extraction by a model: about {self.calls} calls, {tokens}{cost}"

    def as_json(self) -> dict[str, Any]:
        """The estimate as plain values."""
        tokens = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        return {"calls": self.calls, **tokens, "cost": self.cost}


class WindowCount:
    """Counts the windows that messages form.

    Args:
        settings: When a window closes.
    """

    def __init__(self, settings: Settings) -> None:
        self._builder = WindowBuilder(limits=settings.sessions, max_window_bytes=max_messages_bytes(settings.kafka.max_record_bytes))
        self._open: OrderedDict[str, SessionState] = OrderedDict()
        self._closed = 0
        self._messages = 0
        self._tokens = 0

    def add(self, message: dict[str, Any]) -> None:
        """Adds a message. A model reads neither automated messages nor stated events, and is not asked about a window with nothing else."""
        session, tokens = message["session"], estimate_tokens(message["text"])
        is_read = not message.get("automated") and message.get("tool_call", {}).get("name") != STATEMENT
        if is_read:
            self._messages += 1
            self._tokens += tokens
        state = self._open.pop(session, None) or SessionState("import", session)
        time = milliseconds_of(datetime.fromisoformat(message["event_time"]))
        entry = SessionMessage(message["id"], message["user"], time, tokens, _READ if is_read else b"", self._messages)
        self._closed += sum(any(closed.messages) for closed in self._builder.add(state, entry))
        self._open[session] = state
        if len(self._open) > _OPEN_SESSIONS:
            self._closed += any(self._open.popitem(last=False)[1].raw_messages)

    def estimate(self, *, prefix_tokens: int, model: str, prices: PriceTable) -> ModelEstimate:
        """The calls for all messages so far.

        Args:
            prefix_tokens: Tokens of the schema's part of a prompt.
            model: The model's name.
            prices: Its price, if known.
        """
        calls = self._closed + sum(any(state.raw_messages) for state in self._open.values())
        prompt, completion = calls * prefix_tokens + self._tokens, round(self._messages * COMPLETION_TOKENS)
        cost = prices.cost(model, LLMUsage(prompt_tokens=prompt, completion_tokens=completion)) if prices.has(model) else None
        return ModelEstimate(calls, prompt, completion, cost)
