"""Current state: for a question about how things are now, a later statement ranks above the one that it replaces.

"I live in Oslo" resembles "Where does Ann live?" more than "I moved to Bergen" does. Vectors and words rank by resemblance, so this step
compares the best candidate with the others: those that were stated later, are about the same, and say that something changed. For a
question about an earlier state ("Where did Ann live before?") it does the opposite. The rules read English and only change the order; a
question without such a pair keeps its ranking.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from memory.records import Memory
from retrieval.query.asked_state import AskedState, asked_state
from retrieval.query.first_person import names_in
from retrieval.redundancy.statement_forms import attributes_of
from retrieval.redundancy.statements import NEAR, NEXT, Link, Statement, Topic, corrects, statement_of, supersedes
from retrieval.relevance.traits import traits_of, words_in
from stores.port import ScoredMemory

_MOST_COMPARED: Final = 64
_MOST_STEPS: Final = 6
_LEAST_SCORE: Final = 1e-9


def by_state(question: str, ranked: Sequence[ScoredMemory], *, explain: bool) -> list[ScoredMemory]:
    """The candidates with the current state first, or the former one, if the question asks for it.

    A candidate that moves up takes the score of the place that it moves to, and those between move down by one place.

    Args:
        question: The text of the query.
        ranked: In any order.
        explain: Whether to add the difference to the parts, as ``state``.
    """
    ranked = sorted(ranked, key=lambda each: -each.score)
    scores = [each.score for each in ranked]
    order = state_order(question, [each.memory for each in ranked], scores)
    if order is None:
        return ranked
    moved = []
    for index, score in zip(order, scores, strict=True):
        each = ranked[index]
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
    if len(memories) < 2:
        return None
    first = _with_third_person(names_in(question), memories)
    if first is None:
        asked = asked_state(question)
        is_fixed = asked == "other" and not any(traits_of(each).may_correct for each in memories[1 : NEXT + 1])
        if is_fixed and not is_hearsay(question, memories[0]):
            return None
        path = [0]
        candidates = _Candidates(asked, Topic.of(question), memories, scores)
        while len(path) < _MOST_STEPS and (better := candidates.better_than(path[-1], path)) is not None:
            path.append(better)
    else:
        path = [0, first]
    if len(path) == 1:
        return None
    moved = [*reversed(path)]
    return [*moved, *(index for index in range(len(memories)) if index not in moved)]


def is_hearsay(question: str, memory: Memory) -> bool:
    """Whether a memory answers a question about a person only in a quotation of somebody else.

    Args:
        question: The text of a query.
        memory: A candidate.
    """
    if memory.kind != "event":
        return False
    statement = statement_of(memory)
    return statement.quotes and Topic.of(question).has_only_hearsay(statement)


def _with_third_person(names: frozenset[str], memories: Sequence[Memory]) -> int | None:
    """The best candidate that names the person in the question. None: it is the first, there is none, or the person speaks."""
    if not names:
        return None
    subjects = {traits_of(each).subject for each in memories[:_MOST_COMPARED]} - {""}
    if any(subject.startswith(name) for name in names for subject in subjects):
        return None
    return next((place for place, each in enumerate(memories[: NEAR + 1]) if names & words_in(each.content)), None) or None


class _Candidates:
    """The candidates that may rank first.

    Args:
        asked: The state that the question asks for.
        topic: The question.
        memories: Best first.
        scores: Their scores.
    """

    def __init__(self, asked: AskedState, topic: Topic, memories: Sequence[Memory], scores: Sequence[float]) -> None:
        self._asked = asked
        self._topic = topic
        self._statements = dict(_compared(asked, topic, memories))
        self._scores = scores

    def better_than(self, first: int, seen: Sequence[int]) -> int | None:
        """The candidate that must rank before another. None: there is none.

        Args:
            first: The candidate that is first so far.
            seen: Candidates that were first before.
        """
        one = self._statements[first]
        others = {index: each for index, each in self._statements.items() if index not in seen}
        near = {index: each for index, each in others.items() if index <= NEAR}
        topic = self._topic
        forms = [clause.form for clause in topic.clauses_of(one)]
        if topic.has_only_hearsay(one):
            return self._own_answer(others)
        if self._asked == "other":
            return _first(index for index, each in others.items() if index <= NEXT and corrects(each, one, topic))
        if forms and one.subject not in topic.names and all(form.is_hearsay for form in forms):
            return _first(index for index, each in near.items() if each.subject != one.subject and topic.answered_now_by(each))
        if topic.liking and any(form.liking == -topic.liking for form in forms):
            return _first(index for index, each in near.items() if self._has_asked_liking(each, one))
        if self._asked == "former":
            return None if any(form.is_former for form in forms) else _first(self._former(one, others))
        if (newer := self._newer(one, others)) is not None:
            return newer
        if forms and all(form.only_ends for form in forms):
            return self._after_end(one, others)
        if any(form.is_answer_now for form in forms) or not any(form.is_former or form.is_momentary for form in forms):
            return None
        return self._lasting(one, near)

    def _own_answer(self, others: Mapping[int, Statement]) -> int | None:
        """The best candidate that answers in the words of the right person."""
        is_answer = self._topic.answered_now_by if self._asked == "current" else self._topic.is_answered_by
        return _first(index for index, each in others.items() if is_answer(each))

    def _has_asked_liking(self, other: Statement, one: Statement) -> bool:
        asked = self._topic
        return other.is_of_same_person(one) and any(each.form.liking == asked.liking and asked.is_of(each) for each in other.clauses)

    def _former(self, one: Statement, others: Mapping[int, Statement]) -> Iterator[int]:
        """The candidates that state an earlier state, surest first."""
        former = [
            index for index, each in others.items() if each.is_of_same_person(one) and any(form.form.is_former for form in each.clauses)
        ]
        yield from (index for index in former if any(self._topic.is_of(each) and each.form.is_former for each in others[index].clauses))
        yield from (index for index, each in others.items() if supersedes(one, each, self._topic, self._link(index)))
        yield from (index for index in former if index < NEXT)

    def _newer(self, one: Statement, others: Mapping[int, Statement]) -> int | None:
        """The candidate that replaces the first one most surely. Of several changes the last one holds."""
        newer = {index: sure for index, each in others.items() if (sure := supersedes(each, one, self._topic, self._link(index)))}
        return max(newer, key=lambda index: (newer[index], others[index].said), default=None)

    def _after_end(self, one: Statement, others: Mapping[int, Statement]) -> int | None:
        """The last candidate with another value than those that ended, as the first one says."""
        ended = frozenset[str]().union(*(clause.terms for clause in self._topic.clauses_of(one))) - self._topic.terms
        left = [index for index, each in others.items() if each.is_of_same_person(one) and self._topic.holds_without(ended, each)]
        return max(left, key=lambda index: others[index].said, default=None)

    def _lasting(self, one: Statement, near: Mapping[int, Statement]) -> int | None:
        """The best candidate that states something lasting, else the best one that may state how things are now."""
        same = {index: each for index, each in near.items() if each.is_of_same_person(one)}
        lasting = (index for index, each in same.items() if any(clause.form.lasts for clause in each.clauses))
        return _first(chain(lasting, (index for index, each in same.items() if self._topic.answered_now_by(each))))

    def _link(self, index: int) -> Link:
        return Link(index, self._scores[index] / max(self._scores[0], _LEAST_SCORE))


def _first(places: Iterator[int]) -> int | None:
    return next(places, None)


def _compared(asked: AskedState, topic: Topic, memories: Sequence[Memory]) -> Iterator[tuple[int, Statement]]:
    """The candidates that rules may move. Those beyond the first ranks are only linked by an attribute, and parsing all takes long."""
    attributes = frozenset[str]() if asked == "other" else topic.attributes
    for index, memory in enumerate(memories[:_MOST_COMPARED] if attributes else memories[: NEAR + 1]):
        # An unsupported event may be an invention: it replaces nothing.
        is_event = memory.kind == "event" and not memory.unsupported
        if index == 0 or (is_event and (index <= NEAR or attributes_of(memory.content, attributes))):
            yield index, statement_of(memory)
