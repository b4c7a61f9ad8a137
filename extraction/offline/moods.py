"""Finds the sentences of a message that are plain: what their writer states about the present as true.

A sentence is not plain if a mood is found in it or around it. Two kinds of cues are looked for:

- **Cues for a whole message**, since they are about its other sentences: a text to process (translate, proofread, write a story), a role or
  a fiction, irony and jokes, somebody else's words after a colon, a later "just kidding". A role goes on in the messages after it.
- **Cues for one sentence**: a question, a quotation, a condition, a wish, a report ("she says"), a doubt.

When a cue is doubtful, the sentence is not plain: an empty profile field is better than a wrong one, and its event is stored anyway.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extraction.offline.blocks import blocks_of, prose_of
from extraction.offline.sentences import QUESTION_MARKS, sentences_of
from memory.language import is_english


@dataclass(frozen=True, slots=True)
class PlainSentence:
    """A sentence that may state a fact."""

    text: str
    message: int
    """Which of the messages it is from."""
    states_present: bool = True
    """False where only names of relatives are believed: in a question, a condition or a report."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_TASK: Final = _any(
    r"\b(?:translat(?:e|es|ed|ing|ions?)|proof-?read\w*|summari[sz]e|re-?write|re-?phrase|paraphrase|spell-?check"
    r"|transcribe|traduis\w*|traduce|übersetze?)\b",
    r"\b(?:correct|fix|check|improve|polish|edit|shorten|format|convert|parse|classify|analy[sz]e|explain|complete"
    r"|finish|continue|repeat|quote|read out|say)"
    r"(?: (?:this|these|the|my|following|for me|after me))*(?: (?:text|sentences?|words?|lines?|paragraphs?|code|json"
    r"|table|list|data|e-?mail|letter|essay|message|following|below|above)\b|\s*:)",
    r"\b(?:grammar|spelling|wording)\b|(?<!sorry, )(?<!oops, )(?<!^)\btypos?\b(?!\s*[:,])",
    r"\bhow (?:do|would|can|should) (?:you|i|we|one) (?:say|write|spell|pronounce|put)\b",
    r"\bwhat(?:['’]s| is| does| do) .{0,40}\b(?:mean|in (?:french|german|spanish|english)|for [\"'“‘]|(?:french|german"
    r"|spanish|english|latin|italian) for)\b",
    r"\b(?:write|draft|compose|generate|create|make up|come up with|give me|tell me|put|type|enter|send|post"
    r"|reply with|answer with|say)\b.{0,40}"
    r"\b(?:story|stories|poem|songs?|lyrics|bio|profile text|email|e-mail|letter|dialogue|script|essay|speech|caption"
    r"|tweet|post|text|message|sentences?|joke|reply|field|form|box|line)\b",
    r"\b(?:example|sample|template|placeholder|test data|dummy|lorem ipsum|mock|exercise|practice|rehears\w+|fill in|dictation)\b",
    r"\b(?:answer|reply to|respond to|handle|read|look (?:at|over)|deal with|what do you think (?:of|about)"
    r"|thoughts on|got|received|found|here['’]?s|here is|this is|see)\b.{0,25}"
    r"\b(?:e?-?mail|letter|message|text|review|post|comment|ticket|request|application|cv|resume|profile|ad|listing"
    r"|tweet|dm|note|paragraph|passage|article|transcript|log|snippet|quote)\b",
    r"^\W*test(?:ing)?\b",
    r"\b(?:his|her|their|whose|\w+['’]s) (?:answers?|repl(?:y|ies)|words|bio|statement|description|entry|post|ad)\s*:",
    r"\b(?:cover letter|application|cv|resume|bio|profile|testimonial"
    r"|statement|essay|letter|note|post|answers?) (?:of|by|from) [^:\n]{1,50}:",
    r"^\W*(?:say|repeat|quote|echo|print|note that down)\s*:",
)
_FICTION: Final = _any(
    r"\b(?:let['’]?s|let us|want to|wanna|time to|shall we) (?:play|pretend|role-?play|imagine|act)\b|\brole-?play\w*"
    r"|\brp\b|\bpretend\w*|\bmake[- ]believe\b",
    r"\b(?:act|acting|behave|speak|talk|answer|respond) (?:as|like)\b|\byou(?:['’]re| are| be)(?: now)? (?:a|an|the"
    r"|my) \w+|\blet me be\b|\bi(?:['’]ll| will) be the\b",
    r"\b(?:character|protagonist|narrator|villain|heroine|avatar|persona|novel|screenplay|script|chapter|fiction"
    r"|fanfic\w*|fairy ?tale|stanza|haiku|monologue|dialogue|campaign|dungeon|d&d|dnd|larp|quest|npc|improv game)\b",
    r"\b(?:song|movie|film|poem|verse|lyrics?|book|story|scene|episode|play|game) (?:goes|says|begins|starts|opens"
    r"|in which|where (?:i|he|she)|about (?:a|an|my|me)|i(?:['’]m| am) (?:writing|working))\b|\b(?:lyrics|verse|chorus"
    r"|refrain|opening line)\b",
    r"\bin (?:my|the|this|a|our|that) (?:\w+ )?(?:dreams?|story|book|game|play|tale|simulation|sim|world|diary|act"
    r"|movie|film|song|poem|novel|scene|episode|show|comic)\b|\bonce upon a time\b|\bopening line\b",
    r"\[(?:ooc|ic)\b|^\W*\*[^*]{2,60}\*|[🎵🎶♪🎭]|\bsing(?:s|ing)?:",
    r"\bhypothe\w+|\bfor (?:the sake of (?:the |this )?argument|argument['’]s sake|example|instance)\b"
    r"|\bthought experiment\b|\bscenario\b|\btheoretically\b",
    r"\b(?:imagine|suppose|supposing|assume|assuming|let['’]?s say|what if|say|picture)(?: that|,)? (?:i|we|you|my)\b"
    r"|\bin (?:a|another|my next|a past|a previous|a parallel) (?:life|universe)\b",
)
_PERFORMING: Final = "simulate|enact|re-?enact|act out|improvise|rehearse|impersonate|portray|mimic|dramati[sz]e"
_PERFORMED: Final = (
    "date|interview|conversation|phone call|call|dialogue|pitch|speech|audition|negotiation|small talk|meeting|scene|skit|sketch"
)
_PERFORMANCE: Final = _any(
    # "simulate a first date", "can we enact": an order or a proposal; "I rehearse with my choir" is a habit
    rf"(?:^\W*|[.!?:;,]\s+|\b(?:let['’]?s|let us|(?:can|could|shall|will|would) (?:we|you|i)"
    rf"|please|(?:want|like|wanna) to|help me)\s+)(?:{_PERFORMING})\b",
    # "practise a job interview", "a mock interview", "run through a call with me"
    rf"\b(?:practi[sc]e|practi[sc]ing|mock|run through|warm up for|prepare|prep)\b(?: \w+){{0,3}} (?:{_PERFORMED})s?\b",
    # "You're Sherlock. I'm Watson": parts are given by name
    r"^\W*(?i:you(?:['’]re| are))(?: now)? (?-i:[A-Z][a-z]+)\s*[.,;!]\s+(?i:(?:and )?i(?:['’]m| am|['’]ll be))\b",
    # parts of a play
    r"\bin the (?:role|part|shoes) of\b|\byou(?:['’]ll| will)? play (?:a|an|the|my)\b"
    r"|\bi(?:['’]ll| will) play (?:a|an|the|your)\b|\bin character\b",
    r"\bfrom the (?:perspective|point of view|viewpoint) of\b|\b(?:skit|sketch comedy|improv)\b",
)
"""Proposes to perform a scene. What follows is said by a character."""
_END_OF_FICTION: Final = _any(
    r"\b(?:out of character|ooc|stop (?:the )?(?:game|playing|role-?play)|(?:game|role-?play|scene|story)(?: is"
    r"|['’]s)? over|back to reality|in real life|irl|for real now)\b"
)
_IRONY: Final = _any(
    r"(?:^|\s)/s\b|\bsarcas\w+|\biron(?:y|ic)\b|\byeah,? right\b|\bas if\b|\bsaid no ?(?:one|body) ever\b"
    r"|\bnot\s*[!.]*$(?<=not!)|\bof course i\b",
    r"^\W*(?:oh|ah|well|wow|yay|gee|sure|yeah|right|great|wonderful|fantastic|lovely|brilliant|perfect|fabulous|super"
    r"|awesome|amazing)\b,?(?: (?:great|wonderful|fantastic|lovely|brilliant|perfect|fabulous|super|joy|yay|awesome"
    r"|amazing|good)\b)?[,!.…]+\s*(?:i|my|we)\b"
    r"|^\W*(?:oh|ah|well|wow|gee) (?:great|wonderful|fantastic|lovely|brilliant|perfect|joy|good)\b",
    r"\b(?:just )?kidding\b|\bjk\b|\bjok(?:e|es|ing)\b|\bmade (?:that|it|this) up\b|\bgotcha\b|\bpsych\b"
    r"|\bin my dreams\b|\bi wish\s*[!.]*$|\bnot really\b|\bi lied\b|\b(?:that|it|this)(?:['’]s| is| was) (?:a lie"
    r"|not true|false|nonsense|made up)\b",
    r"\b(?:clearly|obviously|apparently|supposedly|allegedly|basically|technically|practically|virtually|literally"
    r"|figuratively|in theory|so to speak)\b",
    r"\blol\b|\blmao\b|\brofl\b|\bhaha|[😂🤣🙄🙃😜😝🤪😏😎😉🤡🥁]",
)
_AGREEMENT: Final = "sure|yeah|yea|yep|right|totally|absolutely|certainly|of course|naturally|uh-huh|mhm|great|wow|brilliant"
_IRONIC_AGREEMENT: Final = _any(
    # "Sure, and I live in Versailles with forty servants", "Right, so I'm the king": an agreement that tops a claim
    rf"^\W*(?:oh |ah |well )?(?:{_AGREEMENT})(?:,? (?:{_AGREEMENT}))*[,!.…—–-]*"
    r"\s+(?:and|then|so|because|like) (?:i|i['’]m|im|my|we|our)\b(?! also\b)",
    # "And I'm the Queen of Sheba": nobody introduces themselves so
    r"\b(?:i['’]?m|i am) (?:the )?(?:queen|king|pope|emperor|empress"
    r"|tooth fairy|easter bunny|santa|father christmas|napoleon|cleopatra|batman)\b",
)
_REPORT: Final = _any(
    r"\b(?:says?|said|saying|tells?|told|telling|claim(?:s|ed)?|wrote|writes|insists?|swears?|argues?|joked"
    r"|according to|rumou?rs?|horoscope|quiz|wikipedia)\b",
    r"\b(?:my|his|her|our|their|the|some|every)\b(?: \w+){1,2} (?:thinks?|thought|believes?|believed|assumes?|heard"
    r"|feels?|hopes?)\b|\b(?:he|she|they|people|everyone|everybody|somebody|someone) (?:think|believe|assume|heard"
    r"|suspect)\w*",
    r"\b(?:mistake|mistook|confused me|lie|untrue|myth|nobody|no one|never said)\b",
)
"""Somebody's claim, whatever clause it stands in."""
_CONDITION: Final = _any(
    r"\b(?:if|unless|whether|lest|would|wouldn['’]t|could|might|wish\w*|dream\w*|hop(?:e|ing|efully)|want|wanna"
    r"|supposed to|pretend\w*|imagin(?:e|ing)|suppose|guess|think|thought|maybe|perhaps|probably"
    r"|almost|nearly|not sure|decided|feel like|feels like|someday|one day|no more|the idea)\b|\b(?:i|we|he|she|they|you)['’]d\b"
)
"""A condition, a wish or a doubt, in one clause."""
_BACKGROUND: Final = re.compile(
    r"\W*(?:when|whenever|while|once|if|unless|back when|in those days|(?:as|when i was) a (?:kid|child|boy|girl|teen\w*|student|baby))\b",
    re.IGNORECASE,
)
"""Begins a sentence about another time, or a condition."""
_WANTED: Final = re.compile(r"\b(?:i|we) (?:really )?(?:want|hope|am hoping|['’]m hoping) to\b", re.IGNORECASE)
"""A wish that is a plan."""
_ASIDE: Final = _any(
    r",? ?\b(?:believe it or not|if you must know|if you ask me|if (?:that|it) (?:helps|matters)|in case you(?:['’]re"
    r"| are)? wonder(?:ing|ed)?|if you(?:['’]re| are) wondering|i(?:['’]m| am) afraid|to be honest|tbh)\b,?"
)
_COMMENT: Final = _any(
    # "I'm allergic to celery, which nobody ever believes": true, unless the comment takes it back
    r",\s+(?:which|though nobody|though no one)\b(?!.*\b(?:lie|untrue|myth|mistake|say|says|said|claims?|true|according)\b)[^,;:]*$"
)
"""A comment on a statement, at its end."""
_QUOTE_MARKS: Final = re.compile(r"[\"“”«»„‟❝❞]|(?<!\w)['‘](?:[^'’\n]|(?<=\w)['’](?=\w)){6,}['’](?!\w)")
_OPENS_QUOTE: Final = re.compile(r"[:：]\s*$")
_OWN_COLON: Final = _any(
    r"^\W*(?:(?:a )?(?:few |some |quick |short )?(?:facts|things|bits|words|intro\w*|details|info\w*|background|update"
    r"|notes?|news|reminder)(?: about (?:me|myself|us))?|about me|me|fyi|btw|ps|p\.s\.|heads up|update"
    r"|for the (?:record|form)|just so you know.*|big news|good news|important|context|my (?:allergies|details|data"
    r"|profile))\s*:"
)
_COLON: Final = re.compile(r"^(?P<head>[^:：\n]{1,160})[:：]\s")


