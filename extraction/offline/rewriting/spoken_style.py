"""Rewrites chat style, regional spelling and dropped subjects as standard English, so that the rules after it need not know them.

"been drivin trucks 4 yrs" becomes "I've been driving trucks 4 years", "cannae be daein wi" becomes "can't be doing with". Only closed
classes are rewritten: abbreviations, function words and their regional spellings, and the verbs that open a sentence without a subject.
Nouns and names stay as they are. A regional spelling that is another word, too ("ma", "wan"), counts only in a text with a word that
nobody else writes ("cannae").
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.rewriting.run_ons import with_run_ons_apart
from extraction.offline.words.people import MANY_RELATIVES, PETS, RELATIVES
from memory.texts.prefiltered_patterns import Replacement, Rewrites, compiled


def _words_of(text: str) -> dict[str, str]:
    """Pairs of a word and its standard spelling: "abt = about, tmrw = tomorrow"."""
    return {left.strip(): right.strip() for left, _, right in (each.partition("=") for each in listed(text))}


_CHAT: Final = _words_of("""
    u = you, ur = your, urself = yourself, abt = about, bout = about, tmrw = tomorrow, tmr = tomorrow, tmw = tomorrow, tmoro = tomorrow,
    2moro = tomorrow, 2morrow = tomorrow, tomoz = tomorrow, 2day = today, 2nite = tonight, tonite = tonight, nite = night, wk = week,
    wks = weeks, wkend = weekend, wknd = weekend, yr = year, yrs = years, mth = month, mths = months, bday = birthday, appt = appointment,
    rn = right now, jus = just, luv = love, 2gether = together, b4 = before, gr8 = great, ppl = people, bcos = because, bcoz = because,
    cus = because, rlly = really, v = very, sum1 = someone, every1 = everyone, gona = going to, gonna = going to, gunna = going to,
    gonnae = going to, gotta = have to, arvo = afternoon, hav = have, ive = i've, hes = he's, shes = she's, theyre = they're,
    thats = that's, youre = you're, cant = can't, dont = don't, wont = won't, didnt = didn't, doesnt = doesn't, isnt = isn't,
    wasnt = wasn't, havent = haven't, wouldnt = wouldn't, couldnt = couldn't, arent = aren't
""")
_REGIONAL: Final = _words_of("""
    ah'm = I'm, ahm = I'm, a'm = I'm, ah've = I've, ah'll = I'll, ah'd = I'd, ah = I, ma = my, masel = myself, oor = our, ye = you,
    yer = your, tae = to, fae = from, frae = from, wi = with, wi' = with, ae = of, o' = of, o = of, an' = and, afore = before,
    efter = after, noo = now, doon = down, aboot = about, oot = out, hoose = house, hame = home, bide = live, bidin = living,
    biding = living, dae = do,
    daein = doing, daeing = doing, dinnae = don't, dinna = don't, cannae = can't, canna = can't, didnae = didn't, doesnae = doesn't,
    wisnae = wasn't, wasnae = wasn't, isnae = isn't, havenae = haven't, hasnae = hasn't, wouldnae = wouldn't, couldnae = couldn't,
    willnae = won't, winnae = won't, wan = one, twa = two, aff = off, jist = just, whit = what, wis = was, hae = have, huv = have,
    gie = give, gied = gave, auld = old, brither = brother, faither = father, mither = mother, merrit = married, dug = dog, dugs = dogs,
    bairn = child, bairns = children, wean = child, weans = children, cry me = call me, cries me = calls me, the day = today,
    the morra = tomorrow, the morn = tomorrow, this moarnin = this morning
""")
"""Scots as people write it."""
_SURELY_REGIONAL: Final = cue(
    listed("""
    ah'm, ah've, cannae, canna, dinnae, dinna, didnae, doesnae, isnae, wisnae, wasnae, havenae, hasnae, wouldnae, couldnae, willnae, winnae,
    oor, fae, frae, tae, masel, hame, daein, noo, doon, aboot, aff, jist, afore, brither, faither, mither, bairn, bairns, gonnae, merrit,
    the morra, whit
