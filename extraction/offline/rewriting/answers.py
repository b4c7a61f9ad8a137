"""Completes answers to questions of the assistant: "Where do you live?" and "Bergen" together state "I live in Bergen"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.occupations import is_occupation
from extraction.offline.words.people import PETS, RELATIVES
from memory.texts.prefiltered_patterns import compiled

_RELATION: Final = rf"(?P<relation>{any_of(RELATIVES, PETS)})"
_QUESTIONS: Final = (
    (rf"what(?:['’]s| is) your {_RELATION}['’]s name\b", "My {relation}'s name is {0}"),
    (rf"what(?:['’]s| is) the name of your {_RELATION}\b", "My {relation}'s name is {0}"),
    (rf"what(?:['’]s| is) your {_RELATION} called\b", "My {relation}'s name is {0}"),
    (
        r"what(?:['’]s| is) your (?:first |full |real )?name\b(?! (?:in|on|for|at)\b)|what (?:should|shall|can|may|do) i call you\b"
        r"|who am i (?:talking|speaking) (?:to|with)\b|(?:may|can) i (?:ask|have|know) your name\b",
        "My name is {0}",
    ),
    (
        r"where (?:in [\w ]+ )?do you (?:currently )?live\b|where do you reside\b|(?:which|what) (?:city|town|country|place"
        r"|village) (?:do you live in|are you (?:living|based) in)\b|where are you (?:currently )?(?:based|living)\b"
        r"|where(?:['’]s| is) (?:your )?home\b"
        r"|(?:which|what) (?:city|town|country|place|village) is (?:your )?home\b"
        r"|what(?:['’]s| is) your (?:home )?(?:city|town)\b|so you live in\b"
        r"|do you live in\b|where are you living\b",
        "I live in {0}",
    ),
    (
        r"what(?:['’]s| is) your (?:job|occupation|profession|line of work)\b|what do you do for (?:a living|work)\b"
        r"|what do you work as\b|what kind of work do you do\b|what do you do professionally\b",
        "I work as a {0}",
    ),
    (
        r"(?:do you have|have you got|have|got) any (?:food )?(?:allerg(?:y|ies)|intolerances)\b"
        r"|are you allergic to (?:anything|something)\b|what are you allergic to\b|any (?:food )?allergies\b"
        r"|which allergies do you have\b",
        "I'm allergic to {0}",
    ),
    (
        r"(?:are you(?: following| keeping| eating)?|do you follow|do you have|are you on) (?:a |any )?(?:special "
        r"|particular |specific )?(?:diet|dietary (?:restrictions|requirements|preferences|needs))\b"
        r"|any dietary (?:restrictions|requirements|preferences|needs)\b"
        r"|are you (?:a )?(?:vegetarian|vegan)\b|do you eat meat\b",
        "I'm {0}",
    ),
    (
        r"(?:any food|any foods|food|foods|anything|something|what|what food|which foods?)\b[^?]{0,20}\byou (?:dislike|hate"
        r"|can['’]?t stand|do not like|don['’]?t like|loathe)\b",
        "I dislike {0}",
    ),
    (
        r"(?:anything|any food|any foods|what|something)\b[^?]{0,20}\byou (?:don['’]?t|do not|can['’]?t|never|cannot) eat\b",
        "I don't eat {0}",
    ),
    (r"(?:what|which foods?) (?:don['’]?t|do) you (?:not eat|eat not|avoid|never eat)\b|what don['’]?t you eat\b", "I don't eat {0}"),
    (r"(?:do you have|have you got|got) (?:any )?(?:pets|animals|siblings|kids|children)\b", "I have a {0}"),
    (
        r"what are your hobbies\b|what(?:['’]s| is) your (?:main )?hobby\b|what do you (?:like|love|enjoy)(?: (?:doing"
        r"|to do))?(?: in your (?:free|spare) time)?\s*\?|do you have any hobbies\b|any hobbies\b",
        "I like {0}",
    ),
    (
        r"(?:(?:what|which|who)(?:['’]s| is| are) your|do you have an?|have you got an?|any) favou?rite "
        r"(?P<thing>(?:(?:kind|type|sort|genre) of )?[a-z]+(?: [a-z]+)??)\s*(?=\?|(?:so|then|and|to|of|in)\b)",
        "My favourite {thing} is {0}",
    ),
    (
        r"(?:what|which) (?:(?:kind|type|sort|genre|style)s? of )?[a-z]+(?: [a-z]+)? do you (?:usually |mostly |really )?"
        r"(?:like|love|enjoy|prefer)\b",
        "I like {0}",
    ),
)
_NEAR: Final = compiled(r"(?:near|close to|just outside|outside|around)\s+", re.IGNORECASE)
_NAMING: Final = re.compile(
    rf"^\W*(?:(?!(?:no|none|not|nope)\b|[^.!]*\b(?:but|{any_of(RELATIVES)})\b)(?P<kind>[^.!?]{{1,40}})[.!]\s*)?"
    r"(?:(?:his|her|its|their) name(?:['’]s| is)|(?:s?he|it)(?:['’]s| is) (?:called|named))\s+"
    r"(?P<name>(?-i:[A-Z][\w'’-]+)|(?!(?:not|still|on|in|my|the|an?|after)\b)[a-z]{3,15}(?=\s*(?:[.,!]|$)))",
    re.IGNORECASE,
)
_WHO_IS: Final = compiled(
    r"\bwho(?:['’]s| is) (?P<name>(?-i:[A-Z])[\w'’-]+)\s*\?"
    r"|^\W*(?:(?:and|so|sorry|wait|oh|ok|okay)\W+)*(?P<name_2>(?-i:[A-Z])[\w'’-]+)(?:\s+(?:is|being)\s*(?:\.{2,}|…)?|\s*(?:\.{2,}|…))\s*\?",
    re.IGNORECASE,
)
"""Asks who somebody is: "Who is Ben?", "And Ben is…?"."""
_RELATED: Final = re.compile(
    rf"^\W*(?:(?:oh|ah|well|hm+)\W+)*(?:(?:s?he|that)(?:['’]s| is)\s+)?(?:just )?(?:my|our) (?:(?:older|younger|elder"
    rf"|big|little|new) )?{_RELATION}(?=\s*(?:[.,!;]|$))",
    re.IGNORECASE,
)
"""Answers who somebody is: "my fiancé"."""
_PET: Final = compiled(rf"\b{any_of(PETS)}\b", re.IGNORECASE)
_NAMED_RELATION: Final = compiled(
    rf"\byour {_RELATION}\b|\b(?:what|which) (?:kind|type|sort|breed) of (?P<kind>{any_of(PETS)})s?\b"
    rf"|\bdo you have an? (?P<owned>{any_of(PETS)})\b",
    re.IGNORECASE,
)
_ASKED: Final = tuple((re.compile(rf"\b(?:{question})[^?]*\?", re.IGNORECASE), statement) for question, statement in _QUESTIONS)
"""Questions, and the statement that a noun phrase completes; the first that fits counts."""
_OPENERS: Final = listed("""
    yes, yeah, yep, sure, well, oh, um, uh, hmm, just, only, no, nope, nah, unfortunately, sadly, currently, right now, at the moment,
    mostly, mainly, i think it's, it's, it is, that's, that would be, to, in, at, as, a, an, ah, hi, hey, hello, thanks, ok, okay,
    good question, of course, these days, still, for now, actually, allergic to, haha, always, the, mine is, mine's, mine are,
    my favorite is, my favourite is, my favorites are, my favourites are, i would say, i'd say, i guess, i think, ha,
    probably, definitely, usually, lol, cool, nice
