"""Parses a model's answer into its three lists of items, not yet validated.

Only the last complete JSON object that has the answer's form counts. Models write drafts before it, in whatever marks or in none, and quote
JSON that a user sent. If it is unclear which object is the answer, or if the answer has content that cannot be read, the answer says so:
the caller asks again rather than guess or lose something.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from extraction.drafts import Kind
from extraction.one_pass.answer import form
from extraction.one_pass.answer.parts import Part, combined, has_form, part_of
from memory.json_parser import ContainerParser
from memory.lenient_json import FoundJson, Partial, answer_text, find_json

IsQuoted = Callable[[str, Any], bool]
"""Whether an item (the second argument) of a list (the first) is a copy of JSON in the prompt."""

KINDS: Final[dict[str, Kind]] = {form.SEGMENTS: "segment", form.EVENTS: "event", form.PATCHES: "patch"}

_AMBIGUOUS: Final = "it holds several JSON objects, and which of them is the answer is unclear"
_CUT_BEFORE_END: Final = "it was cut off before its final JSON object"
_NOTHING: Final = re.compile(r"\s*(?:```\w*\s*)?(?:\{\s*\}|\[\s*\])\s*(?:```\s*)?")
_BEGUN: Final = re.compile(r"\{\s*(?:[\"'“].*)?\Z|\[\s*(?:\{.*)?\Z", re.DOTALL)
_EMPTY_LIST: Final = re.compile(r"(?:segments|events|patches)\W{1,8}\[\s*\]", re.IGNORECASE)
_EMPTY: Final = re.compile(r"\{\s*+\}|\[\s*+\]")
_TO_LAST_WORD: Final = re.compile(r".*\w", re.DOTALL)
_ITEM_SEPARATOR: Final = re.compile(r"(?:\s|[,;]|```\w*|[-*•]\s|\d+[.)]\s)*+")
_SEPARATOR: Final = re.compile(
    r"""(?:\s|[,;|:=\#*"'`.\]})>]|```\w*|</?[\w:.-]+[^<>]{0,80}>|<\|[\w ]*\|?>|[<◁【]\|?/?\w+\|?[▷】]
      |\b(?:segments|events|patches|json)\b|\d+[.)])*+""",
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_SEPARATOR: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """The items of an answer, by list, as parsed JSON; those that the text's end cut off are left out."""

    lists: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in form.LISTS})
    names: frozenset[str] = frozenset()
    """The lists that the answer gives, also empty ones."""
    found: bool = False
    """Whether there was an answer at all; it may be empty."""
    cut: bool = False
    """Whether the text ended before the answer did."""
    problem: str = ""
    """Why none of its items may be used."""
    has_unread: bool = False
    """Whether it has content that is not in the form."""
    is_amid_text: bool = False
    """Whether text stands before and after it: if that text was cut off, the answer may be a draft."""
    skipped: Counter[tuple[Kind, str]] = field(default_factory=Counter)
    """Items of other objects: drafts, and quotations of the prompt."""

    @property
    def has_items(self) -> bool:
        """Whether there is anything to keep."""
        return any(self.lists.values())

    def ended_by(self, finish_reason: str) -> "RawAnswer":
        """The answer, given why the model stopped: a text that was cut off after an object may have had another one to come."""
        is_draft = finish_reason == "length" and self.is_amid_text and not self.cut
        return replace(self, problem=_CUT_BEFORE_END) if is_draft and not self.problem else self

    def continued_by(self, continuation: "RawAnswer") -> "RawAnswer":
        """This answer and its continuation, unless that cannot be used."""
        if continuation.problem:
            return self
        return RawAnswer(
            lists={name: self.lists[name] + continuation.lists[name] for name in form.LISTS},
            names=self.names | continuation.names,
            found=self.found or continuation.found,
            cut=continuation.cut or not continuation.found,
            problem=self.problem,
            has_unread=self.has_unread or continuation.has_unread,
            skipped=self.skipped + continuation.skipped,
        )


@dataclass(frozen=True, slots=True)
class _Located:
    part: Part
    begin: int
    end: int


def parse_answer(text: str, is_quoted: IsQuoted | None = None) -> RawAnswer:
    """Finds the answer in a text: also wrapped in another object, as a bare list of events, or as one item a line. Never raises.

    An empty list or object is an answer where nothing else is said; among other words it is only mentioned.

    Args:
        text: The model's whole output.
        is_quoted: Recognises copies of JSON in the prompt; an object with nothing else is no answer. Default: nothing is a copy.
    """
    plain = answer_text(text)
    skipped: Counter[tuple[Kind, str]] = Counter()
    located = _located(plain)
    if is_quoted is not None:
        located = _without_quotations(located, is_quoted, skipped)
    if not located:
        return RawAnswer(found=_NOTHING.fullmatch(plain) is not None, skipped=skipped)
    tail = plain[located[-1].end :]
    if _begins_another(tail):
        located.append(_Located(Part(is_cut=True), len(plain), len(plain)))
    first, answer = _last_answer(located, plain)
    earlier = [each.part for each in located[:first]]
    _count_drafts(earlier, answer, skipped)
    return RawAnswer(
        lists=answer.lists,
        names=answer.names,
        found=True,
        cut=answer.is_cut,
        problem=_AMBIGUOUS if _is_ambiguous(answer, earlier) or (any(answer.lists.values()) and _ends_empty(tail)) else "",
        has_unread=answer.has_unread,
        is_amid_text=not (_is_separator(plain[: located[first].begin]) or _is_separator(tail)),
        skipped=skipped,
    )


