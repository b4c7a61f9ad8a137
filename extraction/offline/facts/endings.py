"""Statements that a fact is over or was never true: "I no longer live in Oslo", "I quit my job", "Tom and I broke up".

They set nothing; they remove the stored line that they are about, since an empty field is better than a false one. A statement ends a
line if it has a cue for that kind of fact and names the line's value, or if it ends whatever the value is ("I got fired").
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from extraction.offline.facts.sentence_facts import PlainFact
from extraction.offline.factuality.moods import PlainSentence, is_conditional
from extraction.offline.grammar.content_words import content_words
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.grammar.patterns import either, listed, whole
from extraction.offline.grammar.sentences import QUESTION_MARKS
from memory.texts.prefiltered_patterns import PrefilteredPattern, compiled
from runtime.sized_cache import sized_cache


def _words(*phrases: str) -> str:
    """A pattern for whole phrases that are separated by commas."""
    return whole(*map(listed, phrases))


_FREE_DIETS: Final = frozenset(("kosher", "halal", "teetotal", "diabetic", "coeliac", "celiac", "lactose-intolerant", "gluten-intolerant"))
"""Diets that allow meat."""
_PARTNERS: Final = frozenset(("boyfriend", "girlfriend", "partner", "fiancé", "fiancée", "fiance", "fiancee", "wife", "husband", "spouse"))
_SPOUSES: Final = frozenset(("wife", "husband", "spouse"))

_WE: Final = r"\b(?:i|we)\b"
_NOT: Final = _words("no longer, not, never, don't, doesn't, didn't, isn't, aren't, wasn't, haven't, hasn't, can't, cannot, won't")
_NO_MORE: Final = rf"(?:{_NOT}|{_words('used to, stopped, quit, gave up, given up')})"
_DO_NOT: Final = _words("do not, don't, stop")
_IT_IS: Final = _words("it's, it is, that's, that is")
_ON: Final = r"[^.;]*"
"""Up to the end of the clause."""
_HAVE: Final = r"(?:['’]ve| have|['’]m| am|['’]re| are)?"
_LATELY: Final = rf"{_HAVE}(?: {_words('just, finally, recently, officially, actually, sadly, already, now, only')})*"
_FOR_A_TIME: Final = rf"(?:{_words('until, till, before, back when, back then')}|\bfor (?:\w+ )?years?\b)"
_WHEN: Final = rf"(?: {_words('last, this, two, three, four, a few, some, yesterday, today, recently, already, in, on')}[^.,;]{{0,24}})?"
_PLACES: Final = _words("place, flat, house, home, city, town, country, apartment, area, village, neighbourhood, neighborhood, street")
_DWELLINGS: Final = _words("house, houses, home, flat, flats, apartment, apartments, city, cities, town, towns, country, countries")
_SOMEWHERE: Final = rf"(?:{_DWELLINGS}|{_words('abroad, away, out, again, elsewhere, somewhere else, in together')}|in with [^.,;]{{1,30}})"
_ANOTHER_PLACE: Final = rf"to (?:a|an|another|our|my)(?: \w+){{0,2}} {_PLACES}"
_DISMISSED: Final = _words("fired, laid off, let go, sacked, made redundant, dismissed, booted out, given the sack, given the boot, axed")
_DISMISSING: Final = _words(
    "let me go, laid me off, fired me, sacked me, dismissed me, made me redundant, gave me the sack, gave me the boot, gave me the push, "
    "showed me the door, terminated my contract, ended my contract, cut my job, cut my position, axed my job"
)
_WORKLESS: Final = _words("retired, unemployed, jobless, out of work, out of a job, between jobs, not working, no longer working")
_LIKING: Final = _words("like, love, enjoy, adore, prefer, liking, loving, enjoying, into, fan, fond, keen, care, interested, play, plays")
_DISLIKING: Final = _words("hate, dislike, mind, detest, loathe, hating, disliking")
_TIRED: Final = _words("gone off, went off, sick of, tired of, fed up with, bored of, bored with, done with, gave up, given up, stopped")
_LEARNED: Final = _words("come to, came to, grown to, grew to, started to, learned to, learnt to, actually, now, quite, really")
_CONSUMED: Final = _words("eat, eating, drink, drinking, wear, wearing, use, using, smoke, smoking, have, having")
_AGAIN: Final = _words("again, now, these days")
_PARTED: Final = _words(
    "broke up, broken up, breaking up, split up, divorce, divorced, separated, my ex, dumped, left me, i left, "
    "called it quits, called it a day, ended it, ended things, parted ways, finished with, no longer a"
    " couple, no longer an item, not a couple, "
    "it's over between, wedding is off, wedding's off, engagement is off, engagement's off, called off"
    " the wedding, called off our wedding, "
    "called off the engagement, are history, is history, are over, are through, not my fiance, not my fiancé,"
    " not my fiancée, chucked me, binned me"
)
_TOGETHER: Final = _words("together, friends, dating, married, engaged, my, with")
_GONE: Final = _words(
    """
    died, passed away, passed on, funeral, buried, cremated, rehomed, ran away, rainbow bridge, no longer with us, euthanised, euthanized,
    put to sleep, put down, has passed, had to say goodbye, said goodbye, rip, rest in peace, didn't make it, is gone, was run over
    """
)
DEAD: Final = r"\b(?:is|are) dead\b(?! (?:tired|asleep|set|serious|keen|to|on|against|weight|right|calm|lazy)\b)"
_ANY_FOOD: Final = _words("meat, fish, everything")

_WORDS_QUIT: Final = _words(
    "quit, left, resigned from, gave up, given up, walked out of, done with, finished with, moved on from, packed in"
)
_JOBS: Final = _words("job, jobs, gig, position, post, role, career, trade, profession")

_WHATEVER: Final[dict[Field, PrefilteredPattern]] = {
    Field.HOME: either(
        rf"{_WE} {_NO_MORE} (?:\w+ )?{_words('live, lived, living, based, stay, staying')} (?:t?here|at (?:that|this) address)\b",
        rf"^\W*(?:\w+,? ){{0,3}}{_WE}{_LATELY} (?:moved|relocated)(?: (?:{_SOMEWHERE}|{_ANOTHER_PLACE}))?{_WHEN}\s*[.!,]?\s*$",
    ),
    Field.OCCUPATION: either(
        rf"{_WE}{_LATELY} quit(?: (?:{_words('my, the, this, work, last, yesterday, today')})|\W*$)",
        rf"{_WE}{_LATELY} (?:resigned|retired(?! (?:my|the|our)\b)|lost my job|gave up my (?:job|practice|profession|career))\b",
        rf"{_WE}{_LATELY} left (?:my|the) (?:[\w-]+ ){{0,3}}?(?:job|post|position|role|company|firm|profession)\b",
        rf"^\W*(?:\w+,? ){{0,2}}?{_WORDS_QUIT} (?:my|the) (?:[\w-]+ ){{0,3}}?{_JOBS}\b",
        rf"{_WE}{_LATELY} {_WORDS_QUIT} (?:my|the|that|this) (?:[\w-]+ ){{0,3}}?{_JOBS}\b",
        rf"{_WE}{_LATELY} (?:gave|handed) in my (?:notice|resignation)\b",
        rf"{_WE}{_LATELY} stopped working(?! (?:on|with|out|at|from)\b)",
        rf"{_WE}{_HAVE}(?: {_words('got, was, were, been, just, finally')})+ {_DISMISSED}",
        rf"{_WE}{_LATELY} {_WORKLESS}(?! (?:on|with|out|from|my|the|our)\b)",
        rf"\b(?:(?:my|the|our) (?:[\w-]+ ){{1,3}}?|they |she |he |(?-i:[A-Z])\w+ )(?:{_words('just, finally, have, has, all')}"
        rf" )*{_DISMISSING}",
        rf"^\W*(?:so,? |and |now,? )*(?:{_words('jobless, unemployed, redundant')})\b",
    ),
}
"""Ends a fact of the kind, whatever its value is."""
_NAMED: Final[dict[Field, PrefilteredPattern]] = {
    Field.NAME: either(rf"\bmy name\b{_ON}{_NOT}", rf"{_NOT} (?:called|named)\b", rf"{_DO_NOT} call(?:ing)? me\b"),
    Field.HOME: either(
        rf"{_WE}{_ON}{_NO_MORE}{_ON}{_words('live, lived, living, reside, residing, based, home')}",
        rf"{_WE}{_LATELY} (?:moved|relocated|move) (?:(?:out|away) )?(?:of|from)\b",
        rf"{_WE}{_LATELY} left \w+(?: \w+)? (?:for good|behind|forever)\b",
        rf"{_WE} (?:once )?lived in\b{_ON}{_FOR_A_TIME}",
    ),
    Field.OCCUPATION: either(
        rf"{_WE}{_ON}{_NO_MORE}(?! (?:just|only|merely|simply)\b){_ON}{_words('a, an, the, my, your, as, being, work, job')}",
        rf"{_WE}{_HAVE} an? {_ON}{_words('no longer')}",
        rf"{_WE} was (?:an?|the)\b{_ON}{_FOR_A_TIME}",
        r"\b(?:former|ex)\b",
        rf"{_WE}{_LATELY} (?:left|sold|closed|quit|gave up|given up|stopped|done with|finished with|retired from|resigned)\b",
        r"^\W*(?:\w+,? )?(?:left|quit|gave up|done with|finished with)\b",
    ),
    Field.LIKE: either(rf"{_WE}{_ON}{_NO_MORE}{_ON}{_LIKING}", rf"{_WE}{_ON}{_TIRED}", rf"{_WE} quit\b"),
    Field.DISLIKE: either(
        rf"{_WE}{_ON}{_NO_MORE}{_ON}{_DISLIKING}",
        rf"{_WE}{_ON}{_LEARNED} (?:\w+ )?(?:like|love|enjoy)\b",
        rf"{_WE}{_LATELY} (?:started|begun|began) (?:liking|loving|enjoying)\b",
    ),
    Field.ALLERGY: either(rf"{_NO_MORE}{_ON}\ballerg", rf"{_words('outgrew, outgrown, got rid of')}{_ON}\ballerg"),
    Field.DIET: either(rf"{_WE}{_ON}{_NO_MORE}", r"\b(?:former|ex)\b", rf"{_WE} was (?:an? )?\w+{_ON}{_FOR_A_TIME}"),
    Field.AVOID: either(
        rf"{_WE}{_ON}{_CONSUMED}{_ON}{_AGAIN}",
        rf"{_WE}{_LATELY} (?:started|begun|began|back to) {_CONSUMED}",
        rf"{_WE} no longer avoid\b",
    ),
    Field.RELATION: either(
        _PARTED, rf"{_NOT}{_ON}{_TOGETHER}", _GONE, DEAD, rf"{_WE}{_LATELY} lost\b", r"\b(?:put|gave) (?:\w+ ){1,3}(?:down|to sleep|away)\b"
    ),
}
"""Ends a fact of the kind if the statement names its value."""
_MEAT_AGAIN: Final = either(
    rf"{_words('started, began, back to, went back to, resumed')} eating {_ANY_FOOD}", rf"\beat {_ANY_FOOD} {_AGAIN}"
)
_PARTNER_LOST: Final = either(
    rf"{_WE}{_HAVE}(?: \w+)? single {_AGAIN}", r"\bi (?:broke|split) up with (?:him|her|them)\b", r"\bwe (?:broke|split) up\b"
)
_DIVORCED: Final = either(rf"{_WE}{_LATELY} (?:(?:got|gotten|getting) )?divorced\b(?! parents)")
_DENIAL: Final = either(
    _words("i never said, i didn't say, i did not say, i lied about, forget that"),
    rf"{_IT_IS} {_words('not true, untrue, false, a lie, wrong')} that\b",
)
"""Takes back a statement, whatever its kind is."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CONJUNCTION: Final = re.compile(r",\s*(?:and |or )?|\s+(?:and|or|&)\s+")
_NO_VALUE_WORDS: Final = frozenset(
    ["a", "an", "the", "my", "our", "to", "of", "in", "at", "for", "and", "or", "eat", "drink", "wear", "buy", "use", "smoke"]
)
_CLAUSE_BREAK: Final = re.compile(r"[,;:—–]\s+|\s+but\s+", re.IGNORECASE)
_NO_MORE_WORDS: Final = compiled(r"\bno more\b", re.IGNORECASE)
_PRONOUN: Final = compiled(r"\b(?:it|them|that|those|one|him|her|so)\b", re.IGNORECASE)
_ACT_ENDING: Final = compiled(r"(?:ing|er|or|e)$")
_SHORTEST_ROOT: Final = 4
_CACHED_BYTES: Final = 2_000_000
"""Of each of two caches: a statement is compared with every line of a profile, and a line with every statement."""
_NEAR: Final = 2
"""A pronoun stands for what was stated at most so many messages before."""
_OTHER_TOPIC: Final = 2
"""Content words of a message from which on its later pronouns stand for something in it."""
_REPORTER: Final = either(
    rf"\b(?!(?:i|doctor|test|retest|tests|results?|allergist|gp|specialist"
    rf"|dermatologist)\b)\w+ {_words('say, says, said, claim, claims, claimed, think, thinks, told me, insists')}"
)


