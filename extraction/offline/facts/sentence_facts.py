"""The facts that one sentence states plainly, read by the closed grammar of :mod:`extraction.offline.grammar.fact_grammar`.

A sentence is cut into clauses, and each is read after its opening ("hi", "by the way", "these days"). What does not fit states no fact.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from extraction.offline.facts.corrections import after_cue, corrected_value, retracts_at_once
from extraction.offline.facts.fact_values import is_believable, is_for_a_time, is_taken_back, with_whole_act
from extraction.offline.facts.place_context import least_score
from extraction.offline.factuality.laughter import may_joke, without_laughter
from extraction.offline.factuality.moods import PlainSentence, is_conditional
from extraction.offline.grammar.acts import TRADE_ACTS
from extraction.offline.grammar.clauses import clauses_of, statement_of
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.grammar.patterns import cue, listed
from extraction.offline.grammar.personal_forms import PERSONAL_FORMS
from extraction.offline.grammar.taste_forms import TASTE_FORMS
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.tastes import DIETS
from memory.texts.prefiltered_patterns import Table, compiled

_FORMS: Final = Table(((form.pattern, form) for form in (*PERSONAL_FORMS, *TASTE_FORMS)), re.IGNORECASE)
_BEGINS_CONDITION: Final = compiled(r"\W*(?:if|unless|when|whenever|once|i wish|suppose|imagine|as if)\b", re.IGNORECASE)
_FIRST_PERSON: Final = compiled(r"(?:i|im|we)\b", re.IGNORECASE)
_HAS_FIRST_PERSON: Final = compiled(r"\b(?:i|we)\b(?!.*\b(?:he|she|they|you)\b)", re.IGNORECASE)
_HERE: Final = cue(
    listed("""
    i, im, i'm, i've, ive, my, me, we, we're, we've, our, name, here, home, allergic, allergy, call, calls, been, moved, relocated, shifted,
    based, living, not, no, hate, nothing, fan, terrify, terrifies, name's, can't, this, started, vegan, vegetarian, love, working,
    hired, landed, fav, fave, got, never, drives, drive, nerves, turns
