"""Current state: for a question about how things are now, a statement ranks below the later one that it was superseded by.

"I live in Oslo" resembles "Where does Ann live?" more than "I moved to Bergen" does. Vectors and words rank by resemblance, so this step
compares the best candidate with the others: which of them were stated later, about the same, and say that something changed. For a question
about an earlier state ("Where did Ann live before?") it does the opposite. The rules read English and only change the order; a question
without such a pair keeps its ranking.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from memory.records import Memory
from memory.terms import terms_of
from retrieval.features import look_at
from retrieval.statement_forms import ATTRIBUTES, Form, form_of
from runtime.sized_cache import sized_cache
from stores.port import ScoredMemory

AskedState = Literal["current", "former"]

_MOST_COMPARED: Final = 64
_MOST_STEPS: Final = 6
_NEAR: Final = 5
"""Candidates of the first ranks are about the question's topic, even if they share no word with each other."""

_PRESENT: Final = re.compile(
    r"(?:\b(?:do|does|is|are|am|can|don't|doesn't|isn't|can't)|\w['’](?:s|re|m))\b|\b(?:has|have) (?:\w+ )?(?:got|to)\b|\b(?:has|have)$",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:did|didn't|was|wasn't|were|weren't|had|used? to|ever|how (?:long|often)|since when)\b", re.IGNORECASE)
_FORMER: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|earlier|used? to|originally|in the past|back then|at first|first|prior|until|till|ago|"
    r"old(?= (?:job|address|phone|car|flat|home|house|name|number|boss|manager|employer|team|school|password|plan|place|email|doctor))|last"
    r"(?= (?:job|address|phone|car|flat|employer|team|school)))\b",
    re.IGNORECASE,
)
_STATE_VERB: Final = re.compile(
    r"\b(?:did|was|were)\b.*\b(?:live|living|work|working|drive|use|using|drink|eat|study|studying|married|engaged|wear|own|called|named)\b",
    re.IGNORECASE,
)


def asked_state(question: str) -> AskedState | None:
    """Whether a question asks how things are now, or how they were before a change. None: neither, or it is not English.

    Args:
        question: The text of a query.
    """
    if _PAST.search(question):
        return "former" if _FORMER.search(question) or _STATE_VERB.search(question) else None
    if not _PRESENT.search(question):
        return None
    return "former" if _FORMER.search(question) else "current"


def by_state(question: str, ranked: Sequence[ScoredMemory], *, explain: bool = False) -> list[ScoredMemory]:
    """The candidates with the current state first, or the former one, if the question asks for it.

    A candidate that moves up takes the score of the place that it moves to, and those between move down by one place.

    Args:
        question: The text of the query.
        ranked: Best first.
        explain: Whether to add the difference to the parts, as ``state``.
    """
    order = state_order(question, [each.memory for each in ranked])
    if order is None:
        return list(ranked)
    scores = [each.score for each in ranked]
    moved = []
    for place, index in enumerate(order):
        each, score = ranked[index], scores[place]
        parts = each.parts | {"state": score - each.score} if explain and score != each.score else each.parts
        moved.append(each._replace(score=score, parts=parts))
    return moved


def state_order(question: str, memories: Sequence[Memory]) -> list[int] | None:
    """The places of the memories in their new order. None: the order stays.

    Args:
        question: The text of the query.
        memories: Best first.
    """
    asked = asked_state(question)
    if asked is None or len(memories) < 2:
        return None
    compared = [statement_of(each) for each in memories[:_MOST_COMPARED]]
    topic = _Topic.of(question)
    order = list(range(len(compared)))
    seen: set[int] = set()
    for _ in range(_MOST_STEPS):
        first = order[0]
        seen.add(first)
        others = [index for index in order[1:] if index not in seen]
        better = _better(asked, topic, compared, first, others)
        if better is None:
            break
        order.remove(better)
        order.insert(0, better)
    if order[0] == 0:
        return None
    return [*order, *range(len(compared), len(memories))]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a memory states, as far as its words show."""

    said: tuple[datetime, int]
    subject: str
    """The case-folded name of the person that it is about or by. Empty: unknown."""
    terms: frozenset[str]
    """Without the person's name and words of change and time."""
    form: Form
    is_event: bool


