"""Reactions: sentences that judge, repeat or encourage what somebody else said, and questions.

A sentence reacts if it has no content of its own: nothing about its writer but an attitude ("I'm so glad for you"), no name, number
or day, and besides judgements no word that the messages before it lack. "Your family's support is the best!" reacts to a message about
that support.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from extraction.offline.factuality.moods import statement_and_question
from extraction.offline.grammar.content_words import content_words, has_digit, is_filler_sentence
from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.sentences import QUESTION_MARKS
from memory.texts.prefiltered_patterns import compiled
from memory.texts.words import stem

_JUDGING_WORDS: Final = """
best better bad worse worst awful terrible horrible terrific epic sad tough hard rough scary crazy weird strange odd wild insane
hilarious cute pretty gorgeous yummy tasty kind brave strong proud lucky unlucky fortunate unfortunate important special common rare
random easy difficult worth huge big deep truly wrong fair valid congratulation bummer shame pity blast treat joy win hero star inspire
impress encourage excite interest fascinate reward fulfill relax refresh charm stun thrill comfort heartwarming touching satisfy
frustrate annoy depress disappoint terrify overwhelm surprise confuse challenge adorable
job work effort idea choice plan story guy person people man lady buddy moment memory experience way part
"""
"""Judgements, verbs of feelings ("so inspiring"), and nouns that only carry a judgement: "good idea"."""
_ENCOURAGING_WORDS: Final = """
believe dream goal forward push chase follow pursue shine rock bring quit stop heart head spirit succeed success root cheer support count
trust deserve enjoy share show tell hear see remember forget difference impact reality world future journey passion dedication potential
confident positive energy motivate attitude grow learn matter mean appreciate understand imagine agree
"""
_ATTITUDES: Final = frozenset(stem(word) for word in (_JUDGING_WORDS + _ENCOURAGING_WORDS).split())
_DEGREES: Final = any_of(
    listed("so, very, really, quite, pretty, super, truly, just, always, both, more, most, kinda, kind of, absolutely, a, an, the")
)
_JUDGEMENT: Final = compiled(
    r"(?:\b(?:is|are|was|were|be|been|being|sounds?|looks?|seems?|feels?|must|so|such|very|really|quite|pretty|super|truly|how|what|pure)"
    rf"|['’]s|['’]re) (?:{_DEGREES} )*\w+(?:ful|ous|ive|able|ible|less|some)\b"
    rf"|\b(?:sounds?|looks?|seems?|feels?|so|such|very|really|how|what) (?:{_DEGREES} )*\w+(?:ing|ed)\b",
    re.IGNORECASE,
)
"""A judgement that its place and its form show: "sounds delightful", "is so relatable"."""
_SHE: Final = compiled(r"\b(?:s?he|him|hers?|his)\b", re.IGNORECASE)
"""What is said of a third person may be a fact: "He is homeless"."""
_FULLY: Final = r"(?:(?:really|so|totally|do|also|can|can['’]?t|could|truly|just|completely|fully) )*"
_ATTITUDE: Final = compiled(
    r"\b(?:I['’]?m|I am|we['’]re|I) (?:(?:so|very|really|just|too|also|always|truly|super|all|am|was|be|will|can|could|do) )*"
    r"(?:glad|happy|proud|sorry|pleased|excited|stoked|thrilled|jealous|impressed|amazed|inspired|touched|honou?red|rooting|cheering|here) "
    r"(?:(?:for|of|by|at|about) )?(?:you|your|that|this|it|both|them|to (?:hear|see|know|support))\b"
    r"|\b(?:I['’]?m|I am) (?:(?:so|very|really) )*sorry\b"
    rf"|\bI {_FULLY}(?:hope|bet|imagine|guess|think|believe|say)\b"
    rf"|\bI {_FULLY}(?:appreciate|agree|see|understand|get|know|feel|admire|mean|wait) (?:(?:so|too) )*"
    r"(?=(?:you|your|that|this|it|what|how|why|to|so)\b|[\W_]*$)"
    r"|\b(?:let|tell|show|reminds?|keep|give|inspires?|inspired|lot to|much to|world to|with) (?:me|us)\b"
    r"|\bwe (?:all|both|should|can|could|do|have (?=(?:that|this|it|so much|something) in common))\b"
    r"|\bmy (?:friend|opinion|god|goodness)\b",
    re.IGNORECASE,
)
"""What somebody feels about the words of others. It is in the first person, and no fact of the writer's life."""
_WRITER: Final = compiled(r"\b(?:I|I['’]\w+|[Mm]y|[Mm]ine|[Mm]e|[Mm]yself|[Ww]e|[Ww]e['’]\w+|[Oo]urs?)\b|(?<!\S)i(?:['’]\w+|m|ve)?(?!\S)")
_NAME: Final = compiled(r"(?<=[a-z,;] )[A-Z]\w+")
_DAY: Final = compiled(
    r"\b(?:today|tonight|tomorrow|yesterday|last|next|ago|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weeks?|weekend|months?|years?)\b",
    re.IGNORECASE,
)
_YOU: Final = compiled(r"\b(?:you|your|yours|yourself|ya|you['’]\w+)\b", re.IGNORECASE)
_OF_YOU: Final = compiled(r"^\W*(?:\w+\W+){0,3}?(?:you|your|you['’]\w+)\b", re.IGNORECASE)
"""A sentence whose subject is the other person."""
_SUGGESTED: Final = compiled(r"\byou (?:\w+ )?(?:should|could|can|may|might|need|have to|ought)\b|\b(?:if|try|why not)\b", re.IGNORECASE)
_MOST_NEW: Final = 2
"""New words of a sentence about the other person, who knows it already: "You've built awesome connections"."""
_TAG: Final = compiled(r",? (?:right|huh|eh|innit|(?:is|are|was|does|do)n['’]?t (?:it|they|that|you)(?: think)?)[?!]+\W*$", re.IGNORECASE)
_SAME: Final = compiled(
    r"^\W*(?:(?:oh|wow|yes|yeah|yep|ha(?:ha)*|lol|really|cool|nice|great|ok|okay|no|aw+|ah)\W+)*"
    r"(?:me (?:too|neither|either|as well)|same(?: here)?|(?:so|neither|nor) (?:do|am|have|did|can) i"
    r"|i (?:(?:certainly|really|totally|definitely|actually) )?(?:do|am|have|did|can)(?: ?n['’]?t| not)? (?:too|also|as well|either))\b",
    re.IGNORECASE,
)
"""Says of its writer what somebody else said of themselves: "Me too!"."""
_OWN_ANSWER: Final = compiled(
    r"^\W*i (?:(?:certainly|really|totally|definitely|actually|sure) )?(?:do|am|did|have|can)(?: ?n['’]?t| not)?\W*$", re.IGNORECASE
)
"""The writer's answer to their own question: "Are you afraid of heights? I am"."""