"""),
    DIETS,
)
"""A word without which no clause states a fact; looked for first, since most clauses have none."""
_RUN_ON: Final = compiled(
    r"\s+(?:(?:and|but|also|so)\s+)*(?=(?:(?:i|im|i['’]m|my|we|we['’]re)\s|(?:living|based|working)\s+(?:\w+\s+){0,2}?(?:in|as)\b))",
    re.IGNORECASE,
)
"""Begins another statement right after one, as in dictated messages."""
_LATER: Final = compiled(
    r"\W*(?:(?:and|but|so)\s+)*(?:(?:from|starting|as from|as of)\s+(?:next\b|tomorrow\b|(?!today)\w+day\b|(?-i:[A-Z])\w+\b(?!,? \d{4}))"
    r"|next\b|tomorrow\b|soon\b|in (?:an?|one|two|three|four|five|ten|\d+|a few|a couple of) (?:days?|weeks?|months?|years?)\b)",
    re.IGNORECASE,
)
"""Begins a clause about the future."""
_ENDED_TIME: Final = compiled(
    r"\W*(?:(?:and|but|so|well)\s+)*(?:after|following)\s+(?:(?!i\b|we\b)[\w'’-]+\s+){1,5}?(?:as|being)\s+an?\b", re.IGNORECASE
)
"""Begins a clause about what somebody was before: "After ten years as a reporter I've retrained"."""
_FOR_A_DAY: Final = compiled(r"\W*(?:(?:and|but|so)\s+)*(?:just\s+)?(?:for\s+)?(?:today|tonight)\b", re.IGNORECASE)
_FOR_LONG: Final = frozenset({Field.NAME, Field.OCCUPATION, Field.EMPLOYER, Field.DIET})
"""Kinds of facts that do not hold for a day: "Today I'm a detective"."""
_PARTICIPLE: Final = compiled(r"(?:living|based|working)\b", re.IGNORECASE)
_MOVED: Final = compiled(r"(?:moved|relocated|shifted) ", re.IGNORECASE)
_OTHER_SUBJECT: Final = compiled(r"\b(?:he|she|they|it|who|his|her|their|my|our|you)\b|(?-i:^[A-Z][a-z]+ (?:is|was)\b)", re.IGNORECASE)
_COMPANY: Final = compiled(r"\bwith (?:my|our) (?:\w+ ){0,2}?\w+|\bmy name\b", re.IGNORECASE)
"""Who else is there, which is no subject: "living in Ghent with my wife and working as a baker"."""
_TITLE_CASE: Final = re.compile(r"\S\s+(?:Live|Lives|Love|Like|Hate|Am|Work|Moved|Call|Is|Know|Be)\b")
"""The verb of a title: "We Live in Time"."""
_WISHED: Final = compiled(
    r"\b(?:i|we)(?:['’]d\b|['’]ll\b| (?:would|could|might|may|should|will|want|wanna|hope|plan|used to|wish|dream)\b)", re.IGNORECASE
)
_ACT: Final = compiled(r"(?:work|live|reside|run|teach|play|eat|avoid|own|be)\b", re.IGNORECASE)
"""Begins a predicate with the bare form of a verb, which may depend on "could" or "used to"."""
_TRADE_ACT: Final = re.compile(TRADE_ACTS, re.IGNORECASE)
"""Only says more of an occupation that was stated: "I'm self-employed, I fix bikes"."""
_HABITS: Final = frozenset({Field.AVOID, Field.DIET})
_APPOSED: Final = frozenset({Field.NAME, Field.OCCUPATION, Field.AGE})
"""Kinds of facts after which "living in" is about the writer: "a chef living in Ghent", not "a fan of bands based in Ghent"."""
_LONE_HEDGE: Final = re.compile(r"\W*[\w'’]+(?:\s+[\w'’]+){0,2}\W*")
_IT_IS: Final = compiled(r"\W*(?:it['’]?s|it is|we have|i['’]?m (?:doing|on))\b", re.IGNORECASE)
_JOINED: Final = compiled(r"\b(?:and|but|also|really)\s+$|&\s+$", re.IGNORECASE)
_LONE_WORD: Final = re.compile(r"\W*\w+\W*")
_MOST_RUNS: Final = 4
"""Statements that are read in one clause, since each is searched up to the end of the clause."""
_MOST_FACTS: Final = 20
"""Facts that are read in one sentence, since each is compared with all of the sentence."""
_IN_ONE_PLACE: Final = compiled(r"\s+(?:at|in|on|from) ", re.IGNORECASE)
_TASTES: Final = frozenset((Field.LIKE, Field.DISLIKE))
_TRAILING: Final = re.compile(r"(?<=\w)\s+(?:any ?more|either|at all)$", re.IGNORECASE)
"""Words after a value that are no part of it: "I can't stand hostels anymore"."""
_DEGREE: Final = re.compile(r"(?<=\w)\s+(?:actually|tho|huh|(?:(?:so|very|too|quite|pretty) )?(?:much|a ?lot))$", re.IGNORECASE)
"""Words after a taste that are no part of it; of a habit they are: "run a lot"."""


@dataclass(frozen=True, slots=True)
class PlainFact:
    """A fact with the words of its value."""

    field: Field
    value: str
    message: int
    """Which of the writer's messages states it."""
    place_evidence: float | None = None
    """Only for a home that may be none ("I moved to Notion"): the least similarity to places by which it is one."""
    verb: str = ""
    """The verb of an avoidance: "eat", "drink"."""
    relation: str = ""
    """The relation, for example "sister"."""
    by_others: bool = False
    """Whether it is what others call the writer. Such a name replaces none that another message stated."""
    is_nickname: bool = False
    """Whether it is a nickname, which is no name: "Everyone at the rink calls me Turbo"."""


