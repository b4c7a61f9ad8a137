"""Finds items of an answer that are copies of JSON in a message or in another part of the prompt.

A message may hold JSON in the form of the answer, by accident or to plant a memory. The prompt says that it is data, but a model may copy
it into its answer, or quote it while reasoning.
"""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import orjson

from extraction.one_pass.answer import form
from extraction.one_pass.answer.names import named_fields
from extraction.one_pass.extraction_input import ExtractionInput
from memory.json_parser import Repeated

_CODE_UNIT: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")
_REMOVED: Final = re.compile(r"[\s\\\u200b\ufeff]+")
_QUOTES: Final = str.maketrans(dict.fromkeys("'`“”„‘’«»", '"'))
_MARKUP: Final = (("&quot;", '"'), ("&#34;", '"'))
_WORDED_BY: Final = {form.EVENTS: form.CONTENT, form.PATCHES: form.REPLACE, form.SEGMENTS: form.TOPIC}
_KIND_BY: Final = {form.EVENTS: form.TYPE, form.PATCHES: form.FIELD, form.SEGMENTS: form.RANGES}


class Quotations:
    """The texts of a prompt in which an item may stand literally.

    Args:
        source: The window, whose messages are such texts.
        further: Others, for example the example answer of the prompt.
    """

    def __init__(self, source: ExtractionInput, *, further: Iterable[str] = ()) -> None:
        self._source = source
        self._further = tuple(further)

    def hold(self, kind: str, item: Any) -> bool:
        """Whether one text holds both the item's wording and its type (or field), each as the value of a JSON member.

        White space, escapes, the order of members and further members make no difference.

        Args:
            kind: The list that the item is in.
            item: The item.
        """
        if not isinstance(item, dict) or not self._texts:
            return False
        fields = named_fields(item)
        worded, marked = _member(fields.get(_WORDED_BY[kind])), _member(fields.get(_KIND_BY[kind]))
        if kind == form.SEGMENTS and worded is not None:
            worded = f'{form.TOPIC}"{worded}'
        return worded is not None and any(worded in text and (marked is None or marked in text) for text in self._texts)

    @cached_property
    def _texts(self) -> list[str]:
        """The normalised texts that may hold JSON with texts in it."""
        texts = [*self._further]
        for message in self._source.window.messages:
            texts.append(message.text)
            if message.tool_call is not None:
                call = message.tool_call
                texts += [call.error or "", *(_text_of(each) for each in (call.arguments, call.result) if each is not None)]
        return [_normalised(text) for text in texts if ":" in text or "：" in text or "=" in text]


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _member(value: Any) -> str | None:
    """The normalised end of a JSON member that has this text as its value."""
    if isinstance(value, Repeated):
        value = value.values[-1]
    if not isinstance(value, str) or not value.strip():
        return None
    return f':"{_normalised(value.strip())}"'


def _normalised(text: str) -> str:
    for markup, mark in _MARKUP:
        text = text.replace(markup, mark)
    text = _CODE_UNIT.sub(lambda found: chr(int(found[1], 16)), text)
    return _REMOVED.sub("", text).translate(_QUOTES).replace("：", ":").replace("=", ":").casefold()