_ANSWERS: Final = compiled(
    r"^\W*(?:yes|yeah|yep|yup|no|nope|nah|sure|of course|definitely|absolutely|totally|not really|sometimes|never)\b", re.IGNORECASE
)

_LONGEST_SENTENCE: Final = 400
"""Characters of a sentence that may react, or both state and ask something."""


def stems_of(texts: Iterable[str]) -> frozenset[str]:
    """The stems of the content words of texts."""
    return frozenset(stem(word) for text in texts for word in content_words(text))


def is_about_writer(text: str) -> bool:
    """Whether a text says something about its writer that is no attitude to what others said."""
    return _WRITER.search(_ATTITUDE.sub(" ", text)) is not None


def says_the_same(sentence: str) -> bool:
    """Whether a sentence says of its writer what somebody else said of themselves: "Me too!"."""
    return _SAME.match(sentence) is not None


def as_statement(text: str, stated: str) -> str:
    """A text that begins with "Me too", with a statement in place of these words; the text itself if it begins otherwise.

    Args:
        text: Of a message.
        stated: What the speaker before said of themselves.
    """
    same = _SAME.match(text)
    return text if same is None else f"{stated.rstrip(' .!')}. {text[same.end() :].lstrip(' ,.!')}".rstrip()


def affirms_or_denies(text: str) -> bool:
    """Whether a text begins with yes, no or another word that answers a question."""
    return _ANSWERS.match(text) is not None


