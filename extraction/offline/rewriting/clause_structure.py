"""Puts what stands outside a clause into it: a topic that was named before, a time before the subject, a label, a doubled subject.

"Needles? I can't even look at them" becomes "I can't even look at needles", "Since the baby I can't face fish" becomes "I can't face fish
since the baby", "My favourite? Pistachio" becomes "My favourite is pistachio". The rules after it need not know these orders.
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.grammar.thing_patterns import POINTERS, is_taste
from extraction.offline.rewriting.times_and_changes import BEGIN, CHANGE_RULES, stated_first
from extraction.offline.words.people import RELATIVES
from extraction.offline.words.tastes import DIETS, DISLIKING, FOODS, LIKING
from memory.texts.prefiltered_patterns import Rewrites, compiled

_NO_TOPIC: Final = any_of(
    listed("""
    you, really, seriously, sure, right, ready, anyone, anybody, what, who, why, how, where, when, which, is, are, was, do, does, did,
    can, could, should, would, will, have, has, any, know, remember, see, guess, ok, okay, thanks, thank, sorry, please, hello, hi, hey,
    again, new, the other, dear, mum, mom, dad, mate, man, bro, dude, yes, no, nope, well, so, and, but, or, if, then, still, not, just,
    also, result, verdict, question, fact
""")
)
_TOPIC: Final = compiled(
    rf"{BEGIN}(?P<topic>(?!{POINTERS}\b)(?!{_NO_TOPIC}\b)[^\W\d_][\w'’-]*(?:"
    rf" (?!{_NO_TOPIC}\b)[^\W\d_][\w'’-]*){{0,2}})(?P<mark>\s*(?:\?+|…|\.\.\.|:|\s[–—-])|,)\s+"
    r"(?P<reaction>(?:(?:oh|ugh|ew+|yuck|yum|mm+|nah|no way|god|nope|yes|absolutely|bring it on|never|don['’]t get"
    r" me started|love it)[\s,!.]+)*"
    r"(?P<subject>i['’]m|i|we)?\b[^.!?\n:]{0,60}?)\b(?P<pronoun>it|them|that|those|the stuff)\b(?P<rest>[^.!?\n]*)",
    re.IGNORECASE,
)
_REACTS: Final = cue(
    listed(
        "love, adore, like, enjoy, hate, loathe, detest, despise, dislike, can't, cannot, don't, never, won't,"
        " allergic, avoid, fan, into, keen"
    )
)
"""A word without which nothing is a reaction to a topic; looked for first."""
_VERB: Final = compiled(
    r"^(?:(?:really|absolutely|just|so|totally|honestly|still|always) )*(?:love|adore|like|enjoy|hate|loathe|detest"
    r"|despise|dislike|can['’]?t|cannot|don['’]?t|never"
    r"|won['’]?t|couldn['’]?t|allergic|avoid|not (?:a fan of|into|keen on)|big fan of)\b",
    re.IGNORECASE,
)
"""Begins a reaction without a subject."""
_NO_REACTION: Final = cue(
    listed("""
    you, he, she, they, his, her, your, their, think, thought, know, said, told, heard, saw, did, was, were, had, will, would, bought,
    got, sold, lost, try, tried, check, done, fixed, need, want, read it, wrote, made, doing, put, took, found, gave, forgot, remember,
    hope, if, about it, mean, like that
