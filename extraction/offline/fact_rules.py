"""How people state facts about themselves, and which fields of a profile take them."""

import re
from dataclasses import dataclass
from typing import Final

_NAME: Final = r"[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+){0,2}"
_PHRASE: Final = r"[^.,;!?\n]{2,60}?(?=\s+(?:and|but|because|so|which|since|for|when|while|with|on|until|from)\b|[.,;!?\n]|$)"
_RELATION: Final = (
    "wife|husband|partner|girlfriend|boyfriend|fiancée?|sister|brother|mother|father|mom|mum|dad|son|daughter|grandma|grandmother|grandpa|"
    "grandfather|aunt|uncle|cousin|niece|nephew|best friend|friend|dog|cat|puppy|kitten|horse|boss|roommate|flatmate|neighbou?r"
)


@dataclass(frozen=True, slots=True)
class FactRule:
    """How one kind of fact is said, and which fields take it."""

    fields: frozenset[str]
    """Words of a field's name, singular."""
    pattern: re.Pattern[str]
    form: str
    """The fact as it stands among others, in a field that holds many."""


def _rule(fields: str, pattern: str, form: str = "{value}", *, ignore_case: bool = True) -> FactRule:
    return FactRule(frozenset(fields.split()), re.compile(pattern, re.IGNORECASE if ignore_case else 0), form)


_LIKES: Final = "preference preferences likes interests tastes hobbies favourites favorites"
_AVOIDS: Final = "avoids dislikes allergies restrictions"

RULES: Final = (
    _rule(
        "name nickname",
        rf"\b(?:[Mm]y name is|[Mm]y name['’]s|[Cc]all me|[Ii]['’]m called|[Ii] am called)\s+(?P<value>{_NAME})",
        ignore_case=False,
    ),
    _rule(
        "home city residence address location lives",
        r"\bI(?:['’]ve)? (?:now |just |recently )?(?:live|lived|moved|relocated)(?: back| over)? (?:in|to) "
        rf"(?P<value>{_NAME}(?:,\s+{_NAME})?)",
        ignore_case=False,
    ),
    _rule(
        "occupation job profession work employment",
        rf"\b(?:I (?:now |currently )?work as|I['’]m working as|I (?:have )?start(?:ed)? as|my job is|I am employed as)\s+"
        rf"(?:an?\s+|the\s+)?(?P<value>{_PHRASE})",
    ),
    _rule("employer company", rf"\b[Ii] (?:now |currently )?work (?:for|at)\s+(?P<value>(?:the\s+)?{_NAME})", ignore_case=False),
    _rule("age", r"\bI(?:['’]m| am)\s+(?P<value>\d{1,3})(?: years old)\b"),
    _rule("birthday", rf"\bmy birthday is (?:on )?(?P<value>{_PHRASE})"),
    _rule("level grade class", r"\bI(?:['’]m| am) in (?P<value>(?:grade|year|class)\s+\w+)"),
    _rule("sizes size", r"\b(?P<value>(?:shoe )?size (?:\d+(?:\.\d+)?|X{0,3}[SML])\b)"),
    _rule(
        _LIKES,
        rf"\bI (?:really |absolutely |just )?(?:love|like|enjoy|prefer|adore)\s+"
        rf"(?P<value>(?!(?:to hear|that|it|you|this|how|the way)\b){_PHRASE})",
        "likes {value}",
    ),
    _rule(_LIKES, rf"\b(?P<value>my favou?rite [^.,;!?\n]{{2,60}}? (?:is|are) {_PHRASE})", "{value}"),
    _rule(
        f"{_LIKES} {_AVOIDS}",
        rf"\bI (?:really |absolutely )?(?:hate|dislike|can['’]?t stand|don['’]?t like|do not like)\s+"
        rf"(?P<value>(?!(?:that|it|this|how)\b){_PHRASE})",
        "dislikes {value}",
    ),
    _rule(f"{_AVOIDS} health {_LIKES}", rf"\bI(?:['’]m| am)\s+allergic to\s+(?P<value>{_PHRASE})", "allergic to {value}"),
    _rule(_AVOIDS, rf"\bI (?:don['’]t|do not|never) (?:buy|eat|drink|wear|use)\s+(?P<value>{_PHRASE})"),
    _rule("diet", r"\bI(?:['’]m| am)\s+(?:a\s+)?(?P<value>vegan|vegetarian|pescatarian)\b"),
    _rule(
        "relationships relationship family friends pets people",
        rf"\b[Mm]y (?P<relation>{_RELATION})(?:['’]s name is|,? (?:is )?(?:called|named))?,?\s+(?P<value>{_NAME})",
        "{relation}: {value}",
        ignore_case=False,
    ),
    _rule("goals goal aims", rf"\bmy goal is (?:to )?(?P<value>{_PHRASE})"),
)
