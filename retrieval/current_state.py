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

from memory.dates.calendar import MONTH_NAMES
from memory.records import Memory
from memory.terms import terms_of
from retrieval.features import look_at, words_in
from retrieval.first_person import names_in
from retrieval.statement_forms import Form, asked_attributes, form_of
from runtime.sized_cache import sized_cache
from stores.port import ScoredMemory

AskedState = Literal["current", "former", "other"]

_MOST_COMPARED: Final = 64
_MOST_STEPS: Final = 6
_NEAR: Final = 6
_NEXT: Final = 3
_SHORT: Final = 8
"""Terms of a sentence that says little else."""
_LEAST: Final = 1e-9
_LEAST_SHARE: Final = 0.2
_DEFINITE: Final = re.compile(r"\b(?:[Mm]y|[Oo]ur|[Tt]he|[Aa] new|[Aa]nother|[A-Z]\w+['’]s)((?: (?!is\b|are\b|to\b|and\b)\w+){1,3})")
_ORIGIN: Final = re.compile(r"\bfrom ([A-Z][\w-]+)")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n")

_PRESENT: Final = re.compile(
    r"(?:\b(?:do|does|is|are|am|can|don't|doesn't|isn't|can't)|\w['’](?:s|re|m))\b|\b(?:has|have) (?:\w+ )?(?:got|to)\b|\b(?:has|have)$",
    re.IGNORECASE,
)
_NARRATED: Final = re.compile(
    r"^\W*(?:why|when did|what (?:day|date|year|month) |how (?:does|do) \w+ (?!get\b|drink|spell|commute))|\b(?:thinks?|says?|describes?|feels?|feeling|believes?|symboli[sz]es?|represents?|means?|plan(?:s|ning)?|"
    r"hopes?|gives?|offers?|offering|advi[cs]e|suggests?|inspired?|motivated?|appreciates?|reminds?|reminder|excited|important|interested|according|wants?|"
    r"kinds? of|types? of|hobbies|activities|some of|reasons?)\b",
    re.IGNORECASE,
)
"""Questions about what somebody thinks, said or plans, and about all of a kind: more than the newest statement answers them."""
_OF_MANY: Final = re.compile(
    r"^(?:what|which) are\b|\b(?:what|which) (?:(?!days|times|hours)\w+ )?(?!days|times|hours)\w+(?<![sui])s (?:do|does|are|have|has|can)\b",
    re.IGNORECASE,
)
"""Questions that ask for several values: a new pet does not replace another one."""
_OPEN: Final = re.compile(
    r"^(?:what (?:do(?! (?:i|we)\b)|does)|how|(?:what|when) (?:is|are) \w+ \w+ing|who (?:do|does))\b(?! (?:many|much|old)\b)", re.IGNORECASE
)
"""Questions without a noun that they ask for, which only an attribute of a person makes a question of state."""
_ASKS_WHAT: Final = re.compile(r"\W*(?:what|which|who)\b", re.IGNORECASE)
_DATE: Final = re.compile(r"\b(?:19|20)\d\d\b|\b(?:in|on|since|during) (?:" + "|".join(MONTH_NAMES) + r")\b", re.IGNORECASE)
_PAST: Final = re.compile(r"\b(?:did|didn't|was|wasn't|were|weren't|had|used to|ever|how (?:long|often)|since when)\b", re.IGNORECASE)
_FORMER: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|earlier|used to|did \w+ use to|originally|in the past|back then|at first|first|prior|until|till|"
    r"old(?= (?:job|address|phone|car|flat|home|house|name|number|boss|manager|employer|team|school|password|plan|place|email|doctor))|last"
    r"(?= (?:job|address|phone|car|flat|employer|team|school)))\b",
    re.IGNORECASE,
)
_STATE_VERB: Final = re.compile(
    r"\b(?:did|was|were) (?:\w+ ){1,3}(?:live|living|work|working|drive|use|using|drink|eat|study|studying|married|engaged|wear|own|called|named)\b",
    re.IGNORECASE,
)


def asked_state(question: str) -> AskedState:
    """Whether a question asks how things are now, or how they were before a change. ``other``: neither, or it is not English.

    Args:
        question: The text of a query.
    """
    if _NARRATED.search(question) or _DATE.search(question):
        return "other"
    if _PAST.search(question):
        return "former" if _FORMER.search(question) or _STATE_VERB.search(question) else "other"
    if not _PRESENT.search(question):
        return "other"
    if _FORMER.search(question):
        return "former"
    return "other" if _OF_MANY.search(question) or (_OPEN.search(question) and not asked_attributes(question)) else "current"


