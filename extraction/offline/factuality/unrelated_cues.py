"""Removes cues of jokes, tasks and periods that are about something else than the statements of their message.

"My kids heard a joke about a snail" makes no joke of the sentence before it, and "I translate contracts for a living" orders no
translation.
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.people import RELATIVES
from memory.texts.prefiltered_patterns import Rewrites, compiled

_THIS_TALK: Final = any_of(
    listed("""
    name, job, answer, message, comment, statement, line, story, text, intro, introduction, profile, above, first part, last part, rest,
    previous, last, whole thing, age, address, sentence, post, title, career, profession, diet
""")
)
"""Nouns of which "is a joke" makes the statement itself a joke: "my job is a joke"."""
_JOKES: Final = (
    # somebody heard or made one
    r"\b(?:told|heard|learnt|learned|know|knows|remember|remembered|forgot|read|found|laughed at|laughed about"
    r"|explained|made|makes|cracked|shared)\b"
    r"(?: (?:me|us|him|her|them|you|(?:my|our|his|her|the|some) \w+))? (?:a|the|this|that|another) (?P<one>jokes?)\b(?!\s*:)"
    r"(?= (?:about|on|with|in|from|at|of|today|yesterday|this morning|last)\b)",
    # the assistant is asked for one
    r"(?:^\W*|[.!?,;]\s+)(?:(?:please|and|so|now|can you|could you|would you|will you)\W+)*(?:tell|send|give) me (?:a|another|one more) "
    r"(?P<two>jokes?)\b(?= (?:about|for|with|on)\b|\s*[.?!]*$)",
    # a thing is a bad one
    rf"\b(?:my|our|the|his|her|their) (?!(?:\w+ ){{0,2}}{_THIS_TALK}\b)(?:[\w'’-]+ ){{1,4}}?(?:is|are|was|has become|have become) "
    r"(?:still |just |such |really )?(?:a|an absolute|a total|a complete|a bit of a|kind of a) (?P<three>joke)\b(?! (?:that|about|of)\b)",
    rf"(?:^|[.!?]\s+)(?!(?:it|that|this|these|those|all|what|everything|which|i|you|{_THIS_TALK})\b)[a-z]+(?: (?:here"
    rf"|today|around here|these days"
    r"|in (?-i:[A-Z])\w+)){0,2} (?:is|are|has become|have become) (?:just |such |really )?(?:a|a total|an absolute|a complete) "
    r"(?P<eight>joke)\b(?! (?:that|about|of)\b)",
    # it has an owner or a topic
    r"\b(?:the|a) (?P<four>jokes?)\b(?= (?:book|about (?:the|a|my|our|an)|of the day|(?:my|our) \w+ (?:told|tells|made)|shop)\b)",
    r"\bi (?P<five>joke)\b(?= (?:around|about|with)\b)",
    r"\bi (?:can|can['’]?t|cannot) (?:take|tell|remember) a (?P<six>joke)\b",
    r"\b(?:i|we) (?:love|like|enjoy|appreciate) a (?P<seven>joke)\b",
)
_TOLD: Final = compiled(
    r"\b(?:tells|told|telling)(?: (?:me|us|him|her|them|everyone|(?:my|our|his|her|the|some) \w+))? (?:a"
    r"|the|this|that|another|some|his|her|their|my)"
    r" (?:\w+ ){0,2}jokes?\b(?! (?:that(?! (?:made|was|nobody|everyone|only|cracked|still))|where|in which"
    r"|how)\b)(?!\s*[:,;.!—–-]\s*(?:i|i['’]?m|my)\b)",
    re.IGNORECASE,
)
"""Reports that there was a joke, not which one."""
_PLANS: Final = any_of(
    listed("""
    cooking, cook, plan*, shop*, prep, prepping, preparing, groceries, grocery, meals, menu, menus, order*, baking, pack*, buying,
    home, off work, away, visiting, recipes, dinners, lunches, stocking up, food, schedule, list, budget*
""")
)
_DIETARY: Final = r"(?:vegan|vegetarian|meat|dairy|gluten|sugar|plant|keto|carb\w*|alcohol|fast\w*|diet|detox|cleanse)"
_PLANNED: Final = compiled(
    rf"(?P<plan>(?:^|(?<=[.!?;,] ))(?:(?!\b{_DIETARY}\b)[^.!?;,:\n])*?\b{_PLANS}(?: (?!{_DIETARY}\b)[\w'’-]+){{0,3}}?) for "
    r"(?:the|this|next|the coming|the next|the whole) (?:week|month|weekend|fortnight)(?: ahead)?"
    r"(?=\s*[,;—–-]|\s+(?:and|but|so|because) (?:i|i['’]?m|we|we['’]re|my)\b|\s+(?:is|are) (?:done|set|ready|sorted)\b)",
    re.IGNORECASE,
)
"""A plan for a period, before a statement that holds without it: "I'm cooking for the week, and I'm vegetarian"."""
_SAID_OF_NAME: Final = compiled(
    rf"(?P<stated>\b(?:my (?:[a-z]+ )?name(?:['’]?s| is)|name['’]?s|call me|i['’]?m called|i am called|i go by|hi,? i['’]?m"
    rf"|hello,? i['’]?m) (?-i:[A-ZÀ-Þ])[\w'’-]+(?: (?-i:[A-ZÀ-Þ])[\w'’-]+)?)(?:\s*[,;—–(-]+\s*|\s+)(?:(?:but|and|though|although|only"
    rf"|even though|while|whereas|just) )*(?:only )?(?:my|our) (?:[a-z]+ )?{any_of(RELATIVES)}s? (?:always |still |just |only |often )*"
    r"(?:says?|uses?|insists? on|shouts?|yells?|writes?|prefers?|tells everyone) "
    r"(?:the (?:\w+ )?(?:form|name|version|one|thing)|it (?:differently|wrong|in full|the (?:\w+ )way|with an? [^.,;!?]{1,20})"
    r"|(?-i:[A-ZÀ-Þ])[\w'’-]+)\)?(?=\s*(?:[.,;!)]|$)|\s+(?:when|instead|because|and|but)\b)",
    re.IGNORECASE,
)
"""Says how a relative says the name that was just stated."""


def without_unrelated_cues(text: str) -> str:
    """A message without such cues. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    text = _ANY_JOKE.apply(_TOLD.sub("made a remark", text))
    return _SAID_OF_NAME.sub(r"\g<stated>", _PLANNED.sub(r"\g<plan>", text))


def _as_remark(found: re.Match[str]) -> str:
    start, end = next(found.span(name) for name, word in found.groupdict().items() if word is not None)
    whole = found.group()
    return f"{whole[: start - found.start()]}remark{whole[end - found.start() :]}"


_ANY_JOKE: Final = Rewrites(((each, _as_remark) for each in _JOKES), re.IGNORECASE | re.MULTILINE)
