"""English stop words, Chinese function characters, number words, and stems of English words."""

import threading
from functools import lru_cache
from typing import Final

import snowballstemmer

_FUNCTION_WORDS: Final = """
a about also am an and are as at be been being but by did do does for had has have he her him his in is it its of on or she that the
their them these they this those was were which who will with would
"""
_FURTHER_STOP_WORDS: Final = """
above after again all any because before below between both can could doing down during each few from further go goes going having here
hers herself himself how i if into itself just me more most my myself no nor not now off once only other our ours ourselves out over own
same should so some such than theirs themselves then there through to too under until up very we went what when where while whom why you
your yours yourself yourselves
"""
_TOPICLESS_WORDS: Final = """
actually against almost alone along already although always among another anybody anyone anything anyway aren't around away basically
became become began behind bit came can't cannot certainly come comes coming couldn't didn't doesn't don't done either else enough even
ever every everybody everyone everything feel feeling feels felt gave get gets getting give given gives gonna gotten hadn't hasn't
haven't he'd he'll he's here's how's however i'd i'll i'm i've instead isn't it'd it'll it's kind kinda least less let let's like look
looked looking looks lot lots made make makes making many may maybe might mine much must need needs neither never next nobody none
nothing often one onto others ought per perhaps put quite rather real said say says seem seems shall she'd she'll she's shouldn't since
somebody someone something sometimes somewhere sort still stuff that'll that's there's they'd they'll they're they've thing things
though thus till together took toward towards tried try trying upon us use used using usually want wanted wants wasn't way we'd we'll
we're we've weren't what's whatever when's where's whether who's whole whose within without won't wouldn't yet you'd you'll you're
you've
"""

FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
"""Articles, prepositions, auxiliaries, third-person pronouns: statements that differ only in these are equivalent."""
STOP_WORDS: Final = FUNCTION_WORDS | frozenset(_FURTHER_STOP_WORDS.split())
"""Also negations, quantities, the other pronouns and "to go", whose forms share a stem: too frequent for search."""
TOPICLESS_WORDS: Final = STOP_WORDS | frozenset(_TOPICLESS_WORDS.split())
"""Also contractions and everyday verbs, which do not indicate a text's topic."""

CHINESE_FUNCTION_CHARACTERS: Final = "我你您他她它们們的了着在是到和对對也都很就不没沒这這那吗嗎呢吧把被跟从從"
"""Pronouns, particles, prepositions, negations of one character each."""

NUMBER_WORDS: Final = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "twenty": 20,
    "thirty": 30,
    "hundred": 100,
    "thousand": 1000,
}


LONGEST_KEPT_WORD: Final = 32
"""Longest word that is cached, in characters. Longer ones rarely repeat, may be as long as a query, and would fill the memory."""


class _ThreadStemmer(threading.local):
    """One stemmer per thread, because a stemmer stores its current word."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_STEMMER: Final = _ThreadStemmer()


def stem(word: str) -> str:
    """The stem of an English word by Snowball's English algorithm: ``studies`` and ``study`` have the same stem."""
    return _kept_stem(word) if len(word) <= LONGEST_KEPT_WORD else _cut(word)


@lru_cache(maxsize=65_536)
def _kept_stem(word: str) -> str:
    return _cut(word)


def _cut(word: str) -> str:
    return str(_STEMMER.english.stemWord(word.replace("’", "'")))