def reacts(sentence: str, said: frozenset[str] = frozenset(), names: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence only reacts to what was said.

    Args:
        sentence: A sentence of a message.
        said: The stems of the words of the messages before it.
        names: Words of the speakers' names, in lower case.
    """
    if is_filler_sentence(sentence, names):
        return True
    if len(sentence) > _LONGEST_SENTENCE:
        return False
    if has_digit(sentence) or is_about_writer(sentence) or _SHE.search(sentence) is not None or _DAY.search(sentence) is not None:
        return False
    if any(stem(name.lower()) not in said and not _is_name(name.lower(), names) for name in _NAME.findall(sentence)):
        return False
    rest = _ATTITUDE.sub(" ", sentence)
    words = content_words(_JUDGEMENT.sub(" ", rest))
    return len({stem(word) for word in words if not _is_name(word, names)} - said - _ATTITUDES) <= _most_new(rest)


def _most_new(sentence: str) -> int:
    """How many new words a reaction may have. What is said to somebody about themselves is known, but advice is not."""
    if _YOU.search(sentence) is None or _SUGGESTED.search(sentence) is not None:
        return 0
    return _MOST_NEW if _OF_YOU.match(sentence) is not None else 1


def _is_name(word: str, names: frozenset[str]) -> bool:
    """Whether a word is a name, or its short form: "Mel" for Melanie."""
    return word in names or (len(word) > 1 and any(name.startswith(word) for name in names))


@dataclass(frozen=True, slots=True)
class Substance:
    """What the sentences of a text do besides stating something."""

    questions: tuple[str, ...]
    """The sentences that ask something, with or without a mark. A reaction such as "So cute, right?" asks nothing."""
    only_asks: bool
    """Whether it has nothing of substance besides questions."""
    reacts: bool
    """Whether it asks nothing and only reacts to what was said."""


def substance_of(sentences: Sequence[str], said: frozenset[str] = frozenset(), names: frozenset[str] = frozenset()) -> Substance:
    """What a text asks, and whether it states anything.

    Args:
        sentences: Those of the text.
        said: The stems of the words of the messages before it.
        names: Words of the speakers' names, in lower case.
    """
    parts = [(tagged, "") if (tagged := _tagged(each, said, names)) else _parts_of(each) for each in sentences]
    questions = tuple(each for each, (_, asked) in zip(sentences, parts, strict=True) if asked)
    stated = [each for each, _ in parts if each]
    if questions:
        return Substance(questions, all(_says_little(each, said, names) for each in stated), reacts=False)
    return Substance((), False, all(reacts(each, said, names) for each in stated))


def _parts_of(sentence: str) -> tuple[str, str]:
    """The statement and the question of a sentence. A long one is one of both, since the search takes the square of its length."""
    if len(sentence) <= _LONGEST_SENTENCE:
        return statement_and_question(sentence)
    return ("", sentence) if sentence.endswith(QUESTION_MARKS) else (sentence, "")


def _tagged(sentence: str, said: frozenset[str], names: frozenset[str]) -> str:
    """The reaction before a tag; empty if there is none. "You're a welder, aren't you?" asks what its reader is."""
    tag = _TAG.search(sentence) if len(sentence) <= _LONGEST_SENTENCE else None
    stated = "" if tag is None else sentence[: tag.start()]
    return stated if _YOU.search(stated) is None and reacts(stated, said, names) else ""


def _says_little(sentence: str, said: frozenset[str], names: frozenset[str]) -> bool:
    """Whether a sentence next to a question only reacts, or has at most one content word, no number and nothing about its writer."""
    if reacts(sentence, said, names):
        return not says_the_same(sentence) and _OWN_ANSWER.match(sentence) is None
    return not has_digit(sentence) and not is_about_writer(sentence) and len(content_words(sentence)) < 2
