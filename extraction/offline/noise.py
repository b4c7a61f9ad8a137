"""Telling what is worth remembering from greetings, thanks and fillers."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from extraction.offline.sentences import questions_of, sentences_of
from extraction.offline.spaceless import pairs_of, short_runs_of
from extraction.offline.stopwords import STOPWORDS
from memory.unicode_scripts import RUN_WITHOUT_SPACES, SCRIPTS_WITHOUT_SPACES

_WORD: Final = re.compile(
    rf"[{SCRIPTS_WITHOUT_SPACES}]+|\d+(?:[.,]\d+)*|[^\W_{SCRIPTS_WITHOUT_SPACES}]+(?:['’][^\W_{SCRIPTS_WITHOUT_SPACES}]+)*"
)
_FILLER_WORDS: Final = """
hey hi hello hiya bye goodbye ok okay yeah yep yup yes nope nah wow oh ah aw aww ha haha hahaha lol omg hmm um uh wonderful great good
nice cool awesome amazing super lovely sweet perfect fantastic excellent sounds sure absolutely definitely totally exactly indeed
agreed right true thanks thank thx cheers welcome please sorry congrats congratulations see talk later soon care take glad happy hear
morning afternoon evening night day today tonight luck well really going doing long time enjoy fun keep got gotcha understood alright
course problem worries anytime back catch chat know mean guess think wait stay safe posted appreciate means forward hearing yay ooh
phew hugs xoxo bro
"""
_FILLERS: Final = frozenset(_FILLER_WORDS.split())


def content_words(text: str) -> list[str]:
    """The words that carry a meaning of their own, in lower case: no stop words, greetings or fillers.

    Scripts without spaces give the pairs of their characters: as many as there are characters but one.
    """
    return list(_words(text, pairs_of))


def topic_words(text: str) -> list[str]:
    """The words that may stand for what a text is about: the content words, short runs of characters in scripts without spaces."""
    return list(_words(text, short_runs_of))


def _words(text: str, divided: Callable[[str], list[str]]) -> Iterator[str]:
    for match in _WORD.finditer(text.lower().replace("’", "'")):
        if RUN_WITHOUT_SPACES.match(match[0]):
            yield from divided(match[0])
        elif (word := match[0].removesuffix("'s")) not in STOPWORDS and word not in _FILLERS and (len(word) > 1 or word.isdigit()):
            yield word


def is_filler(text: str, *, names: frozenset[str] = frozenset()) -> bool:
    """Whether a text says nothing to be remembered by itself: at most one content word, and no number.

    Args:
        text: What was said.
        names: Words of the speakers' names, in lower case: to be addressed says nothing.
    """
    words = [word for word in content_words(text) if word not in names]
    return len(words) < 2 and not any(character.isdigit() for character in text)


def only_asks(text: str) -> bool:
    """Whether nothing of substance is said besides questions."""
    asked = set(questions_of(text))
    return bool(asked) and all(sentence in asked or is_filler(sentence) for sentence in sentences_of(text))
