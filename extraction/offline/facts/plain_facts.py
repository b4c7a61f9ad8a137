"""Facts that a person plainly states about themselves, over their sentences in order.

:mod:`extraction.offline.facts.sentence_facts` reads each sentence. A correction ("no wait, I meant Bern") replaces the fact before it, or
removes it if it cannot be read.

Names of relatives and pets are the exception: "my sister Lena" is true in a question and in a condition, too, and is read anywhere.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from extraction.offline.facts.corrections import (
    after_cue,
    chooses,
    corrected_value,
    corrects,
    describes,
    is_spelled_alike,
    marked_word,
    only_apologises,
    retracts,
    says_what_was_meant,
)
from extraction.offline.facts.list_corrections import dropped_item, without_item
from extraction.offline.facts.relations import relations_of, reports_death
from extraction.offline.facts.sentence_facts import PlainFact, facts_in, right_value
from extraction.offline.factuality.moods import PlainSentence
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.grammar.sentences import QUESTION_MARKS
from extraction.offline.grammar.value_patterns import DOT

_WORDED: Final = frozenset({Field.LIKE, Field.DISLIKE, Field.AVOID, Field.ALLERGY, Field.DIET, Field.OCCUPATION})
"""Kinds of facts whose values are common words, which may also be about something else."""
_ABBREVIATED: Final = re.compile(
    r"((?<=[A-Z]\.)[A-Z])\.(?=\s[a-z])|(?<![\w'’])((?:[A-Z]|St|Dr|Mr|Mrs|Ms|Prof|Mt|Ft)|(?<=[A-Z]\.)[A-Z])\."
    r"(?=\s?(?!(?:I|I['’]m|My|We|It|The|He|She|They|You|Your|But|And|So|In|On|At|This|That|What|How|Can|Do|Is|Are|Any|Not|No|Yes)\b)[A-Z])"
)
"""An initial or a title before a name."""
_LAST_INITIAL: Final = re.compile(r"\b(?:[A-Z]\.)+[A-Z]$")
_LAST_STATED: Final = 2
"""A correction is at most so many sentences after what it corrects."""


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
        stated = list(facts_in(sentence, before if index and sentences[index - 1].message == sentence.message else ""))
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
        if (right := right_value(Field.RELATION, name, sentence.text.rpartition(name)[2])) is not None
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
