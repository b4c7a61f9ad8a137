"""Facts that a clause states in other words than the grammar's: "curry doesn't agree with me", "our commute from Reading".

The grammar reads a subject, a verb and a value in this order. People also make the thing the subject ("saunas keep me sane"), mention
a home by what they do there ("send it to my place in Trondheim"), or name their work by its place ("off nights at the bottling plant").
Each rule gives a clause as one statement of the grammar, which is read before the clause. It is not read from a question, a quotation or
a report, nor from a clause with a condition, a wish or a doubt.
"""

import re
from collections.abc import Iterator
from typing import Final

from extraction.offline.factuality.mood_patterns import REPORT
from extraction.offline.factuality.moods import before_report
from extraction.offline.grammar.clauses import clauses_of, statement_of
from extraction.offline.grammar.patterns import any_of, cue, either, listed, whole_apart
from extraction.offline.grammar.thing_patterns import checked
from extraction.offline.implied.homes import HOME_RULES
from extraction.offline.implied.reaction_frames import CONDITION_OF_REACTION, DOCTOR, REACTION_FRAMES, TWO_CLAUSES
from extraction.offline.implied.spoken_frames import SPOKEN_FRAMES
from extraction.offline.implied.standing_orders import STANDING_ORDERS
from extraction.offline.implied.taste_frames import TASTE_FRAMES
from extraction.offline.implied.tastes import TASTE_RULES
from extraction.offline.implied.work import WORK_RULES
from extraction.offline.words.people import MANY_RELATIVES, RELATIVES
from memory.texts.prefiltered_patterns import Rewrites, Table, compiled

