"""Keywords by statistics alone."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Final

from extraction.bounds import LONGEST_KEYWORD
from extraction.offline.grammar.content_words import topic_words
from memory.dates.calendar import MONTHS, NUMBERS, SEASONS, WEEKDAYS
from memory.texts.scripts import RUN_WITHOUT_SPACES

MAX_OF_EVENT: Final = 6
"""Keywords of one event."""
_PHRASE_BREAK: Final = re.compile(r"[.,;:!?](?=\s|$)|[()\[\]{}\"“”\n、，。！？；：「」『』（）《》।॥،؛؟۔]|\s-\s")
_CAPITALISED: Final = re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+")

_LONGEST_OF_PAIRS: Final = 3
"""Words of a run whose pairs are phrases."""
_TIME_WORDS: Final = frozenset([*MONTHS, *WEEKDAYS, *SEASONS, *NUMBERS]) | frozenset(
    ["yesterday", "tomorrow", "last", "first", "ago", "second", "week", "weeks", "weekend", "month", "months", "year", "years", "days"]
)


def keywords_of(text: str, *, names: Sequence[str] = ()) -> list[str]:
    """The keywords of a text without others around it.

    Args:
        text: The text of an event.
        names: Of the speakers.
    """
    return KeywordRanker([text], names=names).keywords(text, limit=MAX_OF_EVENT)


class KeywordRanker:
    """Ranks the words and two-word phrases of a text against the texts around it.

    A word's degree over its frequency, as RAKE scores it (Rose et al. 2010, "Automatic Keyword Extraction from Individual Documents"),
    times its rarity among the texts of the window, times a bonus for names.

    Args:
        texts: Of the window.
        names: Of the speakers. Every text has them, so they are no keywords.
    """

    def __init__(self, texts: Sequence[str], *, names: Sequence[str] = ()) -> None:
        self._texts = max(1, len(texts))
        self._left_out = _TIME_WORDS | {word for name in names for word in name.lower().split()}
        self._occurs_in = Counter(word for text in texts for word in set(topic_words(text)))
        self._runs = {text: self._runs_of(text) for text in texts}

    def keywords(self, *texts: str, limit: int) -> list[str]:
        """At most ``limit`` keywords of texts of the window in lower case, best first; of equals the first in the texts."""
        names = {word.lower().removesuffix("'s") for text in texts for word in _CAPITALISED.findall(text)}
        frequency: Counter[str] = Counter()
        degree: Counter[str] = Counter()
        phrases: dict[str, tuple[str, ...]] = {}
        for run in chain.from_iterable(self._runs[text] for text in texts):
            for word in run:
                frequency[word] += 1
                degree[word] += len(run)
                phrases.setdefault(word, (word,))
            for pair in pairwise(run) if len(run) <= _LONGEST_OF_PAIRS else ():
                if pair[0] != pair[1] and not any(map(RUN_WITHOUT_SPACES.match, pair)):
                    phrases.setdefault(" ".join(pair), pair)
        score = {word: degree[word] / frequency[word] * self._rarity(word) * (1.5 if word in names else 1.0) for word in frequency}
        ranked = sorted(phrases, key=lambda phrase: -sum(score[word] for word in phrases[phrase]) / len(phrases[phrase]) ** 0.5)
        chosen: list[str] = []
        chosen_words: set[str] = set()
        for phrase in ranked:
            if len(chosen) == limit:
                break
            if chosen_words.isdisjoint(phrases[phrase]):
                chosen.append(phrase)
                chosen_words.update(phrases[phrase])
        return chosen

    def _rarity(self, word: str) -> float:
        return math.log(1 + (self._texts + 1) / (self._occurs_in[word] + 0.5))

    def _runs_of(self, text: str) -> list[list[str]]:
        return [run for stretch in _PHRASE_BREAK.split(text) for run in self._adjacent_words(stretch)]

    def _adjacent_words(self, stretch: str) -> list[list[str]]:
        """Sequences of topic words with nothing but blanks between them."""
        runs: list[list[str]] = [[]]
        for token in stretch.split():
            words = [word for word in topic_words(token) if word not in self._left_out and len(word) <= LONGEST_KEYWORD]
            if words:
                runs[-1].extend(words)
            elif runs[-1]:
                runs.append([])
        return [run for run in runs if run]
