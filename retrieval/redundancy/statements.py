"""Statements of memories, and whether one replaces another for the purposes of a question."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from memory.messages.attribution import Part, attributed_parts, speaks_of_oneself
from memory.records import Memory
from memory.texts.terms import terms_of
from retrieval.query.first_person import names_in
from retrieval.query.question import KEPT_QUESTIONS, terms_in
from retrieval.redundancy.statement_forms import Form, asked_attributes, attributes_of, form_of
from retrieval.relevance.traits import traits_of, words_in
from runtime.sized_cache import sized_cache

NEAR: Final = 6
"""Candidates up to this rank, from 0, are linked by a value that they share: "the Pixel is sold" and "my phone is a Pixel"."""
NEXT: Final = 3
"""Candidates up to this rank are linked by a thing that the question names, too: "my rent"."""
_SHORT: Final = 8
"""A sentence with so many terms states little more than one thing."""
_LEAST_SHARE: Final = 0.2
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n")
_DEFINITE: Final = re.compile(r"\b(?:[Mm]y|[Oo]ur|[Tt]he|[Aa] new|[Aa]nother|[A-Z]\w+['’]s)((?: (?!is\b|are\b|to\b|and\b)\w+){1,3})")
_ORIGIN: Final = re.compile(r"\bfrom ([A-Z][\w-]+)")
_OF_TEXTS: Final = re.compile(
    r"\b(?:e-?mails?|mails?|messages?|letters?|chats?|posts?|posted|forward(?:ed|s)?|quot(?:e|ed|es)|wr(?:ote|ites?|itten)|sent|send|said|says?"
    r"|told|tells?|texts?|texted|repl(?:y|ies|ied)|answer(?:s|ed)?|mention(?:s|ed)?)\b",
    re.IGNORECASE,
)
"""Questions about what somebody said: a quotation answers them."""
_MY_PERSON: Final = re.compile(
    r"\b(?:my|our) (?:\w+ )?(?:mother|mum|mom|father|dad|parents?|sister|brother|siblings?|wife|husband|partner|girlfriend|boyfriend"
    r"|fianc[eé]e?|son|daughter|child|children|kids?|uncle|aunt|cousins?|nephew|niece|grand\w+|friends?|neighbou?rs?|boss|manager|colleagues?|coworkers?|landlord"
    r"|landlady|teacher|tutor|doctor|dentist|lawyer|roommate|flatmate|team|client|customer|supplier)\b",
    re.IGNORECASE,
)
_ASKS_WHAT: Final = re.compile(r"\W*(?:what|which|who)\b", re.IGNORECASE)
_GENERIC_WORDS: Final = """
now new old start move change switch stop work live day days week month year today yesterday tomorrow time thing way good bad monday tuesday
wednesday thursday friday saturday sunday january february march april may june july august september october november december moment again
still long place people name call one two three first last really currently longer like have got ago get use also back lot said tell think
know feel great nice want need see
"""
_GENERIC: Final = frozenset(terms_of(_GENERIC_WORDS))
"""Terms that link no two statements."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence of a memory."""

    text: str
    terms: frozenset[str]
    """Without generic terms."""
    definite: frozenset[str]
    """Those after "my", "the" or "a new": of such a thing, the speaker has one."""
    origin: frozenset[str]
    """Those of the name after "from": the value that a change replaces."""
    form: Form
    author: str | None = None
    """Case-folded name of another person who says this about themselves, in a quotation. Empty: unknown. None: it is no such quotation."""
    quoted_by: str = ""
    """Case-folded name of the memory's speaker, if they quote it."""

    def is_by_same_person(self, other: "Clause") -> bool:
        """Whether both are words of the memory's speaker, or of one quoted author."""
        return self.author == other.author and self.author != ""

    def is_hearsay(self, topic: "Topic") -> bool:
        """Whether the question asks about the speaker, and somebody else says this of themselves."""
        if self.author is None or not topic.names.isdisjoint(words_in(self.author)):
            return False
        return topic.is_about_asker or (topic.asks_for_facts and self.quoted_by in topic.names)


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement of a memory, as far as its words show."""

    said: tuple[datetime, int]
    subject: str
    """The case-folded name of the person that it is about or by. Empty: unknown."""
    clauses: tuple[Clause, ...]

    @property
    def quotes(self) -> bool:
        """Whether it quotes somebody who speaks of themselves."""
        return any(clause.author is not None for clause in self.clauses)

    def is_of_same_person(self, other: "Statement") -> bool:
        """Whether both may be about one person."""
        return self.subject == other.subject or not self.subject or not other.subject


def statement_of(memory: Memory) -> Statement:
    """The statement of a memory. The parts that depend on its text alone are cached."""
    subject = traits_of(memory).subject
    return Statement((memory.said_at or memory.event_time, memory.turn or 0), subject, _clauses_of(memory.content, subject))


@sized_cache(most_bytes=8_000_000, entry_bytes=1500, growth=6)
def _clauses_of(content: str, subject: str) -> tuple[Clause, ...]:
    return tuple(clause for part in attributed_parts(content) for clause in _clauses_of_part(part, subject))


def _clauses_of_part(part: Part, subject: str) -> Iterator[Clause]:
    sentences = [bare for each in _SENTENCE.split(part.text) if (bare := each if part.author is None else each.strip('> "“”„«»'))]
    author = None if part.author is None else part.author.casefold()
    # A person may quote their own earlier message.
    if author is None or subject in words_in(author) or not speaks_of_oneself(part.text):
        yield from map(_clause, sentences)
        return
    for each in sentences:
        # A sentence without "I" among others with it may still be about its author: "Live in Rome now".
        yield _clause(each, author, subject) if speaks_of_oneself(each) or attributes_of(each) else _clause(each)


def _clause(sentence: str, author: str | None = None, quoted_by: str = "") -> Clause:
    definite = frozenset(terms_of(" ".join(found[1] for found in _DEFINITE.finditer(sentence))))
    origin = frozenset(terms_of(" ".join(_ORIGIN.findall(sentence))))
    terms = frozenset(term for term in terms_of(sentence) if not term.endswith("n't"))
    return Clause(sentence, terms - _GENERIC, definite - _GENERIC, origin - _GENERIC, form_of(sentence), author, quoted_by)


@dataclass(frozen=True, slots=True)
class Topic:
    """The subject matter of a question."""

    terms: frozenset[str]
    """Without generic terms and the names of persons."""
    attributes: frozenset[str]
    names: frozenset[str]
    liking: int
    """As :attr:`Form.liking`, if the question asks what somebody likes or dislikes. "Do I like tea?" asks for either."""
    asks_for_facts: bool
    """Whether it does not ask what somebody said or wrote."""
    is_about_asker: bool
    """Whether it asks for facts about the person who asks."""

    @classmethod
    @lru_cache(maxsize=KEPT_QUESTIONS)
    def of(cls, question: str) -> "Topic":
        """The subject matter of a question.

        Args:
            question: The text of a query.
        """
        names = names_in(question)
        terms = frozenset(terms_in(question)) - _GENERIC - frozenset(terms_of(" ".join(names)))
        liking = form_of(question).liking if _ASKS_WHAT.match(question) else 0
        asks_for_facts = not _OF_TEXTS.search(question)
        is_about_asker = asks_for_facts and speaks_of_oneself(_MY_PERSON.sub("", question))
        return cls(terms, asked_attributes(question), names, liking, asks_for_facts, is_about_asker)

    def is_of(self, clause: Clause) -> bool:
        """Whether a sentence is about it."""
        return bool(self.terms & clause.terms or self.attributes_in(clause))

    def attributes_in(self, clause: Clause) -> frozenset[str]:
        """The asked attributes that a sentence is about."""
        return attributes_of(clause.text, self.attributes) if self.attributes else self.attributes

    def clauses_of(self, statement: Statement) -> tuple[Clause, ...]:
        """The sentences of a good candidate that are about it. The only sentence of a candidate always is."""
        found = tuple(clause for clause in statement.clauses if self.is_of(clause))
        found = tuple(clause for clause in found if not clause.is_hearsay(self)) or found
        return found or (statement.clauses if len(statement.clauses) == 1 else ())

    def holds_without(self, ended: frozenset[str], statement: Statement) -> bool:
        """Whether a statement gives another value of the asked attribute than the one that ended.

        Args:
            ended: The terms of the value that ended.
            statement: The statement.
        """
        own = (clause for clause in statement.clauses if clause.form.is_answer_now and not clause.is_hearsay(self))
        lasting = (clause for clause in own if not clause.form.only_ends and not clause.origin)
        of_attribute = (clause for clause in lasting if self.attributes_in(clause))
        return bool(ended) and any(clause.terms.isdisjoint(ended) for clause in of_attribute)

    def is_answered_by(self, statement: Statement) -> bool:
        """Whether a statement is about it, in other words than those of somebody for whom it does not ask."""
        return any(not (clause.form.is_question or clause.is_hearsay(self)) and self.is_of(clause) for clause in statement.clauses)

    def has_only_hearsay(self, statement: Statement) -> bool:
        """Whether a statement answers it at most in a quotation of somebody for whom it does not ask."""
        return any(clause.is_hearsay(self) for clause in statement.clauses) and not self.is_answered_by(statement)

    def answered_now_by(self, statement: Statement) -> bool:
        """Whether a statement may state how things are now."""
        return any(clause.form.is_answer_now and not clause.is_hearsay(self) and self.is_of(clause) for clause in statement.clauses)


@dataclass(frozen=True, slots=True)
class Link:
    """The distance of a candidate from the best one."""

    rank: int
    """Its rank, from 0."""
    share: float
    """Its score, as a share of the best one's."""


