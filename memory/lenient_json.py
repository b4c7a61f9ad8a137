"""Reads JSON as language models write it: fenced, commented, with extra or missing commas, in single quotes, truncated.

Never raises. Valid JSON is read exactly; only other text is read leniently. A truncated container is returned as :class:`Partial` with its
complete items; a truncated scalar is left out. A name with several different values has a :class:`Repeated`.

Libraries were compared on the answers in ``tests/extraction/one_pass/answers``. json-repair 0.64 completes what is not there: a text that
was cut off within a word becomes a whole value, the last of repeated names replaces the others, and no caller can see either. demjson3,
json5 and partial-json-parser refuse unescaped quotes and missing commas, which are frequent. A memory must not be guessed, therefore Varve
has its own reader, which marks what is incomplete or ambiguous.

Models and servers use many tags for thoughts and omit some: the chat template may contain the opening tag, and the token limit may come
before the closing one. Known tags are removed with an unclosed thought after them. Of unknown tags, one that names a thought and closes
(``</deliberation>``, ``◁/think▷``, ``<|END_THINKING|>``) ends the thought before it; a reader of JSON must expect thoughts without any tag.

A tag inside a quoted text of the answer does not count, because memories may be about such tags. In valid JSON this is exact, because
strings do not span lines; in other text it depends on the quotes before the tag on its line.
"""

import html
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from memory.json_parser import INTEGERS, ContainerParser, Partial, Repeated, members_of

_NAMES: Final = "think|thinking|thought|reasoning|seed:think"
_NAMES_OF_THOUGHTS: Final = "think|thought|reason|reflect|scratch|analy|deliberat|monologue|ponder|planning|draft|cot"
_OPENS: Final = rf"<(?:{_NAMES})>|\[THINK\]|<\|channel\|?>\s*+(?:analysis|commentary|thought)\b|<unused94>"
_CLOSES: Final = (
    rf"</(?:{_NAMES})>|\[/THINK\]|<channel\|>|<unused95>|final\s*+(?:<\|constrain\|>\s*+\w*+\s*+)?+<\|message\|>"
    rf"|[<\[◁【「⟨]\|?(?:/|end[_-]?(?:of[_-])?)[\w:.-]{{0,24}}?(?:{_NAMES_OF_THOUGHTS})[\w:.-]{{0,24}}\|?[>\]▷】」⟩]"
)
_MARKS: Final = re.compile(rf'(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})|(?P<quote>")|(?P<line>\n)|\\["\\]', re.IGNORECASE)
_BEGINS_JSON: Final = re.compile(r'\s*+(?:```\w*+\s*+)?+[{\[][\s{\[]*+"[^\s,:}\]"]')
"""A container with a text in it. It cannot occur within a string of valid JSON, where an unescaped quote ends the string."""

__all__ = ["INTEGERS", "FoundJson", "Partial", "Repeated", "answer_text", "find_json", "looks_like_json", "read_json"]

_OPENING: Final = re.compile(r"[{\[]")
_FENCE: Final = re.compile(r"```\w*+")
_FENCE_END: Final = "```"
_ESCAPED_OPENING: Final = re.compile(r'[{\[](?:\s|\\[nrt]){0,16}\\+"')
_HTML_OPENING: Final = re.compile(r"[{\[]\s{0,16}&(?:quot|#34|#x22|#39|apos);")
_JSON_TEXT: Final = re.compile(r'\s*(?:```\w*\s*)?"?\s*[{\[]')
_UNESCAPED_QUOTE: Final = re.compile(r'(?<!\\)"')
_MAX_LAYERS: Final = 3
_WORK_PER_CHARACTER: Final = 12
_LEAST_WORK: Final = 20_000
_DEEP_NESTING_WORK: Final = 2_000
"""Characters that a strict attempt is counted for when it ends at the recursion limit."""


def strip_reasoning(text: str) -> str:
    """The answer after the last thought; an unclosed thought is removed, too."""
    begin = 0
    opened: int | None = None
    is_quoted = False
    for found in _MARKS.finditer(text):
        match found.lastgroup:
            case "quote":
                is_quoted = not is_quoted
            case "line":
                is_quoted = False
            case "opens" if opened is None and not is_quoted:
                opened = found.start()
            case "closes" if opened is not None or not is_quoted or _BEGINS_JSON.match(text, found.end()):
                begin, opened, is_quoted = found.end(), None, False
    return text[begin:opened]


@dataclass(frozen=True, slots=True)
class FoundJson:
    """A container in a text."""

    value: Any
    begin: int
    end: int
    """The position after its last character."""


