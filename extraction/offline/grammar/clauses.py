"""Cuts a sentence into clauses and finds where their statement begins: after "hi", "by the way", "these days"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.value_patterns import DURATION
from extraction.offline.words.people import PEOPLE_WHO_NAME
from memory.texts.prefiltered_patterns import compiled

_GREETINGS: Final = listed("""
    merhaba, bonjour, salut, hola, ciao, hallo, servus, moin, guten tag, ahoj, hej, hei, namaste, salaam, shalom, aloha,
    hi, hello, hey, hiya, heya, yo, good morning, good evening, good afternoon, good day, greetings, howdy, morning, evening, g'day
""")
_GREETED: Final = listed("""
    there, all, everyone, everybody, folks, guys, team, again, friend, friends, bot, assistant, from me
""")
_INTERJECTIONS: Final = listed("""
    ok, okay, well, so, and, but, also, oh, ah, yes, yeah, yep, yup, nope, nah, sure, anyway, anyways, btw, fyi, actually, honestly,
    ngl, tbh, ps, then, because, since, that, please, pls, thanks, thank you, thx, cheers, sorry, right, look, listen, hm, hmm, um,
    uh, plus, fun fact, true story, fair enough, great, cool, nice, haha, lol, aha, man, gosh, wow, as you know, you know, i mean,
    nice to meet you, pleased to meet you, good to know, quick q, hooray, welp, ugh, argh, omg, aww, meh, oof, damn, dang, gah,
    phew, yikes, ew, eww, yuck, bleh, yum, mmm, ooh, eh, mm, erm, hm, yay, unfortunately, sadly, luckily, fortunately, frankly,
    ever since, admittedly, alas, surprisingly, thankfully, happily, thank god, given that, seeing as, even though,
    i guess you should know,
    good news, tbf, imo, imho, srsly, gg, yea, ya, aye,
    alright, righto, see, lmao, basically, admittedly, obvs
""")
_ADDRESSED: Final = listed("bro, bruh, dude, mate, fam, sis, y'all, lads, guys, folks, dear, doc, buddy, pal")
"""Forms of address. Before "call me" they are the subject: "Folks call me Turbo"."""
_ANNOUNCEMENTS: Final = listed("""
    by the way, just so you know, so you know, for the record, in fact, as a matter of fact, to be fair, to be honest, please note,
    please remember, kindly note, kindly remember, please keep in mind, keep in mind, bear in mind, please bear in mind, note, remember,
    reminder, update,
    finally, big news, good news, great news, happy news, guess what, it turns out, turns out, forget it, one thing, one more thing,
    another thing, to top it off, to top it all off, on top of that,
    on top of it all, what's more, besides, that changed,
    things changed, typo, correction, for what it's worth, fwiw, it's worth saying, worth mentioning,
    worth knowing, worth noting, worth saying, you should know, i should know, you ought to know, i should mention, i should add, i
    should say, i forgot to say, i forgot to mention, i forgot to add, i meant, forgot to say, forgot to mention, forgot to add, did i
    mention, i mentioned, mention, for context, for reference, some context, quick context, background, a bit of background, first
    of all, first, firstly, second, secondly, third, also note, heads up, heads-up, quick note, just a note, just a quick note, just
    a heads up, quick heads up, small note, a note, a quick note, just a reminder, quick reminder, a quick reminder, just a quick
    reminder, friendly reminder, a friendly reminder, small reminder, a small reminder, just a small reminder, just a friendly
    reminder, just saying, just mentioning, a little note, little note, a small note, quick update, small update, life update, just
    fyi, for your information, for your notes, in case it helps, in case it matters, important, one important thing, you can, you
    can just, you may, feel free to, about me, bit about me, a bit about me, a little about me, a few words about me, quick intro,
    intro, short intro, not that it matters, unlike most people, for starters, warning, small warning, careful though, careful, mind
    you, i'd like you to know that, i want you to know that, i'd like you to remember that, note to you, let it be known
""")
_TOPICS: Final = listed("""
    as for me, as for work, as for my job, as for my diet, as for my home, as for my name, for me, work-wise, job-wise, food-wise,
    diet-wise, allergy-wise, as for food, as for allergies, as for pets, as for family, on the work front, foodwise, workwise,
    home-wise, pet-wise, as for hobbies, by day, by night, by profession, by trade, by training, for work, on weekends, at weekends,
    in general, personally, in my spare time, in my free time, outside work, outside of work, at work, in real life, professionally,
    in my day job, food preferences, speaking of which