def _located(plain: str) -> list[_Located]:
    """The parts of answers in a text, in order. Wrappers that only the lenient parser can read are searched last."""
    for is_wanted in (has_form, lambda value: part_of(value) is not None):
        found: Sequence[FoundJson] = find_json(plain, is_wanted, _is_whole_answer)
        located = [_Located(part, each.begin, each.end) for each in found if (part := part_of(each.value)) is not None]
        if located:
            return located
    return []


def _is_whole_answer(value: Any) -> bool:
    part = part_of(value)
    return part is not None and part.is_whole


def _without_quotations(located: list[_Located], is_quoted: IsQuoted, skipped: Counter[tuple[Kind, str]]) -> list[_Located]:
    """The parts that hold anything but quotations; all parts if none does, so that validation refuses them with a reason."""
    kept: list[_Located] = []
    for piece in located:
        items = [(name, item) for name in form.LISTS for item in piece.part.lists[name]]
        if items and all(is_quoted(name, item) for name, item in items):
            skipped.update((KINDS[name], "quoted") for name, _ in items)
        else:
            kept.append(piece)
    if located and not kept:
        skipped.clear()
        return located
    return kept


def _last_answer(located: Sequence[_Located], plain: str) -> tuple[int, Part]:
    """The answer at the end, with the index of its first part: pieces belong together if only separators stand between them."""
    first = len(located) - 1
    answer = located[first].part
    while first > 0:
        earlier = located[first - 1]
        between = plain[earlier.end : located[first].begin]
        are_pieces = earlier.part.names.isdisjoint(answer.names) and bool(answer.names) and _is_separator(between)
        are_items = earlier.part.is_bare and answer.is_bare and _ITEM_SEPARATOR.fullmatch(between) is not None
        if not (are_pieces or are_items):
            break
        answer = combined([earlier.part, answer]) or answer
        first -= 1
    return first, answer


def _is_ambiguous(answer: Part, earlier: Sequence[Part]) -> bool:
    """Whether an earlier object may be the answer, or a piece of it: it has memories, and the last object is not a whole answer."""
    if answer.is_ambiguous:
        return True
    final = {_fingerprint(each) for each in answer.memories()}
    has_others = any(_fingerprint(each) not in final for part in earlier for each in part.memories())
    if not has_others or answer.is_whole or (answer.is_cut and not answer.names):
        return False
    is_replaced = all(name in answer.names or not part.lists[name] for part in earlier for name in (form.EVENTS, form.PATCHES))
    return answer.is_bare or not answer.memories() or not is_replaced


def _count_drafts(earlier: Sequence[Part], answer: Part, skipped: Counter[tuple[Kind, str]]) -> None:
    for name in form.LISTS if earlier else ():
        final = {_fingerprint(each) for each in answer.lists[name]}
        skipped[KINDS[name], "draft"] += sum(_fingerprint(each) not in final for part in earlier for each in part.lists[name])


def _fingerprint(item: Any) -> bytes | str:
    """A text that equal items have in common, so that thousands of items are compared in linear time."""
    try:
        return orjson.dumps(item, option=orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS, default=repr)
    except orjson.JSONEncodeError:
        return repr(item)  # nested deeper than orjson goes


def _begins_another(tail: str) -> bool:
    """Whether a text ends inside a JSON object that it began."""
    position = 0
    while (position := min((at for at in (tail.find("{", position), tail.find("[", position)) if at >= 0), default=-1)) >= 0:
        parser = ContainerParser(tail, position)
        if isinstance(parser.parse(), Partial):
            return _BEGUN.match(tail, position) is not None
        position = max(parser.position, position + 1)
    return False


def _ends_empty(tail: str) -> bool:
    """Whether a text ends with an empty object or list, which may be a final answer; an empty list of the form is only a piece."""
    tail = _EMPTY_LIST.sub("", tail)
    last_word = _TO_LAST_WORD.match(tail)
    return _EMPTY.search(tail, last_word.end() if last_word else 0) is not None


def _is_separator(text: str) -> bool:
    return len(text) <= _LONGEST_SEPARATOR and _SEPARATOR.fullmatch(text) is not None
