"""Facts that a person plainly states about themselves, read by the closed grammar of :mod:`extraction.offline.fact_grammar`.

A sentence is cut into clauses, and each is read after its opening ("hi", "by the way", "these days"). What does not fit states no fact. A
correction ("no wait, I meant Bern") replaces the fact before it, or removes it if it cannot be read.

Names of relatives and pets are the exception: "my sister Lena" is true in a question and in a condition, too, and is read anywhere.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from extraction.offline.acts import TRADE_ACTS
from extraction.offline.clauses import clauses_of, statement_of
from extraction.offline.corrections import (
    after_cue,
    chooses,
    corrected_value,
    corrects,
    describes,
    is_spelled_alike,
    marked_word,
    only_apologises,
    retracts,
    retracts_at_once,
    says_what_was_meant,
)
from extraction.offline.fact_grammar import Field
from extraction.offline.fact_values import is_believable, is_for_a_time, is_taken_back
from extraction.offline.laughter import may_joke, without_laughter
from extraction.offline.list_corrections import dropped_item, without_item
from extraction.offline.moods import PlainSentence, is_conditional
from extraction.offline.occupations import is_occupation
from extraction.offline.patterns import cue, listed
from extraction.offline.personal_forms import PERSONAL_FORMS
from extraction.offline.place_context import least_score
from extraction.offline.relations import relations_of, reports_death
from extraction.offline.sentences import QUESTION_MARKS
from extraction.offline.taste_forms import TASTE_FORMS
from extraction.offline.value_patterns import DOT
from extraction.offline.words.tastes import DIETS
from memory.prefiltered_patterns import Table, compiled

_FORMS: Final = Table(((form.pattern, form) for form in (*PERSONAL_FORMS, *TASTE_FORMS)), re.IGNORECASE)
_BEGINS_CONDITION: Final = compiled(r"\W*(?:if|unless|when|whenever|once|i wish|suppose|imagine|as if)\b", re.IGNORECASE)
_FIRST_PERSON: Final = compiled(r"(?:i|im|we)\b", re.IGNORECASE)
_HAS_FIRST_PERSON: Final = compiled(r"\b(?:i|we)\b(?!.*\b(?:he|she|they|you)\b)", re.IGNORECASE)
_HERE: Final = cue(
    listed("""
    i, im, i'm, i've, ive, my, me, we, we're, we've, our, name, here, home, allergic, allergy, call, calls, been, moved, relocated,
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
_WORDED: Final = frozenset({Field.LIKE, Field.DISLIKE, Field.AVOID, Field.ALLERGY, Field.DIET, Field.OCCUPATION})
"""Kinds of facts whose values are common words, which may also be about something else."""
_TRADE_ACT: Final = re.compile(TRADE_ACTS, re.IGNORECASE)
"""Only says more of an occupation that was stated: "I'm self-employed, I fix bikes"."""
_HABITS: Final = frozenset({Field.AVOID, Field.DIET})
_APPOSED: Final = frozenset({Field.NAME, Field.OCCUPATION, Field.AGE})
"""Kinds of facts after which "living in" is about the writer: "a chef living in Ghent", not "a fan of bands based in Ghent"."""
_ABBREVIATED: Final = re.compile(
    r"((?<=[A-Z]\.)[A-Z])\.(?=\s[a-z])|(?<![\w'’])((?:[A-Z]|St|Dr|Mr|Mrs|Ms|Prof|Mt|Ft)|(?<=[A-Z]\.)[A-Z])\."
    r"(?=\s?(?!(?:I|I['’]m|My|We|It|The|He|She|They|You|Your|But|And|So|In|On|At|This|That|What|How|Can|Do|Is|Are|Any|Not|No|Yes)\b)[A-Z])"
)
"""An initial or a title before a name."""
_LAST_INITIAL: Final = re.compile(r"\b(?:[A-Z]\.)+[A-Z]$")
_LONE_HEDGE: Final = re.compile(r"\W*[\w'’]+(?:\s+[\w'’]+){0,2}\W*")
_IT_IS: Final = compiled(r"\W*(?:it['’]?s|it is|we have|i['’]?m (?:doing|on))\b", re.IGNORECASE)
_JOINED: Final = compiled(r"\b(?:and|but|also|really)\s+$|&\s+$", re.IGNORECASE)
_LONE_WORD: Final = re.compile(r"\W*\w+\W*")
_MOST_RUNS: Final = 4
"""Statements that are read in one clause, since each is searched up to the end of the clause."""
_IN_ONE_PLACE: Final = compiled(r"\s+(?:at|in|on|from) ", re.IGNORECASE)
_TRAILING: Final = re.compile(r"(?<=\w)\s+(?:any ?more|either|at all)$", re.IGNORECASE)
"""Words after a value that are no part of it: "I can't stand hostels anymore"."""
_LAST_STATED: Final = 2
"""A correction is at most so many sentences after what it corrects."""


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


