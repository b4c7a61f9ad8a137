"""Completes short questions ("Favourite animal?") and answers of "yes" or "love it" to statements of the answerer."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, either, listed
from extraction.offline.words.occupations import is_occupation
from memory.texts.prefiltered_patterns import compiled

_ARTICLE: Final = re.compile(r"^an? ", re.IGNORECASE)
_LEAD: Final = r"^\W*(?:(?:and|so|ok|okay|well|cool|nice|great|thanks|now|then|also)\W+)*"
_SHORT: Final = (
    (re.compile(_LEAD + r"(?:your |any )?(favou?rite [a-z]+)\s*\?", re.IGNORECASE), r"What's your \1?"),
    (
        re.compile(
            _LEAD + r"(?:what about )?your (name|first name|job|occupation|profession|hobbies|hobby|city|town|line of work)\s*\?",
            re.IGNORECASE,
        ),
        r"What's your \1?",
    ),
    (re.compile(_LEAD + r"(?:do you |are you )?still (?:live|living) in ([^?]{2,40})\?", re.IGNORECASE), r"Do you live in \1?"),
)
_YES: Final = any_of(
    listed("""
    yes, yep, yeah, yup, yea, indeed, correct, exactly, right, that's right, that's correct, absolutely, definitely, of course, that's me,
    precisely, that is right, that is correct, true, that's true, quite right
""")
)
_AGREED: Final = re.compile(r"^\W*(?:that['’]?s |that is )?(?:right|correct|exactly|indeed|true|precisely)\b", re.IGNORECASE)
"""Agrees with a question in the negative, where "yes" could mean both."""
_DOUBTED: Final = re.compile(r"^\W*(?:yeah|yea|oh|sure)[\s,.!]+right\W*$", re.IGNORECASE)
"""Agrees in irony."""
_MORE: Final = any_of(
    listed("""
    i do, i am, it is, very, very much, very much so, a lot, i do a lot, still, always, lots, so much, really, indeed, unfortunately,
    sadly,
    luckily, thanks, exactly, of course, absolutely, totally, right, correct, that's right, that's correct, yes, still do,
    i still do, still am,
    badly, severely, that's me, true, all correct, for sure
