"""Splits texts in any script into terms, for comparing documents with queries.

Words are runs of letters, marks and digits (Unicode Standard Annex 29). Spelling variants are one term: case, accents, compatibility
forms, optional vowels of Arabic and Hebrew. Scripts without spaces, and Korean, whose words include particles, give overlapping pairs of
letters, as in Lucene's CJKAnalyzer. Words with punctuation (``O'Brien``, ``C++``, ``Node.js``) are split by :mod:`memory.word_forms`.
"""

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final
from unicodedata import normalize

from memory.scripts import HANGUL, MARKS, RUN_WITHOUT_SPACES, SCRIPTS_WITHOUT_SPACES
from memory.word_forms import NAME_MARK, parts_of, with_marked_names
from memory.words import CHINESE_FUNCTION_CHARACTERS, LONGEST_KEPT_WORD, STOP_WORDS, stem

_ASCII_WORD: Final = re.compile(rf"\.?[^\W_]+(?:{NAME_MARK}?['.,&-][^\W_]+)*[{NAME_MARK}+#*]*")
_WORD: Final = re.compile(rf"\.?\w[\w{MARKS}]*(?:{NAME_MARK}?['.,&-]\w[\w{MARKS}]*)*[{NAME_MARK}+#*]*")
"""Words with the punctuation that may belong to them. :func:`memory.word_forms.parts_of` decides whether it does."""
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
    for each in parts:
        yield each if each.isupper() else stem(each)