""")
_ANSWER_WORD: Final = r"[^\W\d_][\w'’&+-]*"
_ANSWER: Final = re.compile(
    rf"^\W*(?:{any_of(_OPENERS)}\b[\s,.!—–-]*)*+"
    rf"(?P<value>{_ANSWER_WORD}(?:\s+{_ANSWER_WORD}){{0,4}}?(?:,\s+(?-i:[A-Z])[\w'’-]+)?(?:,\s+[a-z]+\s+and\s+[a-z]+(?:\s[a-z]+)?)?)"
    r"(?:\s+(?:is fine|will do|works|is ok|is okay|please|mostly|mainly|probably|definitely|for sure))?(?P<rest>\s*(?:$|[^\w\s].*))$",
    re.IGNORECASE | re.DOTALL,
)
"""A noun phrase of up to five words after words such as "yes" and "in", and the rest."""
_ASKED_ITS_NAME: Final = compiled(
    r"\bwhat(?:['’]s| is| are) (?:the|his|her|its|their) names?\b(?! of\b)|\bwhat(?:['’]s| is) (?:he|she|it) (?:called|named)\b"
    r"|\bwhat (?:did|do|will|have) you (?:name|call|named|called)(?:d)? (?:him|her|it|them)\b|\b(?:does|do) (?:he|she|it) have a name\b",
    re.IGNORECASE,
)
"""Asks the name of somebody whom the message before introduced."""
_ITS_NAME: Final = re.compile(
    r"^\W*(?:(?:oh|ah|well|yes|we|i|his|her|its|name|is|it['’]?s|named|called|him|her|it|so far|just)\b[\s,!.:]*)*"
    r"(?P<name>[^\W\d_][\w'’-]{1,15})(?P<rest>(?:\s*$|\s*[^\w\s'’-].*|\s+(?=(?:after|because|and|since|s?he|hes|shes|it|its)\b).*))$",
    re.IGNORECASE | re.DOTALL,
)
_ASKED_AGE: Final = compiled(r"\bhow old are you\b|\bwhat(?:['’]s| is) your age\b|\byour age\s*\?", re.IGNORECASE)
_AGE: Final = re.compile(r"^\W*(?:(?:just|only|well|oh|um)\W+)*(?P<age>[1-9]\d)(?=\s*(?:$|[.,!]|and\b))", re.IGNORECASE)
_NO_NAME_YET: Final = compiled(
    r"^(?:no|not|none|nothing|undecided|dunno|idk|haven['’]?t|still|maybe|guess|why|unknown|secret|tbd|thinking|deciding|yes|yeah|nope|nah|good|great|sure|ask|what|who|later|soon)$",
    re.IGNORECASE,
)
_NO_NOUN_PHRASE: Final = re.compile(
    r"\b(?:hard|difficult|tough|say|question|not?|none|nope|nothing|never|yes|yeah|yep|sure|ok|okay|maybe|why|what|who|guess|you|i|i['’]m|im|it|that|this"
    r"|is|are|was|am|do|does|don['’]t|can|can['’]t|will|would|skip|pass|secret|private|tell|ask|call|names?|me|anywhere|nowhere"
    r"|everywhere"
    r"|here|thanks|later|stop|idk|dunno|somewhere|anything|everything|depends|rather|my|your|we|he|she|they|if|when|has"
    r"|have|had|used|wish|between|sometimes|neither|both|either|see|wherever|mars|far|good|bad|nice|great|fine|any|many"
    r"|lots|right|correct|exactly|indeed|true|definitely|absolutely|totally|precisely)\b",
    re.IGNORECASE,
)
"""Words of a refusal, a question or a clause."""
_ASKING_WORD: Final = compiled(r"\b(?:what|where|which|who|when|how|or)\b", re.IGNORECASE)
_JOKING: Final = compiled(r"\b(?:kidding|joking)\b|[🙄😏😉😜😝🤪]", re.IGNORECASE)


def completed(question: str, answer: str) -> str:
    """The answer as a statement if it begins with a noun phrase that answers a known question; otherwise the answer itself.

    Args:
        question: The only question of the assistant's message.
        answer: The user's next message.
    """
    relation = _NAMED_RELATION.search(question)
    named = _NAMING.match(answer)
    if relation is not None and named is not None and _NO_NAME_YET.match(named["name"]) is None:
        kind = _PET.search(named["kind"] or "")
        who = kind.group() if kind is not None else relation["relation"] or relation["kind"] or relation["owned"]
        return f"My {who}'s name is {named['name'].capitalize()}{answer[named.end() :]}"
    its = _ITS_NAME.match(answer) if relation is None and _ASKED_ITS_NAME.search(question) is not None else None
    if its is not None and _NO_NAME_YET.match(its["name"]) is None and "?" not in answer:
        return f"Its name is {its['name'][0].upper()}{its['name'][1:]}. {its['rest'].strip()}".strip()
    asked_who, related = _WHO_IS.search(question), _RELATED.match(answer)
    if asked_who is not None and related is not None and "?" not in answer:
        return f"My {related['relation'].lower()} is called {asked_who['name'] or asked_who['name_2']}{answer[related.end() :]}"
    age = _AGE.match(answer) if _ASKED_AGE.search(question) is not None else None
    if age is not None:
        return f"I'm {age['age']}. {answer[age.end() :].lstrip(' ,.!')}".strip()
    found = _ANSWER.match(answer)
    if (
        found is None
        or "?" in answer
        or _JOKING.search(answer)
        or _NEAR.match(found["value"])
        or _NO_NOUN_PHRASE.search(found["value"])
        or len(_ASKING_WORD.findall(question)) > 1
    ):
        return answer
    for pattern, statement in _ASKED:
        asked = pattern.search(question)
        if asked is not None:
            groups = {name: value for name, value in asked.groupdict().items() if value}
            if statement.startswith("I work") and not is_occupation(found["value"]):
                return answer  # "Complain."
            return f"{statement.format(found['value'], **groups)}{found['rest']}"
    return answer
