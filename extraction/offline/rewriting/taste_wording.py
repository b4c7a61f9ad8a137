"""Rewrites unusual wording of tastes, allergies and diets into the forms of :mod:`extraction.offline.grammar.taste_forms`.

Examples: "Musicals? Not my thing.", "aspirin allergy, please note", "I like very much to do the sailing".
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.people import RELATIVES
from extraction.offline.words.tastes import ADMIRERS, FOODS, MATERIALS
from memory.texts.prefiltered_patterns import Replacement, Rewrites, compiled

_BEGIN: Final = r"(?:^|(?<=[.!?]\s))(\W*)"
"""The begin of a sentence."""
_END: Final = r"(?=\s*(?:[.,!;)]|$|[^\w\s?'’\"]))"
_ADVERB: Final = any_of(
    listed(
        "really, so, totally, super, absolutely, quite, pretty, also, very, completely, just, honestly, still, personally, simply, properly"
    )
)
_NO_THING: Final = any_of(
    listed("""
    new, old, latest, another, more, first, next, last, good, nice, any,
    i, you, he, she, they, we, it, this, that, these, those, what, who, why, how, where, when, which, is, are, was, were, do, does, did,
    has,
    have, can, could, would, should, will, my, your, his, her, their, our, yes, no, ok, okay, right, really, sure, seriously, anyone,
    anything, else, remember, know, guess, ready, sorry, if, or
""")
)
_THING: Final = rf"(?!{_NO_THING}\b)[^\W\d][\w'’-]*(?: (?!{_NO_THING}\b)[\w'’&-]+){{0,3}}"
_ALLERGEN: Final = (
    r"(?!(?:an?|the|no|not|any|my|your|his|her|their|our|this|that|these|of|to|about|what|which|is|are|was"
    r"|food|seasonal|severe|bad|possible"
    r"|suspected|alleged|for|with|and|or|some|confirmed|known|mild)\b)[^\W\d][\w-]+"
)
_ALLERGENS: Final = rf"{_ALLERGEN}(?: {_ALLERGEN})?"
_KIND: Final = r"(allergy|intolerance)"
_DEGREE: Final = r"(?:an? )?(?:(?:confirmed|known|severe|bad|mild|serious|strong) )*"
_NOTE: Final = any_of(
    listed("""
    please note, note, for the record, just so you know, to note, as a heads-up, heads-up, heads up, fyi, be aware, please be aware,
    in case
    it matters, for your information, reminder, please remember, worth knowing, important, attention, beware, careful
