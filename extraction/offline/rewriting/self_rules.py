"""Rules that put clauses in which people speak of themselves and their families into the forms of the grammar.

Example: "As someone who lives in Bergen, I ..." becomes "I live in Bergen, I ...".
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.value_patterns import FIRST_NAME
from extraction.offline.rewriting.life_rules import LEAD, Rule
from extraction.offline.words.people import MANY_RELATIVES, RELATIVES
from memory.texts.prefiltered_patterns import compiled

_RELATED: Final = any_of(RELATIVES, MANY_RELATIVES, listed("family, whole family, other half, old man, missus, better half, little family"))
_MEMBER: Final = rf"(?:my|our|the) (?:(?:new|two|three|four|little|older|younger|dear|lovely) )*{_RELATED}(?:,? (?-i:{FIRST_NAME}))?"
_THIRD_PERSON: Final = {
    "is": "am", "has": "have", "lives": "live", "works": "work", "loves": "love", "likes": "like", "enjoys": "enjoy", "hates": "hate",
    "adores": "adore", "dislikes": "dislike", "prefers": "prefer", "avoids": "avoid", "follows": "follow", "doesn't": "don't",
    "doesnt": "don't", "doesn’t": "don't", "can't": "can't", "cant": "can't", "can’t": "can't", "cannot": "can't", "never": "never",
    "teaches": "teach", "studies": "study", "runs": "run", "drives": "drive", "owns": "own", "collects": "collect", "eats": "eat",
}  # fmt: skip
"""Verbs after "someone who", and those after "I"."""
_VERBS_AFTER_WHO: Final = "|".join(sorted(_THIRD_PERSON, key=len, reverse=True))
HAS_FIRST_PERSON: Final = compiled(r"\b(?:i|im|i['’]?m|i['’]ve|me|my|mine|we|us|our)\b", re.IGNORECASE)
_CHILD: Final = rf"(?-i:{FIRST_NAME})(?: \(\d{{1,2}}\))?"
_AND: Final = re.compile(r"[,&]| and ")

SELF_RULES: Final[tuple[Rule, ...]] = (
    # the subject is a group with the writer in it
    (
        rf"(?P<before>^\W*|[,;]\s+|\b(?:and|but|so|because|since) )(?:both |either )?(?P<group>{_MEMBER}(?:(?:,| and) {_MEMBER})*)"
        r"(?:,? and| &|, plus) (?:i|me|myself)\b(?: both| all)? (?=[a-z])(?!(?:was|were|had|did|used|would|went|got|met|split|broke)\b)",
        lambda found: f"{found['before']}{_with_names(found['group'])}we ",
    ),
    (
        rf"(?P<before>^\W*|[,;]\s+|\b(?:and|but|so|because|since) )(?:me|i|myself) and (?P<group>{_MEMBER})(?: both| all)? "
        r"(?=[a-z])(?!(?:was|were|had|did|used|would|went|got|met|split|broke)\b)",
        lambda found: f"{found['before']}{_with_names(found['group'])}we ",
    ),
    (r"\bour (?:little |whole )?(?:family|household) (?:lives|resides)\b", "we live"),
    # what the writer told somebody of themselves
    (
        r"\bi(?:['’]ve| have)? (?:told|keep telling|keep reminding|already told) (?:him|her|them|people"
        r"|everyone|my \w+)(?: (?:\w+ times|already|before|again|over and over))*,?(?: that)? "
        r"(?=(?:i (?:can['’]?t|cannot|don['’]?t|never) (?:eat|drink|have|stand)|i hate|i['’]m allergic|i am allergic)\b)",
        "",
    ),
    (r"\bour (?:little |whole )?(?:family|household) (?=(?:moved|settled|relocated)\b)", "we "),
    (r"\bour (?:little |whole )?(?:family|household) (?:is|has been) (?=(?:based|settled|living)\b)", "we are "),
    # a parent of named children
    (
        r"\b(?P<parent>(?:i['’]?m|i am) (?:an? |the )?(?:(?!(?:not|no|never|like|almost|basically)\b)[\w-]+ ){0,5}?(?:mum|mom"
        r"|mother|mama|dad|father|papa|parent)) (?:of|to) "
        rf"(?P<names>{_CHILD}(?:(?:, | and |, and | & ){_CHILD})*)(?=\s*(?:[.,!;]|$))",
        lambda found: f"{found['parent']}. My {'children are' if _AND.search(found['names']) else 'child is'} {found['names']}",
    ),
    # a move, and where it led
    (
        r"(?P<moved>(?:^\W*|\b(?:i|we)(?:['’]ve| have)? )(?:just |finally )?moved (?:house|home|flat|out|in)\b(?! for (?:the"
        r"|an?)\b)[^.!?;]{0,50}?)(?:,| -| –| —|;) (?:and |so |but )?(?:now )?(?:we['’]re|we are|i['’]m"
        r"|i am)(?: now)? in (?P<place>(?-i:[A-ZÀ-Þ])[\w'’-]+)(?= now\b|\s*(?:[.,!]|$))",
        r"\g<moved>, I live in \g<place>",
    ),
    # the time before what lasts
    (
        rf"{LEAD}(?P<since>(?:ever )?since (?!i\b|we\b)[\w'’ ]{{3,25}}?|for (?:\w+ ){{1,3}}(?:years|decades)(?: now)?),? "
        r"(?P<rest>(?:i|we)(?:['’]ve| have) (?:been|lived|worked) [^.!?\n,]{2,60})",
        r"\g<lead>\g<rest> \g<since>",
    ),
    # the verb with an empty word before it
    (r"\b(my (?:[\w-]+ ){1,3}?)(?:happens? to be|has always been|remains)\b", r"\1is"),
    (r"\bi (?:just )?happen to be\b", "I am"),
    (r"\bi (?:just )?happen to (?=(?:live|work|love|hate|like|have)\b)", "I "),
    # "As someone who lives in Bergen, I ...", "I'm the kind of person who loves fog"
    (
        rf"{LEAD}(?:as|being|speaking as|i['’]?m|i am) (?:(?:just|also) )?(?:someone|somebody|a person|one|(?:the|that) (?:kind|type"
        rf"|sort) of"
        rf" person) (?:who|that)(?P<verb>['’]s| (?:{_VERBS_AFTER_WHO}))\b(?P<rest>[^.!?\n]*)",
        lambda found: _of_who(found),
    ),
    (
        rf"{LEAD}(?:as|being|speaking as) (?:someone|somebody|a person|one) (?:with|who suffers from) (?=[^,.!?\n]{{3,40}},? (?:i|my"
        rf"|it)\b)",
        r"\g<lead>I have ",
    ),
    (
        rf"{LEAD}(?:as|being) (?:someone|somebody|a person) (?=(?:allergic|intolerant) to [^,.!?\n]{{2,40}},? (?:i|my|it)\b)",
        r"\g<lead>I'm ",
    ),
)


def _with_names(group: str) -> str:
    """A group of subjects as a clause of its own if it has a name, which states a relation: "my husband Tom — "."""
    return f"{group} — " if re.search(r"\s[A-ZÀ-Þ]", group) is not None else ""


def _of_who(found: re.Match[str]) -> str:
    """The relative clause after "someone who" as a statement; the sentence as it is if its main clause is not about the writer."""
    rest = found["rest"]
    verb = found["verb"].strip().lower()
    is_own = not found.group().lower().lstrip().startswith(("as", "being", "speaking")) or HAS_FIRST_PERSON.search(rest) is not None
    return f"{found['lead']}I {_THIRD_PERSON.get(verb, 'am')}{rest}" if is_own else found.group()