""")
)
_TIME: Final = r"(?:for (?:\w+ ){0,3}(?:years?|months|ages|decades)|since [\w ]{2,20}|all my life)"
_AFFIRMED: Final = re.compile(rf"^\W*(?:{_YES}|i do|i am|it is)(?:[\s,]+(?:{_MORE}|{_TIME}))*[\s.!🙂😊😀👍]*$", re.IGNORECASE)
_LOVED: Final = re.compile(
    r"^\W*(?:(?:oh|yes|yeah|yep|i|absolutely|really|just|totally|honestly)[\s,!]+)*(?P<verb>love|adore|like|enjoy|hate|detest|loathe"
    r"|can['’]?t stand|dislike)"
    r" (?:it|them|him|her|that)(?: (?:a lot|very much|so much|to bits|with a passion))?"
    r"(?:\s*[.,;!❤️😍—–-]+(?!.*\b(?:but|not|never|used to|though|except|however|joking|kidding)\b).{0,80})?\s*$",
    re.IGNORECASE,
)
_YOU_DO: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay)\W+)*do you (?:still |also |really |actually |currently )*(?P<rest>(?P<verb>[a-z]+) [^?]+)\?$", re.IGNORECASE
)
_YOU_ARE: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay)\W+)*are you (?:still |also |really |actually |currently )*(?P<rest>[^?]+)\?$", re.IGNORECASE
)
_YOURS_IS: Final = re.compile(r"^\W*(?:(?:and|so|ok|okay)\W+)*(?i:is) your (?P<rest>[a-z]+ (?:[a-z]+ )?)(?=[A-Z])(?P<value>[^?]+)\?$")
_CHECKED: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|oh|ah|then|nice|great|cool|interesting|got it|i see|wait)\W+)*(?P<subject>you(?:['’]re| are)?|your) "
    r"(?:(?:still|also|really|actually|currently) )*(?P<rest>(?P<verb>[\w'’]+)\b[^?]*?)"
    r"(?:,? (?:right|correct|yes|yeah|then"
    r"|(?:aren['’]?t|don['’]?t|isn['’]?t) (?:you|it)))?\s*\?$",
    re.IGNORECASE,
)
"""A statement that is asked to be confirmed: "So you live in Vejle?"."""
_NO_CHECK: Final = compiled(
    r"\b(?:would|will|could|should|might|may|can|used|was|were|had|did|want|wish|plan|hope|going|about to|when|if|once|like to|think|mean"
    r"|say|said|know|need|not sure|never)\b",
    re.IGNORECASE,
)
_NEGATED: Final = compiled(r"\b(?:not|never|no longer)\b|n['’]?t\b", re.IGNORECASE)
_LIKED: Final = re.compile(r"^do you (?:\w+ )??(?:like|enjoy|love) (?P<thing>[^?]+)\?$", re.IGNORECASE)
_OPEN: Final = either(
    r"\b(?:or|any|anything|something|anyone|what|why|how|where|which|who|when|my|me|i|we|us|this|that|it|they|there|sure|serious)\b"
)
"""Words of a question that "yes" does not answer with a fact."""
_NO: Final = re.compile(
    r"^\W*(?:(?:no|nope|nah|never|not (?:at all|a drop|a bite|really|any ?more|ever|me|much|one bit|for"
    r" me)|absolutely not|god no|hell no|no way|nothing of the sort"
    r"|i (?:do not|don['’]?t|never do|never have)|oh no|ugh|ew+|hate (?:it|them)|god|can['’]?t stand (?:it|them)|not a fan)\b[\s,.!—–-]*)+"
    r"(?:(?:i (?:do not|don['’]?t)|never (?:have|did|will|touch (?:it|the stuff|them))|not (?:for me|my"
    r" thing|a fan|in years)|sorry|thanks?|thank you|since [\w ]{2,20}"
    r"|(?:for|in) (?:\w+ ){0,3}(?:years?|months|decades|ages))\b[\s,.!—–-]*)*$",
    re.IGNORECASE,
)
"""Denies a question and says no more."""
_STRONGLY: Final = compiled(r"\b(?:god|hell|ugh|ew+|hate|at all|absolutely|no way|can['’]?t stand|never)\b", re.IGNORECASE)
"""Says that one dislikes a thing; a plain "no" says only that one does not like it."""
_DENIED_ACTS: Final = frozenset(("eat", "drink", "wear", "smoke"))
_CALL_ME: Final = re.compile(
    r"^\W*(?:(?:oh|well|just|hi|hey|sure|um|plain)\W+)*(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]*?)(?:['’]s|\s+(?:is"
    r"|will|would|works|does))\s+(?:be )?(?:perfectly |just |totally )?"
    r"(?:fine|good|ok|okay|great|perfect|do|best|enough|nice)\b",
    re.IGNORECASE,
)
_ASKED_NAME: Final = compiled(r"\b(?:call you|your name|address you|name should i|know you as)\b", re.IGNORECASE)
_ASKED_HOME: Final = compiled(
    r"\byou (?:\w+ )?live\b|\byou(?:['’]re| are)? (?:\w+ )?(?:based|located|living)\b|\bwhere are you\b"
    r"(?! (?:going|off|travel|flying|now|headed))|\byour (?:home )?(?:address|city|town|home)\b",
    re.IGNORECASE,
)
_ASKED_ADDRESS: Final = compiled(
    r"\b(?:where (?:should|shall|do|can|must) (?:i|we)|which address|what address)\b[^?]*\b(?:send|ship|deliver"
    r"|post|mail|bring|pick)\w*\b",
    re.IGNORECASE,
)
_IM_IN: Final = re.compile(
    r"(?:^|(?<=[.!?,;]\s)|(?<=but\s))(?i:(?:but |and |now )*(?:i['’]?m|i am|we['’]re|we are) (?:in|based in"
    r"|over in|up in|down in)) (?P<place>[A-ZÀ-Þ][\w'’-]*(?:[ -][A-ZÀ-Þ][\w'’-]*)*)(?=\s*(?:[.,!;]|$)|\s+now\b)"
)
_MY_PLACE: Final = re.compile(
    r"\b(?i:(?:my|our|the same|same old|the) (?:\w+ )?(?:flat|house|place|home|address|apartment) in) (?P<place>[A-ZÀ-Þ][\w'’-]*"
    r"(?:[ -][A-ZÀ-Þ][\w'’-]*)*)"
)
_TAG: Final = compiled(r",? (?:is that (?:right|correct|so|true)|i (?:guess|think|assume|suppose|take it)|am i right)\s*\?$", re.IGNORECASE)
_DENIED_ALLERGY: Final = re.compile(r"^\W*no\W+(?:but |only |just |not that\W+)*to (?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_ANOTHER: Final = re.compile(r"^\W*(?:no|nope)\W+(?:but |actually |i['’]?m )?(?P<rest>an? [\w -]{3,40})[\s.!]*$", re.IGNORECASE)
_NO_BUT: Final = re.compile(
    r"^\W*(?:no|nope|nah|not quite|close|almost|actually|wrong|no no)\b[\s,.!—–-]+(?:(?:but|actually|close|i['’]?m"
    r"|i am|it['’]?s)\s+)*(?P<rest>(?:an? )?[a-z][\w'’ -]{2,40})[\s.!]*$",
    re.IGNORECASE,
)
"""Denies a question about the trade and names the right one: "Nope, radiographer"."""
_ASKED_TRADE: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|wait|ah|oh)\W+)*(?:you(?:['’]re| are)|are you|you work as|do you work"
    r" as) (?:an? |the )?(?P<trade>[^?,]+?)(?:,? (?:right|correct|yes|no|then|aren['’]?t you))?\s*\?$",
    re.IGNORECASE,
)
_NOW: Final = re.compile(
    r"^\W*(?i:no|nope|nah|not any ?more|no longer|actually)\W+(?:(?i:i['’]?m|i am|we['’]re|now|it['’]s|i live|i moved to|we moved to"
    r"|in|just|back) )*(?P<rest>(?!(?:I|My|The|We|It|He|She|They|That)\b)[A-ZÀ-Þ].*)$",
    re.DOTALL,
)


def whole_question(question: str) -> str:
    """A short question as a whole one: "Favourite animal?" as "What's your favourite animal?"."""
    for pattern, whole in _SHORT:
        if pattern.search(question):
            return pattern.sub(whole, question)
    return question


def affirmed(question: str, answer: str) -> str | None:
    """The statement that a short answer to a yes-or-no question makes; None if it makes none.

    Args:
        question: The only question of the assistant's message.
        answer: The user's next message.
    """
    asked = _TAG.sub("?", question.strip())
    if _ASKED_NAME.search(asked) is not None and (called := _CALL_ME.match(answer)) is not None:
        return f"Call me {called['name']}. {answer}"
    if _ASKED_ADDRESS.search(asked) is not None and (there := _MY_PLACE.search(answer)) is not None:
        return f"I live in {there['place']}. {answer}"
    if "?" in answer or _OPEN.search(asked.replace("Do you like", "").replace("do you like", "")):
        return None
    loved, liked = _LOVED.match(answer), _LIKED.match(asked)
    if loved is not None and liked is not None:
        return f"I {loved['verb']} {liked['thing']}"
    allergy = _DENIED_ALLERGY.match(answer)
    if allergy is not None and re.search(r"\ballergic to\b", asked, re.IGNORECASE):
        return f"I'm allergic to {allergy['rest']}"
    moved = _NOW.match(answer)
    if moved is not None and re.search(r"\bliv(?:e|ing) in\b", asked, re.IGNORECASE):
        return f"I live in {moved['rest']}"
    if _ASKED_HOME.search(asked) is not None and (there := _IM_IN.search(answer)) is not None:
        return f"I live in {there['place']}. {answer}"
    other = _ANOTHER.match(answer)
    if other is not None and re.match(r"^\W*(?:and |so )?are you an? ", asked, re.IGNORECASE):
        return f"I'm {other['rest']}"
    denied, trade = _NO_BUT.match(answer), _ASKED_TRADE.match(asked)
    if denied is not None and trade is not None and is_occupation(trade["trade"]):
        right = _ARTICLE.sub("", denied["rest"].strip())
        if is_occupation(right):
            return f"I'm a {right}"
    act = _YOU_DO.match(asked) if _NO.match(answer) is not None else None
    if act is not None and act["verb"].lower() in _DENIED_ACTS:
        return f"I don't {act['verb'].lower()} {act['rest'].partition(' ')[2]}"
    if act is not None and liked is not None and _STRONGLY.search(answer) is not None:
        return f"I don't like {liked['thing']}"
    if _AFFIRMED.match(answer) is None or _DOUBTED.match(answer) is not None:
        return None
    if (found := _YOU_DO.match(asked)) is not None:
        return f"I {found['rest']}"
    if (found := _YOU_ARE.match(asked)) is not None:
        return f"I'm {found['rest']}"
    if (found := _YOURS_IS.match(asked)) is not None:
        return f"My {found['rest']}is {found['value']}"
    return _confirmed(asked, answer)


def _confirmed(asked: str, answer: str) -> str | None:
    """The statement that a question such as "So you live in Vejle?" and an answer that agrees make."""
    found = _CHECKED.match(asked)
    if found is None or _NO_CHECK.search(found["rest"]) is not None:
        return None
    if _NEGATED.search(found["rest"]) is not None and _AGREED.match(answer) is None:
        return None
    subject = found["subject"].lower()
    return f"{'I' if subject == 'you' else 'My' if subject == 'your' else 'I am'} {found['rest']}"
