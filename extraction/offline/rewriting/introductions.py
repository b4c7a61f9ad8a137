"""Puts introductions into the forms of the grammar: "hey, it's Tamsin", "I'm Rafał, 35, a tiler, married to Ewa"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.people import NO_INTRODUCTIONS, NO_NAMES, RELATIVES
from extraction.offline.words.tastes import DIETS
from memory.texts.prefiltered_patterns import Replacement, Rewrites, compiled

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
_NAME: Final = rf"(?P<name>(?!(?i:{_NO_PERSONS}|pro-|anti-|non-)\b)(?-i:[A-ZÀ-Þ][a-zà-ÿĀ-ž'’-]{{1,20}})(?<!ing)(?<!['’]s))"
_NATIONAL: Final = compiled(r"(?:ish|ese|ean|ican|anian|indian|asian|russian|ian|ed)$", re.IGNORECASE)
_GIVEN: Final = compiled(
    r"(?:adrian|brian|ian|vivian|julian|lillian|lilian|fabian|damian|sebastian|florian|gillian|kilian|killian|jillian|cyprian|maximilian"
    r"|cillian|bastian|dorian|tristian|anish|manish|satish|mahalakshmi|ned|fred|ted|jed|reed|mohammed|ahmed|muhammed|sean|jean|dean)",
    re.IGNORECASE,
)
_ARTICLE: Final = compiled(r"^an? ", re.IGNORECASE)
_GREETS: Final = (
    r"(?:hi|hello|hey|hiya|heya|good (?:morning|afternoon|evening)|greetings|howdy)(?: (?:there|all|again|everyone|guys|team))?"
)


def _first_replaced(pattern: re.Pattern[str], replacement: Replacement, text: str) -> str:
    return pattern.sub(replacement, text, count=1)


_REWRITES: Final = Rewrites(
    (
        (
            r"^\W*(?:for (?:the (?:minutes|notes|record|log|file|group|chat|newcomers|new (?:people|folks|ones))|those who"
            r" don['’]?t know me|everyone new|anyone new)"
            r"|round of (?:names|intro\w*)|introductions?|intros?)\s*[:,–—-]+\s*(?=(?:i['’]?m|i am|my name)\b)",
            "Hi, ",
        ),
        # a greeting by another name
        (
            r"^\W*(?:(?:hi|hello|hey|so|ok|okay|well|first|let['’]?s start)\b[\s,!.]*)*(?:(?:let me|allow me to|may i|i['’]d like to"
            r"|i want to"
            r"|i should|i wanted to|time to) introduce myself|(?:a )?(?:quick|short|brief) intro(?:duction)?|nice to meet (?:you"
            r"|everyone|you all)"
            r"|pleased to meet (?:you|everyone|you all)|new (?:here|user|member))\s*[.:!,;—–-]+\s*(?=(?:i['’]?m|i am|my name|this is"
            r"|it['’]?s)\b)",
            "Hi, ",
        ),
        (rf"^\W*(?:so|oh|ok|okay|well|um|and|right)[\s,]+(?={_GREETS}\b[\s,!.]*(?:i['’]?m|i am|it['’]?s|this is)\b)", ""),
        # "hey, it's Tamsin", "this is Anselm again", "good morning, Yevgenia speaking"
        (
            rf"^\W*{_GREETS}[\s,!.]+(?:it['’]?s|it is) {_NAME}(?: (?:here|again|speaking|from [^.!?\n]{{2,40}}))?(?=\s*(?:[.,!—–-]|$))",
            r"Hi, I'm \g<name>",
        ),
        (rf"^\W*(?P<greet>{_GREETS}[\s,!.]+)?this is {_NAME} (?:again|speaking|here)\b", r"Hi, I'm \g<name>"),
        (rf"^\W*{_GREETS}[\s,!.]+{_NAME} speaking\b", r"Hi, I'm \g<name>"),
        (
            rf"^\W*{_GREETS}[\s,!.]+(?:(?:i['’]?m |i am )?new (?:here|to this)|first time here|just signed up)[\s,!.]+"
            r"(?=(?:i['’]?m|i am) )",
            "Hi, ",
        ),
        (
            rf"\b(?:i['’]?m|i am) (?:her|his|their) (?:\w+ )?{any_of(RELATIVES)},? {_NAME}(?=\s*[.,!]|\s*$|\s+(?:and|from)\b)",
            r"my name is \g<name>",
        ),
        (r"\bwhat(?:['’]s| is) your name\?\s+mine(?:['’]s| is) (?=(?-i:[A-ZÀ-Þ]))", "My name is "),
        (rf"^\W*(?:{_GREETS}[\s,!.]+)?(?:it['’]?s|it is) me,? {_NAME}(?=\s*(?:[.,!—–-]|$))", r"Hi, I'm \g<name>"),
        # a name to be used
        (rf"^\W*(?:{_GREETS}[\s,!.]+)you (?:can|may) (?:just )?use {_NAME}(?=\s*[.!]|\s*$)", r"Call me \g<name>"),
        (rf"^\W*(?:just|simply|plain) {_NAME} (?:is fine|will do|works|is enough|is ok|is okay|is good|please)\b", r"Call me \g<name>"),
        (
            r"\b(?:please |you can |you may |just |feel free to )*(?:address me as|refer to me as|know me as"
            r"|call me by my (?:nick)?name,?|use the name) (?!your|his|her|the)"
            r"(?=(?:(?:dr|prof|mr|mrs|ms)\.? )?(?-i:[A-ZÀ-Þ]))",
            "call me ",
        ),
        (r"\b(?:may|might|probably|can) know me as\b", "call me"),
        (
            r"(?:^|(?<=[.!?,;:—–-]\s)|\b(?:and|but|because|since|so|though)\s)(?:(?:everyone|everybody|people|folks|friends"
            r"|colleagues|the guys|they all|all|someone|half the \w+)"
            r" (?:at|in|from|on) [\w ]{2,30}?|(?:(?:all|most|some|half) (?:of )?)?(?:the|my|our) (?!name\b|(?:\w+"
            r" )?(?:friends|family|colleagues|mates|team) (?:\w+ )?(?:calls?|knows?)\b)(?:(?!(?:but|and|or|is|are|was|so|i"
            r"|who|that|when|if|to)\b)[\w'’-]+ ?){1,6}?)"
            r" (?:(?:just|always|all|still|only|usually|even|like to|likes to) )*(?:calls?|knows?|nicknamed|nicknames"
            r"|dubbed) me (?:as )?['\"‘“]?(?=(?-i:[A-ZÀ-Þ]))",
            "my nickname is ",
        ),
        (
            r"\b(?P<before>calls? me\b[^.!?\n]{2,60}?)\bso (?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+) it is(?=\s*(?:[.!,]|$))",
            r"\g<before>. Call me \g<name>",
        ),
        (r"\b(?:just )?ask for (?P<name>(?-i:[A-ZÀ-Þ])[a-zà-ÿ'’-]+)(?=\s*(?:[.!]|$))(?<!Support)(?<!Help)", r"call me \g<name>"),
        (
            r"\b(?:nobody|no one|only my \w+|only the [\w ]{2,20}) (?:ever )?calls? me"
            r" (?-i:[A-ZÀ-Þ])[\w'’-]+[^.!?\n]{0,40}[.!,]\s*(?:it['’]s |i['’]m |just |always |make it"
            r" )?(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+)(?:,? please| to everyone| to you)?(?=\s*(?:[.!]|$))",
            r"Call me \g<name>",
        ),
        (
            r"\bmy name(?: is)? (?:written|spelled|spelt|write|writes|spell|spells) with [^,.!?\n]{1,20},"
            r" (?=(?-i:[A-ZÀ-Þ])[a-zà-ÿ]+)",
            "my name is ",
        ),
        (rf"^\W*new (?:here|joiner|starter|face)[\s,.!:—–-]+{_NAME}(?=\s*(?:[.,!]|$))", r"Hi, I'm \g<name>"),
        (r"^(?P<lead>\W*(?:(?:and|so|oh|please|hi|hello)\b[\s,!.]*)*)do (?:please |just )?(?=call me )", r"\g<lead>"),
        (
            r"\b(?:but |and )?(?:irl|in real life|off ?line|outside the game|in person|to (?:my )?friends|at home|for"
            r" short),? (?:it['’]?s|it is|i['’]?m|i am|my name(?:['’]?s| is)|call me)"
            r" (?:just |actually )?(?=(?-i:[A-ZÀ-Þ]))",
            ". Call me ",
        ),
        (
            rf"\b(?:i['’]?m|i am|it['’]?s) {_NAME} to (?:everyone|everybody|my friends|most people|friends|you|the team"
            r"|all)\b",
            r"call me \g<name>",
        ),
        (
            rf"^\W*(?:it['’]?s|i['’]?m|my name(?:['’]?s| is)) (?-i:[A-ZÀ-Þ])[\w'’-]+,? (?:but|or|though) {_NAME} (?:is"
            r" (?:fine|ok|okay|good|easier|enough)|will do|works|does)\b",
            r"Call me \g<name>",
        ),
        (
            r"\bi(?:['’]ve| have)? (?:just |legally |officially |recently |finally )*(?:changed|switched) my (?:first"
            r" )?name (?:from (?-i:[A-ZÀ-Þ])[\w'’-]+ )?to "
            r"(?=(?-i:[A-ZÀ-Þ]))",
            "my name is ",
        ),
        (
            rf"^\W*(?:(?:quick|short|brief|my|a) )*intro(?:duction)?\s*[:,—–-]\s*{_NAME}, (?P<job>(?:an? )?[a-z][\w"
            rf" -]{{2,40}})(?=\s*(?:[,.!;]|$))",
            lambda found: f"Hi, I'm {found['name']}, {found['job']}" if is_occupation(_ARTICLE.sub("", found["job"])) else found.group(),
        ),
        (
            r"\b(?:just |please )*call me (?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+),? (?:ok|okay|alright|will you|would you)\s*\?",
            r"Call me \g<name>.",
        ),
        (
            r"\bi(?:['’]d| would)? (?:prefer|rather|like) (?:to be|being|be) called (?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+)"
            r"(?: (?:than|instead of|not)"
            r" (?-i:[A-ZÀ-Þ])[\w'’-]+)?(?=\s*(?:[.,!]|$))",
            r"call me \g<name>",
        ),
        (r"\b(?:please )?use my (?:nickname|first name|short name),? (?=(?-i:[A-ZÀ-Þ]))", "call me "),
        (
            r"\b(?:i['’]d (?:like|love|prefer)|i would (?:like|love|prefer)|i want|i['’]d like it if) you (?:to call"
            r"|called) me (?=(?-i:[A-ZÀ-Þ]))"
            r"|\b(?:could|can|would|will) you (?:please |just |maybe )?call me (?=(?-i:[A-ZÀ-Þ])[\w'’-]+(?: please| instead"
            r"| from now on)?\s*[.?!]*$)",
            "Call me ",
        ),
        (r"\b(?:i['’]m|i am) (?:better |mostly |usually |generally |also )?known (?:to \w+ )?as (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (
            r"\b(?:people|folks|friends|everyone|everybody|they|we|my friends|my family)(?: usually| always| often)? (?:shorten"
            r"|abbreviate) (?:it|my name) to "
            r"(?=(?-i:[A-ZÀ-Þ]))",
            "everyone calls me ",
        ),
        (r"\bthe name my (?:mum|mom|mother|dad|father|parents) gave me is (?=(?-i:[A-ZÀ-Þ]))", "my name is "),
        (
            r"\b(?:the )?(?:people|everyone|everybody|friends|colleagues|they|all|the guys)(?: here| at work)?"
            r" (?:are|is) (?:all |always )?calling me (?=(?-i:[A-ZÀ-Þ]))",
            "everyone calls me ",
        ),
        (r"\b(?:please |just |you can |but )*keep (?:using|calling me|saying|it at) (?=(?-i:[A-ZÀ-Þ]))", "call me "),
        (
            r"(?<=, )(?:so |but )?(?:please |just )+(?:say|use|write|put) (?=(?-i:[A-ZÀ-Þ])[\w'’-]+\s*(?:[.!]"
            r"|$))(?!(?-i:The|This|That|It|If|A)\b)",
            ", call me ",
        ),
        (
            r"\b(?:(?:my|the) )?name(?:['’]?s| is) (?-i:[A-ZÀ-Þ])[\w'’-]+,? (?:but|though|or) (?:just )?(?P<name>"
            r"(?-i:[A-ZÀ-Þ])[\w'’-]+) (?:is (?:fine|ok|okay|good|what|enough)|works|will do|for short)\b",
            r"Call me \g<name>",
        ),
        (r"\b(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+) for short\b", r"call me \g<name>"),
        (r"\bi go by my (?:middle|second|maiden|first|last|nick|stage) ?name,? (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (r"\bmy (?:short name|preferred name) is (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (rf"^\W*this is {_NAME}, (?=i\b)", r"Hi, I'm \g<name>, "),
        (
            r"^\W*(?:officially|on paper|legally)[, ]+(?:i['’]m|i am|my name is|it['’]s) (?-i:[A-ZÀ-Þ])[\w'’-]+,? (?:but"
            r"|though) (?:everyone|everybody|people|friends"
            r"|my friends|they|most people) (?:says?|uses?|calls? me) (?=(?-i:[A-ZÀ-Þ]))",
            "Everyone calls me ",
        ),
        (
            r"^\W*(?:my|the|all my) (?:[a-z]+ )?(?:passport|id|id card|certificate|papers|documents|badge|licen[cs]e|contract"
            r"|diploma|payslip|email"
            r"|email address|name tag|paperwork|visa|ticket|account|profile|card) (?:says?|reads?|states?|shows?|has|have|lists?|calls? me)"
            r" (?-i:[A-ZÀ-Þ])[\w'’-]+(?: (?-i:[A-ZÀ-Þ])[\w'’-]+)*\s*[,;.—–-]*\s*(?:(?:but|though|yet|however|and|still|everyone"
            r"|people|knows?|that"
            r"|in daily life|actually|really|usually|normally|mostly)\b[\s,]*)*"
            r"(?:(?:please|just|i|usually|normally|mostly|only|actually|really|always) )*(?:use|say|go by|call me) (?=(?-i:[A-ZÀ-Þ]))",
            "Call me ",
        ),
        # "I'm Jolanta, the one who emailed yesterday"
        (
            rf"^\W*(?:{_GREETS}[\s,!.]+)?(?:i['’]?m|i am|my name(?:['’]?s| is)|name['’]?s) {_NAME},? (?:the (?:one"
            rf"|woman|man|guy|person|girl|lady|chap"
            r"|student|customer|client|member|new one)|your (?:neighbou?r|new neighbou?r|colleague|tenant)) "
            r"(?:(?:who|that)(?:['’]s| had| has| just| also)? (?:\w+ed|wrote|sent|spoke|sat|met|came|lost|left|bought"
            r"|got|rang|made|took|brought|ran"
            r"|found|told|paid)\b|with (?:the|a|an|two|your)\b|from (?:the|your|across|upstairs|next|last)\b)[^.,;!?\n]{0,60}",
            r"Hi, I'm \g<name>",
        ),
        (
            r"\b(i go by (?-i:[A-ZÀ-Þ])[\w'’-]+) (?:though|instead|really|mostly|usually|everywhere|in daily life"
            r"|in everyday life|at work)\b",
            r"\1",
        ),
        (r"\bi (?:also |only )?answer to (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (r"\bi(?:['’]ve| have) (?:always |only )?(?:gone|been going) by (?=(?-i:[A-ZÀ-Þ]))", "I go by "),
        (
            r"\b(?:but|though|and)? ?(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+) is what (?:everyone|everybody|people|friends|my friends|they"
            r"|most people) (?:calls?|uses?|call me|use)(?: me)?\b",
            r", call me \g<name>",
        ),
    ),
    re.IGNORECASE,
    rewrite=_first_replaced,
)
_PROFILE: Final = re.compile(
    rf"^(?P<lead>\W*(?:(?:so|ok|okay|well|and|{_GREETS})[\s,!.]+)*)(?P<subject>i['’]?m|i am|my name(?:['’]?s| is)|name['’]?s) "
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
    rf"^\W*(?:(?:{_GREETS}|new (?:member|user|joiner|here)(?: here)?)[\s,!.:—–-]+)*{_NAME}(?P<surname>"
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
_CONTINUES: Final = re.compile(
    rf"^\W*(?:i['’]?m|i am) {_NAME}(?=(?:,? and (?:i|i['’]?m|my|we)\b|, \d\d\b|, i (?:live|work|am)\b"
    r"|,? (?:nice|pleased|good|great|lovely|happy|glad) to (?:meet|be|join)\b))",
    re.IGNORECASE,
)
"""An introduction that goes on: "I'm Perpetua and I need help"."""
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
_LONGEST: Final = 2000
"""Characters of a message with an introduction."""


def with_introductions(text: str) -> str:
    """A message with its introduction in the forms of the grammar. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > _LONGEST:
        return text
    text = _REWRITES.apply(text)
    text = _WITHOUT_VERB.sub(_as_introduction, _PROFILE.sub(_as_statements, text, count=1), count=1)
    found = _CONTINUES.match(text)
    return f"Hi, {text}" if found is not None and is_name(found["name"]) else text


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
    named = re.fullmatch(_NAME, first) is not None and is_name(first) and found["subject"].lower().startswith("i")
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
    if not is_occupation(_ARTICLE.sub("", bare)):
        return None
    article = "" if _ARTICLE.match(job) is not None else "an " if job[0].lower() in "aeiou" else "a "
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
