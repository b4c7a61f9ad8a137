"""Splits texts in any script into terms, for comparing documents with queries.

Words are runs of letters, marks and digits (Unicode Standard Annex 29). Spelling variants are one term: case, accents, compatibility
forms, optional vowels of Arabic and Hebrew. Scripts without spaces, and Korean, whose words include particles, give overlapping pairs of
letters, as in Lucene's CJKAnalyzer. Words with punctuation (``O'Brien``, ``C++``, ``Node.js``) keep their punctuation or capitals:
see :func:`with_marked_names` and :func:`parts_of`.

Documents and queries are split by the same rules, so a spelling rule can only join or separate words of both.
"""

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final
from unicodedata import normalize

from memory.texts.scripts import HANGUL, MARKS, RUN_WITHOUT_SPACES, SCRIPTS_WITHOUT_SPACES
from memory.texts.words import CHINESE_FUNCTION_CHARACTERS, LONGEST_KEPT_WORD, STOP_WORDS, stem

NAME_MARK: Final = "\x1a"
"""Follows a function word that is a name, so that it stays one after its capitals are folded."""
FUNCTION_WORD_NAMES: Final = frozenset({"will", "can", "do", "an", "who", "so"})
"""Function words that are common given names, surnames or names of groups."""
_ACRONYMS: Final = frozenset({"it", "us", "who"})
"""Function words that are common acronyms."""
_SPELLINGS: Final = (*(each.title() for each in sorted(FUNCTION_WORD_NAMES)), *(each.upper() for each in sorted(_ACRONYMS)))
_FINITE_VERBS: Final = r"(?:is|was|has|had|and|said|told|came|went|got|took|made|gave|does|did|[a-z]{3,}(?<!s)s|[a-z]{2,}ed)"
_CANDIDATE: Final = re.compile(
    rf"(?<=[\w,;'’)]\ )(?:{'|'.join(each.title() for each in sorted(FUNCTION_WORD_NAMES))})(?![\w])"  # inside a sentence
    rf"|\b(?:Will|Can|An)(?=['’]s\b|\ {_FINITE_VERBS}\b)"  # At the start: no auxiliary or article is followed by a finite verb.
    rf"|(?<![\w.])(?:{'|'.join(each.upper() for each in sorted(_ACRONYMS))})(?!\w|\.\w)"
)
_LETTERS: Final = re.compile(r"[^\W\d_]{2,}")

_ELIDED_WORDS: Final = "l d j m t s n qu jusqu lorsqu puisqu quoiqu all dall dell nell sull un quell quest"
_ELIDED: Final = frozenset(_ELIDED_WORDS.split())
"""French and Italian words before an apostrophe, as in Lucene's ElisionFilter. The text after the apostrophe is the word."""
_ENDINGS: Final = frozenset({"", "s", "t", "d", "m", "ll", "re", "ve", "em"})
"""English endings after an apostrophe."""
_NEGATED: Final = re.compile(r"[a-z]+n't$")

_SYMBOLS: Final = frozenset({"+", "++", "#", "*"})
"""Symbols that belong to a single letter before them, as in C#, C++ and A*. Other symbols are markup."""
_INNER: Final = re.compile(rf"[.,&-]|{NAME_MARK}")
_NUMBER: Final = re.compile(r"(\d+)([.,])(\d+)(?![\d.,])(.*)", re.DOTALL)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+$")
_DOTTED: Final = re.compile(r"[^\W\d_](?:\.[^\W\d_])+$")
_DOMAINS: Final = frozenset({"js", "net", "io", "ai", "py", "ts", "rs", "go"})
"""Last parts of product names, as in Node.js. Other words around a full stop lack a blank."""
_SHORT: Final = 2
"""Parts of at most this length are no words of their own: T-shirt, Wi-Fi, e-mail."""

_ASCII_WORD: Final = re.compile(rf"\.?[^\W_]+(?:{NAME_MARK}?['.,&-][^\W_]+)*[{NAME_MARK}+#*]*")
_WORD: Final = re.compile(rf"\.?\w[\w{MARKS}]*(?:{NAME_MARK}?['.,&-]\w[\w{MARKS}]*)*[{NAME_MARK}+#*]*")
"""Words with the punctuation that may belong to them. :func:`memory.texts.terms.parts_of` decides whether it does."""
_PAIRED: Final = re.compile(rf"[{SCRIPTS_WITHOUT_SPACES}{HANGUL}][{SCRIPTS_WITHOUT_SPACES}{HANGUL}{MARKS}]*")
_LETTER: Final = re.compile(rf".[{MARKS}]*", re.DOTALL)
_MARK: Final = re.compile(rf"[{MARKS}]")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_CHINESE_WORD: Final = re.compile(rf"(?![{CHINESE_FUNCTION_CHARACTERS}]){_CHINESE.pattern}")
_KOREAN: Final = re.compile(rf"[{HANGUL}]")
_FOREIGN_APOSTROPHE: Final = re.compile(r"[^\x00-\x7f]'")
_PARTICLES: Final = (
    "은 는 이 가 을 를 에 의 도 로 와 과 만 랑 나 요 께 에서 에게 한테 까지 부터 처럼 보다 하고 이랑 으로 이나 에는 에도 예요"
)
_KOREAN_PARTICLES: Final = frozenset(_PARTICLES.split())
"""Particles after a word of one syllable, where none of the pairs is the word."""

