"""Finds the sentences of a message that are plain: what their writer states about the present as true.

A sentence is not plain if a mood is found in it or around it. Two kinds of cues are looked for:

- **Cues for a whole message**, since they are about its other sentences: a text to process (translate, proofread, write a story), a role
  or a fiction, irony and jokes, somebody else's words after a colon, a later "just kidding". :mod:`extraction.offline.factuality.frames`
  finds the roles and tasks of earlier messages.
- **Cues for one sentence**: a question, a quotation, a condition, a wish, a report ("she says"), a doubt.

When a cue is doubtful, the sentence is not plain: an empty profile field is better than a wrong one, and its event is stored anyway.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final

from extraction.offline.factuality import mood_patterns as cues
from extraction.offline.factuality.labels import is_label
from extraction.offline.grammar.sentences import QUESTION_MARKS, sentences_of
from memory.messages.blocks import blocks_of, prose_of
from memory.texts.language import is_english

_FEWEST_COORDINATED: Final = 2
"""First-person clauses after the first one by which an opening with a name is a game's: people list such clauses of a game."""
_LONGEST_FRAGMENT: Final = 60
"""Characters of a text without a verb that has no language by its frequent words."""


@dataclass(frozen=True, slots=True)
class PlainSentence:
    """A sentence that may state a fact."""

    text: str
    states_present: bool = True
    """False where only names of relatives are believed: in a question, a condition or a report."""
    greets: bool = False
    """Whether it or the sentence before it is a greeting."""
    is_laughing: bool = False
    """Whether it laughs, or what follows laughs at it, so that it may be a joke."""
    message: int = 0
    """Which of the messages it is from."""


def plain_sentences(messages: Sequence[str]) -> list[PlainSentence]:
    """The sentences that may state facts about their writer, in order.

    Args:
        messages: The texts that one person wrote, in order, without binary data.
    """
    return [
        replace(each, message=number) if number else each
        for number, text in enumerate(messages)
        if not cues.FICTION.search(text)
        for each in _read(text)
    ]


def is_plain(text: str) -> bool:
    """Whether a message states something plainly in one of its sentences at least, and in none of them plays, processes or quotes a text.

    Args:
        text: A message, or a part of one.
    """
    return states_all(text, stated_plainly(text))


def states_all(text: str, stated: Sequence[str]) -> bool:
    """Whether a message states all that it does not ask.

    Args:
        text: A message, or a part of one.
        stated: Its sentences that :func:`stated_plainly` returns.
    """
    return bool(stated) and len(stated) == len([each for each in _read(text) if not each.text.endswith(QUESTION_MARKS)])


def stated_plainly(text: str) -> list[str]:
    """The sentences in which a message states something plainly; none if it plays, jokes, or processes or quotes a text.

    Args:
        text: A message, or a part of one.
    """
    if (
        cues.FICTION.search(text)
        or cues.IRONY.search(text)
        or cues.LAUGHTER.search(text)
        or cues.WRITING.search(text)
        or cues.BACKGROUND.match(text)
    ):
        return []
    return [each.text for each in _read(text) if _states_plainly(each)]


def _states_plainly(sentence: PlainSentence) -> bool:
    if cues.PROMISED.search(sentence.text) is not None:
        return not sentence.text.endswith(QUESTION_MARKS)  # its condition or report is a part of the promise
    return sentence.states_present and not cues.CONDITION.search(cues.WANTED.sub("", sentence.text))


def is_conditional(clause: str) -> bool:
    """Whether a clause states a condition, a wish or a doubt."""
    return cues.CONDITION.search(clause) is not None


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[PlainSentence, ...]:
    """The sentences of a message. The messages of one window are read twice: for the types of events, and for facts."""
    return tuple(_of_message(text))


def _of_message(text: str) -> Iterator[PlainSentence]:
    prose = prose_of(blocks_of(text))
    if cues.MARKED_WORD.match(prose):
        yield PlainSentence(prose)
        return
    is_readable = is_english(prose) or (len(prose) <= _LONGEST_FRAGMENT and cues.ENGLISH_NOUNS.search(prose) is not None)
    if not prose or not is_readable or cues.TASK.search(cues.NO_TASK.sub("", text)) or cues.PLAYED_ON.search(text):
        return
    sentences = [cues.ASIDE.sub(", ", each).strip(" ,") for each in _with_topics(_with_continuations(sentences_of(prose)))]
    is_ironic = cues.MOCKED_PRAISE.search(prose) is not None or any(
        cues.IRONY.search(each) or cues.IRONIC_AGREEMENT.search(each) for each in sentences
    )
    laughing = [_is_laughed_at(sentences, index) for index in range(len(sentences))]
    greets = False
    for sentence, is_laughing in zip(sentences, laughing, strict=True):
        if cues.OPENS_QUOTE.search(sentence) is not None and cues.OWN_COLON.search(sentence) is None:
            return  # what follows is quoted
        own = _without_own_head(sentence)
        if own is None:
            return
        if cues.QUOTE_MARKS.search(own):
            around = cues.QUOTED.sub(" ", own)
            if not cues.QUOTE_MARKS.search(around) and not _is_in_game(own):
                yield PlainSentence(around, states_present=False)
            continue
        if _is_in_game(own):
            continue
        own = cues.PASSED_ON.sub("", own) or own
        is_reported = cues.REPORT.search(cues.NO_TASK.sub("", cues.COMMENT.sub("", own))) is not None
        if is_reported and (earlier := before_report(own)) is not None:
            yield PlainSentence(earlier, not is_ironic, cues.GREETING.match(own) is not None or greets, is_laughing)
        writing = cues.WRITING.search(own)
        stated, asked = statement_and_question(own if writing is None else own[: writing.start()])
        is_greeting = cues.GREETING.match(own) is not None
        if stated.strip():
            yield PlainSentence(stated, not (is_ironic or is_reported), is_greeting or greets, is_laughing)
        greets = is_greeting
        if asked or writing is not None:
            yield PlainSentence(own, states_present=False)
        if writing is not None or cues.INTRODUCES_TEXT.search(own):
            return  # what follows may be the text