@dataclass(frozen=True, slots=True)
class Ending:
    """A clause that may end stored facts."""

    text: str
    message: int
    """Which of the writer's messages states it."""
    whatever: Field | None = None
    """A kind of fact that it ends, whatever the value is: a move to an unknown place ends the home."""
    opens: bool = True
    """Whether its message says nothing before it that its pronoun may stand for: in "Play chess, you'll see. I like it." it is chess."""
    about: tuple[str, ...] = ()
    """The values that a pronoun in it may stand for."""

    def ends(self, kind: Field, value: str, *, relation: str = "") -> bool:
        """Whether a fact is over after the statement.

        Args:
            kind: The kind of fact.
            value: Its value, without the words that name its kind.
            relation: Only for a relation: "sister".
        """
        if kind is self.whatever or ((cue := _WHATEVER.get(kind)) is not None and cue.search(self.text)):
            return True
        if kind is Field.RELATION and self._ends_partnership(relation):
            return True
        if kind is Field.DIET and value.casefold() not in _FREE_DIETS and _MEAT_AGAIN.search(self.text):
            return True
        # The cue first: few clauses have one, and looking for the value in a clause is costly.
        cue = _NAMED.get(kind)
        if _DENIAL.search(self.text) is None and (cue is None or cue.search(self.text) is None):
            return False
        is_named = self._names(value) or (kind is Field.OCCUPATION and self._names_act(value))
        return value in self.about or is_named or self._names_own(relation)

    def _ends_partnership(self, relation: str) -> bool:
        return (relation in _PARTNERS and _PARTNER_LOST.search(self.text) is not None) or (
            relation in _SPOUSES and _DIVORCED.search(self.text) is not None
        )

    def _names(self, value: str) -> bool:
        """Whether the statement has all words of the value, or of one of the values that it joins with "and"."""
        said = _stems(self.text)
        return any(part and part <= said for part in _parts_of_value(value))

    def _names_act(self, value: str) -> bool:
        """Whether the statement names the act of an occupation: "quit bartending" of a bartender, "left nursing" of a nurse."""
        roots = {_ACT_ENDING.sub("", word.casefold()) for word in _WORD.findall(value)}
        said = {_ACT_ENDING.sub("", word.casefold()) for word in _WORD.findall(self.text) if word.casefold().endswith("ing")}
        return any(len(root) >= _SHORTEST_ROOT for root in roots & said)

    def _names_own(self, relation: str) -> bool:
        """Whether the statement is about "my sister"."""
        return relation != "" and re.search(rf"\b(?:my|our) (?:\w+ )?{re.escape(relation)}\b", self.text, re.IGNORECASE) is not None


