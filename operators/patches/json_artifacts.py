r"""Takes off a patch's SEARCH and REPLACE the marks of JSON that a model put in and the text does not have.

Such marks are a line break written as ``\n``, quotes around it all, the punctuation of a list, and the indent of a text in the prompt.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Final

import orjson

from memory.schema.coerce import coerce_value
from memory.schema.model import ValueType

_BREAK: Final = re.compile(r"(?:\\r)?\\n")
_CERTAIN_BREAK: Final = re.compile(r"""(?<=[\w.,;!?)\]"'])[ \t]*(?:\\r)?\\n""")
r"""Not the ``\n`` of ``C:\new``, ``\\nas`` or ``$\nu$``."""
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_BETWEEN_ITEMS: Final = re.compile(r'"\s*,\s*"')
_DANGLING: Final = re.compile(r'^\s*+(?:\[\s*+)?"|"\s*+(?:,\s*+)?(?:\]\s*+)?$')


def variants(search: str, replace: str, value_type: ValueType) -> Iterator[tuple[str, str]]:
    """Pairs of SEARCH and REPLACE: first as given, then with ever more marks taken off both.

    Args:
        search: The patch's SEARCH, not empty.
        replace: Its REPLACE.
        value_type: Value type of the property that it edits.

    Yields:
        Pairs with a SEARCH that is not empty; no SEARCH comes twice.
    """
    seen: set[str] = set()
    steps: tuple[tuple[Callable[[str], str], ...], ...] = (
        (str, _with_line_breaks),
        (str, partial(_unlisted, value_type=value_type), _unquoted),
        (str, _unindented),
    )
    for choice in product(*steps):
        clean_search, clean_replace = search, replace
        for step in choice:
            clean_search, clean_replace = step(clean_search), step(clean_replace)
        if clean_search and clean_search not in seen:
            seen.add(clean_search)
            yield clean_search, clean_replace


def clean_replacement(replace: str, *, search: str, text: str, value_type: ValueType) -> str:
    """Removes JSON artifacts from a REPLACE that neither its SEARCH nor the text contains and that are very probably unintended.

    Args:
        replace: One of the :func:`variants`.
        search: The part of the text that it replaces; empty if it is appended.
        text: The whole text before the edit.
        value_type: The property's type. In a list, a line is an item, so more artifacts are certain there than in a free text.
    """
    context = f"{text}{search}"
    if value_type == "string":
        return replace if "\\" in context else _CERTAIN_BREAK.sub("\n", replace)
    if not value_type.startswith("list"):
        return _unquoted(replace)
    if '"' not in context:
        replace = _items(replace, value_type) or replace
    return replace if "\\n" in context else _with_line_breaks(replace)


def _with_line_breaks(text: str) -> str:
    return _BREAK.sub("\n", text)


def _unlisted(text: str, value_type: ValueType) -> str:
    """The items of a JSON list or of a part of one, one per line; any other text as it is."""
    items = _items(text, value_type)
    if items is not None:
        return items
    if text.count('"') % 2:
        text = _DANGLING.sub("", text)
    return _BETWEEN_ITEMS.sub("\n", text)


def _items(text: str, value_type: ValueType) -> str | None:
    inner = text.strip().strip(",")
    is_list = value_type.startswith("list")
    if '"' not in inner and not (is_list and (inner.startswith("[") or value_type != "list<string>")):
        return None
    try:
        items = orjson.loads(inner if inner.startswith("[") else f"[{inner}]")
    except orjson.JSONDecodeError:
        return None
    lines = [coerce_value(each, "string") for each in items]
    return "\n".join(line for line in lines if isinstance(line, str)) if all(isinstance(line, str) for line in lines) else None


def _unquoted(text: str) -> str:
    inner = text.strip()
    closing = _QUOTES.get(inner[:1])
    if closing is None or len(inner) < len('""') or inner[-1] != closing or closing in inner[1:-1]:
        return text
    return inner[1:-1]


def _unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n"))