def facts_in(sentence: PlainSentence, before: str) -> Iterator[PlainFact]:
    """The facts that a sentence states.

    Args:
        sentence: The sentence.
        before: The sentence before it.
    """
    if not sentence.states_present or _HERE.search(sentence.text) is None:
        return
    clauses = clauses_of(sentence.text)
    subject, has_job, count = "", False, 0
    for number, clause in enumerate(clauses):
        if _LATER.match(clause) is not None or _ENDED_TIME.match(clause) is not None or _is_hedged(clauses, number):
            continue
        body = statement_of(clause)
        if _is_of_another(body, clauses[:number]):
            continue
        if _BEGINS_CONDITION.match(body):
            return
        is_first_person = _FIRST_PERSON.match(body) is not None
        subject = "I " if is_first_person or _HAS_FIRST_PERSON.search(body) else subject
        facts = _of_clause(body, sentence)
        lacks_subject = not facts and subject and not is_first_person
        if lacks_subject and not _compares(body, sentence.text) and not _goes_on_with_wish(clauses, number, body):
            facts = _of_clause(subject + body, sentence)
        count += len(facts)
        if count > _MOST_FACTS:
            return
        for fact in facts:
            is_second_job = has_job and fact.field is Field.OCCUPATION and _TRADE_ACT.match(fact.value) is not None
            if is_second_job or _is_doubtful(fact, sentence, clauses, number, body=body, before=before):
                continue
            has_job |= fact.field is Field.OCCUPATION
            rest = ", ".join(clauses[number + 1 :]) if number + 1 < len(clauses) else body[body.find(fact.value) + len(fact.value) :]
            value = right_value(fact.field, fact.value, rest)
            if value != fact.value:
                if value is not None:
                    yield replace(fact, value=value)
                return
            if not is_taken_back(fact.field, sentence.text.partition(fact.value)[2]):
                yield fact


def _is_of_another(body: str, before: Sequence[str]) -> bool:
    """Whether a clause without a subject continues the clauses before it, about another person: "My sister is a nurse, living in Rome"."""
    if before and _MOVED.match(body) is not None:
        return _OTHER_SUBJECT.search(", ".join(before)) is not None and not any(_HAS_FIRST_PERSON.search(each) for each in before)
    is_continued = bool(before) and _PARTICIPLE.match(body) is not None
    return is_continued and _OTHER_SUBJECT.search(_COMPANY.sub("", ", ".join(before))) is not None


def _is_doubtful(fact: PlainFact, sentence: PlainSentence, clauses: Sequence[str], number: int, *, body: str, before: str) -> bool:
    """Whether a clause states a fact only for a day or a time, under a condition, or as a joke.

    Args:
        fact: The fact.
        sentence: Its sentence.
        clauses: The clauses of the sentence.
        number: Which of them states the fact.
        body: That clause from its statement on.
        before: The sentence before.
    """
    is_for_a_day = _FOR_A_DAY.match(clauses[number]) is not None and fact.field in _FOR_LONG and "became" not in body
    if is_for_a_day or is_conditional(_up_to_comma(body, fact.value)):
        return True
    if sentence.is_laughing and may_joke(fact.field, fact.value, (*clauses[:number], body), clauses[number + 1 :]):
        return True
    return fact.field in _HABITS and _is_for_a_time(sentence.text, fact.value, before)


def _goes_on_with_wish(clauses: Sequence[str], number: int, body: str) -> bool:
    """Whether a predicate without a subject goes on with a wish or a past: "I could live in Rome and work as a poet"."""
    before = next((each for each in reversed(clauses[:number]) if _HAS_FIRST_PERSON.search(each)), "")
    return _ACT.match(body) is not None and _WISHED.search(before) is not None


