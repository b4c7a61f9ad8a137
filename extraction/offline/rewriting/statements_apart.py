"""Rewrites sentences whose statement is apart from its usual place: after a wish, after a text to translate, in a relative clause."""

import re
from typing import Final

from extraction.offline.grammar.value_patterns import PLACE_NAME
from extraction.offline.words.occupations import is_occupation
from memory.texts.prefiltered_patterns import compiled

_STATES: Final = r"(?:i live\b|i work\b|i reside\b|(?:i['’]?m|i am) (?:an? |based |living |allergic )|my (?:name|home|job) )"
_AFTER_WISH: Final = compiled(
    r"(?:^|(?<=[.!?]\s))\W*(?:if (?:i|we) (?:could|had|were|was|did|won)\b|i wish\b|i['’]d (?:love|like|rather"
    r"|prefer)\b|i would\b)[^.!?\n]{3,120}?"
    r",? but (?:(?:in reality|in real life|actually|in fact|sadly|for now|alas|as it is|the truth is)[, ]+)?"
    rf"(?={_STATES})(?![^.!?\n]*\b(?:would|wish|could|might)\b)",
    re.IGNORECASE,
)
"""A wish and "but", before what is so."""
_QUOTED_TASK: Final = re.compile(
    r"^\W*(?:(?:please|pls|hi|hello|can you|could you)[\s,!]+)*(?:translate|proofread|rephrase|correct)\s+"
    r"(?:the (?:sentence|phrase) )?(?:\"[^\"\n]{2,200}\"|“[^”\n]{2,200}”|'[^'\n]{2,200}'|‘[^’\n]{2,200}’)"
    r"(?: (?:in)?to [A-Z]\w+)?(?:,? (?:please|pls))?\s*[.!?]\s+"
    r"(?=(?:i['’]?m|i am|i work|i live)\b[^\"“”'‘\n]*\b(?:so|because|since)\b[^\"“”\n]*$)",
    re.IGNORECASE,
)
"""An order to work on a text in quotation marks, before a statement that gives the reason of the order."""
_QUOTED_HELP: Final = compiled(
    r"(?<=[.!,;])\s+(?:\w+,? ){0,2}?(?:how (?:do|would|can|should) (?:i|you|we|one) (?:say|write|put|spell|pronounce|translate)"
    r"|what(?:['’]s| is| does)|can (?:you|i) (?:say|translate)"
    r"|is|does|could you (?:translate|check|correct)|please (?:translate|check"
    r"|correct))\b[^.!?\"“”\n]{0,40}(?:\"[^\"\n]{2,200}\"|“[^”\n]{2,200}”"
    r"|(?<!\w)'[^'\n]{2,200}'(?!\w)|‘[^’\n]{2,200}’)[^.!?\"“”\n]{0,60}[.!?]*\s*$",
    re.IGNORECASE,
)
"""A question about a text in quotation marks, after a statement that the text is no part of."""
_WHERE_I_LIVE: Final = compiled(
    rf"\b(?:from|in|to) (?P<place>{PLACE_NAME}), where (?:i|we)(?:(?: still| now| currently| happily)? live\b(?! "
    rf"(?:in|on) (?:my|the) (?:head|game))"
    r"|(?:['’]?ve| have) (?:always|been) (?:lived|living)\b|(?:['’]?ve| have) lived(?= (?:all my life|my whole life|since|for)\b))"
    r"(?! (?:until|till|before|as an?|when|during)\b)",
    re.IGNORECASE,
)
"""A home in a relative clause: "Regards from Vaasa, where I've always lived"."""
_PLACE_FIRST: Final = re.compile(
    rf"^\W*(?P<place>{PLACE_NAME})\s*[,.!—–-]+\s*(?:(?:yes|yeah|yep|indeed|correct|exactly|right)\W+)*"
    r"(?:i (?:still |do )?live there|that(?:['’]s| is) where (?:i|we) (?:still |now )?live)\b(?! (?:in my|when|until)\b)",
    re.IGNORECASE,
)
_UNREAL: Final = compiled(
    r"\b(?:if|would|wish|could|say|says|said|character|imagine|dream\w*|novel|song|game|used to|once|he|she|they|his|her)\b|[\"“”?]",
    re.IGNORECASE,
)
_AGED: Final = re.compile(
    r"^\W*(?P<job>(?:(?:retired|freelance|self-employed|married|single) )?[a-z]+(?: [a-z]+)?), (?P<age>[1-9]\d)(?=\s*"
    r"(?:[.!,]|$|\s(?:from|and)\b))",
    re.IGNORECASE,
)
"""A profile in two words: "retired midwife, 68"."""
_BEGAN: Final = re.compile(
    r"^\W*(?:i )?(?:just |recently |finally )?(?:began|started) as (?P<job>an? [a-z][a-z -]{2,40}?)"
    r"(?: (?:on \w+day|yesterday|today|this (?:week|month|morning)|last (?:week|month|\w+day))\b|(?= (?:at|in) (?:the|a|our)\b))"
    r"(?!.*\b(?:now|then|later|ended|became|worked my way|before|years?|ago)\b)",
    re.IGNORECASE,
)


def with_statements_in_place(text: str) -> str:
    """A message with such statements as clauses of their own, in the forms of the grammar. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    asked = _QUOTED_HELP.search(text)
    if asked is not None and re.search(r"[\"“”:\n]", text[: asked.start()]) is None:
        text = text[: asked.start()]
    text = _AFTER_WISH.sub("", _QUOTED_TASK.sub("", text))
    for pattern in (_WHERE_I_LIVE, _PLACE_FIRST):
        found = pattern.search(text)
        if found is not None and not _UNREAL.search(_sentence_at(text, found.start(), found.end())):
            text = f"{text[: found.start()].rstrip()}. I live in {found['place']}{text[found.end() :]}".lstrip(". ")
    found = _AGED.match(text)
    if found is not None and is_occupation(found["job"].removeprefix("married ").removeprefix("single ")):
        text = f"I'm a {found['job'].lower()}{text[found.end() :]}"
    found = _BEGAN.match(text)
    if found is not None and is_occupation(found["job"].partition(" ")[2]):
        text = f"I work as {found['job']}{text[found.end() :]}"
    return text


def _sentence_at(text: str, start: int, end: int) -> str:
    """The text from the begin of the sentence at a place to the end of the sentence."""
    begin = max(text.rfind(mark, 0, start) for mark in ".!?\n") + 1
    rest = re.match(r"[^.!?\n]*\??", text[end:])
    return text[begin:end] + (rest.group() if rest is not None else "")