def by_state(question: str, ranked: Sequence[ScoredMemory], *, explain: bool = False) -> list[ScoredMemory]:
    """The candidates with the current state first, or the former one, if the question asks for it.

    A candidate that moves up takes the score of the place that it moves to, and those between move down by one place.

    Args:
        question: The text of the query.
        ranked: In any order.
        explain: Whether to add the difference to the parts, as ``state``.
    """
    ranked = sorted(ranked, key=lambda each: -each.score)
    order = state_order(question, [each.memory for each in ranked], [each.score for each in ranked])
    if order is None:
        return ranked
    scores = [each.score for each in ranked]
    moved = []
    for place, index in enumerate(order):
        each, score = ranked[index], scores[place]
        parts = each.parts | {"state": score - each.score} if explain and score != each.score else each.parts
        moved.append(each._replace(score=score, parts=parts))
    return moved


def state_order(question: str, memories: Sequence[Memory], scores: Sequence[float]) -> list[int] | None:
    """The places of the memories in their new order. None: the order stays.

    Args:
        question: The text of the query.
        memories: Best first.
        scores: Their scores, in [0, 1].
    """
    asked = asked_state(question)
    if len(memories) < 2:
        return None
    compared = [statement_of(each) for each in memories[:_MOST_COMPARED]]
    names = names_in(question)
    terms = frozenset(terms_of(question)) - _GENERIC - frozenset(terms_of(" ".join(names)))
    liking = form_of(question).liking if _ASKS_WHAT.match(question) else 0
    topic = _Topic(terms, asked_attributes(question), names, liking)
    third = _with_third_person(names, memories)
    if third:
        return [third, *(index for index in range(len(memories)) if index != third)]
    order = list(range(len(compared)))
    seen: set[int] = set()
    for _ in range(_MOST_STEPS):
        first = order[0]
        seen.add(first)
        others = [index for index in order[1:] if index not in seen]
        better = _better(asked, topic, compared, first, others, scores)
        if better is None:
            break
        order.remove(better)
        order.insert(0, better)
    if order[0] == 0:
        return None
    return [*order, *range(len(compared), len(memories))]


def _with_third_person(names: frozenset[str], memories: Sequence[Memory]) -> int | None:
    """The best candidate that names a person who is asked about, if the first candidate does not, and no candidate is by that person."""
    subjects = {look_at(each).subject for each in memories[:_MOST_COMPARED]} - {""}
    if not names or any(subject.startswith(name) for name in names for subject in subjects):
        return None
    return next((place for place, each in enumerate(memories[: _NEAR + 1]) if names & words_in(each.content)), None)


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence of a memory."""

    terms: frozenset[str]
    """Without generic terms and names of persons who speak or are addressed."""
    definite: frozenset[str]
    """Those after "my", "the" or "a new": of such a thing, the speaker has one."""
    origin: frozenset[str]
    """Those of the name after "from": what a change replaces."""
    form: Form


@dataclass(frozen=True, slots=True)
class Statement:
    """What a memory states, as far as its words show."""

    said: tuple[datetime, int]
    subject: str
    """The case-folded name of the person that it is about or by. Empty: unknown."""
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class _Topic:
    """The subject matter of a question."""

    terms: frozenset[str]
    attributes: frozenset[str]
    names: frozenset[str]
    liking: int
    """As :attr:`Form.liking`, if the question asks what somebody likes or dislikes. "Do I like tea?" asks for either."""

    def is_of_another(self, statement: Statement) -> bool:
        """Whether a statement is not by, or about, the persons that the question names."""
        return statement.subject not in self.names

    def clauses_of(self, statement: Statement) -> tuple[Clause, ...]:
        """The sentences of a statement that are about it; a single sentence is, as it is a good candidate."""
        found = tuple(clause for clause in statement.clauses if self.is_of(clause))
        return found or (statement.clauses if len(statement.clauses) == 1 else ())

    def is_of(self, clause: Clause) -> bool:
        """Whether a sentence is about it."""
        return bool(self.attributes & clause.form.attributes or self.terms & clause.terms)


def statement_of(memory: Memory) -> Statement:
    """The statement of a memory. The parts that depend on its text alone are cached."""
    return Statement((memory.said_at or memory.event_time, memory.turn or 0), look_at(memory).subject, _read(memory.content))


@sized_cache(most_bytes=8_000_000, entry_bytes=1500, growth=6)
def _read(content: str) -> tuple[Clause, ...]:
    return tuple(_clause(each) for each in _SENTENCE.split(content) if each)


def _clause(sentence: str) -> Clause:
    definite = frozenset(terms_of(" ".join(found[1] for found in _DEFINITE.finditer(sentence))))
    origin = frozenset(terms_of(" ".join(_ORIGIN.findall(sentence))))
    return Clause(frozenset(terms_of(sentence)) - _GENERIC, definite - _GENERIC, origin - _GENERIC, form_of(sentence))


_GENERIC: Final = frozenset(
    term
    for word in (
        "now new old start move change switch stop work live day days week month year today yesterday tomorrow time thing way good bad "
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october "
        "november december moment again still long place people name call one two three first last really currently longer like have got "
        "ago get use also back lot said tell think know feel great nice want need see"
    ).split()
    for term in terms_of(word)
)
"""Terms that link no two statements."""


def _better(
    asked: AskedState, topic: _Topic, compared: Sequence[Statement], first: int, others: Sequence[int], scores: Sequence[float]
) -> int | None:
    """The candidate that ought to rank before the first one. None: the first one stays."""
    one = compared[first]
    near = [each for each in others if each <= _NEAR]
    if asked == "other":
        corrected = (each for each in others if each <= _NEXT and _corrects(compared[each], one, topic))
        return next(corrected, None)
    forms = [clause.form for clause in topic.clauses_of(one)]
    if topic.is_of_another(one) and all(form.is_hearsay for form in forms):
        own = (each for each in near if compared[each].subject != one.subject)
        return next((each for each in own if _answers_now(compared[each], topic)), None)
    if topic.liking and any(form.liking == -topic.liking for form in forms):
        return next((each for each in near if _likes(compared[each], one, topic)), None)
    if asked == "former":
        if any(form.is_former for form in forms):
            return None
        former = (each for each in others if _is_former(compared[each], one, topic))
        further = (each for each in others if each < _NEXT and _is_former(compared[each], one, None))
        older = (each for each in others if _supersedes(one, compared[each], topic, _Link(each, scores[each] / max(scores[0], _LEAST))))
        return next((each for found in (former, older, further) for each in found), None)
    links = {each: _Link(each, scores[each] / max(scores[0], _LEAST)) for each in others}
    successors = {each: kind for each in others if (kind := _supersedes(compared[each], one, topic, links[each]))}
    if successors:
        # Of several changes the last one holds.
        return max(successors, key=lambda each: (successors[each], compared[each].said))
    if not any(form.is_former or form.is_momentary for form in forms) or any(form.is_answer_now for form in forms):
        return None
    return next((each for each in near if _same_person(compared[each], one) and _answers_now(compared[each], topic)), None)


@dataclass(frozen=True, slots=True)
class _Link:
    """How far a candidate is from the best one."""

    apart: int
    """Its rank, from 0."""
    share: float
    """Its score, as a share of the best one's."""