""")
_TIMES: Final = listed("""
    in our house, in our family, in this house, in this family, at home, at our house, at ours, in my world,
    at my age, at my time of life, in my old age, in my condition, in my line of work, in my house, in my household, in my family,
    in my opinion,
    in my book, in my experience, most days, most weeks, most evenings, most mornings, most nights, all year round, as it happens,
    as it goes,
    not long ago, a while ago, a while back, some time ago, long story short, in short, these days, nowadays, currently, now, today,
    right now, at the moment, for now, at present, presently, until further notice, lately, recently, as of now, as of today, as of
    this week, for the moment, meanwhile, in the meantime, nowadays though, this year, this month, this week, last year, last month,
    last week, last spring, last summer, last autumn, last fall, last winter, years ago, months ago, weeks ago
""")
_TIME_NOUNS: Final = listed("""
    yesterday, today, monday, tuesday, wednesday, thursday, friday, saturday, sunday, january, february, march, april, may, june,
    july, august, september, october, november, december, spring, summer, autumn, fall, winter, week, month, year, years, months,
    weeks, weekend, recently, days, decade, decades, divorce, pandemic, covid, university, uni, college, graduation, graduating,
    retirement, wedding, birth, move, school, christmas, easter, new year, start, beginning, age, childhood, break-up, breakup,
    separation, lockdown, diagnosis, surgery, operation, pregnancy, illness, heart attack, accident, burnout, promotion
""")
_PHRASE_OF_TIME: Final = (
    rf"(?:ever since|since|after|for|in|on|as of|as from|from|over|at|about|around)\s+(?:(?!(?:i|i'm|my"
    rf"|we)\b)[\w'’-]+\s+){{0,5}}?(?:{any_of(_TIME_NOUNS)}|\d{{4}})(?:\s+in\s+[A-Z]\w+|\s+on)?"
)
OPENING: Final = re.compile(
    rf"(?:(?:(?:i )?(?:just |recently |finally )?(?:found out|learned|learnt|discovered)(?: that)?"
    r"|\d{2}\s?(?:yo|y/o|f|m|years? old)?(?=\s*,)|(?:retired|married|single|divorced|widowed)(?=\s*,)"
    r"|(?:ever )?since (?:my|our) (?:\w+ )?(?:diagnosis|divorce|wedding|move|surgery|operation|retirement|graduation|pregnancy|illness"
    r"|accident"
    r"|heart attack|burnout|promotion|birthday|\d+th|teens|twenties|thirties|forties|childhood|student days)(?: in \w+)?"
    rf"|{any_of(_ANNOUNCEMENTS, _TOPICS, _TIMES)}|{DURATION} (?:ago|back)|{_PHRASE_OF_TIME}|{any_of(_GREETINGS)}(?:\s+{any_of(_GREETED)})?"
    rf"|{any_of(_INTERJECTIONS)}|{any_of(_ADDRESSED)}(?! (?:\w+ )?(?:call|know)\b)|as(?!\s+(?:an?|for|of)\b)"
    r"|no(?=\s*[,.!;:—–]|\s+(?:i|i['’]m|im|my|we)\b))\b[\s,:;!.—–-]*)*",
    re.IGNORECASE,
)
"""All that may come before a statement, none of which says anything by itself."""
_FIRST_PERSON: Final = r"(?:i|i['’]?m|my|we|we['’]re|our|i['’]ve|we['’]ve)"
_SUBJECTS: Final = (
    rf"(?:{_FIRST_PERSON}|{any_of(PEOPLE_WHO_NAME)} (?:just |always )?calls?|he|she|they|it|it['’]s|you|the|please|there|that['’]s"
    r"|his|her|their|its)"
)
_CONJUNCTIONS: Final = any_of(
    listed("""
    and since, and, but, so, because, cause, cuz, cos, though, although, while, whereas, plus, and yes, and also, and because,
    however, &, given that, seeing as, now that
""")
)
_BEFORE_SUBJECT: Final = any_of(
    listed("""
    now, then, also, yes, no, remember, please, currently, these days, just, fyi, btw, by the way, note that, keep in mind, nowadays,
    honestly, that