def facts_of(sentences: Sequence[PlainSentence]) -> list[PlainFact]:
    """The facts that sentences state. A correction replaces or removes the fact before it.

    Args:
        sentences: Those of one writer, in order.
    """
    found: list[PlainFact] = []
    sentences = [_with_marks(each) for each in sentences]
    last_stated = -1
    """Index of the sentence that stated the last fact."""
    for index, sentence in enumerate(sentences):
        before = sentences[index - 1].text if index else ""
        stated = list(_stated(sentence, before if index and sentences[index - 1].message == sentence.message else ""))
        if any(each.field is Field.NAME for each in stated):
            stated = [each for each in stated if each.field is not Field.LIKE or not each.value.istitle()]  # "but I prefer Nico"
        is_near = index - last_stated <= _LAST_STATED
        if found and index - last_stated <= 1 and (word := marked_word(sentence.text)) is not None:
            if word[0].isupper() or found[-1].field in _WORDED or is_spelled_alike(word, found[-1].value):
                _correct(found, sentence, word, is_surely=True)
            continue  # else it is an act: "*sighs"
        item = dropped_item(sentence.text) if found and is_near else None
        if item is not None and _drop(found, sentence, item):
            last_stated = index
            continue
        after = sentences[index + 1].text if index + 1 < len(sentences) else ""
        related = _related(sentence, before, after)
        if found and is_near and found[-1].field is Field.RELATION and reports_death(sentence.text):
            del found[-1]
            continue
        if not stated and not related and found and is_near and (rest := after_cue(sentence.text)) is not None:
            if not chooses(rest) and (found[-1].field is not Field.RELATION or not describes(rest)):
                _correct(found, sentence, rest, is_surely=retracts(sentence.text))
            continue
        if stated and found and is_near and corrects(sentence.text):
            found = [each for each in found if each.field is not stated[0].field or each.message < sentence.message - 1]
        if related and is_near and corrects(sentence.text):
            names = {each.value for each in related}
            found = [each for each in found if each.field is not Field.RELATION or each.value not in names]
        last_stated = index if stated or related else last_stated
        found += (*stated, *related)
    return [replace(each, value=_with_dots(each.value)) for each in found]


def _related(sentence: PlainSentence, before: str, after: str) -> list[PlainFact]:
    """The relations that a sentence names."""
    return [
        PlainFact(Field.RELATION, right, sentence.message, relation=relation)
        for relation, name in relations_of(sentence.text, before, after)
        if (right := _right_value(Field.RELATION, name, sentence.text.rpartition(name)[2])) is not None
    ]


def _with_marks(sentence: PlainSentence) -> PlainSentence:
    """The sentence with another mark in place of the dots of its abbreviations, which end no clause."""
    text = _ABBREVIATED.sub(_with_mark, sentence.text)
    return sentence if text == sentence.text else replace(sentence, text=text)


def _with_mark(found: re.Match[str]) -> str:
    return found.group()[:-1] + DOT


def _with_dots(value: str) -> str:
    """A value with the dots of its abbreviations: "Washington D.C."."""
    value = value.replace(DOT, ".")
    return f"{value}." if _LAST_INITIAL.search(value) is not None else value


def _correct(found: list[PlainFact], sentence: PlainSentence, rest: str, *, is_surely: bool) -> None:
    """Applies a correction without a verb ("no wait, Bern") to the last fact."""
    value = corrected_value(found[-1].field, rest)
    is_word = found[-1].field in _WORDED
    is_clear = is_surely and (value is None or " " not in value or says_what_was_meant(sentence.text))
    if value is not None and (is_clear or not is_word):
        found[-1] = replace(found[-1], value=value, message=sentence.message)
    elif is_surely and not only_apologises(sentence.text) and not sentence.text.endswith(QUESTION_MARKS):
        del found[-1]


def _drop(found: list[PlainFact], sentence: PlainSentence, item: str) -> bool:
    """Drops a thing from the latest fact that has it in its value; whether there is one."""
    for index in range(len(found) - 1, -1, -1):
        fact = found[index]
        if fact.message < sentence.message - _LAST_STATED:
            return False
        value = without_item(fact.value, item) if fact.field in _WORDED else None
        if value is None:
            continue
        if value:
            found[index] = replace(fact, value=value)
        else:
            del found[index]
        return True
    return False


def _stated(sentence: PlainSentence, before: str) -> Iterator[PlainFact]:
    """The facts that a sentence states.

    Args:
        sentence: The sentence.
        before: The sentence before it.
    """
    if not sentence.states_present or _HERE.search(sentence.text) is None:
        return
    clauses = clauses_of(sentence.text)
    subject, has_job = "", False
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
        for fact in facts:
            is_second_job = has_job and fact.field is Field.OCCUPATION and _TRADE_ACT.match(fact.value) is not None
            if is_second_job or _is_doubtful(fact, sentence, clauses, number, body=body, before=before):
                continue
            has_job |= fact.field is Field.OCCUPATION
            rest = ", ".join(clauses[number + 1 :]) if number + 1 < len(clauses) else body[body.find(fact.value) + len(fact.value) :]
            value = _right_value(fact.field, fact.value, rest)
            if value != fact.value:
                if value is not None:
                    yield replace(fact, value=value)
                return
            if not is_taken_back(fact.field, sentence.text.partition(fact.value)[2]):
                yield fact


def _is_of_another(body: str, before: Sequence[str]) -> bool:
    """Whether a clause without a subject continues the clauses before it, about another person: "My sister is a nurse, living in Rome"."""
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


def _right_value(field: Field, value: str, rest: str) -> str | None:
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
        if (form.needs_occupation and not is_occupation(value)) or not is_believable(form.field, value, clause[match.end() :]):
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
