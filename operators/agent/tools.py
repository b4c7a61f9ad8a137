"""The memory tools of AGENT: reads a model's calls, and applies them to a block of text. Pure.

The tools follow MemGPT (arXiv 2310.08560, section 2.2 and the released functions): append and replace edit the core memory, search pages
through the archive. ``insert`` and ``read`` address lines, as the memory tools of MemGPT's successor do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import JsonValue

from memory.lenient_json import Partial, read_json
from memory.texts.text import shortened

TOOLS: Final = ("read", "append", "replace", "insert", "search", "finish")
MAX_CALLS: Final = 8
"""Calls in one answer. Further ones get an error."""
PAGE: Final = 5
"""Results of a page, as in MemGPT's released code (``RETRIEVAL_QUERY_DEFAULT_PAGE_SIZE``)."""
MAX_PAGES: Final = 4
MAX_QUERY: Final = 300
"""Characters of a search."""
_RECORDED: Final = 500
"""Characters of an argument in the record of a call."""

_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "read": (),
    "append": ("text",),
    "replace": ("old", "text"),
    "insert": ("line", "text"),
    "search": ("query",),
    "finish": (),
}
_NUMBERS: Final = frozenset({"line", "page"})


class CallError(Exception):
    """A call that cannot be executed. The message is for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    """The reason why the call is malformed. None: it is not."""

    @property
    def text(self) -> str:
        """The argument ``text``."""
        return str(self.arguments.get("text", ""))

    @property
    def page(self) -> int:
        """The argument ``page``, from 0."""
        return int(self.arguments.get("page", 0))

    def recorded(self) -> dict[str, JsonValue]:
        """The call as an outcome keeps it, with long arguments shortened."""
        arguments = {name: shortened(each, _RECORDED) if isinstance(each, str) else each for name, each in self.arguments.items()}
        return {"tool": self.tool, **arguments}


def read_calls(answer: str) -> list[Call]:
    """The calls of a model's answer: those of its last complete JSON object. A malformed call has its error.

    Args:
        answer: The model's text.

    Returns:
        At least one call.
    """
    objects = [each for each in read_json(answer) if isinstance(each, Partial | dict)]
    last = objects[-1] if objects else None
    if last is None:
        return [Call(tool="", error='the answer has no JSON object; answer with one like {"calls":[{"tool":"finish"}]}')]
    if isinstance(last, Partial):
        return [Call(tool="", error="the answer is cut off; call fewer tools in one answer")]
    given = last.get("calls", [last] if "tool" in last else None)
    if not isinstance(given, list) or not given:
        return [Call(tool="", error="`calls` must be a list of calls")]
    calls = [_call(each) for each in given[:MAX_CALLS]]
    if len(given) > MAX_CALLS:
        calls.append(Call(tool="", error=f"only the first {MAX_CALLS} of {len(given)} calls were executed"))
    return calls


def _call(given: Any) -> Call:
    if isinstance(given, Partial):
        return Call(tool="", error="the call is cut off")
    tool = given.get("tool") if isinstance(given, dict) else None
    if not isinstance(tool, str) or tool not in TOOLS:
        name = shortened(str(tool), 40)
        return Call(tool="", error=f"there is no tool {name!r}; the tools are {', '.join(TOOLS)}")
    arguments: dict[str, Any] = {}
    for name in (*_ARGUMENTS[tool], *(("page",) if tool == "search" else ())):
        value = given.get(name)
        if value is None and name == "page":
            continue
        wanted = int if name in _NUMBERS else str
        if not isinstance(value, wanted) or isinstance(value, bool):
            return Call(tool=tool, error=f"`{name}` must be {'a whole number' if wanted is int else 'a text'}")
        arguments[name] = value
    call = Call(tool=tool, arguments=arguments)
    problem = _problem_of_search(call) if tool == "search" else None
    return call if problem is None else Call(tool=tool, error=problem)


def _problem_of_search(call: Call) -> str | None:
    if not 1 <= len(str(call.arguments["query"]).strip()) <= MAX_QUERY:
        return f"`query` must have 1 to {MAX_QUERY} characters"
    return None if 0 <= call.page < MAX_PAGES else f"`page` must be 0 to {MAX_PAGES - 1}"


def edited(block: str, call: Call, *, limit: int) -> tuple[str, str]:
    """The block after a call, and the result for the model. A search and ``finish`` leave the block as it is.

    Args:
        block: The text of the block.
        call: A well-formed call.
        limit: Most characters of the block.

    Raises:
        CallError: If the call cannot be executed. The block stays as it is.
    """
    lines = block.splitlines()
    if call.tool == "read":
        return block, "\n".join(f"{number}: {line}" for number, line in enumerate(lines, start=1)) or "the block is empty"
    if call.tool == "append":
        _require_text(call)
        after = _joined([*lines, call.text])
    elif call.tool == "insert":
        _require_text(call)
        line = int(call.arguments["line"])
        if not 1 <= line <= len(lines) + 1:
            raise CallError(f"`line` must be 1 to {len(lines) + 1}: the new text is inserted before this line")
        after = _joined([*lines[: line - 1], call.text, *lines[line - 1 :]])
    elif call.tool == "replace":
        after = _replaced(block, str(call.arguments["old"]), call.text)
    else:
        return block, "done"
    if len(after) > limit:
        raise CallError(f"the block would have {len(after)} characters, and its limit is {limit}; shorten or remove something first")
    return after, f"done; the block has {len(after)} of {limit} characters"


def _replaced(block: str, old: str, new: str) -> str:
    if not old.strip():
        raise CallError("`old` must not be empty")
    found = block.count(old)
    if found != 1:
        problem = "is not in the block" if not found else f"is in the block {found} times; give more of the text around it"
        raise CallError(f"`old` {problem}; it must be a text of the block, word for word")
    return _joined(block.replace(old, new).splitlines())


def _require_text(call: Call) -> None:
    if not call.text.strip():
        raise CallError("`text` must not be empty")


def _joined(parts: list[str]) -> str:
    """The lines of the parts, without blank ones."""
    return "\n".join(line.rstrip() for part in parts for line in part.splitlines() if line.strip())
