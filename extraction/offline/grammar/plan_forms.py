"""The forms of sentences that state a plan, and of those that state a promise.

A plan is a present or a future of the writer with a time ahead: "we fly on the 3rd", "I've the dentist tomorrow", "I'm at the clinic on
Tuesday", "Driving test on Friday". The verb may be any but one of a state or a past, the event any noun phrase that is had or gone to.
"""

import re
from collections.abc import Iterable
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.people import MANY_RELATIVES, RELATIVES
from memory.texts.prefiltered_patterns import compiled

_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_FEAST: Final = (
    r"(?:easter|christmas|xmas|new year(?:['’]s(?: eve)?)?|thanksgiving|eid|diwali|halloween|midsummer|passover|hanukkah|pentecost)"
)
_SEASON: Final = r"(?:spring|summer|autumn|fall|winter)"
_NUMBER: Final = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of|\d+)"
_ON_DATE: Final = rf"(?:(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?)"
_DAY_OF_MONTH: Final = r"(?:\d{1,2}(?:st|nd|rd|th)|(?:the )?(?:first|second|third|fourth|fifth|\w+teenth|twentieth)(?= of |\W*$))"
AHEAD: Final = (
    rf"\b(?:tomorrow|the day after tomorrow|next (?:week|weekend|month|year|term|{_WEEKDAY}|{_SEASON}|{_MONTH}|time)"
    rf"|(?:this|the) coming \w+|(?:this|come) (?:{_WEEKDAY}|{_SEASON}|weekend|autumn|{_MONTH}|{_FEAST})"
    rf"|in {_NUMBER} (?:days?|weeks?|months?|years?)(?:['’]? time)?(?! of\b)|a week (?:today|on {_WEEKDAY})"
    rf"|(?:on|by|from|until|till|before|at|over|for|around|after|starting) (?:the )?(?:{_ON_DATE}|{_DAY_OF_MONTH}|{_WEEKDAY}(?!s)|{_FEAST})"
    rf"|(?:in|by|from|until|till|end of|early|late|mid) {_MONTH}(?! \d{{4}}\b)\b|(?:in|by) the {_SEASON}"
    rf"|{_ON_DATE}(?! century)|(?<!last )(?<!last week )(?<!every )(?<!each ){_WEEKDAY}(?:(?= (?:morning|afternoon|evening|night"
    rf"|week|at|and)\b)|(?=\W*$)))\b"
)
"""A time ahead. A weekday or a date alone is one only where the verb is in no past."""
_I: Final = r"\b(?:i|we)\b"
_NEARLY: Final = r"(?:(?:also|just|both|all|now|then|finally|actually|still|probably|hopefully|definitely) )*"
_BE: Final = rf"(?:\b(?:i|we)(?:['’]?m| am|['’]re| are) {_NEARLY})"
_RELATIVE: Final = any_of(RELATIVES, MANY_RELATIVES)
_OWN: Final = rf"\b(?:my|our|the) (?:[\w'’-]+ ){{0,2}}?{_RELATIVE}(?: (?-i:[A-Z])\w+)?"
_NAMED: Final = r"\b(?-i:[A-Z][\w'’-]+)"
_STATES: Final = (
    r"(?:am|is|are|be|feel|think|know|love|like|hate|want|need|have|live|work|wish|hope|remember|believe|guess|suppose|mean|seem|get up"
    r"|always|never|usually|often|sometimes|used|was|were|had|did|went|got|came|saw|took|made|found|lost|left|met|said|told|bought|ate|sat"
    r"|gave|ran|felt|thought|knew|heard|kept|held|stood|wrote|drove|slept|woke|broke|spent|sold|won|fell|began|became|brought|taught|paid"
    r"|sent|built|chose|flew|grew|led|read|put|quit|cut|hit|[a-z]{3,}(?<!ne)(?<!fe)(?<!xc)(?<!suc)(?<!pro)ed)"
)
"""First words of a predicate in the past or of a state; with them a time is no plan."""
_HAD: Final = (
    r"(?:an?|the|my|our|another|one|two|three|some|both|guests|friends|visitors|tickets|exams?|tests?|surgery|school|work|training|practice"
    r"|rehearsals?|therapy|classes|lessons|jury duty)"
)
KEPT: Final = any_of(
    listed("""
    appointment, exam, exams, test, interview, check-up, checkup, meeting, scan, surgery, operation, lesson, date, viewing, flight, trip,
    wedding, funeral, concert, party, session, presentation, audition, consultation, jab, vaccination, x-ray, hearing, reservation, haircut,
    marathon, half marathon, race, match, final, tournament, game, recital, performance, gig, show, course, class, deadline, move, holiday,
    christening, baptism, graduation, dinner, lunch, brunch, barbecue, bbq, reunion, conference, camp, retreat, festival, hike, shift,
    inspection, handover, delivery, dentist, doctor, gp, vet, physio, hairdresser, optician, therapist, midwife, driving test, visit
""")
)
"""What one has a day for."""
_NOT: Final = (
    r"(?!.*\b(?:not|no|never|cancel+ed|called off|postponed|missed|every|each|always|usually|used to|last (?:week|month|year|night"
    r"|summer|winter|spring|autumn|fall|\w+day))\b)(?!.*n['’]t (?:going|have|fly|travel|go|be)\b)"
)
_VERBLESS: Final = (
    r"(?!.*\b(?:is|are|was|were|am|has|had|have|will|would|can|could|should|do|does|did|went|got|opens?|closes?|costs?|takes?|took|lasted"
    r"|sold|be|been|by|of the|research|history)\b)"
)

