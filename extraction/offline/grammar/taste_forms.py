"""The forms of statements about what the writer likes, dislikes, avoids and cannot eat."""

from typing import Final

from extraction.offline.grammar import value_patterns as values
from extraction.offline.grammar.acts import ABSTENTION, EVERY, HABIT_ACTS, NO_HABITS, OFTEN, OFTEN_ACTS, PRESENT, REGULARLY, SELVES
from extraction.offline.grammar.fact_grammar import Field, Form, form
from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words import people, tastes
from extraction.offline.words.clauses import ADVERBS

_OF_THIS_TALK: Final = rf"(?!{any_of(tastes.POINTERS)}\b)"
_WITH: Final = (
    rf"(?!{any_of(tastes.NO_COMPLEMENTS)}\b)"
    r"(?:of|in|on|with|by|at|from|without|about|along|around|under|over|near|behind|beside|next to|between|among|through|inside|outside)"
)
"""Begins a complement without which a taste would be another one: "cycling in the rain"."""
_MOST: Final = (
    r"(?:most(?=\s+(?:[a-z-]+\s+){0,2}?(?:[a-z-]{2,}s|fish|meat|fruit|music|seafood|food|cheese|poultry"
    r"|cake|bread|poetry|jazz|pasta|wine|beer)\b)"
    r"\s+(?!(?:of|people|days|times|things|was|is|his|its|this)\b))?"
)
"""Limits what one likes to most of a kind: "most cheeses"; not "I love most of it"."""
_OR_ALSO: Final = (
    rf"(?:\s+(?:n?or) (?!(?:i|my|we|the other|not|anything|so)\b){values.WORD}(?:\s+(?!{values.STOP}\b){values.WORD})?(?=\s*(?:[.,!]|$)))?"
)
_LIKED: Final = (
    rf"(?:{_MOST}{_OF_THIS_TALK}(?!being\b)(?!both\b(?!.*\band\b))(?:both\s+)?(?:\d{{2,4}}s\s+)?{values.PHRASE}"
    rf"|(?:any|every)thing (?:(?:with|from|made of) {values.PHRASE}|[a-z]{{3,}}(?:ed|y|ish|ous)\b))"
    rf"(?:\s+(?:in it\b|(?:{_WITH}|(?<=ing\s)(?:to|for)) {values.PHRASE}))?"
)
_TASTES: Final = (
    form(Field.LIKE, "<I> <loves>", rf"{_LIKED}{values.AND_ALSO}"),
    form(
        Field.LIKE,
        "<ever>? love|adore|can't_get_enough_of|cannot_get_enough_of",
        rf"{_OF_THIS_TALK}(?!(?:is|was|at|from|all|letters?|song)\b)(?-i:(?=[a-z])){values.PHRASE}",
        r"(?=\s*(?:[^\w\s?'’]|$))",
    ),
    form(Field.LIKE, "<I_am> <big_a>? <fan_of>", rf"{_LIKED}{values.AND_ALSO}"),
    form(Field.LIKE, "<I_have_always> loved|liked|enjoyed|adored|been_into|been_fond_of|been_a_fan_of", rf"{_LIKED}{values.AND_ALSO}"),
    form(Field.LIKE, "<big> fan of", values.PHRASE),
    form(Field.LIKE, "nothing beats|tops", values.PHRASE),
    form(Field.LIKE, "<I_am> a|an|more_of_a|totally_a|definitely_a", any_of(tastes.PERSON_OF), r"(?=\s+person\b)"),
    form(
        Field.LIKE,
        "<I> love|like|prefer",
        rf"to (?:(?!{any_of(tastes.TALKING)}\b)[a-z]+|listen(?= to\b)|go(?= (?:to (?!{values.STOP}\b)|[a-z]+ing\b)))"
        rf"(?:\s+(?!{values.STOP}\b){values.WORD}){{0,3}}"
        rf"(?:\s+(?:to|in|on|at|with|for|by|around) (?!(?:it|this|that|them|you|him|her|me|do|be|much|see|get|know)\b){values.PHRASE})?",
    ),
    form(Field.LIKE, "<my> main|favourite|favorite|biggest? hobby|hobbies|pastime|passion|passions <is>", values.PHRASE + values.AND_ALSO),
    form(
        Field.LIKE,
        "",
        rf"my (?:favou?rite|fave?) "
        rf"(?!(?:of|part|bit|line|one|thing|{any_of(people.RELATIVES)})\b)(?:[a-z-]+ ){{1,3}}(?:is|are) (?!(?:when|the (?:one|way)"
        rf"|that|not|probably|definitely not)\b){values.PHRASE}",
    ),
    form(
        Field.LIKE,
        "<I_am> <a> <big>?",
        rf"(?!{any_of(tastes.DEGREES, tastes.FERVOUR)}\b)[a-z]+(?:\s[a-z]+)?",
        r"(?=\s+(?:lover|enthusiast|fan|aficionado|addict|nerd|buff|devotee)s?\b(?:\s*[.,!;)]|$|\s+(?:and|so|but|i|we|who|since|too|myself|because)\b))",
    ),
    form(
        Field.LIKE,
        "",
        rf"(?!(?:my|our|your|his|her|their)\b)(?:{values.NAME}|(?-i:[A-Z]?[a-z]+(?:\s[a-z]+)?))",
        r"(?=\s+(?:is|are|has become|have become|became|has always been)\s+my\s+(?:(?:all-time|new"
        r"|absolute)\s+)?favou?rite\b(?!\s+(?:part|bit|line|one|idea|option)))",
    ),
    form(
        Field.DISLIKE,
        "<I_may>? <hates>",
        rf"{_MOST}{_OF_THIS_TALK}(?:being |people who )?{values.PHRASE}(?:\s+{_WITH} {values.PHRASE})?(?:\s+or (?!(?:i"
        rf"|my|we)\b){values.WORD}(?=\s*(?:[.,!]|$)))?{values.AND_ALSO}",
    ),
    form(
        Field.DISLIKE,
        "<I_am> <big>? terrified|petrified|scared|afraid|frightened|deathly_afraid|so_scared of",
        rf"{_OF_THIS_TALK}(?!(?!flying|driving|swimming)\w+ing\b)(?!(?:what|how|who|being|my|his|her|him|them|you|me|something"
        rf"|everything)\b)"
        rf"{values.PHRASE}",
    ),
    form(
        Field.DISLIKE,
        "",
        rf"(?!{any_of(tastes.POINTERS)}\b)[a-z]+(?: (?!(?:just|really|simply|still|definitely)\b)[a-z]+){{0,2}}",
        r"(?=\s+(?:(?:just|really|simply|still|definitely)\s+)*(?:is|are|was|were)?(?:n['’]?t| not)(?: really)? (?:my"
        r" thing|my cup of tea|for me)\b)",
    ),
    form(
        Field.DISLIKE,
        "<I> hate|dislike|detest|loathe|don't_like|do_not_like|can't_stand|can't_bear|don't_enjoy",
        r"to (?:cook|clean|drive|fly|swim|run|dance|sing|speak|talk|shop|iron|wash|read|write|exercise|travel"
        r"|queue|wait|phone|dress|get up|wake up|share|lose|eat|drink|sit)(?:\s+(?:on|in|at|with|to|for)?\s?"
        rf"(?!{values.STOP}\b){values.WORD}){{0,3}}",
    ),
    form(Field.DISLIKE, "<I_have_always> hated|disliked|loathed|detested|despised", rf"{_OF_THIS_TALK}{values.PHRASE}"),
    form(Field.DISLIKE, "<I_have>? never liked|enjoyed|cared_for|been_into|been_a_fan_of|been_fond_of", rf"{_OF_THIS_TALK}{values.PHRASE}"),
    form(
        Field.DISLIKE,
        "",
        r"(?!(?:it|that|this|these|those|you|he|she|they|people|kids|men|women|what|everything|nothing|the|my|your)\b)[a-z]+(?: [a-z]+)?",
        rf"(?=\s+(?:{any_of(tastes.REPELLING)}\s+me\b(?! (?:to|of|when|but))|{any_of(tastes.REPELLING_PHRASES)}))",
    ),
    form(Field.DISLIKE, "<I_am>? not|no|never <big_a>? <fan_of>", rf"{_MOST}{_OF_THIS_TALK}{values.PHRASE}{_OR_ALSO}{values.AND_ALSO}"),
)
_ALLERGEN: Final = rf"(?!{any_of(tastes.NO_ALLERGENS)}\b){values.LIST}"
_HEALTH: Final = (
    form(Field.ALLERGY, "<I_am> <intensely>? allergic|intolerant to", _ALLERGEN),
    form(Field.ALLERGY, "<I_have> <severe_a>? allergy|allergies|intolerance to", _ALLERGEN),
    form(
        Field.ALLERGY,
        "<I_have> <something_and>? <severe_a>?",
        r"(?!(?:an?|no|any|many|several|few|food|severe|bad|some|seasonal|multiple)\b)[a-z]+(?: (?:and )?[a-z]+)?",
        r"(?=\s+(?:allergy|allergies|intolerance)\b)",
    ),
    form(
        Field.ALLERGY,
        "<I> suffer|suffers from <severe_a>?",
        r"(?!(?:an?|severe|bad|food)\b)[a-z]+(?: [a-z]+)?",
        r"(?=\s+(?:allergy|allergies|intolerance)\b)",
    ),
    form(Field.ALLERGY, "<my> main|only|worst|biggest? food? allergy|allergies|allergens <is> to?", _ALLERGEN),
    form(Field.ALLERGY, "<I_have> <been> <intensely>? allergic to", _ALLERGEN, lasting=True),
    form(Field.ALLERGY, "<intensely>? allergic to", _ALLERGEN, r"(?=,?\s+(?:here|btw|by the way|fyi|sadly|unfortunately)\b)"),
    form(
        Field.ALLERGY,
        "my <severe_a>?",
        r"(?!(?:food|severe|bad|own|old|new|main|only)\b)[a-z]+(?: [a-z]+)?",
        r"(?=\s+allergy\b(?! (?:tests?|results?|is gone|went|was|has gone)\b))",
    ),
    form(Field.ALLERGY, "", r"[a-z]+(?: [a-z]+)?", r"(?=\s+allergy,? (?:here|btw|by the way|fyi|please note|just so you know)\b)"),
    form(
        Field.DIET,
        "<I_am> <a>? <dietary>?",
        rf"{any_of(tastes.DIETS)}s?",
        rf"(?:(?=\s+(?:household|family|couple|home)\b)|{values.CLAUSE_END})",
    ),
    form(Field.DIET, "<I_have> <been> <a>? <dietary>?", any_of(tastes.DIETS), lasting=True),
    form(Field.DIET, "<I> became|went|turned|go|stay|eat|keep|cook <a>? <dietary>?", any_of(tastes.DIETS, tastes.REGIMES)),
    form(
        Field.DIET,
        "<I> follow|keep|keep_to|adhere_to|stick_to|maintain|observe|eat|am_on <a>? <dietary>?",
        any_of(tastes.REGIMES),
        r"(?=\s+diet\b)",
    ),
    form(Field.DIET, "<I_am> on <a>? <dietary>?", any_of(tastes.REGIMES), r"(?=\s+diet\b)"),
    form(Field.DIET, "<I_have> gone|turned|become <a>? <dietary>?", any_of(tastes.DIETS)),
    form(Field.DIET, "<my> diet <is> <dietary>?", any_of(tastes.DIETS, tastes.REGIMES)),
    form(Field.DIET, "<dietary>?", any_of(tastes.DIETS), r"(?=\s+(?:here|since|for (?:\w+ ){0,2}(?:years|months|decades))\b)"),
    form(
        Field.DIET,
        "<I_have>",
        r"c(?:o)?eliac(?: disease)?|(?:type (?:1|2|one|two) )?diabetes",
        rf"(?! (?:in|on|risk|running)\b){values.CLAUSE_END}",
    ),
    form(Field.AVOID, "<I> don't|do_not|never|can't|cannot|can_not|won't <ever>? <eat>", rf"(?!{any_of(tastes.UNAVOIDED)}\b){values.LIST}"),
    form(
        Field.AVOID,
        "<I> avoid|shun|stay_away_from|steer_clear_of|keep_away_from|abstain_from <eating>?",
        rf"(?!{any_of(tastes.UNAVOIDED)}\b){values.LIST}",
    ),
    form(Field.AVOID, "<I> can't|cannot|can_not|don't|do_not|never have", rf"(?:any )?{any_of(tastes.FOODS)}(?:(?: or| and|,) [a-z]+)?"),
    form(
        Field.AVOID,
        "no",
        r"[a-z]+(?: [a-z]+)?(?:\s+(?:or|and)\s+[a-z]+)?",
        r"(?=\s+for me\b(?!\s+(?:today|tonight|this|tomorrow|yet|right|now|to|until|please just)))",
    ),
)
_HABITS: Final = (
    form(
        Field.HABIT,
        "<I>",
        rf"(?:{any_of(tastes.ROUTINES)}|go [a-z]{{2,}}ing)\b(?:\s+(?!{any_of(tastes.NO_ROUTINES)}\b)[\w'’-]+){{0,5}}?\s+{EVERY}\b",
        values.CLAUSE_END,
    ),
    form(
        Field.HABIT,
        "<I>",
        r"never (?:eat|snack|work) (?:anything )?(?:after|before) (?:\d{1,2}(?::\d\d)?(?: ?[ap]m)?|one"
        r"|two|three|four|five|six|seven"
        r"|eight|nine|ten|eleven|noon|midnight)",
        values.CLAUSE_END,
    ),
)
_NOT_IN_HABITS: Final = any_of(
    listed("and, or, but, so, because, since, for, when, while, if, who, which, that, it, this, you, your, him, her, them, than, like, as"),
    tastes.NO_ROUTINES,
)
_NO_ADVERB: Final = (
    rf"(?!(?:{OFTEN}|{any_of(each for each in ADVERBS if each != 'do')}|have|own|my|our|your|his|her|their"
    r"|the|an?|he|she|they|it|you|this|that|[a-z]+ly)\b)"
)
_HABIT_END: Final = (
    r"(?=\s*(?:[.,!;:)…—–]|$|[^\w\s'’])|\s+(?:and|but|so|because|since|which|who|where|though|lol|tbh|these"
    r" days|nowadays|too|as well|i|we|it)\b)"
)
_ACTS: Final = (
    *(form(Field.HABIT, "<I>", each, _HABIT_END) for each in HABIT_ACTS),
    *(form(Field.HABIT, "<I>", rf"{OFTEN} {each}", _HABIT_END) for each in OFTEN_ACTS),
    *(form(Field.HABIT, "<I>", rf"{each} {EVERY}", _HABIT_END) for each in OFTEN_ACTS),
    form(Field.HABIT, "<I>", rf"{OFTEN} (?!{NO_HABITS}\b)[a-z]{{2,}} (?:(?!{values.STOP}\b)[\w'’-]+ ){{1,4}}?{EVERY}", _HABIT_END),
    form(
        Field.HABIT,
        "<I>",
        rf"(?!{NO_HABITS}\b){_NO_ADVERB}{PRESENT} (?:(?!{_NOT_IN_HABITS}\b)[\w'’-]+ ){{1,6}}?{REGULARLY}",
        _HABIT_END,
    ),
    form(Field.HABIT, "<I>", ABSTENTION, r"(?=\s*(?:[.,!;)]|$)|\s+(?:any ?more|at all|and|so|myself)\b)"),
    form(Field.HABIT, "<I_have> <severe_a>?", r"sweet tooth|food aversion"),
    form(
        Field.HABIT,
        "<I>",
        r"never (?:eat|touch|have|take|work|snack|go out|answer emails|check my phone)(?: [a-z]+)?(?: [a-z]+)?"
        r" (?:after|before|past) (?:\d{1,2}(?::\d\d)?(?: ?[ap]m)?|lunch|dinner|tea|bed|bedtime|breakfast|noon"
        r"|midday|midnight|dark|work)",
        values.CLAUSE_END,
    ),
    form(Field.DIET, "<I_am> a|an", any_of(tastes.REGIMES, tastes.DIETS), r"(?=\s+(?:house|household|family|kitchen|home|couple)\b)"),
    form(Field.HABIT, "<I_am> <a> <big>?", SELVES, _HABIT_END),
    form(
        Field.AVOID,
        "<I> don't|do_not|never|can't|cannot|won't <ever>? <eat>",
        rf"anything (?:with|containing|made with|that contains) {values.PHRASE}",
    ),
)
_MATERIALS: Final = (
    form(Field.AVOID, "nothing with|in|made_of|made_from", rf"(?:any |real )?{any_of(tastes.MATERIALS)}"),
    form(
        Field.AVOID,
        "<I> won't|will_not|don't|do_not|never|refuse_to touch|wear|buy|own anything|things|clothes|stuff with"
        "|in|made_of|made_from|containing",
        rf"(?:any |real )?{any_of(tastes.MATERIALS)}",
    ),
    form(
        Field.AVOID,
        "no",
        rf"{any_of(tastes.MATERIALS)}(?:(?:,| or| and) (?:no )?{any_of(tastes.MATERIALS)})?",
        r"(?=,?\s+(?:please|pls|for me|thanks|thank you|ever)\b)",
    ),
)

TASTE_FORMS: Final[tuple[Form, ...]] = (*_TASTES, *_HEALTH, *_HABITS, *_ACTS, *_MATERIALS)
