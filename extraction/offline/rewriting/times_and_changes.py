"""Puts times and changes into plain clauses: "Mornings I swim", "I live since three years in Malmö", "I gave up law to become a baker".

A recurring time before its clause goes behind it, a time within a clause is left out, and of a change only the new state stays.
"""

import re
from typing import Final

from extraction.offline.grammar.acts import PRESENT, REGULARLY
from extraction.offline.grammar.patterns import any_of
from extraction.offline.grammar.thing_patterns import is_taste
from extraction.offline.rewriting.life_rules import Rule
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.tastes import DISLIKING, LIKING

BEGIN: Final = (
    r"(?:^|(?<=[.!?\n]\s))(?P<lead>\W*(?:(?:and|so|but|well|oh|ok|okay|yes|yeah|also|honestly|actually|btw|hi|hello"
    r"|hey|no|nope|hm+|as for)\b[\s,!.]*)*)"
)
"""The begin of a sentence."""
_DAYS: Final = r"(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends|evenings|mornings)(?: (?:night|evening|morning))?s?)"
_PARTS_OF_DAYS: Final = rf"(?:{_DAYS}|in the (?:mornings|evenings|afternoons)|at weekends)(?<=s)"
_ACTED: Final = (
    r"(?P<stated>(?:i|we) (?!(?:am|is|are|feel|need|want|have to|can|could|should|think|know|get|wish"
    rf"|hope)\b){PRESENT}(?: (?!i\b|we\b)[^.!?;,\n]{{1,60}})?)(?=\s*(?:[.,;!]|$))"
)
"""An act in the simple present, which a recurring time before it makes a habit."""
_OF_ANOTHER: Final = re.compile(r"\b(?:you|he|she|they|it|people|(?:my|our) \w+|[A-Z]\w+)\s*$")
"""Ends with a subject other than the writer: "but now you hate it"."""
_UNIT: Final = r"(?:days?|weeks?|months?|years?|decades?)"


def stated_first(found: re.Match[str]) -> str:
    """A statement with its time after it."""
    return f"{found['lead']}{found['stated']} {found['time'][0].lower()}{found['time'][1:]}"


def _changed_taste(found: re.Match[str]) -> str:
    """The taste of now, and what led to it: "my husband Paulo made me listen"."""
    if _OF_ANOTHER.search(found["until"]) is not None:
        return found.group()
    cause = re.sub(r"^\W*(?:until|till|when|because|so|before|but|and|as)\b\s*", "", found["until"], flags=re.IGNORECASE).strip()
    return f"{found['lead']}{cause}{'. ' if cause else ''}I {found['verb']} {found['thing']}"


def _became(found: re.Match[str]) -> str:
    """What somebody became, if it is an occupation."""
    job = re.sub(r"^(?:an?|the) (?:new )?", "", found["job"], flags=re.IGNORECASE)
    if not is_occupation(job):
        return found.group()
    return "I'm " if found["job"] != job else "I'm a "


def _pastime(found: re.Match[str]) -> str:
    """What is done at a recurring time as a habit: "Wednesdays are for choir"."""
    thing = found["thing"]
    if not is_taste(thing):
        return found.group()
    time = f"{found['time'][0].lower()}{found['time'][1:]}"
    on = "" if time.startswith(("on ", "every ", "most ", "at ", "once ", "twice ")) else "on "
    return f"{found['lead']}I {'go' if thing.endswith('ing') else 'do'} {thing} {on}{time}"


CHANGE_RULES: Final[tuple[Rule, ...]] = (
    # a recurring time before its act
    (rf"(?P<lead>^\W*|(?<=[.!?\n]\s)|[,;]\s|\b(?:and|but|so) )(?P<time>{REGULARLY}|{_PARTS_OF_DAYS}),? {_ACTED}", stated_first),
    (
        rf"{BEGIN}(?P<time>{REGULARLY}|{_DAYS}),? (?:it['’]s|is|are|means?) (?:always |usually |for |all about )*"
        rf"(?P<thing>[a-z][\w'’-]*(?: [a-z][\w'’-]*)?)(?: (?:night|day|time|practice|training|class|evening))?"
        r"(?=(?: for (?:me|us)\b[^.!?\n]*)?\s*(?:[.,;!]|$))",
        _pastime,
    ),
    # a change of taste: "I never liked jazz, but now I adore it"
    (
        rf"{BEGIN}(?:i )?(?:used to|never|could never|did ?n['’]?t|did not)(?: really| even| use to)? (?:like|love|hate"
        rf"|liked|loved|hated|stand"
        r"|enjoy|enjoyed|dislike|loathe|detest|detested|eat|drink) (?P<thing>(?!(?:it|them|that|this|him|her|you|the"
        r"|my)\b)[a-z][\w'’-]*(?: (?!(?:but|and|until|till|when"
        r"|because|so|before|as|at|in|for|now)\b)[\w'’-]+){0,2})\b(?P<until>[^.!?\n]*?)[,;:–—-]*\s+(?:but |and |so )*(?:now "
        r"|these days |nowadays )?(?:i )?(?:now |really |absolutely |just )*"
        rf"(?P<verb>{any_of(LIKING, DISLIKING)}|can['’]?t get enough of) (?:it|them)\b",
        _changed_taste,
    ),
    # a time between a verb and its complement: "I live since three years in Malmö"
    (
        r"\b(?P<act>(?:i|we) (?:live|work|study|teach|play|learn|stay|do|go))(?: already)? (?:since|for)(?: already| about| over| almost)?"
        rf" (?:\d{{4}}|(?:\w+ )?(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten|many|some|several|few) {_UNIT}"
        r"|my (?:childhood|birth|youth)|last \w+|(?-i:[A-Z])\w+)(?: already| now| ago)? (?=(?:in|as|at|like|on|with|for|to|the|an?)\b)",
        r"\g<act> ",
    ),
    # what one became
    (
        r"\b(?:i|we)(?:['’]ve| have)? (?:just |recently |finally |since )*(?:gave up|given up|left|quit|swapped|traded"
        r"|packed in) [^.,;!?\n]{2,40}? (?:to become|and became"
        r"|and retrained as|to be|to train as|for|and now work as) (?=(?P<job>an? [a-z][\w'’ -]{2,30}?)(?:\s*[.,;!]|$"
        r"|\s+(?:and|but|in|at|because|last|when)\b))",
        _became,
    ),
    (
        r"\b(?:i|we)(?:['’]ve| have)? (?:just |recently |finally )*(?:went|gone|moved|switched|progressed) from (?:being"
        r" )?(?:an? )?[a-z][\w-]*(?: [a-z][\w-]*)?"
        r" to (?:being )?(?=(?P<job>(?:an? )?[a-z][\w-]*(?: (?!(?:in|at|and|but|because|over|after|within|last)\b)[a-z][\w-]*)?)"
        r"(?:\s*[.,;!]|$|\s+(?:in|at|and|but|because|over|after|within|last)\b))",
        _became,
    ),
)