""")
)
_TIME: Final = (
    r"(?:(?:ever )?since|thanks to|due to|because of|owing to|on account of|following|what with) "
    r"(?!(?:i|we|you|he|she|they|it|that|this|when|then)\b)(?:[\w'’-]+ ){0,5}?[\w'’-]+"
)
_SINCE_CLAUSE: Final = r"(?:ever )?since (?:i|we|my|our|the) (?:[\w'’-]+ ){1,6}?[\w'’-]+"
_STATED: Final = r"(?P<stated>(?:i|i['’]?m|we|we['’]re|i['’]ve|we['’]ve|my|our) [^.!?;,\n]{3,90})"
_CLOSE: Final = any_of(RELATIVES)
_PRAISE: Final = frozenset({"yes please", "anytime", "heaven", "bliss", "yum", "delicious"})


def _nobody(found: re.Match[str]) -> str:
    return f"we don't {(found['verb'] or found['verb_2']).lower()}"


def _like_me(found: re.Match[str]) -> str:
    """What the writer says of others like them, as a statement before it: "for someone who, like me, can't have eggs"."""
    verb = found["verb"].lower()
    own = {"is": "am", "are": "am", "has": "have", "doesn't": "don't", "doesn’t": "don't", "doesnt": "don't"}.get(verb, verb)
    own = own.removesuffix("s") if own in ("hates", "loves", "lives", "works") else own
    return f"me. I {own} {found['rest']}. "


def _in_order(found: re.Match[str]) -> str:
    """A statement whose object came first."""
    thing = found["thing"]
    return f"{found['lead']}{found['subject']} {found['verb']} {thing if thing.isupper() else thing[0].lower() + thing[1:]}"


def _judged(found: re.Match[str]) -> str:
    """A verdict on a thing of tastes as a statement; other verdicts as they are: "The bill? No thanks"."""
    if not is_taste(found["thing"]):
        return found.group()
    verb = "like" if found["verdict"].lower() in _PRAISE else "dislike"
    return f"{found['lead']}I {verb} {found['thing'].lower()}"


_FORMS: Final = (
    # a time or a cause before the subject
    (rf"(?P<lead>^\W*|(?<=[.!?\n]\s)|[,;]\s|\b(?:and|but|so|because|though) ){_TIME.join(('(?P<time>', ')'))},? {_STATED}", stated_first),
    (rf"(?P<lead>^\W*|(?<=[.!?\n]\s)|\b(?:and|but|so) ){_SINCE_CLAUSE.join(('(?P<time>', ')'))}, {_STATED}", stated_first),
    *CHANGE_RULES,
    # a label of the writer's own
    (
        rf"{BEGIN}my (?P<label>(?:(?:all-time|absolute|current|new|main|only|biggest) )*(?:favou?rite(?: (?!(?:is"
        rf"|are)\b)[a-z]+){{0,2}}|fave|go-to(?: [a-z]+)?"
        r"|hobby|hobbies|guilty pleasure|comfort food|comfort show|passion|obsession|thing))\s*(?:\?|:|\s[–—-])\s+(?!(?:it"
        r"|that|this|i|you|what|who|is|no|none)\b)",
        r"\g<lead>My \g<label> is ",
    ),
    (
        rf"{BEGIN}fav(?:ou?rite|e)? (?P<label>[a-z]+)\s*(?:\?|:)\s+(?!(?:it|that|this|i|you|what|who|is|no|none)\b)(?=\w+(?:"
        rf" \w+){{0,3}}\s*(?:, (?:obviously|always|of course|no contest|hands down|every time))?[.!]*\s*$)",
        r"\g<lead>My favourite \g<label> is ",
    ),
    # a question that the writer answers
    (
        rf"{BEGIN}(?:my|what['’]?s my|what is my) (?P<label>job|occupation|trade|profession|name|diet|hobby|home town|home)\?+\s+"
        r"(?!(?:it|that|this|i|you|what|who|is|no|none|not|do|does|can|well|why|how|ask|oh|um|hm+|er|yes|sure"
        r"|just)\b)(?=\w+(?: [\w'’-]+){0,4}\s*(?:[.,!]|$))",
        r"\g<lead>My \g<label> is ",
    ),
    (rf"{BEGIN}what (?:do )?i do(?: for (?:a living|work|money))?\?+\s+(?:well,? )?i (?=[a-z]+ )", r"\g<lead>For a living I "),
    (
        rf"{BEGIN}(?P<thing>(?-i:[A-ZÀ-Þ])[\w'’-]+)\? (?:that['’]s|that is|s?he['’]s|s?he is|oh,?) (?:just )?my (?P<label>{_CLOSE})"
        r"(?=\s*(?:[.,!]|$))",
        r"\g<lead>My \g<label> is called \g<thing>",
    ),
    (
        r"\b(?P<own>(?!(?:it|that|there|here|what|who|he|she|let|how|where|when|why|this|one|name|master|bachelor|doctor)\b)[a-z]{3,})['’]s"
        r" (?=(?:an?|the|my|our|off|out|not"
        r"|no|always|really|just|so|too|what|where|how|in|on|at|now|still|definitely|basically|absolutely|kind of|pretty much)\b)",
        r"\g<own> is ",
    ),
    # a doubled subject, and attitudes that leave the truth as it is
    (rf"{BEGIN}(?:me personally|for my part|speaking for myself),? (?=(?:i|i['’]m|i['’]ve|my)\b)", r"\g<lead>"),
    (rf"{BEGIN}for me,? (?:the )?(?=[a-z]+ (?:has|have|must|needs?) )", r"\g<lead>my "),
    (
        rf"{BEGIN}(?:truth be told|i have to say|i must say|i must admit|i (?:will|['’]ll) admit|i admit|gotta (?:say"
        r"|admit)|not gonna lie|i won['’]t lie|i can['’]t lie"
        r"|no word of a lie|let me tell you|i(?:['’]m| am) (?:afraid|proud to say|happy to say|ashamed to say|sorry to"
        r" say|not ashamed to say|glad to say)"
        r"|i don['’]t mind (?:saying|admitting)|i (?:dare|daren['’]t) say|the (?:thing|truth|fact) is|fact is|thing is"
        r"|believe it or not|as you can imagine|i confess"
        r"|i should warn you|you should know|trust me|believe me|mark my words|call me (?:old-fashioned|weird|crazy"
        r"|strange|odd|boring|picky|fussy|a snob),? but"
        r"|funny thing is|i hate to say it,? but|unpopular opinion|hot take|confession|guilty|same here|fun fact"
        r"|don['’]t judge me,? but|say what you like,? but"
        r"|i['’]d say|i would say|i guess you could say|i suppose you could say|it['’]s fair to say|put it this way|let['’]s just say"
        r"|(?:although |but |well )?now that(?=\s)"
        r"|if i['’]m honest|if i am honest|to tell (?:you )?the truth|between you and me|if you must know|don['’]t get me wrong)"
        r"(?: that)?[\s,:—–-]+(?=(?:i|i['’]m|im|i['’]ve|my|we|we['’]re)\b)",
        r"\g<lead>",
    ),
    # coordinated subjects that no clause may cut
    (
        r"\b(?P<thing>[\w'’-]+) and i (?=(?:(?:have|are|do|can|will|just|really|simply|not|never|no longer|don['’]?t"
        r"|aren['’]?t|haven['’]?t|can['’]?t|been) )+(?:mix|get on|get along|agree|friends|on speaking terms"
        r"|see eye to eye|click|parted ways|fallen out|a good match|compatible)\b)",
        r"\g<thing> and me ",
    ),
    # a subject with the writer in it
    (
        r"\b(?:he|she|they|(?:my|our) (?:[\w-]+ )?[\w-]+|(?-i:[A-Z])[\w'’-]+) (?P<verb>like|love|hate|enjoy|adore)s?"
        r" (?P<thing>[^.,;!?]{2,40}?),? (?:and|as) (?:so )?do i\b",
        r"I \g<verb> \g<thing>",
    ),
    (
        r"\b(?:he|she|they|(?:my|our) (?:[\w-]+ )?[\w-]+|(?-i:[A-Z])[\w'’-]+) (?:does ?n['’]?t|do ?n['’]?t|does not|do"
        r" not|never) (?P<verb>like|eat|drink)s? (?P<thing>[^.,;!?]{2,40}?),? and (?:neither|nor) do i\b",
        r"I don't \g<verb> \g<thing>",
    ),
    (
        r"\b(?:neither|none) of us (?P<verb>eat|drink|like|smoke)s?\b|\b(?:nobody|no one) in (?:our|my|this) (?:house"
        r"|household|family|home) (?P<verb_2>eat|drink|like)s\b",
        _nobody,
    ),
    (
        r"\b(?:every(?:one|body)|all of us) (?:in|at) (?:our|my|this) (?:house|household|family|home) (?P<verb>love"
        r"|hate|like|enjoy)s (?P<thing>[^.,;!?]{2,40}?), (?:me included|including me|me too|myself included)\b",
        r"I \g<verb> \g<thing>",
    ),
    (rf"{BEGIN}(?:unlike|same as|just like|like) (?:my|the|most) (?:\w+ )?\w+,? (?=(?:i|i['’]m|we)\b)", r"\g<lead>"),
    (
        r"\b(?:someone|somebody|people|anyone|those|a person|folks) (?:who|that),? like (?:me|myself),?"
        r" (?P<verb>can['’]?t|cannot|don['’]?t|doesn['’]?t|hates?|loves?|is|are|lives?|has|have|never|works?)"
        r" (?P<rest>[^.,;!?\n]{2,50})",
        _like_me,
    ),
    # "It's liver that I can't stand", "Golf? Boring."
    (
        rf"(?:{BEGIN}|(?P<comma>[,;]\s+))it(?:['’]s| is) (?P<thing>(?!(?:not|just|a|an|my|your|you|he|she|him|her|how|when|what|why|only"
        rf"|people|them|they|this|that)\b)[\w'’-]+(?: (?!that\b)[\w'’-]+){{0,3}}?) (?:that |which )?i (?:really |just |absolutely )?"
        rf"(?P<verb>{any_of(LIKING, DISLIKING)}|can['’]?t eat|avoid)(?: most| the most)?(?=\s*(?:[.,!;]|$))",
        lambda found: f"{found['lead'] or ''}{found['comma'] or ''}I {found['verb']} {found['thing']}",
    ),
    (
        rf"{BEGIN}(?P<thing>[\w'’-]+(?: [\w'’-]+){{0,2}})(?:\?|,) (?:so |absolutely |just |a bit |really"
        r" |definitely |maybe )?(?P<verdict>not for me|never again|boring|yuck|yucky|gross|no thanks|nope|disgusting|vile"
        r"|rank|grim|overrated|yes please"
        r"|anytime|heaven|bliss|yum|delicious)(?=\s*(?:[.,!;]|$))",
        _judged,
    ),
    # a diet in place of another
    (
        rf"\bi(?:['’]?m| am) (?:not|no longer) (?:an? )?{any_of(DIETS)}(?: any ?more| now)?,? (?:but |just |only |now "
        rf"|simply |more )+(?:an? )?(?P<diet>{any_of(DIETS)})\b",
        r"I'm \g<diet>",
    ),
    # the object first: "Pork I don't eat", "Coffee I can't drink any more"
    (
        rf"{BEGIN}(?P<thing>(?!(?:what|which|who|that|this|it|something|nothing|everything|anything|things?|if|when|so|how|no|not|one"
        rf"|all)\b)"
        r"[\w'’-]+(?: (?!(?:i|we|that|which|who)\b)[\w'’-]+){0,2}),? (?P<subject>i|we) (?P<verb>(?:really |just |simply "
        r"|still )*(?:do ?n['’]?t"
        r"|do not|can['’]?t|cannot|never|won['’]?t) (?:eat|drink|touch|like|wear|watch|smoke|stand)|hate|love|adore|detest|avoid)"
        r"(?=(?: at all| any ?more| either)?\s*(?:[.,!;]|$))",
        _in_order,
    ),
    # an adverb that weakens only the wording: "music is kind of my life"
    (r"\b(?P<is>is|are|['’]s) (?:kind of|sort of|kinda|sorta|pretty much|basically|literally|honestly|totally) (?=my )", r"\g<is> "),
    # learners' articles and short forms
    (
        r"\b(?P<verb>(?:don['’]?t|do not|never|can['’]?t|cannot|not|to) (?:eat|drink|like|take)|when i (?:eat|drink))"
        rf" the (?=(?:{any_of(FOODS)})\b(?! (?:you|he|she|they|we|that|which|from|at|on)\b))",
        r"\g<verb> ",
    ),
    (r"\b(?P<word>obsessed|in love|done|fed up|bored|good|happy|ok|okay|live|living|work|working|lives) w/? (?=[a-z])", r"\g<word> with "),
)
_IN_PLACE: Final = Rewrites(_FORMS, re.IGNORECASE)
_ITEM: Final = (
    r"(?!(?:i|i['’]m|my|we|you|he|she|they|it|this|that|and|but|so|which|who|because|when|if|not"
    r"|the)\b)[\w'’&-]+(?: (?!(?:i|and|or|but|so|which|who|because|when|if|is|are|was)\b)[\w'’&-]+){0,3}?"
)
_LISTED: Final = compiled(
    r"(?P<verb>\b(?:i|we) (?:(?:really|absolutely|also|both|just|truly|do|still|mostly) )*(?:love|like|enjoy|adore"
    r"|prefer|hate|dislike|detest|loathe|can['’]?t stand|don['’]?t like"
    rf"|don['’]?t eat|can['’]?t eat|avoid|am into|['’]?m into|can['’]?t have|don['’]?t drink) )(?P<items>{_ITEM}(?:,"
    rf" {_ITEM})+,? (?:and|or|&) {_ITEM})(?=\s*(?:[.!;]|$|\n))",
    re.IGNORECASE,
)
"""A list of tastes: "I love hiking, baking and old films"."""
_LONGEST: Final = 2000
"""Characters of a message that is rewritten."""


def with_plain_structure(text: str) -> str:
    """A message with its topics, times and labels in their clauses. Only facts are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > _LONGEST:
        return text
    if _REACTS.search(text) is not None:
        text = _TOPIC.sub(_with_topic, text)
    return _LISTED.sub(_apart, _IN_PLACE.apply(text))


def _with_topic(found: re.Match[str]) -> str:
    """A clause with its topic in place of the pronoun. After a comma or a colon, the topic must be a thing of tastes, not "Maria"."""
    reaction, topic = found["reaction"], found["topic"]
    if _NO_REACTION.search(f"{reaction} {found['pronoun']}{found['rest']}") is not None:
        return found.group()
    if found["mark"].strip() in (",", ":", "-", "–", "—") and not is_taste(topic):
        return found.group()
    if found["subject"] is not None:
        own = reaction[found.start("subject") - found.start("reaction") :]
    elif _VERB.match(reaction) is not None:
        own = f"I {reaction[0].lower()}{reaction[1:]}"
    else:
        return found.group()
    thing = topic if topic.isupper() or (" " in topic and topic.istitle()) else topic[0].lower() + topic[1:]
    return f"{found['lead']}{own}{thing}{found['rest']}"


def _apart(found: re.Match[str]) -> str:
    """A list of tastes as one statement for each of its items."""
    items = re.split(r",\s*(?:and |or |& )?|\s(?:and|or|&)\s", found["items"])
    return ". ".join(f"{found['verb']}{each}" for each in items if each)