_ABOUT_ME: Final = r"(?=.*\b(?:me|us|my|our|i|we)\b)"
_IS_AHEAD: Final = (
    # "we're flying out", "I'm up at the clinic", "I'm off to Bali"
    rf".*{_BE}(?!(?:so|very|too|really|afraid|sure|glad|sorry)\b)"
    r"(?:[a-z]+ing\b(?<!thinking)(?<!wondering)(?<!feeling)(?<!kidding)(?<!joking)(?<!living)(?<!looking)|(?:off|away|back|up|down|over|out|in|at|on|due|booked)\b)",
    rf".*{_I}(?:['’]ll| will| shall| (?:have|need|plan|intend|hope|want|aim) to| must| should) {_NEARLY}[a-z]+",
    # "I've the hospital", "we have guests"
    rf".*{_I}(?:['’]ve| have)(?: got| also| another| only)* {_HAD}\b(?! (?:feeling|idea|cold|headache|problem))",
    rf".*(?:{_I} |^\W*)(?:have |got |['’]ve got )+(?:an?|the|my|our|another|one) (?:[\w'’-]+ ){{0,2}}?{KEPT}\b",
    # "we get the keys"
    rf"(?!.*\bin the {_SEASON}\b).*{_I} (?:then |finally |both |all |also )?(?!{_STATES}\b)(?!\w+s\b(?<!ss))(?-i:[a-z]{{2,}})\b(?!['’])",
    # "Ana is taking me to bingo", "our son starts school"
    rf"{_ABOUT_ME}.*(?:{_NAMED}|{_OWN})(?:,? [^,.!?]{{2,20}},?)?(?: is| are|['’]s) (?:[a-z]+ing\b(?<!being)(?<!feeling))",
    rf"{_ABOUT_ME}.*(?:{_NAMED}|{_OWN})(?:['’]s)?(?:,? [^,.!?]{{2,20}},?)? (?:starts?|begins?|arrives?|comes?|visits?|marries"
    r"|marry|graduates?|turns?|finishes|leaves?|moves?)\b",
    # "Half marathon on 12 April"
    rf"{_VERBLESS}\W*(?:(?:an?|my|the|our|got|first|second|last|big|next) )*(?:[\w'’-]+ ){{0,3}}?{KEPT}\b[^.!?]{{0,30}}?{AHEAD}",
)
"""What a statement with a time ahead says if it is a plan."""
PLAN: Final = (
    rf"^{_NOT}(?=.*{AHEAD})(?:{'|'.join(_IS_AHEAD)})"
    # an intention
    rf"|^{_NOT}.*(?:{_BE}(?:going|planning|intending|hoping|supposed|due|about)|{_I}(?:['’]ve| have) (?:just |finally |now )?decided) to "
    r"(?!(?:keep|make it|stay|believe|be (?:fine|ok|okay|honest|great|late|good)|say|ask|guess|assume|bed|sleep)\b)[a-z]+"
    rf"|^{_NOT}.*{_BE}(?:thinking (?:of|about)|considering) (?!being\b|having\b|how\b)[a-z]+ing (?:an?|the|my|to|into|with|in|for)\b"
    # "my surgery has been moved to the 14th"
    rf"|^{_NOT}.*\b(?:my|our) (?:[\w'’-]+ ){{0,2}}?{KEPT}(?:['’]s| is| has)(?: now| been)* (?:moved|pushed|brought|rescheduled)(?: back"
    rf"| forward)? to (?:the )?(?:{_ON_DATE}|{_DAY_OF_MONTH}|{_WEEKDAY}|next \w+)\b"
)
_TO_WHOM: Final = rf"(?:him|her|them|you|(?-i:[A-Z][\w'’]+(?: [A-Z][\w'’]+)?)|(?:my|our|the) (?:[\w'’-]+ )?{_RELATIVE})"
PROMISE: Final = (
    r"\b(?:i|we)(?:['’]ve| have)? (?:have |solemnly |just |already )*promised?\b"
    rf"|\b(?:i|we)?(?:['’]ve| have)? ?(?:gave|given|give) (?:{_TO_WHOM} my word|my word\b)"
    rf"|(?:^\W*|\b(?:i|we)(?:['’]ve| have)? (?:already |just )?)(?:told|said to|assured|promised|swore to) {_TO_WHOM}(?: that)? (?:i|we)"
    r"(?:['’]d| would|['’]ll| will) (?!be (?:late|fine|ok|okay)\b|(?:not )?(?:think|love|like|rather|never|die|have (?:been|liked"
    r"|loved))\b)[a-z]+"
    r"|(?:^\W*|\bi )(?:swear|vow|pledge)(?: (?:to|on) [\w'’ ]{2,20}?)? (?:that )?(?:i|we)(?:['’]ll| will) [a-z]+"
)
"""A speech act by which the writer binds themselves."""
_ACT: Final = compiled(
    rf"\b(?:promised?|told|said to|assured|swore to|swear|vow|pledge|word)(?: (?:to )?{_TO_WHOM})?(?: to [\w'’]+)?(?: that)?"
    r" (?:(?:i|we)(?:['’]d| would|['’]ll| will)|to(?= (?-i:[a-z]))) (?P<act>[^.!?;\n]+)",
    re.IGNORECASE,
)


def promised_act(sentences: Iterable[str]) -> str | None:
    """What one of the sentences promises, as a verb with "to": "I told Ana I'd cook" as "to cook". None if none promises an act.

    Args:
        sentences: Plain statements.
    """
    found = next((found for each in sentences if (found := _ACT.search(each)) is not None), None)
    return None if found is None else f"to {found['act'].strip()}"
