"""Corrects misspelt keywords of plain statements ("i lvie in", "my naem is") and removes emoji inside them. Values stay as they are."""

import re
from functools import partial
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from memory.texts.prefiltered_patterns import Rewrites, compiled

_PLACES: Final = (
    (r"\b(?:i|we)(?: (?:now|still|just|currently))? (?P<word>[a-z]{3,6})(?= (?:in|near) )", listed("live, reside, work")),
    (r"\b(?:i|we)(?: (?:now|still|just|currently))? (?P<word>[a-z]{3,6})(?= (?:as|at|for) )", listed("work")),
    (
        r"(?:^\W*|\b(?:i['’]?m|i am|we are|been)(?: (?:now|still|currently))? )(?P<word>[a-z]{5,9})(?= (?:in|as|at|for) )",
        listed("living, working, based"),
    ),
    (r"(?:^\W*|\b(?:i|we|i['’]ve|have)(?: (?:just|recently))? )(?P<word>[a-z]{4,10})(?= to )", listed("moved, relocated")),
    (r"\bmy(?: (?:first|full))? (?P<word>[a-z]{3,6})(?= (?:is|isn['’]t) )", listed("name, home")),
    (r"\bmy name(?: (?P<word>si))(?= )", listed("is")),
    (
        r"\b(?:i['’]?m|i am)(?: (?:very|severely|also|an?|really|quite|badly))* (?P<word>[a-z]{5,9})(?= (?:to|too|2) )",
        listed("allergic"),
    ),
    (r"\b(?:an?|my|severe|bad|have) (?:\w+ )?(?P<word>[a-z]{6,8})(?=\s*(?:[.,!]|$| (?:to|is)\b))", listed("allergy")),
    (
        r"\b(?:i['’]?m|i am|we['’]re|we are)(?: (?:an?|also|now|strictly|strict))* (?P<word>[a-z]{4,12})"
        r"(?=\s*(?:[.,!]|$| (?:and|so|since|for)\b))",
        listed("vegan, vegetarian, pescatarian, diabetic, lactose-intolerant"),
    ),
)
_OTHER_WORDS: Final = frozenset(
    listed("""
    love, lived, lives, liver, life, lie, lied, like, give, dive, five, line, lite, vile, evil, olive, alive, word, fork, pork,
    wok, cork, worn, worm, wore, walk, works, worked, leaving, loving, giving, walking, wording, parking, loved, move, mover,
    mowed, moves, removed, game, fame, same, names, nape, mane, mean, came, tame, lame, dame, amen, homes, come, some, dome, hole,
    hope, homie, base, bases, basted, biased, besad, eased, based, allergy, allergies, allergen, vegans, vegas, vega, began,
    veggie, vegetarians, resides, preside, beside, reside, woke, wrong, allegoric, galleries, mode, moved, roved, lining, liking,
    linking, sliving, worming, nae, om, hoe, mom, shop, worth, wonk, live, work
""")
)
"""Words that differ by a letter from a keyword, but are right."""
_LONG: Final = 7
"""From so many letters on, one wrong letter counts as a misspelling, too; of a shorter word it may make another word."""
_EMOJI: Final = r"[\U0001F300-\U0001FAFF\u2600-\u27bf\ufe0f\u200d\U0001F1E6-\U0001F1FF]"
_BREAKS_OFF: Final = "😂🤣😜😝🤪🙄😏🤡🥁🎵🎶🎭❤♥💔🚫❌❓👎🙃"
"""Emoji that laugh, mock, sing, or stand for a verb."""
_BEFORE_EMOJI: Final = any_of(
    listed("""
    i am, i'm, im, live, living, work, working, based, allergic, name is, name's, an, a, in, as, to, at, vegan, call me, my,
    moved, we are, we're
""")
)
_INTOLERANT: Final = compiled(r"\bint+ol+[aeiou]?r+[aei]nt\b", re.IGNORECASE)
_DIET: Final = compiled(r"\b(?P<diet>vegetarian|vegan)(?:a|o|e|er|erin)\b", re.IGNORECASE)
"""A diet as other languages write it."""
_INTOLERANCE: Final = compiled(r"\bint+ol+[aeiou]?r+[aei]n[cs]e\b", re.IGNORECASE)
_INSIDE: Final = re.compile(rf"\b(?P<key>{_BEFORE_EMOJI})\s*(?![{_BREAKS_OFF}]){_EMOJI}+\s*(?=\w)", re.IGNORECASE)


def with_keywords_spelled(text: str) -> str:
    """A message with its keywords spelled right. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    text = _INSIDE.sub(r"\g<key> ", text)
    text = _INTOLERANCE.sub("intolerance", _INTOLERANT.sub("intolerant", text))
    return _KEYWORDS.apply(_DIET.sub(r"\g<diet>", text))


def _spelled(keywords: tuple[str, ...], found: re.Match[str]) -> str:
    word = (found["word"] or "").lower()
    right = next((each for each in keywords if word != each and word not in _OTHER_WORDS and is_misspelling(word, each)), None)
    if right is None or word in keywords:
        return found.group()
    start, end = found.start("word") - found.start(), found.end("word") - found.start()
    return f"{found.group()[:start]}{right}{found.group()[end:]}"


_KEYWORDS: Final = Rewrites(((pattern, partial(_spelled, keywords)) for pattern, keywords in _PLACES), re.IGNORECASE)


def is_misspelling(word: str, right: str) -> bool:
    """Whether a word is another one with two neighbouring letters swapped, one doubled or missing within, or, in a long word, one wrong.

    Args:
        word: In lower case.
        right: The word that may be meant, in lower case.
    """
    if len(word) == len(right):
        wrong = [index for index in range(len(word)) if word[index] != right[index]]
        if len(wrong) == 1:
            return len(right) >= _LONG
        return len(wrong) == 2 and wrong[1] == wrong[0] + 1 and word[wrong[0]] == right[wrong[1]] and word[wrong[1]] == right[wrong[0]]
    if len(word) == len(right) + 1:
        return any(word[:index] + word[index + 1 :] == right and word[index] == word[index - 1] for index in range(1, len(word)))
    return len(word) == len(right) - 1 and any(right[:index] + right[index + 1 :] == word for index in range(1, len(right) - 1))