def _compares(clause: str, sentence: str) -> bool:
    """Whether "like" begins a comparison: "plan it properly, like a study block"; not "I hate tea but like coffee"."""
    return clause.casefold().startswith("like ") and _JOINED.search(sentence.partition(clause)[0]) is None


def _is_hedged(clauses: Sequence[str], number: int) -> bool:
    """Whether the clause before or after a clause is only a doubt of it: "Apparently, I'm allergic", "I'm a vegan, I guess"."""
    before = number > 0 and _LONE_WORD.fullmatch(clauses[number - 1]) is not None and is_conditional(clauses[number - 1])
    after = clauses[number + 1 : number + 2]
    return before or any(_LONE_HEDGE.fullmatch(each) is not None and is_conditional(each) for each in after)


def _is_for_a_time(sentence: str, value: str, previous: str) -> bool:
    if _IT_IS.match(previous) is not None and is_for_a_time(previous, ""):
        return True  # "It's Lent. I don't eat sweets."
    before, _, rest = sentence.partition(value)
    return is_for_a_time(f"{before} {value}", rest)


def right_value(field: Field, value: str, rest: str) -> str | None:
    """A value, or what the rest of its sentence corrects it to; None if the rest only takes it back."""
    return corrected_value(field, after_cue(rest) or "") if retracts_at_once(rest) else value


def _up_to_comma(clause: str, value: str) -> str:
    """A clause up to the comma after a value: "allergic to nuts, worth knowing if we cook" states no condition."""
    end = clause.find(",", clause.find(value) + len(value))
    return clause if end < 0 or _LONE_HEDGE.fullmatch(clause[end:]) is not None else clause[:end]


def _of_clause(clause: str, sentence: PlainSentence) -> list[PlainFact]:
    """The facts of a clause, and of what runs on after one of them: "my name is Ewa i live in Gdynia", "a chef living in Ghent"."""
    found: list[PlainFact] = []
    for _ in range(_MOST_RUNS):
        facts, end = _of_run(clause, sentence)
        found += (each for each in facts if each.field not in {one.field for one in found})
        run_on = _RUN_ON.match(clause, end) if facts else None
        if run_on is None or (_PARTICIPLE.match(clause, run_on.end()) is not None and found[-1].field not in _APPOSED):
            break
        clause = clause[run_on.end() :]
    return found


def _of_run(clause: str, sentence: PlainSentence) -> tuple[list[PlainFact], int]:
    """The facts that a clause begins with, at most one of each kind, and where the last one ends."""
    found: dict[Field, PlainFact] = {}
    end = 0
    for pattern, form in _FORMS.possible(clause):
        match = None if form.field in found else pattern.match(clause)
        if match is None or (form.needs_greeting and not sentence.greets):
            continue
        if _TITLE_CASE.search(clause, 0, match.start("value")) is not None:
            continue
        value = _TRAILING.sub("", without_laughter(" ".join(match["value"].split()).strip(" .,")))
        rest = clause[match.end() :]
        if form.field in _TASTES:
            value = _DEGREE.sub("", value)
        if form.field in _TASTES and (whole := with_whole_act(value, rest)) != value:
            value, rest = whole, rest[len(whole) - len(value) :]
        if (form.needs_occupation and not is_occupation(value)) or not is_believable(form.field, value, rest):
            continue
        evidence = None if form.place_evidence is None else least_score(value, form.place_evidence, sentence.text)
        groups = match.groupdict()
        verb = (groups.get("verb") or (groups.get("gerund") or "").removesuffix("ing")).lower()
        is_nickname = form.is_nickname or (form.by_others and _IN_ONE_PLACE.match(clause, match.end()) is not None)
        found[form.field] = PlainFact(
            form.field, value, sentence.message, evidence, verb, by_others=form.by_others, is_nickname=is_nickname
        )
        end = max(end, match.end("value"))
    return list(found.values()), end
