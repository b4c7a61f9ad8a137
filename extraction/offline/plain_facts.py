"""Facts that a person plainly states about themselves, read by the closed grammar of :mod:`extraction.offline.fact_grammar`.

A sentence is cut into clauses, and each is read after its opening ("hi", "by the way", "these days"). What does not fit states no fact. A
correction ("no wait, I meant Bern") replaces the fact before it, or removes it if it cannot be read.

Names of relatives and pets are the exception: "my sister Lena" is true in a question and in a condition, too, and is read anywhere.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from extraction.offline.fact_grammar import CLAUSE_BREAK, OPENING, RELATION_RULES, RULES, Field
from extraction.offline.fact_values import is_believable
from extraction.offline.fact_words import FIRST_PERSON, NAME, NOT_NAMES
from extraction.offline.moods import PlainSentence, is_conditional
from extraction.offline.place_context import least_score

_GREETED: Final = re.compile(r"\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|greetings)\b", re.IGNORECASE)
_NO_RELATION: Final = re.compile(
    r"\b(?:died|passed away|funeral|late|broke up|split up|divorced|separated|former|used to|imaginary|wish (?:i|my"
    r"|we)|if (?:i|we) (?:had|have|get|got)|imagine|suppose|pretend|would (?:be|name|call)|had an?|(?:call|name|naming"
    r"|rename|calling|baptise) (?:my|our))\b|\bhad (?:a|an)\b|\b(?:lie|untrue|not true) that\b|\bno\b,? my\b",
    re.IGNORECASE,
)
_BEGINS_CONDITION: Final = re.compile(r"\W*(?:if|unless|when|whenever|once|i wish|suppose|imagine|as if)\b", re.IGNORECASE)
_CORRECTION_CUE: Final = re.compile(
    r"^\W*(?:(?:haha|hmm|argh|ugh|oops|whoops|oh|no(?=\s*(?:[^\w\s]|$)|\s+(?:wait|sorry|not|no|i"
    r"|my|it|that|make|scratch)\b)|nope|wait|sorry|pardon|correction|typo|actually|rather|or rather"
    r"|scratch that|make that|strike that|hang on|autocorrect|my bad|(?:what )?(?:i|I) (?:meant|mean)|(?:i|I) (?:meant"
    r"|mean) to (?:say|write)|not \w+)\b[\s,:;.!—–-]*)+",
    re.IGNORECASE,
)
_STRONG_CUE: Final = re.compile(
    r"\b(?:wait|sorry|correction|typo|scratch that|make that|strike that|rather|oops|whoops|(?:meant|mean)|my bad"
    r"|autocorrect|mixed (?:them|it|that) up|wrong)\b|^\W*(?:actually,? )?no\b(?=\s*(?:[^\w\s]"
    r"|$)|\s+(?:wait|sorry|not|no)\b)(?!,? (?:i|my|we|it|that|there)\b)",
    re.IGNORECASE,
)
_CORRECTED_VALUE: Final = re.compile(
    rf"^(?:(?:it['’]?s|that['’]?s|in|is|to|i live in|as an?|an?|the)\s+)*(?P<value>{NAME}"
    rf"|[a-z][\w'’-]*(?: [a-z][\w'’-]*)?)(?=\s*(?:[.,!;]|$))",
    re.IGNORECASE,
)

_PUN: Final = re.compile(r"\W*(?:because|cause|since) (?:i|im|my)\b", re.IGNORECASE)
"""Gives a reason for an occupation, as jokes do: "a gardener because I dig it"."""
_CONTRAST: Final = re.compile(r"\W*not \w+", re.IGNORECASE)
"""Names the wrong value after the right one: "called Siri, not Siry"."""
_ASTERISK: Final = re.compile(rf"^(?:\*\s?(?P<after>{NAME}|[a-z]+)|(?P<before>{NAME}|[a-z]+)\*)[.!]?$")
"""A message that only corrects a word of the message before it."""


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


def facts_of(sentences: Sequence[PlainSentence]) -> list[PlainFact]:
    """The facts that sentences state. A correction replaces or removes the fact before it.

    Args:
        sentences: Those of one writer, in order.
    """
    found: list[PlainFact] = []
    last_stated = -1
    """Index of the sentence that stated the last fact of a field with one value or a preference."""
    for index, sentence in enumerate(sentences):
        stated = list(_stated(sentence))
        if found and index - last_stated <= 1 and (marked := _ASTERISK.match(sentence.text)):
            _correct(found, sentence, marked["after"] or marked["before"], is_marked=True)
            continue
        if not stated and found and index - last_stated <= 2 and (cue := _CORRECTION_CUE.match(sentence.text)):
            _correct(found, sentence, sentence.text[cue.end() :])
            continue
        if stated and found and _STRONG_CUE.search(sentence.text[:30]) and index - last_stated <= 2:
            found = [
                each
                for each in found
                if each.field is not stated[0].field or each.message < sentence.message - 1 or index - last_stated > 2
            ]
        if stated:
            last_stated = index
        related = list(_relations(sentence))
        last_stated = index if related else last_stated
        found += (*stated, *related)
    return found


def _correct(found: list[PlainFact], sentence: PlainSentence, rest: str, *, is_marked: bool = False) -> None:
    """Applies a correction without a verb ("no wait, Bern") to the last fact."""
    last = len(found) - 1
    value = _CORRECTED_VALUE.match(rest)
    if value is not None and _is_value(found[last].field, value["value"]):
        found[last] = replace(found[last], value=value["value"], message=sentence.message)
    elif is_marked or _STRONG_CUE.search(sentence.text):
        del found[last]


def _is_value(field: Field, value: str) -> bool:
    if field in (Field.HOME, Field.NAME, Field.EMPLOYER, Field.RELATION):
        return value[0].isupper() and NOT_NAMES.fullmatch(value) is None
    return field not in (Field.AGE, Field.BIRTHDAY, Field.SIZE, Field.LEVEL)


def _stated(sentence: PlainSentence) -> Iterator[PlainFact]:
    if not sentence.states_present:
        return
    clauses = [each.strip() for each in CLAUSE_BREAK.split(sentence.text) if each and each.strip()]
    subject = ""
    for number, clause in enumerate(clauses):
        opening = OPENING.match(clause)
        body = clause[opening.end() :] if opening is not None else clause
        if _BEGINS_CONDITION.match(body):
            return
        subject = "I " if re.match(rf"(?:{FIRST_PERSON}|im)\b", body) else subject
        fact = _of_clause(body, sentence) or (
            _of_clause(subject + body, sentence) if subject and not re.match(rf"{FIRST_PERSON}\b", body) else None
        )
        if fact is None or is_conditional(_up_to_comma(body, fact.value)):
            continue
        if fact.field is Field.OCCUPATION and _PUN.match(sentence.text.partition(fact.value)[2]):
            continue
        rest = ", ".join(clauses[number + 1 :]) if number + 1 < len(clauses) else body[body.find(fact.value) + len(fact.value) :]
        cue = _CORRECTION_CUE.match(rest)
        if cue is not None and _STRONG_CUE.search(cue.group()) and not _CONTRAST.match(rest):
            value = _CORRECTED_VALUE.match(rest[cue.end() :])
            if value is not None and _is_value(fact.field, value["value"]):
                yield replace(fact, value=value["value"])
            return
        yield fact


def _up_to_comma(clause: str, value: str) -> str:
    """A clause up to the comma after a value: "allergic to nuts, worth knowing if we cook" states no condition."""
    end = clause.find(",", clause.find(value) + len(value))
    return clause if end < 0 else clause[:end]


def _of_clause(clause: str, sentence: PlainSentence) -> PlainFact | None:
    for rule in RULES:
        match = rule.pattern.match(clause)
        if match is None or (rule.needs_greeting and not _GREETED.match(sentence.text)):
            continue
        value = " ".join(match["value"].split()).strip(" .,")
        if not is_believable(rule.field, value, clause[match.end() :], clause):
            return None
        evidence = rule.place_evidence
        if evidence is not None:
            evidence = least_score(value, evidence, sentence.text)
        groups = match.groupdict()
        return PlainFact(
            rule.field,
            value,
            sentence.message,
            place_evidence=evidence,
            verb=(groups.get("verb") or (groups.get("gerund") or "").removesuffix("ing")).lower(),
        )
    return None


def _relations(sentence: PlainSentence) -> Iterator[PlainFact]:
    if _NO_RELATION.search(sentence.text):
        return
    seen: set[str] = set()
    for pattern in RELATION_RULES:
        for match in pattern.finditer(sentence.text):
            name = match["value"].removesuffix("'s").removesuffix("’s")
            if name not in seen and len(name) > 1:
                seen.add(name)
                yield PlainFact(Field.RELATION, name, sentence.message, relation=match["relation"])