""")
)
_CONTINUING_VERBS: Final = listed("""
    can't stand, hate, love, like, enjoy, prefer, dislike, work as, work for, work at, work in, live in, am, don't, do not, never,
    have, have been, also, keep, avoid, moved to, relocated to, go by, can't bear, adore, detest, loathe, teach, despise, reside in,
    still live, now live, currently live, was, used to, play, run, got, don't eat, can't eat, i'm, am not, definitely, absolutely, not
""")
_HEDGES: Final = listed("""
    basically, practically, kinda, kind of, sort of, maybe, probably, possibly, might, could, would, hope to, hoping to,
    thinking of, thinking
    about, planning to, plan to, considering, tempted to, want to, wish
""")
"""Begin a second predicate that is no plain statement; they say nothing of the first one."""
_VERBS_AFTER_COMMA: Final = listed(
    "hate, love, enjoy, dislike, can't stand, work as, live in, moved to, shifted to, don't eat, don't drink"
)
_AFTER_COMMA: Final = any_of(
    listed("""
    now, then, nowadays, currently, today, these days, at the moment, right now, so, and, but, also, originally, since, as, because,
    though, remember
""")
)
_PAST: Final = any_of(
    listed("""
    was, were, got, had, moved, left, started, can, turned, met, finished, became, began, came, quit
""")
)
"""After "since I", they begin a point in time, not a reason."""
_NAMED_SUBJECT: Final = r"(?-i:[A-ZÀ-Þ])[\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?(?: is| was| has|['’]s been)\b"
"""A name with its verb. "'s" alone may be a genitive: "I love Tom and Anna's cooking"."""
CLAUSE_BREAK: Final = re.compile(
    rf"(?:,\s*|\s+)(?<!not )(?<!what )(?:{_CONJUNCTIONS}|since(?=\s+(?:i|we|it|they|you|he|she|my|there)\b)(?!\s+(?:i|we"
    rf"|my \w+)\s+{_PAST}))\s+(?=(?:{_BEFORE_SUBJECT}\s+)*{_SUBJECTS}\b)"
    rf"|(?:,\s*|\s+)(?:and|but|so|though)\s+(?={_NAMED_SUBJECT})"
    rf"|(?:,\s*|\s+)(?:and|but|&)\s+(?={any_of(_CONTINUING_VERBS, _HEDGES)}\b)"
    r"|(?:,\s*|\s+)(?:and|so)\s+(?=(?:if|whenever|every time|once)\b)"
    r"|\s+and\s+(?=(?:living|working|based) (?:in|as|at|for|remote|remotely|part-time|full-time|nights)\b)"
    r"|\s*[;—–]\s*|\s+-\s+|\s*\(|\)\s*"
    rf"|,\s+(?=(?:now |currently |still )?(?:living|based|working) (?:in|as|at|for)\b)"
    rf"|,\s+(?={any_of(_VERBS_AFTER_COMMA)}\b)|,\s+(?={_SUBJECTS}\b)|,\s+(?={_AFTER_COMMA}\s+{_FIRST_PERSON}\b)"
    r"|:\s+|(?:\.{2,}|…|!)\s+",
    re.IGNORECASE,
)


_CONTRAST: Final = compiled(
    r"\b(?P<verb>is|am|['’]m|are)(?:n['’]?t| not) (?P<denied>[^,.;!?]{1,30}), (?:but(?: rather)?|it['’]?s|it is|that['’]?s) (?=\S)",
    re.IGNORECASE,
)
"""Names the wrong value before the right one: "My name is not Ann, it's Hannah"."""


_AS_A: Final = re.compile(r"^(\W*(?:as|being) an? [\w-]+(?: [\w-]+){0,2}),\s+(?=i\b)", re.IGNORECASE)
"""The comma after a trade: "As a baker, I get up at three"."""


_LONG_BLANK: Final = re.compile(r"\s{9,}")
"""So many blanks that looking for a break from each of them takes the square of their number."""


def clauses_of(sentence: str) -> list[str]:
    """The clauses of a sentence, in order."""
    sentence = _AS_A.sub(r"\1 ", _CONTRAST.sub(r"\g<verb> ", _LONG_BLANK.sub(" ", sentence)))
    return [each.strip() for each in CLAUSE_BREAK.split(sentence) if each and each.strip()]


def statement_of(clause: str) -> str:
    """A clause without its opening."""
    opening = OPENING.match(clause)
    return clause[opening.end() :] if opening is not None else clause
