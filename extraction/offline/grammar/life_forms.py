"""The forms of sentences that state an event of the writer's life, or of somebody close to them.

An event has an active subject ("I passed"), a passive one ("I was laid off", "they offered me the post"), or somebody close as its subject
("my sister had a fall"). Somebody is close by a word of relation, or by name in a sentence that has the writer in it, too.
"""

from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.words.people import MANY_RELATIVES, PETS, RELATIVES

_DONE: Final = any_of(
    listed("""
    laid off, fired, sacked, made redundant, let go, promoted, accepted, admitted, hired, dumped, diagnosed, evicted, burgled, mugged,
    robbed, elected,
    shortlisted, rejected, demoted, transferred, discharged, hospitalised, hospitalized, offered, awarded, chosen, selected,
    caught, arrested, hit by, knocked over, invited, called up, nominated, given notice, given the all clear, cheated on, left behind,
    betrayed
""")
)
_TO_ME: Final = any_of(
    listed("""
    fired, sacked, promoted, hired, offered, dumped, evicted, robbed, mugged, diagnosed, accepted, rejected, divorced, proposed to, kicked,
    let, put, laid, elected, chose, picked, gave, left, cheated on, ghosted, betrayed, surprised, invited, arrested, discharged, operated on
""")
)
_HEALTH: Final = (
    r"(?:(?:\w+ )?cancer|covid|(?:the )?flu|pneumonia|dementia|alzheimer['’]?s|parkinson['’]?s|diabetes|an? (?:bad |nasty |serious "
    r"|little |mild )?"
    r"(?:stroke|heart attack|tumou?r|baby|boy|girl|son|daughter|miscarriage|accident|fall|seizure|concussion|crash|breakdown"
    r"|relapse|operation))"
)
_HAPPENED: Final = (
    rf"(?:(?: (?:has|have|just|finally|also|now|recently|sadly))* (?:had {_HEALTH}|got {_HEALTH}|(?:was|were|got|been|gotten) {_DONE}"
    r"|(?:was |were |is |are )?(?:getting|got|gotten) (?:married|engaged|divorced|hitched)|(?:had to be |was |were |been |got )put"
    r" (?:down|to sleep)"
    r"|passed (?:his|her|their|away|the|on\b)|failed (?:his|her|their|the)|broke (?:his|her|their|an?|both)|(?:ended|was|is|were"
    r"|are|back) (?:up )?in"
    r" (?:the )?(?:hospital|icu|a&e|er)\b|graduated|died|retired|fell (?:off|down|over|from|ill|in love)|(?:split|broke) up|split"
    r"|separated|divorced"
    r"|moved (?:out|in|away|to|back|house)|left (?:me|us|him|her|home)|was born|were born|got (?:his|her|their|into|in to|a new|a"
    r" job|the job|the keys|the all)"
    r"|lost (?:his|her|their)|started (?:at|school|a new|uni\w*|college|nursery|work)|came (?:home|out|back)|won\b|quit|ran away|crashed"
    r"|(?:is|are) (?:moving (?:to|out|in|away|abroad|back)|emigrating|retiring|leaving home|pregnant|expecting)|bought (?:an?|his"
    r"|her|their)|sold (?:his|her|their)|had (?:her|his|their) (?:first|baby|operation|surgery|wedding|bar)|took"
    r" (?:his|her|its|their) first)\b)"
)
_CLOSE: Final = rf"\b(?:my|our) (?:[\w'’-]+ ){{0,2}}?{any_of(RELATIVES, PETS, MANY_RELATIVES)}(?:,? (?-i:[A-Z])[\w'’]+,?)?"
_OF_THEM: Final = rf"\b(?:one|two|both) of (?:the|my|our) (?:{any_of(MANY_RELATIVES)}|{any_of(PETS)}s?)"
_PARENTS: Final = r"\b(?:my |our )?(?:parents|mum and dad|mom and dad|mam and dad|folks)"
_WITH_ME: Final = r"(?=.*\b(?:i|we|us|me|my|our)\b)"
_NAMED: Final = r"\b(?-i:[A-Z][a-zà-ÿ'’-]+)(?<!['’]s)"
_TENSE: Final = r"(?:(?:['’]ve| have|['’]s| has) (?:just |finally |now |already |recently )*)"

LIFE_EVENT: Final = (
    rf"\b(?:i|we)(?:{_TENSE}been|(?:['’]m| am|['’]re| are| was| were| got| just got) (?:just |finally |now |recently )*)"
    rf" ?{_DONE}\b(?! to (?:hear|see|say|do|be)\b)"
    rf"|\b(?:they|boss|manager|landlord|landlady|company|firm|school|university|uni|college|bank|council|court|doctor|doctors|work|bf|gf|boyfriend"
    rf"|girlfriend|husband|wife|ex|partner|board|team|(?-i:[A-Z][a-z]+))(?: (?:just|has|have|finally|already))* {_TO_ME} (?:me"
    rf"|us)\b(?! (?:know|go\b|think|be\b|tell|see|off with|ideas?))"
    rf"|{_CLOSE}(?:['’]s)?{_HAPPENED}|{_OF_THEM}{_HAPPENED}|{_PARENTS}{_HAPPENED}"
    rf"|^{_WITH_ME}.*{_NAMED}{_HAPPENED}"
)