_RULES: Final = Table(
    (
        (pattern, checked(pattern, statement))
        for pattern, statement in (
            *TASTE_RULES,
            *TASTE_FRAMES,
            *REACTION_FRAMES,
            *STANDING_ORDERS,
            *HOME_RULES,
            *WORK_RULES,
            *SPOKEN_FRAMES,
        )
    ),
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(
    r"[^.!?\n]+(?:(?:\.(?=\w)|(?<=\bDr)\.|(?<=\bMr)\.|(?<=\bMs)\.|(?<=\bSt)\.|(?<=\bMrs)\.|(?<=\bProf)\.)[^.!?\n]*)*[.!?\n]*"
)
_UNREAL: Final = either(
    *whole_apart(
        listed("""
        if, unless, whether, would, wouldn't, could, couldn't, might, wish, wished, imagine, suppose, supposed, supposedly, pretend*, maybe,
        perhaps, probably, apparently, allegedly, hypothetical*, used to, once, dream*, hope, hoping, want to, wanna, going to, gonna, will,
        thinking of, thinking about, considering, almost, nearly, kidding, joking, not true
""")
    ),
    r"\b(?:i|we)['’](?:d|ll)\b",
)
"""Words by which a clause may not state what holds now. Without its apostrophe, "i'll" would also be found in "makes me ill"."""
_TOLD: Final = cue(
    listed("""
    says, said, saying, tells, told, claims, claimed, according, thinks, thought, believes, asked, wrote, writes, quote, lyrics,
    novel, story,
    character, character's, quest, guild, dungeon, npc, translate, rewrite, proofread, rephrase, summarise, summarize, correct, roleplay,
    role-play, example, poem, essay, template, caption
""")
)
"""Words by which a sentence may hold somebody else's words or a text to work on."""
_OWN_TELLING: Final = compiled(
    r"\b(?:i|i['’]ve) (?:told|tell|said|say|keep (?:telling|saying)|always (?:say|tell)) (?:(?:him|her|them"
    r"|people|everyone|my \w+|(?-i:[A-Z])\w+) )?"
    r"(?:that )?(?=(?:i|i['’]m|we|we['’]re)\b)",
    re.IGNORECASE,
)
"""The writer's own words before a statement: "I told him I'm not leaving Hull"."""
_UNDONE: Final = compiled(
    r"\b(?:then|but|and)(?: i)?(?: have|['’]ve)? (?:started again|went back|gone back|gave in|relapsed|ignored"
    r"|didn['’]?t|haven['’]?t|don['’]?t listen|started (?:it )?again)\b",
    re.IGNORECASE,
)
"""Says that what a clause implies did not last: "I stopped eating meat, then started again"."""
_MEANT_SO: Final = Rewrites(
    (
        (r"\b(?:could|would|might|will) kill me\b", "can kill me"),
        (
            r"\b(?:i['’]d|i would) rather (?:starve|die|go hungry|go thirsty|go without|walk|eat my (?:own )?\w+"
            r"|do anything) than (?=(?:eat|drink|wear|watch|listen to|play)\b)",
            "I refuse to ",
        ),
        (
            r"\b(?:i['’]d|i would|i could) (?:kill|sell my soul|give anything|walk miles|cross the road) for"
            r" (?:a |an |some )?(?:good |decent |nice |proper )?",
            "I rave about ",
        ),
        (
            r"\b(?:i['’]d|i would) (?:much |far |always |still )*(?:rather|sooner) (?=(?!(?:be|have|do|not|die|you|it|this"
            r"|that|they|see|get|go|know"
            r"|hear|say|stay|wait|pay|live|work|move|use)\b)[a-z]+(?: (?!(?:than|it|this|that|you)\b)[\w'’-]+){0,3}? than"
            r" (?!(?:you|i|we|he|she|they|this|that|be)\b))"
            r"(?P<act>(?:(?!(?:the|this|your|my|his|her|these)\b)[^.,;!?]){2,40}?) than\b",
            r"I like to \g<act> rather than",
        ),
        (
            r"\b(?:i['’]d|i would) (?:always |still )*(?=(?:choose|pick|take|go for) [\w' -]{2,30} over (?![^.!?]*\b(?:for"
            r" (?:this|the|our|my)|here|today|tonight)\b))",
            "I ",
        ),
        (
            r"\bi (?:wouldn['’]?t|would not|would never) (?:(?:ever|even) )*(?:touch|go near|eat|drink|be (?:seen|caught)"
            r" dead (?:in|at|on|with|near|eating|drinking"
            r"|wearing|watching)|set foot (?:in|on)) (?:an? |the |any )?",
            "I can't face ",
        ),
        (rf"\b(?P<by>{DOCTOR}(?:['’]s| has| have)?) (?:told|asked) me (?=to\b|not\b|never\b)", r"\g<by> ordered me "),
        (
            r"\b(?P<been>i['’]?m|i am|i['’]?ve been|i have been|i was) (?:told|asked) (?=to\b|not to\b|never to\b|by my\b)",
            r"\g<been> ordered ",
        ),
        (r"\bi['’]ll (?=(?:eat|drink|watch|read|play|listen to) (?:(?:just about|almost|pretty much) )?(?:anything|everything) )", "I "),
        (r"\b(?:i|you) could (?=(?:talk|go on|chat|bang on|ramble|bore you|geek out|read) (?:on )?about )", "I can "),
        (
            r"\byou(?:['’]d| would| could|couldn['’]?t| could not) (?:have to |never |n['’]?t )?(?:pay|bribe) me to"
            r" (?:(?:go|eat|drink|wear|watch|do|have|be|try) )?(?:an? |the |in |on )?",
            "I can't face ",
        ),
        (r"\byou(?:['’]d| would) never (?=(?:catch|get|see|find|drag) me\b)", "you will never "),
    ),
    re.IGNORECASE,
)
"""A conditional in form only."""
_BEGINS_CONDITION: Final = compiled(
    r"\W*(?:(?:and|but|so)\s+)*(?:if|unless|suppose|imagine|say (?:i|we)|as if|when i was)\b", re.IGNORECASE
)
_PART: Final = re.compile(r",\s+(?:(?:so|but|and)\s+)?(?!where\b)|\s+(?:because|cos|cuz|so|but)\s+", re.IGNORECASE)
"""Separates the parts of a clause that may each imply something."""
_FIRST_PERSON: Final = compiled(r"\b(?:i|i['’]m|im|me|my|we|we['’]re|us|our)\b", re.IGNORECASE)
_OTHERS: Final = compiled(rf"\b(?:he|she|they|you|{any_of(RELATIVES, MANY_RELATIVES)})\b", re.IGNORECASE)
"""A subject before a part without the first person: "my dad's simple, strictly tea"."""
_POINTED_AT: Final = compiled(r"\b(?:that|these|those)\s+$", re.IGNORECASE)
"""Before a thing, says that it is one of the conversation: "that painting's amazing"."""
_OF_PLACES: Final = ("I live in ", "I moved to ")
_LONGEST: Final = 2000
"""Characters of a message that may imply something."""


def with_implied_facts(text: str) -> str:
    """A message with what its clauses imply as statements before their sentences. Only facts are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > _LONGEST or next(_RULES.possible(_MEANT_SO.apply(text)), None) is None:
        return text
    return _SENTENCE.sub(_with_statements, text)


def _with_statements(found: re.Match[str]) -> str:
    sentence = found.group()
    own = CONDITION_OF_REACTION.sub("when i ", _MEANT_SO.apply(_OWN_TELLING.sub("", sentence)))
    if next(_RULES.possible(own), None) is None or any(mark in sentence for mark in '?:"“”«»') or sentence.lstrip().startswith(">"):
        return sentence
    if REPORT.search(own) is not None:
        own = before_report(own) or ""
    if _TOLD.search(own) is not None or _UNDONE.search(own) is not None:
        return sentence
    if _BEGINS_CONDITION.match(own) is not None:
        own = own.partition(" but ")[2]  # "If I moved I would earn more, but I stay by my parents in Plovdiv"
    stated = list(dict.fromkeys(_stated(own.rstrip(" .!\n"))))
    if not stated:
        return sentence
    begin = len(sentence) - len(sentence.lstrip())
    return f"{sentence[:begin]}{' '.join(f'{each}.' for each in stated)} {sentence[begin:]}"


def _stated(sentence: str) -> Iterator[str]:
    for clause in [sentence] if TWO_CLAUSES.match(sentence) is not None else clauses_of(sentence):
        for part in filter(None, dict.fromkeys((*_PART.split(clause), clause))):
            before = sentence.partition(part)[0]
            if _FIRST_PERSON.search(part) is not None or _OTHERS.search(before) is None:
                yield from _implied(part)


def _implied(part: str) -> Iterator[str]:
    if _UNREAL.search(part) is not None:
        return
    things: set[str] = set()
    for text in dict.fromkeys((part, statement_of(part))):
        for pattern, statement in _RULES.possible(text):
            found = pattern.search(text)
            if found is None or found["x"] in things or _POINTED_AT.search(part.partition(found["x"])[0]) is not None:
                continue
            stated = found.expand(statement) if isinstance(statement, str) else statement(found)
            if stated is not None:
                things.add(found["x"])
                yield stated if found.start("x") or stated.startswith(_OF_PLACES) else stated.replace(found["x"], _lowered(found["x"]))


def _lowered(thing: str) -> str:
    """A thing that began its sentence, without the capital of the begin."""
    return thing[0].lower() + thing[1:] if thing[1:].islower() else thing