def read_json(text: str) -> list[Any]:
    """The lists and objects in a model's answer, after its reasoning, in order; other text is ignored."""
    return [each.value for each in find_json(answer_text(text))]


def answer_text(text: str) -> str:
    """A model's output without its reasoning, and without a layer of escapes around the whole answer (a JSON string, HTML entities)."""
    answer = strip_reasoning(text).lstrip("\ufeff")
    for _ in range(_MAX_LAYERS):
        inner = _without_layer(answer)
        if inner is None:
            break
        answer = strip_reasoning(inner)
    return answer


def looks_like_json(text: str) -> bool:
    """Whether a text begins as a JSON container does, also in a fence or a JSON string."""
    return _JSON_TEXT.match(text) is not None


def find_json(text: str, is_wanted: Callable[[Any], bool] | None = None, is_whole: Callable[[Any], bool] | None = None) -> list[FoundJson]:
    """The containers in a text, in order.

    Args:
        text: The text, as :func:`answer_text` returns it.
        is_wanted: Whether a container that only the lenient parser can read is one. If not, the text inside it is searched, because a
            bracket or an apostrophe in prose may have hidden the container that follows. Any other wanted container that ends with the
            text ends the search. Default: every container is wanted.
        is_whole: Whether a container that is valid JSON is a whole one: a wanted container is searched, too, if it hides a whole one.
            Default: none is.
    """
    found: list[FoundJson] = []
    position = 0
    work_left = _WORK_PER_CHARACTER * len(text) + _LEAST_WORK
    while work_left > 0 and (opening := _OPENING.search(text, position)):
        begin = opening.start()
        strict, work = _strict_at(text, begin)
        work_left -= work
        if strict is not None:
            found.append(strict)
            position = strict.end
            continue
        parser = ContainerParser(text, begin)
        value = parser.parse()
        work_left -= parser.position - begin
        hides_another = False
        if is_whole is not None:
            hides_another, work = _hides_whole(text, begin, parser, is_whole, work_left)
            work_left -= work
        if is_wanted is None or (is_wanted(value) and not hides_another):
            found.append(FoundJson(value, begin, parser.position))
            if parser.is_cut:
                break
            position = parser.position
        else:
            position = begin + 1
    return found


def _hides_whole(text: str, begin: int, parser: ContainerParser, is_whole: Callable[[Any], bool], work_left: int) -> tuple[bool, int]:
    """Whether the lenient parser read the beginning of a whole container as part of another one, and how many characters were checked.

    This is so if the whole container begins inside the other one and ends after it, or if the text ended before the other one did.
    """
    end = len(text) if parser.is_cut else parser.position
    position, done = begin + 1, 0
    while done < work_left and (opening := _OPENING.search(text, position, end)):
        strict, work = _strict_at(text, opening.start())
        done += work
        if strict is not None and (parser.is_cut or strict.end > end) and is_whole(strict.value):
            return True, done
        position = opening.end() if strict is None else strict.end
    return False, done


def _without_layer(answer: str) -> str | None:
    """The text inside one layer of escapes; None if there is no such layer."""
    stripped = _without_fence(answer.strip())
    if _is_json(stripped):
        value = orjson.loads(stripped)
        return value if isinstance(value, str) and _OPENING.search(value) else None
    if _ESCAPED_OPENING.search(stripped) and not _UNESCAPED_QUOTE.search(stripped):
        line = stripped.rstrip("\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
        if _is_json(f'"{line}"'):
            return str(orjson.loads(f'"{line}"'))
    if _HTML_OPENING.search(stripped) and '"' not in stripped:
        return html.unescape(stripped)
    return None


def _without_fence(text: str) -> str:
    """The text between a fence at the beginning and one at the end; without both, the text itself."""
    opening = _FENCE.match(text)
    end = len(text) - len(_FENCE_END)
    return text[opening.end() : end].strip() if opening and text.endswith(_FENCE_END) and opening.end() <= end else text


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _strict_at(text: str, begin: int) -> tuple[FoundJson | None, int]:
    """The valid JSON that begins at a position, and how many characters were read."""
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        return None, error.pos - begin
    except RecursionError:
        return None, _DEEP_NESTING_WORK
    # Python's decoder also takes halves of characters, which cannot be stored.
    return (FoundJson(value, begin, end) if _is_json(text[begin:end]) else None), end - begin


def _integer(digits: str) -> int | float:
    number = int(digits) if len(digits) <= 20 else None
    return number if number is not None and number in INTEGERS else float(digits)


def _float(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER: Final = json.JSONDecoder(object_pairs_hook=members_of, parse_int=_integer, parse_float=_float, parse_constant=lambda _: None)