@dataclass(frozen=True, slots=True)
class _Topic:
    """The subject matter of a question."""

    terms: frozenset[str]
    attributes: frozenset[str]

    @classmethod
    def of(cls, question: str) -> "_Topic":
        return cls(_topical(question), form_of(question).attributes)


def statement_of(memory: Memory) -> Statement:
    """The statement of a memory. The parts that depend on its text alone are cached."""
    form, terms = _read(memory.content)
    seen = look_at(memory)
    moment = memory.said_at or memory.event_time
    return Statement((moment, memory.turn or 0), seen.subject, terms - seen.subject_terms, form, memory.kind == "event")


@sized_cache(most_bytes=8_000_000, entry_bytes=900, growth=4)
def _read(content: str) -> tuple[Form, frozenset[str]]:
    return form_of(content), _topical(content)


_GENERIC: Final = frozenset(
    term
    for word in (
        "now new old start move change switch stop work live day days week month year today yesterday tomorrow time thing way good bad "
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october "
        "november december moment again still long place people name call one two three first last really currently longer like have got "
        "get use also back lot said tell think know feel great nice want need see"
    ).split()
    for term in terms_of(word)
)
"""Terms that link no two statements."""


def _topical(text: str) -> frozenset[str]:
    return frozenset(terms_of(text))


def _better(asked: AskedState, topic: _Topic, compared: Sequence[Statement], first: int, others: Sequence[int]) -> int | None:
    """The candidate that ought to rank before the first one. None: the first one stays."""
    one = compared[first]
    rank = {index: place for place, index in enumerate(others)}
    if asked == "current":
        successors = [each for each in others if _supersedes(compared[each], one, topic, near=rank[each] < _NEAR)]
        if successors:
            # Of several changes the last one holds.
            return max(successors, key=lambda each: (compared[each].form.changes, compared[each].said))
        if not one.form.is_answer_now:
            answers = [each for each in others if compared[each].form.is_answer_now and _same_matter(compared[each], one, topic)]
            return answers[0] if answers else None
        return None
    if one.form.is_former:
        return None
    former = [each for each in others if compared[each].form.is_former and _same_matter(compared[each], one, topic)]
    if former:
        return former[0]
    older = [each for each in others if _supersedes(one, compared[each], topic, near=rank[each] < _NEAR)]
    return older[0] if older else None


def _supersedes(new: Statement, old: Statement, topic: _Topic, *, near: bool) -> bool:
    """Whether a statement replaces another: it is later, about the same, and says that something changed, or has the same subject."""
    if not (new.is_event and old.is_event and new.said > old.said and _same_person(new, old)):
        return False
    if new.form.is_hearsay or new.form.is_former or new.form.is_question or new.form.is_momentary:
        return False
    if old.form.changes and not new.form.changes and not new.form.frame:
        return False
    if new.form.frame and new.form.frame == old.form.frame:
        return _is_asked(new, topic) or _is_asked(old, topic)
    if not new.form.changes:
        return False
    return _same_matter(new, old, topic)


def _same_matter(one: Statement, other: Statement, topic: _Topic) -> bool:
    """Whether two statements are about one matter that the question asks for."""
    if not _same_person(one, other):
        return False
    if topic.attributes & one.form.attributes & other.form.attributes:
        return True
    shared = (one.terms & other.terms) - _GENERIC
    return bool(shared) and (_is_asked(one, topic) or _is_asked(other, topic))


def _same_person(one: Statement, other: Statement) -> bool:
    return one.subject == other.subject or not one.subject or not other.subject or one.form.is_hearsay or other.form.is_hearsay


def _is_asked(statement: Statement, topic: _Topic) -> bool:
    return bool(topic.attributes & statement.form.attributes or (topic.terms - _GENERIC) & statement.terms)
