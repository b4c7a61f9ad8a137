"""The messages of a window as extraction reads them. Pure.

- Automated turns and placeholders of chat exports are left out.
- A message with several tool calls becomes one message for each call, after the message's text.
- Results that arrived in later messages of the window join their calls, by the calls' ids. A result whose call is in no message of the
  window is its own message.

A message without any of these stays as it is.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import is_not
from typing import Final

from memory.messages.export_placeholders import is_export_placeholder
from memory.records.message import Message, ToolCall, ToolResult, Window

UNKNOWN_TOOL: Final = "tool"
"""Name of the tool of a result without a name and a call."""


@dataclass(frozen=True, slots=True)
class ExtractionView:
    """The messages to extract from."""

    messages: tuple[Message, ...]
    sources: tuple[tuple[int, ...], ...]
    """For each of them the indices of the window's messages that it is based on, the most important first."""
    dropped: Mapping[str, int]
    """Number of messages that were left out, by reason."""
    is_changed: bool
    """Whether these are other messages than the window's."""

    def source_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Inclusive ranges in the window for ranges of :attr:`messages`, ascending."""
        indices = sorted({source for first, last in ranges for index in range(first, last + 1) for source in self.sources[index]})
        found: list[tuple[int, int]] = []
        for index in indices:
            if found and index == found[-1][1] + 1:
                found[-1] = (found[-1][0], index)
            else:
                found.append((index, index))
        return found


def extraction_view(window: Window) -> ExtractionView:
    """The messages of a window to extract from, with the messages that they are based on."""
    view = _View()
    for index, message in enumerate(window.messages):
        if message.automated:
            view.dropped["automated"] += 1
        elif not message.calls and not message.tool_results and is_export_placeholder(message.text):
            view.dropped["export_placeholder"] += 1
        else:
            view.add(index, message)
    sources = tuple(tuple(dict.fromkeys(each.sources)) for each in view.turns)
    messages = tuple(each.message for each in view.turns)
    is_changed = len(messages) != len(window.messages) or any(map(is_not, messages, window.messages))
    return ExtractionView(messages, sources, dict(view.dropped), is_changed)


@dataclass(slots=True)
class _Turn:
    """A message to extract from, and the indices of its sources."""

    message: Message
    sources: list[int]

    @property
    def awaits_result(self) -> bool:
        """Whether it is a call without a result."""
        call = self.message.tool_call
        return call is not None and call.result is None and call.error is None


class _View:
    """The view so far."""

    def __init__(self) -> None:
        self.turns: list[_Turn] = []
        self.dropped: Counter[str] = Counter()

    def add(self, index: int, message: Message) -> None:
        """Adds a message of the window."""
        if not message.tool_calls and not message.tool_results:
            self.turns.append(_Turn(message, [index]))
            return
        unjoined = [each for each in message.tool_results if not self._join(index, each)]
        if message.text.strip():
            plain = message.model_copy(update={"tool_call": None, "tool_calls": [], "tool_results": []})
            self.turns.append(_Turn(plain, [index]))
        for call in message.calls:
            self.turns.append(_Turn(_tool_message(message, call), [index]))
        for result in unjoined:
            call = ToolCall(id=result.call_id, name=result.name or UNKNOWN_TOOL)
            self.turns.append(_Turn(_tool_message(message, _with_result(call, result)), [index]))

    def _join(self, index: int, result: ToolResult) -> bool:
        """Joins a result to its call."""
        turn = self._call_of(result)
        if turn is None or turn.message.tool_call is None:
            return False
        turn.message = turn.message.model_copy(update={"role": "tool", "tool_call": _with_result(turn.message.tool_call, result)})
        turn.sources.append(index)
        return True

    def _call_of(self, result: ToolResult) -> _Turn | None:
        waiting = [each for each in self.turns if each.awaits_result]
        if result.call_id is not None:
            for turn in reversed(waiting):
                if turn.message.tool_call is not None and turn.message.tool_call.id == result.call_id:
                    return turn
        for turn in waiting:
            call = turn.message.tool_call
            if call is not None and call.id is None and result.name in (None, call.name):
                return turn
        return None


def _tool_message(message: Message, call: ToolCall) -> Message:
    speaker = None if message.role != "tool" else message.speaker
    return message.model_copy(
        update={"role": "tool", "speaker": speaker, "text": "", "tool_call": call, "tool_calls": [], "tool_results": []}
    )


def _with_result(call: ToolCall, result: ToolResult) -> ToolCall:
    changes: dict[str, object] = {"result": result.content}
    if result.success is not None:
        changes["success"] = result.success
    return call.model_copy(update=changes)