""")
)
_RELATIVE: Final = any_of(RELATIVES, MANY_RELATIVES, listed("missus, mam, da, kids, family, folks"))
_SPEECH: Final[tuple[tuple[str, Replacement], ...]] = (
    # the ending of the progressive, and clipped function words
    (r"\b(?P<stem>[a-z]{2,})in['’](?=\W|$)", r"\g<stem>ing"),
    (
        r"\b(?P<stem>goin|doin|livin|workin|movin|drivin|havin|gettin|comin|feelin|startin|plannin|thinkin|lookin|stayin|eatin|drinkin"
        r"|playin|makin|takin|puttin|runnin|studyin|teachin|haulin|visitin|marryin|leavin|sleepin|nothin|somethin|anythin|everythin)\b",
        r"\g<stem>g",
    ),
    (r"(?<!\w)['’]em\b", "them"),
    (r"(?<!\w)['’]fore\b", "before"),
    (r"(?<!\w)['’]til\b", "until"),
    (r"\boutta\b", "out of"),
    (r"\bfixing to\b", "going to"),
    (r"\bowt\b", "anything"),
    (r"\bnowt\b", "nothing"),
    (r"\bsummat\b", "something"),
    (rf"\bme (?={_RELATIVE}\b)(?<!tell me )(?<!gave me )(?<!give me )(?<!and me )(?<!with me )", "my "),
    # double negation and other grammar of speech
    (r"(?:^|(?<=[.!?]\s))(?:there )?ain['’]?t nothing\b", "There's nothing"),
    (r"\b(?P<who>i|we|they|you)(?: ain['’]?t| don['’]?t| never) got no\b", r"\g<who> have no"),
    (r"\b(?P<who>i) ain['’]?t\b", r"\g<who>'m not"),
    (r"\b(?P<verb>stand|love|hate|like|bear|want|need|have|got|prefer) them (?=(?:[a-z-]+ )?[a-z]{3,}s\b)", r"\g<verb> "),
    (r"\b(?P<verb>love|like) me (?:some|a good) ", r"\g<verb> "),
    (r"\b(?P<who>i) do be\b", r"\g<who> am"),
    (r"(?-i:(?<=[a-z])(?P<place> [A-Z][a-z]+)) only(?=\s*(?:[,.!]|$))", r"\g<place>"),
    (r"(?<=[a-z]{2})(?<!rock)(?<!drum)(?<!mac) n (?=[a-z]{2})", " and "),
    (r"(?<=[a-z]{2}) (?-i:w/?) (?=[a-z])", " with "),
    # what only opens a chat message
    (r"(?:^|(?<=[.!?]\s))(?:(?:bruv|bruh|fam|yh|icl|no cap|on god|can['’]?t lie|not gonna lie)\b[\s,]*)+(?=\w)", ""),
    # a reaction that is a sentence of its own
    (
        r"(?:^|(?<=[.!?]\s))(?P<thing>(?:ugh|eww?|urgh|yuck|bleh)[\s,]+[a-z]+(?: [a-z]+)?)[.!…]+\s+"
        r"(?=(?:(?:big|hard|massive|huge|absolute|strong|firm|solid) )+(?:nope|no|pass)\b)",
        r"\g<thing>, ",
    ),
    (r"\bcommuting (?P<home>(?-i:[A-Z])[\w'’]+)\s?[–—→-]\s?(?=(?-i:[A-Z]))", r"commuting from \g<home> to "),
    # a question's order after a time, as speakers of Dutch or Norwegian put it
    (
        r"(?:^|(?<=[.!?]\s))(?P<time>(?:for|since|in|now|at|on|already|here)\b[^,.!?\n]{0,40}?),? (?P<be>am|have) (?P<who>i) "
        r"(?P<rest>(?:now |already |also )?(?:been |lived|worked|[a-z]+ing )[^?\n]*)(?=[.!]|$)(?![^.!\n]*\?)",
        r"\g<who> \g<be> \g<rest>",
    ),
)
_PARENT: Final = "(?:mum|mom|mother|mama|dad|father|papa|parent)"
_ONE_CLOSE: Final = any_of(RELATIVES, PETS)
_ABLE: Final = "(?:can['’]?t|cannot|couldn['’]?t)"
_DONE: Final = (
    r"(?:laid off|fired|sacked|made redundant|promoted|accepted|hired|dumped|diagnosed|evicted|burgled|mugged|robbed|elected|shortlisted"
    r"|rejected|demoted|transferred|discharged|hospitali[sz]ed)"
)
_NO_ACT: Final = (
    r"(?:th|str|spr|s|k|r|w|br|sw|morn|even|build|meet|noth|someth|anyth|everyth|dur|includ|regard|accord|concern|consider|amaz|interest"
    r"|excit|annoy|tir|bor|charm|during|wedd|hous|see|be|lov|lik|think|say|talk|speak|us|wonder|try|ask|look|go|accord|thank|thanks"
    r"|assum|suppos|depend|judg|follow|cool)ing"
)
_SUBJECTS: Final[tuple[tuple[str, Replacement], ...]] = (
    (r"^(?P<lead>\W*)(?:(?:have )?been|bin) (?=[a-z])", r"\g<lead>I've been "),
    (
        rf"^(?P<lead>\W*)(?P<act>(?!{_NO_ACT}\b)(?-i:[A-Za-z][a-z]+ing)) (?P<rest>(?=[^.!?\n]*\b(?:these days|nowadays|now|at the"
        rf" moment|daily|every day"
        r"|tomorrow|tonight|next \w+|this \w+|on (?:the )?\w+|come \w+|since|for \w+ (?:years|months|weeks))\b)"
        r"(?![^.!?\n]*\b(?:is|are|was|were|makes?|keeps?|helps?|has|gets?|takes?|can|will|would|beats?|gives?)\b))",
        r"\g<lead>I'm \g<act> \g<rest>",
    ),
    (
        rf"^(?P<lead>\W*)(?P<can>{_ABLE}) (?=(?:even |really |just )*(?:be|do|stand|bear|have|eat|drink|take|stomach|handle|abide|go)\b)",
        r"\g<lead>I \g<can> ",
    ),
    (rf"^(?P<lead>\W*)(?:just )?(?={_DONE}\b(?! (?:as|to|by)\b))", r"\g<lead>I was "),
    (r"^(?P<lead>\W*)(?:have(?:n['’]?t| not)|not) (?=(?:had|eaten|drunk|touched|smoked) (?!to\b))", r"\g<lead>I haven't "),
    (r"^(?P<lead>\W*)(?=(?:usually|normally) (?!the\b|it\b|i\b|we\b)[a-z]+ |spend (?:most|every|all|my|our) )", r"\g<lead>I "),
    (rf"^(?P<lead>\W*)(?=[1-9]\d, (?:[a-z]+ )*(?:{_PARENT}|single|married|divorced|[a-z]+(?:er|or|ist|ian))\b)", r"\g<lead>I'm "),
    (rf"^(?P<lead>\W*)(?=(?:single |proud |married )*{_PARENT} (?:of|to) )", r"\g<lead>I'm a "),
    (
        rf"^(?P<lead>\W*)(?P<who>{_ONE_CLOSE})(?:['’]s| is)(?: called| named)? (?=(?-i:[A-ZÀ-Þ])[\w'’-]+(?:\s*[.!;(]|\s*$|,"
        rf" (?:s?he|it|they)\b))",
        lambda found: f"{found['lead']}My {found['who'].lower()} is called ",
    ),
    (r"^(?P<lead>\W*)(?:just )?(?=(?:off|away) (?:to|on|with|at|for) )", r"\g<lead>I'm "),
    (r"^(?P<lead>\W*)(?=(?:going to|about to|due to|supposed to|back (?:in|at|to)) [a-z])", r"\g<lead>I'm "),
    (r"^(?P<lead>\W*)(?=(?:have to|will be) [a-z])", r"\g<lead>I "),
    (
        r"^(?P<lead>\W*)(?P<degree>(?:(?:low-?key|legit|properly|totally|literally|fully|still|so|absolutely|proper|pure) )*)"
        r"(?=(?:obsessed|addicted|allergic|hooked) (?:with|to|on)\b)",
        r"\g<lead>I'm \g<degree>",
    ),
)
"""Openings of sentences whose subject can only be the writer. Orders ("don't eat that", "never mind") are none of them."""
_APOSTROPHE: Final = "['’]"
_OPENING: Final = compiled(
    r"^\W*(?:(?:bruv|bruh|bro|fam|nah|yeah|yh|ngl|icl|tbh|lol|omg|so|and|but|well|ugh|right|honestly|reckon|i reckon|cant lie|can['’]?t lie"
    r"|not gonna lie|no cap|on god|aye|och|naw|sure|look|basically)\b[\s,!.]+)+(?=\w)",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?\n]*")
_LONGEST: Final = 2000
"""Characters of a message that is rewritten."""


def _table(words: Mapping[str, str]) -> tuple[str, Replacement]:
    """A rule that replaces words that stand alone, and keeps their initial capital."""
    by_form = {each.replace("’", "'"): right for each, right in words.items()}
    pattern = "|".join(re.escape(each).replace("'", _APOSTROPHE) for each in sorted(by_form, key=len, reverse=True))

    def right_of(found: re.Match[str]) -> str:
        right = by_form[found.group().casefold().replace("’", "'")]
        return right[0].upper() + right[1:] if found.group()[0].isupper() else right

    return rf"(?<![\w'’@#./-])(?:{pattern})(?![\w@/-]|['’](?!s\b))(?!\.\w)", right_of


_CHAT_WORDS: Final = compiled(_table(_CHAT)[0])
_CHAT_RIGHT: Final = _table(_CHAT)[1]
_REGIONAL_WORDS: Final = compiled(_table(_REGIONAL)[0], re.IGNORECASE)
_REGIONAL_RIGHT: Final = _table(_REGIONAL)[1]
_KEPT_TEXTS: Final = 64
"""A window's messages are read twice: for their events, and for facts."""
_SPOKEN: Final = Rewrites(_SPEECH, re.IGNORECASE)
_WITH_SUBJECT: Final = Rewrites(_SUBJECTS, re.IGNORECASE)


@lru_cache(maxsize=_KEPT_TEXTS)
def in_standard_english(text: str) -> str:
    """A message in standard spelling, with its subjects. Only facts and types are read from it; it is never stored.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    if len(text) > _LONGEST:
        return text
    if _SURELY_REGIONAL.search(text) is not None:
        text = _REGIONAL_WORDS.sub(_REGIONAL_RIGHT, text)
    text = _SPOKEN.apply(_CHAT_WORDS.sub(_CHAT_RIGHT, text))
    return with_run_ons_apart(_SENTENCE.sub(_with_subject, text))


def _with_subject(found: re.Match[str]) -> str:
    sentence = found.group()
    opening = _OPENING.match(sentence)
    start = opening.end() if opening is not None else 0
    if sentence.rstrip().endswith("?"):
        return sentence
    return sentence[:start] + _WITH_SUBJECT.apply(sentence[start:])
