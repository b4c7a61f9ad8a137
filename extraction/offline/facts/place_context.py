"""Words around a name that say whether it is a home or a tool: "I moved to Plovdiv" and "I moved to Notion" differ only in the name.

They set the least score (:mod:`extraction.offline.facts.places`) by which a name counts as a place.
"""

import re
from typing import Final

from extraction.offline.grammar.fact_grammar import DECLARED_PLACE, MOVED_PLACE
from extraction.offline.grammar.value_patterns import STATES
from memory.texts.prefiltered_patterns import compiled

_TOOLS: Final = """
airtable arc arch asana aws azure bitbucket bluesky brave clickup confluence debian discord docker dropbox emacs
evernote excel fastmail fedora figma firefox git github gitlab gmail go golang helm jira joplin kotlin kubernetes linear
linux logseq mastodon matrix miro mongodb neovim nextcloud nix notion obsidian oracle outlook podman postgres proton
python rails react redis rust safari sheets signal slack svelte swift teams telegram terraform threads thunderbird
todoist trello twitter typescript ubuntu vim vivaldi vscode vue whatsapp windows zed zig zoom zulip
"""
_KNOWN_TOOLS: Final = frozenset(_TOOLS.split())
"""Well-known software whose names embed like names of places."""

_WORK_WORDS: Final = (
    "account|accounts|api|app|apps|backend|backlog|boards?|browser|bugs?|calendar|chats?|client|code|codebase|dashboards?|database|deploy"
    "|docs|documents|emails?|files|frontend|inbox|issues|ide|laptop|migrat\\w+|newsletter|notes|passwords|pipelines?|plugins?|projects?"
    "|repos?|repositor\\w+|roadmap|servers?|software|sprint|sync\\w*|tasks|team|tickets|tool|tools|version|wiki|workflows?|workspace"
    "|framework|builds?|egress|latency|data ?cent(?:er|re)s?|hosting|cloud|deploys|deployments?|uptime|bandwidth|clusters?|saas"
    "|vendors?|crm|runtime|compil\\w+|benchmarks?"
    "|department|division|role|position|squad|shift|tier|plan|subscription"
)
_WORK: Final = compiled(rf"\b(?:{_WORK_WORDS})\b", re.IGNORECASE)
"""Words of software, teams and roles: what one moves to there is seldom a place."""
_HOME_WORDS: Final = (
    "flat|apartment|house|rent|landlord|lease|parents|family|wife|husband|kids|children|street|neighbou?rhood|neighbou?rs?|city|town|village"
    "|commute|cycle|cycling|boxes|unpack\\w*|movers|weather|sea|coast|mountains|schools?|beach|winters?|climate|fianc\\w+|girlfriend"
    "|boyfriend|partner|sister|brother|mother|father|mum|mom|dad|son|daughter|grandparents|people|language|homesick|food"
)
_HOMELY: Final = compiled(rf"\b(?:{_HOME_WORDS})\b", re.IGNORECASE)
"""Words of housing, family and towns."""
_LIVES_IN_TOOL: Final = compiled(
    r"\b(?:all day|24/7|at work|most of the day|half the day|constantly|basically|rent[- ]free)\b", re.IGNORECASE
)
_PRODUCT: Final = compiled(
    r"^\s*,? (?:the|an?|our) (?:[\w-]+ ){0,2}"
    r"(?:framework|library|language|editor|database|tool|apps?|platform|plugin|package|stack|crm|service)\b"
    r"|\b(?:egress|uptime|bandwidth|latency|data ?cent(?:er|re)|deploys|(?:eu|us|ap)-(?:east|west|north|south|central)\w*)\b",
    re.IGNORECASE,
)
"""Words after a name, or in its sentence, that only software and servers have."""
_FROM: Final = compiled(r"\bfrom (?P<name>[A-Z][\w+#-]*)")

