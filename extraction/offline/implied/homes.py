"""Homes in other words: "send it to my place in Trondheim", "our commute from Reading", "we're not leaving Hull"."""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, cue, listed
from extraction.offline.grammar.thing_patterns import Rule
from extraction.offline.grammar.value_patterns import PLACE_NAME
from extraction.offline.words.homes import DWELLINGS
from extraction.offline.words.people import MANY_RELATIVES, RELATIVES
from memory.texts.prefiltered_patterns import compiled

_PLACE: Final = rf"(?P<x>{PLACE_NAME})(?!['’]s\b)"
_TO_PLACE: Final = rf"(?P<x>{PLACE_NAME})"
_IM: Final = r"(?:i['’]?m|i am|we['’]?re|we are)"
_AWAY: Final = compiled(
    r"\b(?:visit\w*|trip|holidays?|vacation|conference|hotel|airbnb|hostel|weekend|tonight|today|this (?:week"
    r"|month|morning|evening)|next|tour|travel\w*|arriv\w+|landed|landing|airport|until|till"
    r"|for (?:a|the|two|three|four|five|\d+|some) (?:\w+ )?(?:nights?|days?|weeks?|weekend|wedding|funeral"
    r"|meeting|work|business|game|match|conference)|back (?:on|by)|flying|fly|layover|tomorrow|meeting|interview"
    r"|summer|second|rental|parents?['’]?s?|mother['’]?s|mum['’]?s|mom['’]?s|dad['’]?s|grand\w+|sister['’]?s"
    r"|brother['’]?s|friend['’]?s|in-laws['’]?)\b",
    re.IGNORECASE,
)
"""Words of a stay, or of somebody else's home."""
_AT_HOME: Final = listed("""
    door, doorstep, street, garden, balcony, kitchen, allotment, landlord, landlady, council, terrace, attic, neighbourhood, neighborhood,
    block, cul-de-sac, backyard
""")
"""What one has where one lives."""
_DWELLING: Final = (
    rf"(?:(?!(?:holiday|summer|second|weekend|old|former|parents['’]?|mum['’]s)\b)[a-z-]+ ){{0,2}}?{any_of(DWELLINGS, _AT_HOME)}"
)
_CLOSE: Final = rf"{any_of(RELATIVES, MANY_RELATIVES)}(?:,? (?-i:[A-ZÀ-Þ])[\w'’-]+,?)?"
_SETTLED: Final = (
    r"(?:bought|rented|got|found|built|rent|share|renting|sharing|own|settled (?:in|into)|moved into|downsized to"
    r"|bagged|took|taken)"
)
_ITINERARY: Final = cue(
    listed("itinerary, route, plan, schedule, list, tour, stopover, connection, train, ferry, flight, back on, at noon, yesterday, early")
)
"""Words of a journey."""
_CHANGED: Final = compiled(
    r"\b(?:sold|left|swapped|traded|downsiz\w+|retir\w+|ended up|finally|first (?:home|house|flat|place)"
    r"|moved|best (?:thing|decision|move)|instead|from)\b",
    re.IGNORECASE,
)
_SECOND: Final = compiled(
    r"\b(?:holiday|summer|second|weekend|invest\w*|rent (?:it )?out|let (?:it )?out|airbnb|tenants?|parents"
    r"|son|daughter|for my|for our|mother|game|sims|minecraft)\b",
    re.IGNORECASE,
)


def unless_away(found: re.Match[str]) -> str | None:
    """A home, if the clause is not about a stay."""
    said = found.string[: found.start("x")] + found.string[found.end("x") :]
    return None if _AWAY.search(said) is not None else f"I live in {found['x']}"


def unless_trip(found: re.Match[str]) -> str | None:
    """A move, if the clause is not about a journey or a plan of one."""
    said = found.string[: found.start("x")] + found.string[found.end("x") :]
    return None if _AWAY.search(said) is not None or _ITINERARY.search(said) is not None else f"I moved to {found['x']}"


def _if_changed(found: re.Match[str]) -> str | None:
    """A home that was bought or rented, if the sentence says that it took the place of another."""
    return f"I live in {found['x']}" if _CHANGED.search(found.string) is not None and _SECOND.search(found.string) is None else None