_LONGEST_KEPT_KOREAN: Final = 8

_SEPARATING_JOINER: Final = re.compile(r"(?<=[\u0600-\u06ff])\u200c")
"""The joiner in Persian, for example before a plural ending; like a hyphen in other languages."""

_LEFT_OUT: Final = re.compile(
    r"[\u0300-\u036f"  # accents
    r"\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5"  # optional marks of Arabic and Hebrew
    r"\u093c"  # the dot of Hindi's Persian letters
    r"\u0488\u0489\u20dd-\u20e4"  # enclosing marks
    r"\xad\u180b-\u180f\u200c-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]+"  # invisible characters
)
_SAME: Final = {"ı": "i", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "ى": "ي", "ی": "ي", "ک": "ك", "ँ": "ं"}
"""Letters that Unicode does not decompose, and that are typed for each other."""
_TYPED_APOSTROPHE: Final = re.compile(r"(?<=\w)[`´](?=\w)")
_ZEROS: Final = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០"
_TYPED_AS: Final = {
    **_SAME,
    **{chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)},
    **dict.fromkeys("ʼ׳’‘", "'"),
    **dict.fromkeys("‐‑", "-"),
    "_": " ",
}
_TYPED_OTHERWISE: Final = re.compile(f"[{''.join(_TYPED_AS)}]")


def with_marked_names(text: str) -> str:
    """The text with :data:`NAME_MARK` after each function word that is a name by its capitals: "my friend Will", "in the US"."""
    # The search takes as long as splitting the text, and few texts contain a candidate.
    if not any(each in text for each in _SPELLINGS) or not _CANDIDATE.search(text):
        return text
    others = [word for word in _LETTERS.findall(text) if word.lower() not in _ACRONYMS]
    # In a text that is mostly in capitals, they mark no acronym.
    if others and 2 * sum(word.isupper() for word in others) >= len(others):
        return text
    return _CANDIDATE.sub(lambda name: name.group() + NAME_MARK, text)


def parts_of(word: str, stop_words: frozenset[str]) -> list[str]:
    """The parts of a folded word that are compared. Empty if only function words are left.

    Args:
        word: With punctuation inside, before or after it. Names that :func:`with_marked_names` found are in capitals in the result, so
            that they differ from the function words.
        stop_words: Parts that are left out.
    """
    if word == ".net":
        return [word]
    word = word.lstrip(".")
    bare = word.rstrip("+#*")
    if len(bare) == 1 and bare.isalpha() and word[1:] in _SYMBOLS:
        return [word]
    word = bare
    if number := _NUMBER.match(word):
        return _number(word, number)
    if _NEGATED.match(word):
        return [word]  # "don't" differs from the name Don, and "won't" from "won".
    bare, *further = _without_apostrophe(word)
    if NAME_MARK in bare:
        bare = NAME_MARK.join(_NAME_AT_START.sub(lambda found: found[1].upper(), bare).split(NAME_MARK))
    if _DOTTED.match(bare):
        return _dotted(bare.replace(".", ""), stop_words)
    parts = [each for each in _INNER.split(bare) if each]
    if len(parts) < _SHORT:
        return _kept([*parts, *further], stop_words)
    if "&" in bare and all(len(each) <= _SHORT for each in parts):
        return [bare]
    joined = _joined(bare, parts, stop_words)
    if joined is None:
        return _kept(parts, stop_words)
    return [joined, *_kept([each for each in parts if len(each) > 1], stop_words)]


_NAME_AT_START: Final = re.compile(rf"([^\W_]+)(?={NAME_MARK})")


def _kept(parts: list[str], stop_words: frozenset[str]) -> list[str]:
    return [each for each in parts if each not in stop_words]


def _without_apostrophe(word: str) -> list[str]:
    """The word without endings such as "'s" and elided articles, and a second form if the apostrophe may be part of it.

    Short first parts belong to the word: "o'brien" is "obrien". Others may be words with an ending ("isparta'da") or not ("hawai'i").
    """
    if "'" not in word:
        return [word]
    bare, *rest = word.split("'")
    while rest and rest[-1] in _ENDINGS:
        rest.pop()
    if not rest:
        return [bare]
    if bare in _ELIDED and len("".join(rest)) > 1:
        return ["".join(rest)]
    joined = "".join((bare, *rest))
    return [joined] if len(bare) <= _SHORT else [bare, joined]