_APPOSITION: Final = re.compile(
    r"^\s*,\s*(?:the|an?|our) (?!(?:[\w-]+ ){0,3}(?:city|capital|town|village|place|island|country|suburb|hamlet|port|region)\b)"
    r"(?:[\w-]+ ?){1,4}(?:,|[.!]|$)|^\s*\((?!(?-i:[A-Z])[\w' -]+\))[^,)]*",
    re.IGNORECASE,
)
"""Says what the name is: "Havana, the release"."""
_MOVED: Final = compiled(r"\b(?:moved|relocated|shifted|migrated|switched)\b", re.IGNORECASE)
_WHEN_MOVED: Final = (
    r"(?:last|this|next|on|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|half|an?|some|roughly|approximately|nearly|almost|well|few|several|many|yesterday|today|recently|now|just"
    r"|already|back|when|after|during|at|about|around|over|\d+|long|finally|early|late|not|only"
    r"|in (?:(?:early|late|mid)[ -])?(?:\d{4}|(?-i:[A-Z]\w+)|the \w+ies|the (?:spring|summer|autumn|fall|winter|\d)"
    r"|spring|summer|autumn|fall|winter))"
)
_WHY_MOVED: Final = (
    r"(?:for (?:(?:my|a|an|the|our|his|her|their) )?(?:new )?(?:\w+['’]s? )?(?:job|work|studies|study|degree|phd|master\w*|love|family"
    r"|good|school|uni|university|college|course|post|posting|position|career|marriage|sun|climate|air|quiet|children)"
    r"|to (?:be|study|live|work|join|start|teach|retire|get)|from"
    r"|(?:with|w) (?:my|our|his|her|an?|two|three|the (?:kids|family|children|cats?|dogs?)|(?-i:[A-Z]))"
    r"|together|alone|permanently|by myself|as an?|straight"
    r"|(?:because of|due to|thanks to) (?:the|my|our|his|her) \w+"
    r"|(?:and|but|so|because|cuz|cos|coz|since|where|as|because of|cuz of) "
    r"(?:(?:now|so|then) )?(?:i|i['’]m|we|we['’]re|my (?:new )?(?:job|work|studies)|am|love|live|work|he|she)\b|(?:i|we)\b)"
)
_ABOUT_MOVE: Final = re.compile(rf"^\W*(?:{_WHEN_MOVED}|{_WHY_MOVED})\b|^\W*$", re.IGNORECASE)
"""Says when, why or with whom somebody moved."""
_ABOUT_THINGS: Final = compiled(
    r"^(?!.*\b(?:i|i['’]m|me|we|we['’]re|us|my|it|it['’]s|here|there)\b).*\b(?:is|are|was|were|looks?|feels?|works?|gets?|runs?|loads?|takes?)\b",
    re.IGNORECASE,
)
"""States something of a thing: "response times are great"."""
_PRODUCT_NAME: Final = compiled(r"\b(?:EE|SE|DB|OS|JS|AI|API|CI|LTS|IDE|SDK|SQL|ML|Cloud|Core|Pro)$|\d")

_WITH_STATE: Final = re.compile(rf"[\w'’ -]{{3,}},? {STATES}", re.IGNORECASE)
"""A town with a state or a country in short, which few other values have."""
_SURELY_NONE: Final = 2.0
_AMID_WORK: Final = 0.1
_AMID_HOMES: Final = -0.15
_LOWER_CASE: Final = 0.06
"""A place in lower case may be any word."""
_LOWER_CASE_AT_HOME: Final = -0.01
"""After "I live in" fewer words may stand."""


def least_score(name: str, usual: float, sentence: str) -> float:
    """The least score by which a name counts as a place in its sentence.

    Args:
        name: The value of a home.
        usual: The least score in a sentence with neither kind of words.
        sentence: It states the home.
    """
    if name.casefold() in _KNOWN_TOOLS or _comes_from_tool(sentence):
        return _SURELY_NONE
    if _PRODUCT.search(sentence.partition(name)[2]):
        return _SURELY_NONE
    around = sentence.replace(name, " ")
    if usual == MOVED_PLACE and _MOVED.search(sentence) is not None and _may_be_product(name, sentence, around):
        return _SURELY_NONE
    if _WORK.search(around) or _LIVES_IN_TOOL.search(around):
        return _AMID_WORK
    if _WITH_STATE.fullmatch(name) is not None:
        return min(usual, _AMID_HOMES)
    if name.islower():
        return _LOWER_CASE_AT_HOME if usual == DECLARED_PLACE else max(usual, _LOWER_CASE)
    return min(usual, _AMID_HOMES) if _HOMELY.search(around) else usual


def _may_be_product(name: str, sentence: str, around: str) -> bool:
    """Whether a move may be one to software: what is said after the name is not about a person's move."""
    rest = sentence.partition(name)[2]
    apposed = _APPOSITION.search(rest)
    if (apposed is not None and _HOMELY.search(apposed.group()) is None) or _PRODUCT_NAME.search(name) is not None:
        return True
    if _HOMELY.search(around) is not None:
        return False
    said, *further = re.split(r"[,.;!]", rest)
    return _ABOUT_MOVE.search(said if said.strip() else rest) is None or any(_ABOUT_THINGS.search(each) for each in further)


def may_be_place(least: float) -> bool:
    """Whether a name with this least score may be a place after all: it is no known software, and no words of work are around it.

    Args:
        least: From :func:`least_score`.
    """
    return least < _LOWER_CASE


def _comes_from_tool(sentence: str) -> bool:
    return any(each["name"].casefold() in _KNOWN_TOOLS for each in _FROM.finditer(sentence))
