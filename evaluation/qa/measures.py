"""Similarity of an answer's words to the right answer's, as the papers measure it."""

import math
import re
import string
from collections import Counter
from typing import Final

import numpy as np
import snowballstemmer

_ARTICLES: Final = re.compile(r"\b(?:a|an|the|and)\b")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_PORTER: Final = snowballstemmer.stemmer("porter")
"""The stemmer of LoCoMo's evaluation."""


def token_f1(answer: str, right: str) -> float:
    """F1 of the stemmed words of an answer, without articles and punctuation, as LoCoMo's evaluation computes it."""
    given, wanted = (Counter(map(_PORTER.stemWord, _words(text))) for text in (answer, right))
    common = (given & wanted).total()
    return 2 * common / (given.total() + wanted.total()) if common else 0.0


def part_f1(answer: str, right: str) -> float:
    """F1 where several facts, separated by commas, are asked for: the mean of their best F1 with a part of the answer, as in LoCoMo."""
    parts, wanted = (([each for each in text.split(",") if each.strip()] or [text]) for text in (answer, right))
    return float(np.mean([max(token_f1(part, each) for part in parts) for each in wanted]))


def bleu_1(answer: str, right: str) -> float:
    """BLEU-1: the precision of an answer's words, with a penalty for short answers ("Memory in the LLM Era", section 4.1)."""
    given, wanted = _words(answer), _words(right)
    if not given:
        return 0.0
    precision = (Counter(given) & Counter(wanted)).total() / len(given)
    return precision * min(1.0, math.exp(1 - len(wanted) / len(given)))


def _words(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()
