"""Puts lists of what somebody is into statements: "I'm Rafał, 35, a tiler, married to Ewa", "Ana, 34, nurse from Porto"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.people import NO_INTRODUCTIONS, NO_NAMES
from extraction.offline.words.tastes import DIETS
from memory.texts.prefiltered_patterns import compiled

_NO_PERSONS: Final = any_of(
    NO_INTRODUCTIONS,
    NO_NAMES,
    listed("""
    dutch, greek, czech, thai, welsh, turk, arab, sikh, kurd, swiss, finn, dane, swede, pole, scot, brit, aussie, kiwi, iraqi,
    israeli, pakistani, filipino, filipina, latino, latina, sunni, shia, mormon, methodist, lutheran, anglican, orthodox, jew,
    republican, democrat, tory, labour, libra, virgo, gemini, aries, pisces, taurus, capricorn, aquarius, scorpio, sagittarius,
    cancer, team, type, gen, groot, happy, sober, afraid, buddhist, atheist, agnostic, quaker, cantonese, hungry, desperate,
    interested, excited, ukrainian, black, white, brown, blind, dyslexic, bipolar, based, working, living, iron, legend, ceo, cto,
    cfo, writing, trying, struggling, eat, currently, planning, having, getting, learning, preparing, reaching, using, wondering,
    calling, starting, doing, making, considering, worried
"""),
)
NAME: Final = rf"(?P<name>(?!(?i:{_NO_PERSONS}|pro-|anti-|non-)\b)(?-i:[A-ZÀ-Þ][a-zà-ÿĀ-ž'’-]{{1,20}})(?<!ing)(?<!['’]s))"
_NATIONAL: Final = compiled(r"(?:ish|ese|ean|ican|anian|indian|asian|russian|ian|ed)$", re.IGNORECASE)
_GIVEN: Final = compiled(
    r"(?:adrian|brian|ian|vivian|julian|lillian|lilian|fabian|damian|sebastian|florian|gillian|kilian|killian|jillian|cyprian|maximilian"
    r"|cillian|bastian|dorian|tristian|anish|manish|satish|mahalakshmi|ned|fred|ted|jed|reed|mohammed|ahmed|muhammed|sean|jean|dean)",
    re.IGNORECASE,
)
ARTICLE: Final = compiled(r"^an? ", re.IGNORECASE)
GREETS: Final = r"(?:hi|hello|hey|hiya|heya|good (?:morning|afternoon|evening)|greetings|howdy)(?: (?:there|all|again|everyone|guys|team))?"
_PROFILE: Final = re.compile(
    rf"^(?P<lead>\W*(?:(?:so|ok|okay|well|and|{GREETS})[\s,!.]+)*)(?P<subject>i['’]?m|i am|my name(?:['’]?s| is)|name['’]?s) "
    r"(?P<first>[^,.!?:;\n]{2,40})(?P<parts>(?:, [^,.!?:;\n]{1,60})+)(?P<end>[.!\n]|$)",
    re.IGNORECASE,
)
"""A list of what somebody is: "I'm Rafał, 35, a tiler in Opole, married to Ewa"."""
_UNITS: Final = "(?:one|two|three|four|five|six|seven|eight|nine)"
_AGE: Final = compiled(
    r"(?:and )?(?:aged? )?(?P<value>[1-9]\d|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    rf"(?:-{_UNITS})?)(?: ?(?:years? old|years? young|yrs?|y/?o|m|f))?",
    re.IGNORECASE,
)
_A_JOB: Final = compiled(
    r"(?:and )?(?:also )?(?P<article>an?|the) (?P<value>[a-z][\w-]*(?: (?!(?:in|at|from|for|of)\b)[\w-]+){0,3})(?P<rest> (?:in|at|from"
    r"|for|of) .*)?",
    re.IGNORECASE,
)
_PREDICATE: Final = compiled(
    rf"(?:and )?(?:an? )?(?:(?:single|proud|married|working) )*(?:mum|mom|mother|dad|father|parent)(?: (?:of|to) .*)?"
    r"|(?:and )?(?:single|married|divorced|widowed|engaged)"
    rf"|(?:and )?(?:(?:happily |newly )?(?:married|engaged) to (?-i:[A-ZÀ-Þ])\w+.*|(?:living|based|working|settled) (?:in|as|at|for) .*"
    rf"|(?:\w+ )?allergic to .*|(?:an? |strict )*{any_of(DIETS)})",
    re.IGNORECASE,
)
_WITHOUT_VERB: Final = re.compile(
    rf"^\W*(?:(?:{GREETS}|new (?:member|user|joiner|here)(?: here)?)[\s,!.:—–-]+)*{NAME}(?P<surname>"
    rf" (?-i:[A-ZÀ-Þ])[\w'’-]+)?(?P<here> here)?"
    r"(?P<parts>(?:\s*[,/|·•]\s*[^,.!?:;/|·•\n]{1,40}?)+)(?P<end>[.!\n]|\s*$)",
    re.IGNORECASE,
)
"""A list of what somebody is, without a verb: "Ana, 34, nurse from Porto"."""
_OF_STATUS: Final = compiled(
    r"(?:and )?(?:(?:happily |newly |recently )?(?:single|married|divorced|widowed|engaged|retired)|(?:mum|mom|mother|dad|father|parent)"
    r" (?:of|to) \w+(?: \w+){0,3}|(?:she|he|they)[-/ ](?:her|him|them)|formerly an? .*|(?:originally )?from (?-i:[A-ZÀ-Þ])\w+.*)",
    re.IGNORECASE,
)
"""Part of such a list that states nothing that a profile holds."""
_BORN_OF: Final = compiled(r"(?P<job>.+?)(?P<rest> (?:from|in|at|for|with|of) .+)", re.IGNORECASE)
_FEWEST_KNOWN: Final = 2
_INTO: Final = compiled(r"(?:and )?(?:really |very )?into (?P<thing>[a-z][\w'’ -]{2,30})", re.IGNORECASE)
_BARE_JOB: Final = compiled(
    r"(?P<value>(?P<head>(?:head|director|chief|vice president) of [a-z]+(?: [a-z]+)?)|(?!(?:i|we|not|now|was|used"
    r"|mean|but|and|or|my)\b)(?:[a-z-]+ )?[a-z-]+)",
    re.IGNORECASE,
)
"""A trade without an article: "I'm Dana, head of procurement"."""
_BY_TRADE: Final = compiled(r" by (?:trade|profession|training)$", re.IGNORECASE)
_MORE: Final = compiled(
    r"(?:[a-z]+ing (?:in|from|with|at|on|here|out|today)\b.*|(?:for )?(?:\w+|\d+) (?:years?|months?) .*|new (?:here"
    r"|to this|in town)|here (?:for|to) .*|based here)",
    re.IGNORECASE,
)
"""Says more of the part before it, which stays as it is."""
_SPOUSE: Final = compiled(r"\b(?:married|engaged) to (?:(?!\b(?:for|since)\b).)*$|\bwith my \w+ \w+$|\bmy \w+ is\b", re.IGNORECASE)
"""Ends with a person, whom the next part may describe."""
_FEWEST: Final = 1


def with_lists_as_statements(text: str) -> str:
    """A message with its first list of what the writer is as statements.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    return _WITHOUT_VERB.sub(_as_introduction, _PROFILE.sub(_as_statements, text, count=1), count=1)