""")
)
_EVERY_TIME: Final = r"(?:every (?:single )?time|each time|whenever\b|always\b|when(?:ever)? i\b)"
_FOOD: Final = any_of(
    FOODS, listed("dairy products, milk products, fructose, histamine, strawberries, kiwi, tomato, shrimp, prawns, legumes")
)
_SERVED_AS: Final = (
    r"(?:black|white|plain|raw|burnt|toasted|cold|hot|iced|strong|weak|decaf|unsweetened|sweet|spicy|mild|neat"
    r"|lukewarm|well done|medium rare|rare"
    r"|(?:with|without) (?:\w+ )?(?!(?:me|you|him|her|them|us|friends|it)\b)[a-z]+)"
)
_MEAL: Final = any_of(
    listed(
        "drink, snack, food, dish, tea, coffee, meal, breakfast, lunch, dinner, dessert, pizza, order, music,"
        " sport, comfort food, cake, beer"
    )
)
_STRONG_TASTE: Final = any_of(
    listed("big on, fond of, keen on, partial to, obsessed with, hooked on, crazy about, mad about, nuts about, passionate about")
)
_DEGREE_AFTER: Final = r"(?:very much|so much|a lot|really much|much|too much)"
_OTHERS: Final = compiled(rf"\b(?:he|she|they|his|her|their|him|them|{any_of(RELATIVES)}|kids|children|parents|friends?)\b", re.IGNORECASE)
"""Words of a text before a sentence without a subject, which may be about somebody else."""
_ATTRIBUTED: Final = compiled(
    r"(?:^|(?<=[.!?]\s))[^.!?\n]{3,120},\s+(?:(?:or )?(?:so|as) )?(?:(?:my|our|the|his|her|a) (?:[\w-]+ ){1,3}"
    r"|he |she |they |(?-i:[A-Z])\w+ )"
    r"(?:always |often |once |still |likes to |would )?(?:used to say|says?|said|claims?|claimed|joked|joke|insists)\b[^.!?\n]{0,30}[.!]?",
    re.IGNORECASE,
)
"""A sentence that ends with the name of who says it."""
_WITHOUT_SUBJECT: Final[tuple[tuple[str, str], ...]] = (
    # "Musicals? Not my thing."
    (
        rf"{_BEGIN}(?P<thing>{_THING})\?+\s+(?:{_ADVERB} )*not (?:{_ADVERB} )?(?:my thing|my cup of tea|for me|a fan){_END}",
        r"\1I dislike \g<thing>",
    ),
    (rf"{_BEGIN}(?P<thing>{_THING})\?+\s+(?:(?:big|huge|massive|total) fan|(?:{_ADVERB} )*my thing){_END}", r"\1I like \g<thing>"),
    # "really into archery these days", "big on jazz"
    (
        rf"{_BEGIN}(?:(?:{_ADVERB} )*{_STRONG_TASTE}|(?:{_ADVERB} )+{any_of(ADMIRERS)}) (?P<thing>{_THING})"
        rf"(?: (?:these days|lately|right now|at the moment|now|atm|again))?{_END}",
        r"\1I like \g<thing>",
    ),
    # "aspirin allergy, please note", "note: aspirin allergy"
    (rf"{_BEGIN}(?:{_DEGREE})({_ALLERGENS}) {_KIND}\s*[,;:(–—-]*\s*(?:so )?{_NOTE}{_END}", r"\1I have a \2 \3"),
    (rf"{_BEGIN}{_NOTE}\s*[:,–—-]\s*(?:{_DEGREE})({_ALLERGENS}) {_KIND}{_END}", r"\1I have a \2 \3"),
    (rf"{_BEGIN}(?:{_DEGREE})allergic reactions? (?:to|from) ({_ALLERGENS}),? {_EVERY_TIME}", r"\1I'm allergic to \2, every time"),
    (
        rf"{_BEGIN}(?:(?:was|got|been|just|recently|finally|newly) )*diagnosed with (?:{_DEGREE})({_ALLERGENS}) {_KIND}\b",
        r"\1I have a \2 \3",
    ),
    (
        rf"{_BEGIN}an? (?:(?:confirmed|known|diagnosed|severe|bad) )+({_ALLERGENS}) {_KIND} (?:is|means|keeps|makes"
        rf"|has)\b(?=[^.!?\n]*\b(?:i|me|my)\b)",
        r"\1I have a \2 \3. That means",
    ),
    # "Nothing with silk, I'm allergic to it"
    (
        rf"{_BEGIN}nothing (?:with|made of|made from|containing"
        rf"|that contains) (?:any )?({_ALLERGENS})(?: in it)?,?(?: please| pls)?\s*[,.;:–—-]*\s*"
        r"(?:as |because |since |cause |cos )?(?:i['’]?m|i am) (?:\w+ )?allergic to (?:it|them|that|those)\b",
        r"\1I'm allergic to \2",
    ),
    (
        rf"{_BEGIN}nothing (?:with|made of|made from|containing|in) (?:any )?({any_of(MATERIALS)})(?: in it)?,?(?: (?:please|pls|for me)\b|"
        r"\s*[,;–—-]+\s*(?:it|they|that) (?:makes?|gives?|irritates?) (?:me|my))",
        r"\1I avoid \2, as it affects me",
    ),
)
"""Sentences that are about the writer unless the text before them is about others."""
_WITH_SUBJECT: Final[tuple[tuple[str, str], ...]] = (
    # an opening that is no condition
    (
        rf"{_BEGIN}(?:just )?in case (?:it|this|that|you|anyone|someone)(?:['’](?:s|re))? ?(?:is |are )?(?:matters?"
        rf"|helps?|wonder\w*|relevant|important"
        r"|useful|asks?|need(?:s)? to know|cares?|needed)\s*[:,;–—-]+\s*",
        r"\1",
    ),
    # allergies
    (
        rf"\bi(?:['’]ve| have)? (?:(?:was|got|been|just|recently|finally|newly"
        rf"|also) )*diagnosed with (?:{_DEGREE})({_ALLERGENS}) {_KIND}\b",
        r"I have a \1 \2",
    ),
    (r"\bi(?:['’]ve| have)? (?:(?:was|got|been|just|recently|also) )*diagnosed with c(o?)eliac\b", r"I have c\1eliac"),
    (
        rf"{_BEGIN}(?:(?:the|my|two|several) )?(?:doctors?|allergist|(?:blood |skin |prick |allergy )*tests?|results?) (?:has |have )?"
        r"(?:just |recently )?(?:confirmed|showed|shown|found|established) (?:that )?(?=(?:i['’]?m"
        r"|i am) (?:\w+ )?(?:allergic|intolerant)\b)",
        r"\1",
    ),
    (
        r"\b(i['’]?m|i am) (?!(?:a|an|the|so|too|very|not|highly|totally|completely|quite|really|being|bit|more|less|extremely|racially"
        r"|religiously|lactose|gluten|fructose|histamine|dairy)\b)([a-z]{3,})[- ]intolerant\b(?! (?:of|to))",
        r"\1 intolerant to \2",
    ),
    (rf"\bi (?:always )?get (?:{_DEGREE})allergic reactions? (?:to|from) (?=\w)", "I'm allergic to "),
    (rf"\bi have (?:{_DEGREE})allergic reactions? (?:to|from) ({_ALLERGENS}),? (?={_EVERY_TIME})", r"I'm allergic to \1, "),
    (r"\bi react allergically to\b", "I'm allergic to"),
    (rf"\bi (?:always )?react (?:very |really )?badly to (?={_FOOD}\b)", "I'm intolerant to "),
    (
        rf"\bi (?:always )?(?:break out|come out|get) in hives (?:from|when i eat|when i touch|whenever i eat"
        rf"|if i eat) (?={_ALLERGENS}{_END})",
        "I'm allergic to ",
    ),
    (
        rf"\b(?:i|my (?:stomach|body|gut|belly)) (?:really |simply |just )?(?:can['’]?t|cannot|can not|doesn['’]?t|does not|don['’]?t) "
        rf"(?:really )?(?:tolerate|digest|handle|take)(?: any)? (?={_FOOD}(?: (?:or|and) {_FOOD})?(?: (?:well|at all))?{_END})",
        "I'm intolerant to ",
    ),
    (rf"\b(i['’]m intolerant to {_FOOD}) (?:well|at all)\b", r"\1"),
    # avoidance as far as possible
    (
        r"\bi (?:try to |always |usually |generally )?(?:avoid|steer clear of|shun|stay away from|keep away from) ([\w'’ -]{2,40}?),? "
        r"(?:where(?:ver)?|when(?:ever)?|if|as (?:far|much|often|best) as) (?:i (?:possibly )?can|(?:it is "
        r"|it['’]s )?(?:at all )?possible)\b",
        r"I avoid \1",
    ),
    # tastes
    (r"[\"“'‘]([^\"“”‘\n]{2,40})[\"”'’] (?:is|remains) (?:still )?my (?:all-time |absolute )?(favou?rite \w+)\b", r"My \2 is \1"),
    (
        rf"\bmy go-to(?: {_MEAL})? (?:is|are|remains) (?!(?:to|that|when|a joke|you|nothing|always to)\b)(?:still |always |usually )?",
        "I like ",
    ),
    (rf"{_BEGIN}there(?:['’]s| is) nothing (?:quite )?like (?=(?:an? )?[a-z])", r"\1Nothing beats "),
    (
        r"\bi (?:(?:always|only|only ever|usually) (?:drink|take|have|eat) (?:my )?|(?:drink|take|have)"
        r" my )((?!(?:it|that|them|this|time)\b)[a-z]+(?: [a-z]+)?) "
        rf"(?={_SERVED_AS}(?:,? (?:with |and )?(?:no|one|two|three) [a-z]+)?(?:{_END}| (?:because|since|and|but|so|as)\b))",
        r"I prefer \1 ",
    ),
    # learners: "I like very much to do the sailing"
    (
        rf"\bi ((?:really )?(?:like|love|enjoy|hate|dislike|don['’]?t like|do not like|prefer)) {_DEGREE_AFTER} "
        r"(?:to (?:do|make|go|practi[sc]e|play) )?(?:the )?(?!(?:when|if|that|how|to|your|it|this|what|for|you|and"
        r"|but|because)\b)(?=[a-z])",
        r"I \1 ",
    ),
    (
        rf"\bi ((?:really )?(?:like|love|enjoy|hate|dislike|don['’]?t like|do not like|prefer)) {_DEGREE_AFTER} to (?=[a-z])",
        r"I \1 to ",
    ),
    (rf"\bi (?:really )?(like|love|enjoy|hate|dislike|prefer) {_DEGREE_AFTER}(?=\s*(?:[.,!;]|$))", "I do"),
)
_CAPITAL_VERB: Final = compiled(r"(?<=\bI )[A-Z]")
_FLAGS: Final = re.IGNORECASE | re.MULTILINE
_LONGEST: Final = 2000
"""Characters of a message that is rewritten."""


def with_tastes_in_place(text: str, question: str = "") -> str:
    """A message with such statements in the forms of the grammar. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
        question: The assistant's question before it. Answers without a subject to a question about others are left as they are.
    """
    if len(text) > _LONGEST:
        return text
    text = _ATTRIBUTED.sub("", text)
    if _OTHERS.search(question) is None:
        text = _SUBJECTLESS.apply(text)
    return _SUBJECTED.apply(text)


def _of_writer(pattern: re.Pattern[str], replacement: Replacement, text: str) -> str:
    """The text with the first sentence that a pattern finds rewritten, unless the text before it is about others."""
    found = pattern.search(text)
    if found is None or _OTHERS.search(text[: found.start()]) is not None:
        return text
    statement = _CAPITAL_VERB.sub(lambda verb: verb.group().lower(), found.expand(str(replacement)))
    return text[: found.start()] + statement + text[found.end() :]


_SUBJECTLESS: Final = Rewrites(_WITHOUT_SUBJECT, _FLAGS, rewrite=_of_writer)
_SUBJECTED: Final = Rewrites(_WITH_SUBJECT, _FLAGS)