HOME_RULES: Final[tuple[Rule, ...]] = (
    (rf"^(?:(?:my|our) )?home(?:['’]s| is)(?: now)? (?:an?|the|our|my) {_DWELLING} in {_PLACE}", unless_away),
    (rf"^(?:but |and )?(?:the|our|my) (?:house|home|flat|apartment) is (?:(?:up|down|over|back|out|still|now) )+in {_PLACE}", unless_away),
    (
        r"\b(?:then|before|drive|fly|train|bus|way|heading|head|going|go|come|coming|back|straight) (?:back )?home to"
        rf" {_PLACE}(?! (?:and|for) (?:visit|see)\b)",
        r"I live in \g<x>",
    ),
    (rf"^back home in {_PLACE}(?! (?:they|people|we used|everyone|it was)\b)", r"I live in \g<x>"),
    (
        r"\b(?:pays? (?:for|the \w+ on)|mortgage on|rent on|rent for|bills for|lease on|keys to|heating (?:in|at))"
        rf" (?:my|our) (?:own |new |little )*(?:place|house|flat|home|apartment|cottage) in {_PLACE}",
        r"I live in \g<x>",
    ),
    (
        rf"\bnow (?:i['’]?m |we['’]re )?(?:here |back )?in {_PLACE},? (?:where )?(?:i|we) (?:work|drive|study|teach|live"
        r"|clean|cook|rent|nurse|deliver|wait|serve|am|are) ",
        unless_away,
    ),
    (rf"^(?:{_IM} )?(?:still |now |just )*(?:staying|stay|remaining|remain) put in {_PLACE}", r"I live in \g<x>"),
    (
        rf"^{_IM} (?:staying|remaining) in {_PLACE}(?=,? (?:for good|forever|after all|instead|as it turns out|we"
        r" cancelled|it['’]s decided))",
        r"I live in \g<x>",
    ),
    (
        rf"^been (?:living |based |here )?in {_PLACE} (?:since \d{{4}}|for (?:[\w-]+ ){{1,3}}(?:years|decades)|ever"
        r" since|all my life)",
        r"I live in \g<x>",
    ),
    (rf"\b(?:my|our) (?:city|town|village|hometown|home town|neighbourhood|neighborhood|borough), {_PLACE}, ", r"I live in \g<x>"),
    (rf"^{_PLACE} born and bred,? (?:and )?(?:still here|never left|still live here)", r"I live in \g<x>"),
    (
        rf"^(?:(?:my|our) )?(?:[\w-]+ )?{_CLOSE} (?:now |still )?(?:lives?|moved in|stays?) with (?:us|me)(?: now)?,?"
        rf" (?:(?:over|up|down|back) )?(?:here )?in {_PLACE}",
        r"I live in \g<x>",
    ),
    (
        rf"\b(?:i|we) (?:take|get|catch) the [\w.:]+ (?:(?:train|bus|tram|ferry|metro) )?(?:in )?from {_PLACE} (?:every|each|most)\b",
        unless_away,
    ),
    (rf"^{_IM} an? [\w-]+(?: [\w-]+)? (?:exiled|transplanted|stranded|marooned|settled) (?:in|to) {_PLACE}", unless_away),
    (
        rf"^{_IM} (?:(?:now|both|all|currently|still|here|happily|actually) )*(?:over|out|up|down|holed up|tucked"
        rf" away|stationed|settled|camped out|marooned|rooted)(?: here)? in {_PLACE}",
        unless_away,
    ),
    (
        rf"^{_IM} (?:still |now )?stuck in {_PLACE}(?= (?:a (?:bit|while|little) longer|for (?:now|another|the"
        r" time being|good)|with|in a|because of)\b|,| since)",
        unless_away,
    ),
    (
        rf"\b(?:ship|send|deliver|post|mail|courier|bring|drop|dispatch|forward)(?:ed)? (?:\w+ ){{0,4}}?to (?:my"
        rf"|our) (?:own )?{_DWELLING} in {_PLACE}",
        unless_away,
    ),
    (
        r"\b(?:i|we)(?:['’]m| am|['’]re| are) (?:not|never|n['’]t)(?: ever)? (?:budging|moving|leaving|shifting"
        rf"|going to leave)(?: away)?(?: from)? {_PLACE}",
        unless_away,
    ),
    (
        r"\b(?:i|we) (?:won['’]?t|will never|can['’]?t imagine|refuse to)(?: ever)? (?:leave|leaving|living"
        rf" anywhere (?:but|other than)|live anywhere (?:but|other than)) {_PLACE}",
        unless_away,
    ),
    (
        rf"(?:^|\b(?:from|in|to|is|of|called) (?:[a-z-]+ ){{0,2}}){_TO_PLACE},? where (?:i|we)(?:['’]ve| have"
        r"|['’]m|['’]re| am| are)? (?:(?:now|been|both|currently|all|happily|still) )*(?:live|living|lived for"
        r"|based|holed up|settled|stationed|rooted)\b(?! it\b)",
        unless_away,
    ),
    (
        r"\b(?:my|our|the) (?:daily |morning |long )?(?:commute|drive|train|bus ride|ride|trek|journey|cycle"
        rf"|walk)(?: in| over| up| down| here| to work)*(?: every (?:day|morning))? from {_PLACE}(?=[^.!?]*\b"
        r"(?:work|office|every|each way|kill\w*|hours?|daily|morning|site|job|minutes)\b)",
        unless_away,
    ),
    (
        r"\b(?:i|we) (?:commute|drive|travel|come|cycle|get the (?:train|bus)|take the (?:train|bus)|bus it)"
        rf"(?: in| over| up| down)(?: every day| daily| each day| to work| here)* from {_PLACE}",
        unless_away,
    ),
    (
        r"\b(?:i|we)(?:['’]ve| have)? (?:still |just |recently )?(?:stay|lodge|board|live|moved(?: back)? in) (?:by|with|at) (?:my|our) "
        rf"(?:folks|family|{_CLOSE})(?:['’]s?)?(?: (?:place|house|flat))? in {_PLACE}"
        r"(?![^.!?]* for (?:an?|the|\d+|two|three|four|some) (?:\w+ )?(?:days?|nights?|weeks?|weekend|while|bit)\b)",
        r"I live in \g<x>",
    ),
    (rf"\b(?:till|until) then,? (?:it['’]?s|i['’]?m (?:still )?in|we['’]re (?:still )?in|home is|home stays) {_PLACE}", r"I live in \g<x>"),
    (
        r"(?<!it )(?<!like )(?<!being )\b(?:back |up |down |over |out )?here in (?:(?:sunny|rainy|lovely|dear"
        rf" old|good old|little|grey) )*{_PLACE}",
        unless_away,
    ),
    (
        r"\b(?:i|we) (?:(?:finally|recently|just) )*(?:moved|relocated|dragged|shifted|packed up|brought) (?:the"
        r" (?:whole )?(?:family|lot of us|household)|us all|everyone|my stuff|our stuff|the kids|everything"
        rf"|our lives?|my life)(?: over| up| down| back| out)? to {_PLACE}",
        r"I moved to \g<x>",
    ),
    (
        rf"\b(?:i|we) (?:ended|wound|washed) up in {_PLACE}(?=[^.!?]*\b(?:never left|stayed|ever since|still"
        r" here|still am|still are|to stay|for good|and i love|now)\b)",
        unless_away,
    ),
    (
        rf"(?:^|\band )(?:(?:i|we)(?:['’]ve| have)? )?(?:just |recently |finally |then )?{_SETTLED} an? (?:[a-z-]+"
        rf" ){{0,3}}?{any_of(DWELLINGS)} (?:in|on|near the centre of) {_PLACE}",
        _if_changed,
    ),
    (
        r"^(?:(?:so |and |but )?(?:i|we)(?:['’]ve| have)? )?(?:recently |just |finally )*(?:swapped|traded|left|exchanged|ditched|gave up)"
        r" (?P<from>(?:city life in |the )?(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?)(?: for good)?"
        rf" (?:for|and (?:settled|moved|went|came) (?:in|to)) (?:an? (?:[a-z-]+ ){{0,3}}?{any_of(DWELLINGS)} (?:in|on|outside) )?{_PLACE}",
        unless_trip,
    ),
    (
        rf"^(?:the|our|my) (?:big )?(?:move|relocation|moving)(?: from {PLACE_NAME})? (?:back |over |up |down |out )?to {_PLACE}"
        r" (?:was|went|has|took|turned out|cost|is (?:behind|finally|done|going|over)|nearly|almost|did|felt|feels|wore|wiped|broke)\b",
        unless_trip,
    ),
    (
        rf"^(?:i|we)(?:['’]ve| have)? (?:(?:just|finally|recently) )*(?:bought|ended up buying|settled down|settled) in {_PLACE}"
        r"(?=\s*(?:[.,!;]|$)| (?:because|since|as|so|in \d{4}|last|years|\w+ years|and)\b)",
        unless_trip,
    ),
    (
        r"\b(?:i|we)(?:['’]ve| have)? (?:just |recently |finally )?(?:upped sticks|up and left|packed up|sold"
        rf" up|headed off|emigrated|decamped) (?:and (?:moved|came|went) )?(?:here )?to {_PLACE}",
        r"I moved to \g<x>",
    ),
    (
        rf"^(?:born|raised|born and raised|born and bred) in {_PLACE},? (?:and )?(?:never left|still here|still"
        r" live here|been here ever since)",
        r"I live in \g<x>",
    ),
    (
        rf"^(?:now(?:adays)?|these days|since (?!then\b)[\w ]{{3,20}}?|as of [\w ]{{3,15}}?|for the (?:last|past)"
        rf" [\w ]{{3,15}}?),? (?:it['’]?s|it is|it has been|home is|home['’]s|we['’]?re in|i['’]?m in) {_PLACE}",
        unless_away,
    ),
    (
        r"\b(?:my|our) (?:own |new |little |tiny |shared )*(?:garden|balcony|allotment|landlord|landlady|terrace"
        r"|street|neighbourhood|neighborhood|block|council|flat|apartment|house|bedsit|houseboat|cottage|neighbours?|flatmates?"
        r"|housemates?|local) (?:here"
        rf" |over |up |down |out )?in {_PLACE} (?:(?:is|are|has|have|needs?|won['’]?t|doesn['’]?t|don['’]?t|(?!was\b)[a-z]{{3,}}s)\b"
        r"|(?=[^.!?]*\b(?:again|just|now|finally|this (?:week|month|morning|year))\b))",
        unless_away,
    ),
)