def _number(word: str, found: re.Match[str]) -> list[str]:
    whole, mark, fraction, rest = found.groups()
    if mark == "," and _THOUSANDS.match(word):
        return [word.replace(",", "")]
    if mark == "," and len(fraction) > _SHORT:
        return [each for each in re.split(r"[^\w]", word) if each]
    further = [each for each in re.split(r"[^\w]+", rest) if each]
    return [f"{whole}.{fraction}", *further]


def _dotted(letters: str, stop_words: frozenset[str]) -> list[str]:
    """Letters with full stops: "U.S." is the acronym US, and "a.m." is no word."""
    if letters in _ACRONYMS:
        return [letters.upper()]
    return _kept([letters], stop_words)


def _joined(word: str, parts: list[str], stop_words: frozenset[str]) -> str | None:
    """The parts of a word as one, if they are no words of their own: "tshirt", "wifi", "gpt4", "nodejs"."""
    if len(parts) != _SHORT or any(each in stop_words and len(each) > 1 for each in parts):
        return None
    if "." in word:
        return "".join(parts) if parts[-1] in _DOMAINS else None
    has_short = any(len(each) <= _SHORT and not each.isdigit() for each in parts)
    has_number = parts[-1].isdigit() and not parts[0][0].isdigit()
    return "".join(parts) if "-" in word and (has_short or has_number) else None


def terms_of(text: str) -> Iterator[str]:
    """The terms of a text, in order, with repeats.

    Words are folded (case, accents, compatibility forms), stop words are dropped, and English words are stemmed. Runs of scripts without
    spaces (Chinese, Japanese, Thai, ...) and Korean words give overlapping pairs of letters; each Chinese character, which may be a word,
    is also a term.
    """
    return chain.from_iterable(map(_terms_of_word, words_of(text)))


def length_of(counts: Mapping[str, int]) -> int:
    """Length of a text, in terms; single Chinese characters, which are also parts of pairs, are not counted."""
    return sum(count for term, count in counts.items() if len(term) > 1 or not _CHINESE.match(term))


def words_of(text: str) -> list[str]:
    """The words of a text, folded; a run without spaces is one. Splitting a word again gives the same terms."""
    text = with_marked_names(_TYPED_APOSTROPHE.sub("'", text) if "`" in text or "´" in text else text)
    return _ASCII_WORD.findall(text.casefold()) if text.isascii() else _WORD.findall(_folded(text))


def terms_of_name(name: str) -> Iterator[str]:
    """The terms of a text that is known to be a name, such as "Will"."""
    return terms_of(name if NAME_MARK in name or name.casefold() not in STOP_WORDS else name + NAME_MARK)


def _folded(text: str) -> str:
    whole = _SEPARATING_JOINER.sub(" ", text) if "\u200c" in text else text
    bare = _LEFT_OUT.sub("", normalize("NFKD", whole).casefold())
    return normalize("NFKC", _TYPED_OTHERWISE.sub(lambda found: _TYPED_AS[found.group()], bare))


def _terms_of_word(word: str) -> tuple[str, ...]:
    return _kept_terms_of_word(word) if _is_kept(word) else _cut(word)


def _is_kept(word: str) -> bool:
    """Whether a word's terms are cached. Runs without spaces are clauses, which rarely repeat and have many terms, so they are not."""
    if len(word) > _LONGEST_KEPT_KOREAN and not word.isascii() and _KOREAN.search(word):
        return False
    return len(word) <= LONGEST_KEPT_WORD and (word.isascii() or not RUN_WITHOUT_SPACES.search(word))


@lru_cache(maxsize=65_536)
def _kept_terms_of_word(word: str) -> tuple[str, ...]:
    """Cached :func:`_cut`: most texts consist of a few thousand words, so the cache takes two thirds off the time."""
    return _cut(word)


def _cut(word: str) -> tuple[str, ...]:
    terms: list[str] = []
    end = 0
    for run in _PAIRED.finditer(word):
        terms += _term(word[end : run.start()])
        terms += _pairs(run.group())
        end = run.end()
    return (*terms, *_term(word[end:]))


def _pairs(run: str) -> list[str]:
    letters: Sequence[str] = _LETTER.findall(run) if _MARK.search(run) else run
    if len(letters) == 1:
        return [run]
    pairs = [*map(operator.add, letters, letters[1:])]
    if _KOREAN.match(run):
        return [run[0], *pairs] if run[1:] in _KOREAN_PARTICLES else pairs
    return pairs + _CHINESE_WORD.findall(run)


def _term(word: str) -> Iterator[str]:
    if word.isalnum():
        parts = [] if word in STOP_WORDS else [word]
    elif word.isascii() or not _FOREIGN_APOSTROPHE.search(word):
        parts = parts_of(word, STOP_WORDS)
    else:
        parts = parts_of(word.replace("'", ""), STOP_WORDS)  # In Ukrainian and Hebrew the apostrophe is part of the word.
    for part in parts:
        yield part if part.isupper() else stem(part)