def supersedes(new: Statement, old: Statement, topic: Topic, link: Link) -> int:
    """How surely a statement replaces another, from 1 to 3: it is later, about the same, and says that something changed. 0: it does not.

    Args:
        new: The later statement.
        old: The earlier one.
        topic: The question.
        link: Link of the candidate that is not the best one. Only candidates of the first ranks are linked by words that they share.
    """
    if new.said <= old.said or not new.is_of_same_person(old):
        return 0
    return max((_replaces(later, each, topic, link) for each in topic.clauses_of(old) for later in new.clauses), default=0)


def corrects(new: Statement, old: Statement, topic: Topic) -> bool:
    """Whether a later statement says that an earlier one was wrong.

    Args:
        new: The later statement.
        old: The earlier one.
        topic: The question.
    """
    if new.said <= old.said or not new.is_of_same_person(old) or not any(clause.form.corrects for clause in new.clauses):
        return False
    pairs = ((earlier, later) for earlier in topic.clauses_of(old) for later in new.clauses if later.is_by_same_person(earlier))
    return any(earlier.terms & later.terms & topic.terms for earlier, later in pairs)


def _replaces(new: Clause, old: Clause, topic: Topic, link: Link) -> int:
    if not new.form.is_answer_now or old.form.is_question or not new.is_by_same_person(old):
        return 0
    is_near, is_next = link.rank <= NEAR, link.rank <= NEXT
    shared = new.terms & old.terms
    if new.form.only_ends:
        return 1 if shared and is_near else 0
    if new.form.liking and new.form.liking == -old.form.liking and shared:
        return 2
    if new.form.changes:
        by_words = (is_near and shared - topic.terms) or (is_next and shared & (new.definite | old.definite))
        is_of_other = bool(new.origin) and not new.origin & old.terms
        by_attribute = not is_of_other and topic.attributes_in(new) & topic.attributes_in(old)
        if by_words or by_attribute:
            return 3
    one_thing = shared & new.definite & old.definite & topic.terms
    is_same_thing = one_thing and is_next and link.share >= _LEAST_SHARE and len(new.terms) <= _SHORT
    has_same_frame = is_near and new.form.frame and new.form.frame == old.form.frame
    return 2 if is_same_thing or has_same_frame else 0