def is_name(word: str) -> bool:
    """Whether a capitalised word after "I'm" may be a name: not a people, a faith or a state."""
    return re.fullmatch(_NO_PERSONS, word, re.IGNORECASE) is None and (_NATIONAL.search(word) is None or _GIVEN.fullmatch(word) is not None)


def _as_statements(found: re.Match[str]) -> str:
    """A list of what somebody is as one statement each; as it is if a part of it is something else."""
    parts = [each.strip() for each in found["parts"].split(",") if each.strip()]
    statements: list[str | None] = []
    known = 0
    for before, part in zip((found["first"], *parts), parts, strict=False):
        if _SPOUSE.search(before) is not None and _A_JOB.fullmatch(part) is not None:
            return found.group()  # "married to Ana, a nurse"
        statement = _statement_of(part) or (part if known and _MORE.fullmatch(part) is not None else None)
        known += statement is not None and not _is_age(part)
        statements.append(statement)
    if known < _FEWEST or any(statement is None for statement in statements):
        return found.group()
    first = found["first"].strip()
    if len(parts) == 1 and first.islower() and first[0].isalpha() and _BARE_JOB.fullmatch(parts[0]) is not None:
        return found.group()  # "I'm hungry, chef"
    named = re.fullmatch(NAME, first) is not None and is_name(first) and found["subject"].lower().startswith("i")
    opening = "Hi, " if named else found["lead"]
    return f"{opening}{found['subject']} {first}. {'. '.join(filter(None, statements))}{found['end'] or '.'}"


def _as_introduction(found: re.Match[str]) -> str:
    """A list without a verb as statements; as it is unless it surely describes a person."""
    statements: list[str] = []
    known = 0
    for part in filter(None, map(str.strip, re.split(r"[,/|·•]", found["parts"]))):
        statement = _statement_of(part) or _job_of(part) or _taste_of(part)
        known += statement is not None or _OF_STATUS.fullmatch(part) is not None
        if statement is None and _OF_STATUS.fullmatch(part) is None:
            if not found["here"] or not known:
                return found.group()
            statement = part[0].upper() + part[1:]  # "Ravi here, locksmith, born in Jaipur"
        statements += [statement] if statement is not None else []
    if not is_name(found["name"]) or known < (1 if found["here"] else _FEWEST_KNOWN):
        return found.group()
    name = f"{found['name']}{found['surname'] or ''}"
    return f"Hi, I'm {name}. {'. '.join(statements)}{'.' if statements else ''}{found['end']}"


def _job_of(part: str) -> str | None:
    """A trade with where it is done: "nurse from Porto", "retired tram driver"."""
    placed = _BORN_OF.fullmatch(part)
    job, rest = (placed["job"], placed["rest"]) if placed is not None else (part, "")
    bare = job.lower().removeprefix("retired ").removeprefix("freelance ").removeprefix("self-employed ").removeprefix("self employed ")
    if not is_occupation(ARTICLE.sub("", bare)):
        return None
    article = "" if ARTICLE.match(job) is not None else "an " if job[0].lower() in "aeiou" else "a "
    return f"I'm {article}{job}{rest}"


def _taste_of(part: str) -> str | None:
    found = _INTO.fullmatch(part)
    return f"I'm into {found['thing']}" if found is not None else None


def _is_age(part: str) -> bool:
    return _AGE.fullmatch(part) is not None


def _statement_of(part: str) -> str | None:
    if _is_age(part):
        return f"I'm {part.removeprefix('and ').removeprefix('aged ').removeprefix('age ')}"
    job = _A_JOB.fullmatch(part)
    if job is not None and is_occupation(job["value"]):
        return f"I'm {job['article']} {job['value']}{job['rest'] or ''}"
    bare = _BARE_JOB.fullmatch(_BY_TRADE.sub("", part))
    if bare is not None and (bare["head"] or is_occupation(bare["value"])):
        return f"I'm {'' if bare['head'] else 'a '}{bare['value']}"
    if _PREDICATE.fullmatch(part) is not None:
        return f"I'm {part.removeprefix('and ')}"
    return None
