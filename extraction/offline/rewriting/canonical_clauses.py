"""Puts a clause into its usual order before the grammar reads it: "What I love most is jazz" as "I love jazz".

The patterns of :mod:`extraction.offline.grammar.fact_grammar` begin with the subject. People also put the object first, name a group that
they belong to as the subject, or speak of themselves as "someone who".
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import cue, listed
from extraction.offline.rewriting.life_rules import LIFE_RULES
from extraction.offline.rewriting.self_rules import HAS_FIRST_PERSON, SELF_RULES
from extraction.offline.rewriting.taste_rules import TASTE_RULES
from memory.texts.prefiltered_patterns import Replacement, Rewrites

_UNREAL: Final = cue(
    listed("""
    would, wish, could, might, say, says, said, character, imagine, suppose, supposedly, dream*, novel, song, used to, once,
    pretend, maybe, perhaps, probably, he, she, according, claims, hypothetical*, story, lyrics
""")
)
"""Words by which a sentence may not be meant as it is put; it stays as it is."""
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:\.(?=\w)[^.!?\n]*)*[.!?\n]*")
LONGEST: Final = 2000
"""Characters of a message whose clauses are put in order."""


def in_usual_order(text: str) -> str:
    """A message with its clauses in the order that the grammar knows. Only facts are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > LONGEST or HAS_FIRST_PERSON.search(text) is None:
        return text
    return _SENTENCE.sub(_in_order, text)


def _in_order(found: re.Match[str]) -> str:
    sentence = found.group()
    if sentence.rstrip().endswith("?") or HAS_FIRST_PERSON.search(sentence) is None or any(mark in sentence for mark in '"“”'):
        return sentence
    return _USUAL_ORDER.apply(sentence)


def _unless_unreal(pattern: re.Pattern[str], replacement: Replacement, sentence: str) -> str:
    changed = pattern.sub(replacement, sentence)
    return sentence if changed == sentence or _is_unreal(sentence) else changed


_USUAL_ORDER: Final = Rewrites((*SELF_RULES, *TASTE_RULES, *LIFE_RULES), re.IGNORECASE, rewrite=_unless_unreal)


def _is_unreal(sentence: str) -> bool:
    return _UNREAL.search(sentence.replace("could eat", "").replace("could drink", "").replace("could watch", "")) is not None