def plain_sentences(messages: Sequence[str]) -> list[PlainSentence]:
    """The sentences that may state facts about their writer, in order.

    Args:
        messages: The texts that one person wrote, in order, without binary data.
    """
    found: list[PlainSentence] = []
    in_fiction = False
    for number, text in enumerate(messages):
        if _END_OF_FICTION.search(text):
            in_fiction = False
            continue
        if _FICTION.search(text) or _PERFORMANCE.search(text):
            in_fiction = True
        if not in_fiction:
            found += _of_message(text, number)
    return found


def is_plain(text: str) -> bool:
    """Whether a message states something plainly in one of its sentences at least, and in none of them plays, processes or quotes a text.

    Args:
        text: A message, or a part of one.
    """
    if _FICTION.search(text) or _IRONY.search(text) or _BACKGROUND.match(text):
        return False
    sentences = list(_of_message(text, 0))
    stated = [each for each in sentences if each.states_present and not _CONDITION.search(_WANTED.sub("", each.text))]
    return bool(stated) and len(stated) == len([each for each in sentences if not each.text.endswith(QUESTION_MARKS)])


def is_conditional(clause: str) -> bool:
    """Whether a clause states a condition, a wish or a doubt."""
    return _CONDITION.search(clause) is not None


def _of_message(text: str, number: int) -> Iterator[PlainSentence]:
    prose = prose_of(blocks_of(text))
    if not prose or not is_english(prose) or _TASK.search(text):
        return
    sentences = sentences_of(prose)
    is_ironic = any(_IRONY.search(each) or _IRONIC_AGREEMENT.search(each) for each in sentences)
    for sentence in sentences:
        if _ends_in_quote_opening(sentence):
            return  # what follows is quoted
        own = _without_own_head(_ASIDE.sub("", sentence).strip())
        if own is None:
            return
        if _QUOTE_MARKS.search(own):
            continue
        is_asked = own.rstrip(" )\"'").endswith(QUESTION_MARKS)
        yield PlainSentence(own, number, states_present=not (is_asked or is_ironic or _REPORT.search(_COMMENT.sub("", own))))


def _ends_in_quote_opening(sentence: str) -> bool:
    return _OPENS_QUOTE.search(sentence) is not None and _OWN_COLON.search(sentence) is None


def _without_own_head(sentence: str) -> str | None:
    """The sentence without a head such as "FYI:"; None if a colon in it may introduce somebody else's words."""
    found = _OWN_COLON.match(sentence)
    if found is not None:
        return sentence[found.end() :].strip()
    head = _COLON.match(sentence)
    if head is None or _OWN_HEAD.search(head["head"]):
        return sentence
    return None if _FIRST_PERSON_AFTER.match(sentence, head.end()) else sentence


_FIRST_PERSON_AFTER: Final = _any(r"\W*(?:\w+[,!]? )?(?:i|i['’]m|im|my|we|our|call me)\b")
_OWN_HEAD: Final = _any(
    r"\b(?:i|my|me|as for \w+|things?|point|request|question|problem|issue|ps|also|plus|so|news|update|reason|because|background"
    r"|context|intro\w*|info|note|reminder|typo|correction|sorry|oops|changed?|changes)\b(?!.*\b(?:says?|said|goes|asked|wrote)\b)"
)
