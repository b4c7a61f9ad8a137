"""Removes the words before a statement that only open it: "Seriously:", "Dear team,", "Despite what the form says,".

An opener is known by its kind: an adverb of speech, a noun of talk ("short round"), a purpose of speech ("just to be clear"), a reference
to the conversation ("since you asked"), a concession, or a salutation.
Words that report, suppose, quote or order a text are in no kind, and
keep their sentence from being read as a statement.
"""

import re
from typing import Final

from extraction.offline.factuality import mood_words as moods
from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.words.people import RELATIVES
from memory.texts.prefiltered_patterns import compiled

_ADVERBS: Final = listed("""
    seriously, honestly, frankly, truthfully, basically, essentially, briefly, quickly, shortly, simply, incidentally,
    importantly, personally, admittedly, candidly, sincerely, genuinely, plainly, finally, lastly, firstly, secondly,
    additionally, generally, professionally, privately, randomly, btw, fyi, ps, also, anyway, in short, in brief, in a nutshell,
    in all honesty, in all seriousness, in truth, in other words, for real, no joke, no lie, on a serious note, on a personal
    note, on a side note, on a different note, on another note, on that note, off topic, off-topic, unrelated, completely
    unrelated, side note, sidenote, by the by, long story short, and another thing, and one more thing, once more, once again,
    again, bluntly, to put it bluntly, put simply, simply put, random, funnily enough, oddly enough, strangely enough,
    interestingly, proudly, for transparency, for completeness, for clarity, as a reminder, as a side note, as an aside, as
    background, as context, as an introduction, by way of introduction, by way of background
""")
_SIZES: Final = any_of(
    listed("""
    quick, short, brief, small, little, tiny, fun, random, important, personal, honest, full, final, last, first, next, extra,
    useful, weird, unrelated, side, minor, major, odd, boring, interesting, crucial, relevant, practical, friendly, simple, plain,
    basic, hard, general, mini, useless, sad, happy, good, key, essential, critical, obligatory, mandatory
""")
)
_TALK: Final = any_of(
    listed("""
    round, round of introductions, intro, introduction, self-introduction, fact, facts, disclosure, correction, summary, recap,
    note, notes, confession, detail, details, tangent, addition, addendum, clarification, context, background, reality check,
    announcement, heads-up, heads up, admission, explanation, reminder, info, information, thing, things, word, words, aside,
    remark, comment, basics, essentials, housekeeping, psa, disclaimer, tmi, spoiler, update, news, news flash, newsflash, hello,
    version, answer, profile summary, life update, point, points, piece of info, bit of info, bit of context, piece of
    information, transparency, truth, about me
""")
)
_LONE_TALK: Final = any_of(
    listed("""
    introduction, self-introduction, disclosure, correction, recap, confession, tangent, addition, addendum, clarification,
    announcement, admission, explanation, reminder, aside, basics, essentials, housekeeping, psa, disclaimer, tmi, spoiler,
    newsflash, news flash, fact, facts, reality check, transparency, fun fact, full disclosure
""")
)
_SPEECH: Final = any_of(
    listed("""
    be clear, be honest, be fair, be frank, be precise, be exact, be open, be upfront, be transparent, be specific, be sure,
    clarify, clear up, clear things up, clear that up, introduce myself, introduce us, answer, add, get it out of the way, start,
    begin, kick off, open, close, put it, avoid confusion, avoid any, avoid misunderstandings, explain, sum up, summarise,
    summarize, save time, save you, recap, come clean, confirm, break the ice, mention, remind, let you know, give you, follow up,
    set the record straight, keep you posted, repeat myself, complete, round off, get things, get us, get this, make it easier,
    make things, help you, update you
""")
)
_HEADED: Final = r"(?: (?:about|on|for|to|before|regarding|concerning|of|from me|in advance|up front|upfront)\b(?: [\w'’-]+){0,5})?"
_TALKED: Final = (
    r"(?:(?:since|as|because|seeing as|now that) (?:you|everyone|everybody|people|we|someone|the topic|the question)(?:['’]re|['’]ve)?"
    r" (?:\w+ ){0,2}?(?:ask|asked|asking|wanted|want|wondered|wonder|wondering|mentioned|mention|need|needed|curious|interested"
    r"|doing|came|comes|introducing|talking|speaking|discussing|sharing)\b(?: [\w'’-]+){0,6}"
    r"|(?:since|as|because|now that) (?:we|you)(?:['’]ll| will|['’]re| are)(?: be)? (?:going to |gonna )?(?:talk|chat|work|meet|see"
    r"|speak|writ|get|be|read|know)\w*\b(?: [\w'’-]+){0,6}"
    r"|as (?:discussed|mentioned|promised|agreed|requested|noted|stated|explained|you know|you (?:may|might) know|per|ever|always|usual"
    r"|indicated|announced|asked)\b(?: [\w'’-]+){0,6}"
    r"|in case (?:it['’]?s|it is|it|that|this|you|anyone|anybody|somebody|someone)\b(?: [\w'’-]+){0,6}"
    r"|(?:in (?:response|reply|answer) to|regarding|concerning"
    r"|about|with regard to|with respect to|referring to|re|further to|following up on"
    r"|(?:coming|going|getting|circling) back to|back to|apropos of|on the (?:subject|topic|matter) of|speaking of|with reference to)"
    r" (?:[\w'’-]+ ?){1,6}"
    r"|(?:before|while|when) (?:we|you|i) (?:begin|start|go on|continue|get started|answer|go any further|dive in|plan|book|forget)\b"
    r"(?: [\w'’-]+){0,5}|before (?:anything else|i forget|starting|anyone asks|you ask)"
    r"|while (?:we['’]re|i['’]m|we are|i am) (?:at it|on (?:it|that|the (?:subject|topic))|here)"
    r"|(?:thanks|thank you) (?:for|so much for|again for) (?:[\w'’-]+ ?){1,6}"
    r"|(?:nice|good|great|lovely|glad|happy|pleased) to (?:meet|be|see|join)\b(?: [\w'’-]+){0,4})"
)
_CONCESSION: Final = (
    r"(?:despite|in spite of|contrary to|regardless of|no matter|whatever|notwithstanding|irrespective of|never mind|forget|ignore|unlike)"
    r" [\w'’ -]{2,60}?"
)
_UNREAL: Final = cue(
    moods.TALES,
    moods.WRITTEN,
    moods.PLAYS,
    listed("""
    if, imagine, suppose*, supposing, assume, assuming, pretend*, hypothetical*, example, quote, quotes, lyrics, translate*,
    translation, she, he, they, his, her, their, says, said, say, wrote, write, novel, horoscope, dream*, joke, jokes, exercise,
    practise, practice, fiction*, character*, role*, next life, letter, read, copy, ironic*, sarcas*, according
"""),
    RELATIVES,
)
"""Words by which an opener, other than a concession or "as I said", may change the meaning of what follows."""
_BEGIN: Final = r"(?P<before>^\s*+|(?<=[.!?])\s++|(?<!\n)\n\s*+)"
"""The blanks before a statement, possessive: giving them back one by one would take the square of their number."""
_PLANNED: Final = any_of(
    listed("""
    planning, booking, packing, organising, organizing, preparing, sorting, sorting out, arranging, cooking, shopping, ordering,
    making, buying,
    choosing, picking, getting ready, heading, travelling, traveling, scheduling, prepping, setting up, looking for, looking at, updating,
    filling in, moving, baking, hosting, meeting, registering, signing up, joining, checking in, meal planning, meal prepping
""")
)
_ACTIVITY: Final = (
    rf"(?:(?:still|just|currently|also|busy|i['’]?m|we['’]re|now) )*{_PLANNED}(?: (?!(?:i|i['’]?m|my name|we|that)\b)[\w'’-]+){{0,6}}"
)
"""An activity that is announced before a statement for it: "Planning dinner: ..."."""
_ACTED: Final = cue(
    listed("""
    intro, introduction, show, video, vlog, podcast, channel, blog, post, scene,     speech, lines, talk, sketch, interview,
    exam, ad, cv, resume, resumé, email, mail, paragraph, words, sentences, statement, quote, meme,
    persona, avatar, alias, password, costume, prank, rehearsal, lent, ramadan, advent, detox, cleanse, fast, week, month, weekend, someone,
    somebody, friend, friends, client, clients, guest, guests, customer, customers, patient, patients
""")
)
"""Words of an activity by which what follows may be a text, about others, or for a time."""
_LEAD: Final = r"(?:(?:and|so|but|ok|okay|well|just|oh|hi|hello|hey|also|now|then|only|right|anyway)\b[\s,!.]*)*"
_STATES: Final = (
    r"(?=(?:i|i['’]?m|i['’]?ve|my|we|we['’]re|we['’]ve|our)\b(?!\s+\w+\s+is\s+['\"“])|(?:allergic|based|living|working|call) \w)"
)
_SEPARATOR: Final = r"\s*(?:[,:;—–]|\.{2,3}|…|\s-)\s*(?:but\s+|and\s+|so\s+)?"
_OPENER: Final = compiled(
    rf"{_BEGIN}(?P<opener>{_LEAD}(?:{any_of(_ADVERBS)}"
    rf"|(?:an?|the|my|one|some|just an?|just one|another|one more|a few|few|very|a very)? ?(?:{_SIZES} ){{1,2}}{_TALK}{_HEADED}"
    rf"|(?:an?|one|some|just an?|just one|another|one more|a few|few) (?:{_SIZES} )?{_TALK}{_HEADED}|{_LONE_TALK}{_HEADED}"
    rf"|(?:just )?(?:an?|another|one|one more|the)? ?(?:other |more |last |final )?(?:{_SIZES} )?(?:{_SIZES}"
    rf"|last|other|more) (?:one|thing|bit|q){_HEADED}"
    rf"|(?:so as |in order )?to {_SPEECH}(?: [\w'’-]+){{0,7}}?|{_TALKED}))\b{_SEPARATOR}{_STATES}",
    re.IGNORECASE,
)
_ANNOUNCED: Final = compiled(rf"{_BEGIN}{_LEAD}(?P<opener>{_ACTIVITY})\s*(?::|\s[-–—])\s*{_STATES}", re.IGNORECASE)
_FOR_SOMEBODY: Final = compiled(r"\bfor [A-Z]")
_CONCEDED: Final = compiled(rf"{_BEGIN}{_LEAD}{_CONCESSION}\s*[,:—–]\s*{_STATES}", re.IGNORECASE)
_SALUTATION: Final = compiled(
    rf"^\W*dear (?:(?:fellow|lovely|new|old|esteemed|respected) )?(?:team|all|everyone|everybody|colleagues|friends|members|group"
    r"|folks|people|assistant|bot|support"
    rf"|community|forum|neighbours|neighbors|organisers|organizers|class|committee|crew)(?: \w+)?\s*[,!:—–-]+[ \t]*{_STATES}(?![^\n]*\n)"
    r"(?!.*\b(?:regards|sincerely|yours|faithfully|best wishes)\b)",
    re.IGNORECASE,
)
"""A salutation to a group in a message of one line, which is no letter to somebody else."""
_HAIL: Final = compiled(
    rf"^\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|welcome)\b(?! from\b)"
    r"(?: (?!(?:i|i['’]?m|i['’]?ve|my|we|we['’]re|our)\b)[\w'’-]+){1,6}?"
    rf"\s*[,!:—–-]+\s*{_STATES}",
    re.IGNORECASE,
)
"""A greeting with the names or the kinds of those who are greeted."""


