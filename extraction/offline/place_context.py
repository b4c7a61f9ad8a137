"""Words around a name that say whether it is a home or a tool: "I moved to Plovdiv" and "I moved to Notion" differ only in the name.

They set the least score (:mod:`extraction.offline.places`) by which a name counts as a place.
"""

import re
from typing import Final

from extraction.offline.fact_grammar import DECLARED_PLACE

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
_WORK: Final = re.compile(rf"\b(?:{_WORK_WORDS})\b", re.IGNORECASE)
"""Words of software, teams and roles: what one moves to there is seldom a place."""
_HOME_WORDS: Final = (
    "flat|apartment|house|rent|landlord|lease|parents|family|wife|husband|kids|children|street|neighbou?rhood|neighbou?rs?|city|town|village"
    "|commute|cycle|cycling|boxes|unpack\\w*|movers|weather|sea|coast|mountains|schools?"
)
_HOMELY: Final = re.compile(rf"\b(?:{_HOME_WORDS})\b", re.IGNORECASE)
"""Words of housing, family and towns."""
_LIVES_IN_TOOL: Final = re.compile(
    r"\b(?:all day|24/7|at work|most of the day|half the day|constantly|basically|rent[- ]free)\b", re.IGNORECASE
)
_PRODUCT: Final = re.compile(
    r"^\s*,? (?:the|an?|our) (?:[\w-]+ ){0,2}"
    r"(?:framework|library|language|editor|database|tool|apps?|platform|plugin|package|stack|crm|service)\b"
    r"|\b(?:egress|uptime|bandwidth|latency|data ?cent(?:er|re)|deploys|(?:eu|us|ap)-(?:east|west|north|south|central)\w*)\b",
    re.IGNORECASE,
)
"""Words after a name, or in its sentence, that only software and servers have."""
_FROM: Final = re.compile(r"\bfrom (?P<name>[A-Z][\w+#-]*)")

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
    if _WORK.search(around) or _LIVES_IN_TOOL.search(around):
        return _AMID_WORK
    if name.islower():
        return _LOWER_CASE_AT_HOME if usual == DECLARED_PLACE else max(usual, _LOWER_CASE)
    return min(usual, _AMID_HOMES) if _HOMELY.search(around) else usual


def may_be_place(least: float) -> bool:
    """Whether a name with this least score may be a place after all: it is no known software, and no words of work are around it.

    Args:
        least: From :func:`least_score`.
    """
    return least < _LOWER_CASE


def _comes_from_tool(sentence: str) -> bool:
    return any(each["name"].casefold() in _KNOWN_TOOLS for each in _FROM.finditer(sentence))