def _is_laughed_at(sentences: Sequence[str], index: int) -> bool:
    """Whether a sentence or the next one laughs. A sentence about something else that laughs makes no joke of the one before it."""
    if cues.LAUGHTER.search(sentences[index]) is not None:
        return True
    after = sentences[index + 1] if index + 1 < len(sentences) else ""
    found = cues.LAUGHTER.search(after)
    return found is not None and (cues.OTHER_TOPIC.match(after) is None or not after[: found.start()].strip())


def _is_in_game(sentence: str) -> bool:
    """Whether a sentence opens with a game, which covers all its clauses: "In Hollow Keep, I farm and I'm married to Odo"."""
    found = cues.IN_A_TITLE.match(sentence)
    if found is None or cues.KNOWN_PLACES.fullmatch(found["title"]) is not None:
        return False
    clauses = f"I {found['rest']}" if not sentence[: found.start("rest")].endswith(("my", "My")) else found["rest"]
    is_title = " " in found["title"] and cues.TITLE_OF_GAME.fullmatch(found["title"]) is not None
    return is_title or cues.IN_GAME.search(clauses) is not None or len(cues.COORDINATED.findall(clauses)) >= _FEWEST_COORDINATED


def _with_continuations(sentences: Sequence[str]) -> list[str]:
    """The sentences, with what goes on after three dots: "I'm a vegetarian... between meals"."""
    joined: list[str] = []
    for sentence in sentences:
        if joined and joined[-1].endswith(("...", "…")) and sentence[0].islower():
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined


def _with_topics(sentences: Sequence[str]) -> list[str]:
    """The sentences, with the topic in place of the pronoun that points to it: "Snails? I hate them"."""
    named = list(sentences)
    for index, (before, sentence) in enumerate(pairwise(sentences), start=1):
        topic = cues.TOPIC.match(before)
        reaction = cues.REACTION.match(sentence) if topic is not None else None
        if topic is not None and reaction is not None:
            verb = reaction["verb"]
            subject = "I" if verb.startswith(("'", "’")) else "I "
            named[index] = f"{subject}{verb} {topic['topic']}{reaction['rest']}"
    return named


def before_report(sentence: str) -> str | None:
    """What a sentence states before a clause with somebody else's claim; None if there is no such part.

    Args:
        sentence: With a report: "I'm a baker and my kids think I sleep at work".
    """
    for found in cues.LATER_REPORT.finditer(sentence):
        earlier, later = sentence[: found.start()], sentence[found.end() :]
        if cues.REPORT.search(earlier) is None and cues.REPORT.search(later) is not None:
            return earlier
    return None


def statement_and_question(sentence: str) -> tuple[str, str]:
    """The statement and the question of a sentence: "I'm a baker, any tips?". One is empty if it does not do both.

    Args:
        sentence: With or without a question mark.
    """
    if not sentence.rstrip(" )\"'").endswith(QUESTION_MARKS):
        asked = cues.UNMARKED_QUESTION.match(sentence)
        if asked is None:
            return sentence, ""
        stated = cues.SEPARATOR.search(sentence, asked.end())
        return ("", sentence) if stated is None else (sentence[stated.end() :], sentence[: stated.start()])
    if cues.ASKING.match(sentence) is None:
        for separator in cues.SEPARATOR.finditer(sentence, 1):
            if cues.ASKED.match(sentence, separator.end()) is not None:
                return sentence[: separator.start()], sentence[separator.end() :]
    return "", sentence


def _without_own_head(sentence: str) -> str | None:
    """The sentence without a head such as "FYI:"; None if a colon in it may introduce somebody else's words."""
    found = cues.OWN_COLON.match(sentence) or cues.OWN_REMARK.match(sentence)
    if found is None and cues.TEXT_HEAD.match(sentence) is not None:
        return None
    if is_label(sentence):
        return None
    if found is not None:
        return sentence[found.end() :].strip()
    head = cues.COLON.match(sentence)
    if head is None or cues.OWN_HEAD.search(head["head"]):
        return sentence
    return None if cues.FIRST_PERSON_AFTER.match(sentence, head.end()) else sentence