def endings_of(sentences: Sequence[PlainSentence]) -> list[Ending]:
    """The clauses that may end facts, in order. Questions, conditions and reports of others' words end none.

    Args:
        sentences: Those of one writer, in order.
    """
    found: list[Ending] = []
    said_before: Counter[int] = Counter()
    """Content words of each message up to a sentence."""
    for each in sentences:
        if _is_certain(text := _NO_MORE_WORDS.sub("no longer", each.text)):
            opens = said_before[each.message] < _OTHER_TOPIC
            found += (Ending(clause, each.message, opens=opens) for clause in _CLAUSE_BREAK.split(text))
        said_before[each.message] += len(content_words(each.text))
    return found


def with_antecedents(endings: Sequence[Ending], facts: Sequence[PlainFact]) -> list[Ending]:
    """The endings, each with the values that its pronoun may stand for: those of the same message and of the one that stated before it.

    Args:
        endings: Of one writer.
        facts: Of the same writer and the same messages.
    """
    found = []
    for each in endings:
        last = max((fact.message for fact in facts if fact.message < each.message), default=-1)
        is_near = each.opens and each.message - last <= _NEAR and _PRONOUN.search(each.text) is not None
        found.append(replace(each, about=tuple(fact.value for fact in facts if fact.message == last)) if is_near else each)
    return found


def _is_certain(text: str) -> bool:
    is_question = text.rstrip(" )\"'").endswith(QUESTION_MARKS)
    is_reported = _REPORTER.search(text) is not None and _DENIAL.search(text) is None
    return not is_question and not is_conditional(text) and not is_reported


@sized_cache(most_bytes=_CACHED_BYTES, entry_bytes=300, growth=12)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(each) for each in _WORD.findall(text))


@sized_cache(most_bytes=_CACHED_BYTES, entry_bytes=600, growth=24)
def _parts_of_value(value: str) -> tuple[frozenset[str], ...]:
    """The stems of each of the values that a value joins with "and"."""
    return tuple(_stems(part) - _NO_VALUE_WORDS for part in _CONJUNCTION.split(value))


def _stem(word: str) -> str:
    """A word without case and plural."""
    word = word.casefold().removesuffix("'s").removesuffix("’s")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