def _supersedes(new: Statement, old: Statement, topic: _Topic, link: _Link) -> int:
    """How surely a statement replaces another: it is later, about the same, and says that something changed. 0: it does not.

    Args:
        new: The later statement.
        old: The earlier one.
        topic: The question.
        link: Of the one that is not first. Words link only statements that both resemble the question.
    """
    if new.said <= old.said or not _same_person(new, old):
        return 0
    return max((_replaces(later, each, topic, link) for each in topic.clauses_of(old) for later in new.clauses), default=0)


def _replaces(new: Clause, old: Clause, topic: _Topic, link: _Link) -> int:
    if not new.form.is_answer_now or old.form.is_question:
        return 0
    is_near, is_next = link.apart <= _NEAR, link.apart <= _NEXT
    shared = new.terms & old.terms
    if new.form.only_ends:
        return 1 if shared and is_near else 0
    if new.form.liking == -old.form.liking and new.form.liking and shared:
        return 2
    if new.form.changes:
        by_words = (is_near and shared - topic.terms) or (is_next and shared & (new.definite | old.definite))
        is_of_other = bool(new.origin) and not new.origin & old.terms
        by_attribute = not is_of_other and topic.attributes & new.form.attributes & old.form.attributes
        if by_words or by_attribute:
            return 3
    is_same_thing = (
        is_next and link.share >= _LEAST_SHARE and len(new.terms) <= _SHORT and shared & new.definite & old.definite & topic.terms
    )
    return 2 if is_same_thing or (is_near and new.form.frame and new.form.frame == old.form.frame) else 0


def _corrects(new: Statement, old: Statement, topic: _Topic) -> bool:
    if new.said <= old.said or not _same_person(new, old):
        return False
    earlier = topic.clauses_of(old)
    return any(clause.form.corrects for clause in new.clauses) and any(
        each.terms & clause.terms & topic.terms for each in earlier for clause in new.clauses
    )


def _answers_now(statement: Statement, topic: _Topic) -> bool:
    return any(clause.form.is_answer_now and topic.is_of(clause) for clause in statement.clauses)


def _likes(other: Statement, one: Statement, topic: _Topic) -> bool:
    return _same_person(other, one) and any(each.form.liking == topic.liking and topic.is_of(each) for each in other.clauses)


def _is_former(other: Statement, one: Statement, topic: _Topic | None) -> bool:
    return _same_person(other, one) and any(each.form.is_former and (topic is None or topic.is_of(each)) for each in other.clauses)


def _same_person(one: Statement, other: Statement) -> bool:
    return one.subject == other.subject or not one.subject or not other.subject