def without_openers(text: str) -> str:
    """A message without the openers of its statements. Only facts are read from it.

    Args:
        text: A message, or the part of it in the speaker's own voice.
    """
    text = _HAIL.sub(_greeting, _SALUTATION.sub("Hi, ", text))
    return _OPENER.sub(_opened, _ANNOUNCED.sub(_announced, _CONCEDED.sub(_conceded, text)))


def _opened(found: re.Match[str]) -> str:
    opener = found["opener"]
    if _UNREAL.search(opener) is not None or (found.start() and _CORRECTS.search(opener) is not None):
        return found.group()
    return f"{found['before']}{'Hi, ' if _INTRODUCES.search(opener) is not None else ''}"


def _announced(found: re.Match[str]) -> str:
    return (
        found.group()
        if _UNREAL.search(found["opener"]) or _ACTED.search(found["opener"]) or _FOR_SOMEBODY.search(found["opener"])
        else found["before"]
    )


def _conceded(found: re.Match[str]) -> str:
    return found.group() if _SUPPOSES.search(found.group()) is not None else found["before"]


def _greeting(found: re.Match[str]) -> str:
    return found.group() if _UNREAL.search(found.group()) is not None else "Hi, "


_INTRODUCES: Final = compiled(
    r"\b(?:round|intro\w*|introduc\w+|self-introduction|about me|hello|hi|meet|talking|chatting|know each other)\b", re.IGNORECASE
)
"""After it, "I'm Ann" is an introduction."""
_CORRECTS: Final = cue(listed("correction, clarification, addendum, actually"))
"""After another sentence, it corrects what that one states."""
_SUPPOSES: Final = cue(listed("if, imagine, suppose, pretend, the joke, in the game, in the story, in the novel, character, role"))
