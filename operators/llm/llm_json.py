"""The JSON of a model's answers to operators: one object each."""

from collections.abc import Iterator
from typing import Any, Final

from memory.lenient_json import Partial, read_json
from operators.errors import UnusableAnswerError
from operators.llm.merge_by_rule import flat

_MAX_WRAPPER_DEPTH: Final = 3


SUMMARY_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
"""JSON schema of the answer that :func:`read_summary_answer` reads."""


def answer_with_text(answer: str) -> dict[str, Any]:
    """The last JSON object of an answer that has a ``text``; drafts may precede it, and other text may surround it.

    Raises:
        UnusableAnswerError: If there is none, or its text is cut off.
    """
    objects = [each for value in read_json(answer) for each in _objects_with_text(value, depth=0)]
    if not objects:
        raise UnusableAnswerError("the answer holds no JSON object with a text")
    return objects[-1]


def read_summary_answer(answer: str) -> str:
    """Reads a summary, on one line, from an answer.

    Args:
        answer: A JSON object, possibly after reasoning, in a code fence or within other text.

    Raises:
        UnusableAnswerError: If there is no such object, or no text in it.
    """
    return flat(answer_with_text(answer)["text"])


def _objects_with_text(value: Any, *, depth: int) -> Iterator[dict[str, Any]]:
    """A value that has a text, or those that it wraps."""
    inner = value.value if isinstance(value, Partial) else value
    if isinstance(inner, dict) and isinstance(inner.get("text"), str) and inner["text"].strip():
        yield inner
    elif isinstance(inner, dict | list) and depth < _MAX_WRAPPER_DEPTH:
        for each in inner.values() if isinstance(inner, dict) else inner:
            yield from _objects_with_text(each, depth=depth + 1)
