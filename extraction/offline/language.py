"""Whether a text is English, by its most frequent words. The rules of this package read English only."""

import re
from itertools import pairwise
from typing import Final

from memory.scripts import LETTERS, is_latin
from memory.words import TOPICLESS_WORDS

_WORD: Final = re.compile(rf"{LETTERS}(?:['’]{LETTERS})?")
_MOST_WORDS: Final = 200
"""Words at the beginning of a text that are looked at."""
_SHARED: Final = frozenset(
    """
    a i me am an in is it on no so as at do to or we he was war his him her mine our us be by of all more must most over under off out up
    one men man can put has had then van come see kind use made era
    """.split()
)
"""English words that are words of other languages, too."""
_VERBS: Final = """
love like enjoy hate prefer adore dislike loathe detest avoid im ive dont cant fyi btw live lived living work worked working moved relocated named called named allergic eat drink born married
speak speaks study studied teach teaches play plays cook own owns drive call caller started married divorced pregnant bought buy
years old favourite favorite thanks thank hello please today yesterday tomorrow going got just really first second hi hey yes
""".split()
_ENGLISH: Final = frozenset({*TOPICLESS_WORDS, *_VERBS, "i'm", "i've", "i'd", "i'll", "don't", "can't", "isn't", "it's", "my", "the", "and"}) - _SHARED
_FOREIGN: Final = frozenset(
    """
    el la los las un una unos unas y de del que en es por para con mi tu su muy pero como soy estoy vivo tengo nací gusta encanta trabajo
    il lo gli le i uno di che è per con mio mia sono vivo abito ho non piace lavoro nel nella della dei alle anche ma
    le les des du et est je suis j'ai j'habite mon ma mes pas pour avec dans sur qui que au aux une nous vous c'est
    der die das und ist ich bin habe wohne mein meine nicht mit für auf den dem ein eine einen zu von im sich auch aber wir sie es
    o os as um uma e não eu sou moro tenho meu minha com gosto trabalho em no na do da dos das mas
    de het een en ik ben woon heb mijn niet met voor op van dat die zijn maar wij ook
    jest i w na nie mam mieszkam jestem mój moja się do od że to za ale tak jak pracuję lubię
    jag är och bor har min mitt inte med för på en ett som att det men
    jeg er bor ikke og med for på et som det men min mitt kommer
    ben benim ve bir bu için değil çok ile evim yaşıyorum
    já jsem a v na se že bydlím mám můj není ale
    minä olen ja asun minun ei on että mutta
    én vagyok és egy nem a az hogy lakom
    saya aku dan yang di tinggal tidak adalah dengan untuk
    """.split()
) - frozenset("a i as do no on in to for it is me an am at or so we he all come see old men era the and under was war die van".split())
_PAIRS: Final = frozenset({("i", "am"), ("i", "was"), ("i", "have"), ("i", "do"), ("am", "i"), ("call", "me"), ("it", "is")})
_LEAST_SHARE: Final = 0.1


def is_english(text: str) -> bool:
    """Whether a text is English: it has frequent English words, and more of them than of other European languages.

    Args:
        text: A message, or the prose in it. One without frequent words, such as a name or code, is not English.
    """
    if not is_latin(text):
        return False
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text[: _MOST_WORDS * 12])[:_MOST_WORDS]]
    english = sum(word in _ENGLISH for word in words) + sum(pair in _PAIRS for pair in pairwise(words))
    foreign = sum(word in _FOREIGN for word in words)
    accented = sum(not word.isascii() for word in words)
    return english > 0 and english >= _LEAST_SHARE * len(words) and 2 * english > 2 * foreign + accented
