"""The parts of clauses by the names that templates of statements use: ``<I> live <where>? <in>``."""

from typing import Final

from extraction.offline.grammar import value_patterns as values
from extraction.offline.grammar.patterns import any_of
from extraction.offline.words import clauses, homes, people, tastes, work

_ADV: Final = values.ADV
_I: Final = rf"(?:i|we){_ADV}"
_I_AM: Final = rf"(?:i\s?['’]\s?m|im|i am|we['’]re|we are){_ADV}"
_I_HAVE: Final = rf"(?:i|we)(?:['’]?ve|\s+have){_ADV}"
_I_MAY_HAVE: Final = rf"(?:(?:{_I_HAVE}|{_I})\s+)?(?:{any_of(clauses.ADVERBS)}\s+)*"
"""A subject, with or without "have", or none: "moved to Rome last year"."""
_BIG: Final = any_of(tastes.DEGREES, tastes.FERVOUR)
_SEVERE: Final = any_of(tastes.DEGREES)
_INTENSE: Final = any_of(tastes.INTENSIFIERS)
_DIETARY: Final = any_of(tastes.DIET_DEGREES)
_AROUND: Final = rf"(?:(?!{any_of(homes.NO_SURROUNDINGS)}\b)[^\s,;.!?]+\s+){{0,7}}?[^\s,;.!?]+?"
"""Where in a town: a few words without a clause."""
_JOB: Final = r"(?:an?|my|the) (?:new )?(?:job|position|post)"
_WORK: Final = "|".join(
    (
        rf"{_I}\s+(?:work|started(?: working| work)?|(?:make|earn) (?:a|my) living|serve)",
        rf"{_I_AM}\s+(?:working|employed)",
        rf"{_I_HAVE}\s+been (?:working|employed)",
        rf"{_I_MAY_HAVE}(?:signed|signed on|been hired|been promoted|got hired)(?: with {values.NAME})?",
        rf"(?:{_I_HAVE}|{_I})\s+(?:got|have|started|found|took|landed) {_JOB}",
        rf"(?:(?:just|recently|finally)\s+)?(?:started|got|landed) {_JOB}",
        "working",
    )
)
_DURING: Final = rf"(?:{any_of(work.WORKING_TIMES)}|in \w+|(?:at|for|with) [\w &'’-]{{3,30}}?)"

_INTRODUCED: Final = rf"(?:{_I_AM}|my name(?:['’]?s| is))\s+(?:{values.NAME}|\d{{2}})(?:,\s+\d{{2}})?,"
"""Before an apposition: "I'm Priya, a dentist from Jaipur"."""

PARTS: Final = {
    # Subjects and verbs
    "I": _I,
    "I_am": _I_AM,
    "I_have": rf"(?:{_I_HAVE}(?:\s+(?:got|developed))?|(?:i|we)\s+(?:got|developed)){_ADV}",
    "I_have_always": rf"(?:i|we)(?:['’]?ve|\s+have)(?:\s+(?:always|long|ever))+{_ADV}",
    "I_may": rf"(?:{_I}|{any_of(clauses.ADVERBS)}{_ADV})",
    "am_or_became": rf"(?:{_I_AM}|{_I}\s+became|{_INTRODUCED}){_ADV}",
    "been": rf"been{_ADV}",
    "is": rf"(?:is|are|['’]s){_ADV}",
    "my": "(?:my|our)",
    "a": "(?:an?|the)",
    "language": "[a-z]+",
    # Names
    "people": any_of(people.PEOPLE_WHO_NAME),
    # Homes
    "have_lived": rf"(?:{_I_HAVE}\s+(?:lived|resided)|(?:{_I_HAVE}\s+)?been{_ADV}\s+(?:living|based|residing|settled))",
    "moved": rf"{_I_MAY_HAVE}(?:moved|relocated|shifted|emigrated|retired){_ADV}",
    "made": rf"(?:{_I}\s+(?:make|made)|{_I_HAVE}\s+made)",
    "direction": rf"(?:{any_of(homes.DIRECTIONS)}|with {values.WORD}(?: {values.WORD})?)(?:\s+{any_of(homes.DIRECTIONS)})*",
    "from_place": rf"from {values.PLACE_NAME}(?:,\s+{values.PLACE_NAME})?",
    "out_of": rf"(?:out of|from) {values.PLACE_NAME} and",
    "role": "[a-z-]+(?: (?!(?:of|in|from|with|for)\\b)[a-z-]+){0,2}",
    "in": any_of(homes.PLACE_PREPOSITIONS),
    "where": (
        rf"(?:{any_of(homes.HOUSEHOLD)}\s+){{0,2}}?"
        rf"(?:{any_of(homes.HOUSEHOLD)}|with\s+(?:my|our|two|three|some)\s+[\w'’-]+(?:\s+(?:and\s+)?[\w'’-]+){{0,2}}?|{any_of(homes.BESIDE)}\s+{_AROUND}|(?:an?|\d+|ten|twenty|half)\s+{_AROUND}\s+from\s+{_AROUND})"
    ),
    "part_of": rf"(?:downtown|central|(?:the |a )(?:[a-z-]+ )?{any_of(homes.PARTS_OF_TOWNS)}(?: of)?)",
    "dwelling": rf"(?:[a-z-]+\s+){{0,2}}?{any_of(homes.DWELLINGS)}",
    "dwelling_is": rf"(?:[a-z-]+\s+)?{any_of(homes.DWELLINGS)}['’]s{_ADV}",
    "own_dwelling": rf"(?!{any_of(homes.SECOND_HOMES)}\b)(?:[a-z-]+\s+)?(?:house|flat|apartment)",
    "street": r"\d+\w?\s+(?-i:[A-ZÀ-Þ])[\w'’.-]*(?:\s+[\w'’.-]+){0,3},",
    "here_from": (
        r"(?:this is|(?:(?:i['’]?m|i am|we['’]re)\s+)?(?:writing|emailing|calling|texting|typing|speaking|messaging|greetings|hello|hi)\s+"
        r"(?:you\s+)?from|(?:i['’]?m|i am|we['’]re)\s+(?:here\s+)?in)"
    ),
    "settlement": rf"(?:[\w-]+\s+){{0,3}}?{any_of(homes.SETTLEMENTS)}",
    "where_I_live": "(?:where (?:i|we) live|(?:i|we) live in)",
    # Occupations
    "work": rf"(?:{_WORK}){_ADV}(?:\s+{_DURING})?",
    "time": any_of(work.WORKING_TIMES),
    "based": r"(?-i:[A-Z])[\w'’]+[- ]based",
    # Tastes
    "loves": rf"{any_of(tastes.LIKING)}{_ADV}",
    "hates": any_of(tastes.DISLIKING),
    "fan_of": any_of(tastes.ADMIRERS),
    "big": rf"{_BIG}(?:\s+{_BIG})*",
    "big_a": rf"(?:(?:an?|the)(?:\s+{_BIG})*|{_BIG}(?:\s+{_BIG})*)",
    # Health and food
    "intensely": rf"{_INTENSE}(?:\s+{_INTENSE})?",
    "severe_a": rf"(?:(?:an?|some)(?:\s+{_SEVERE})*|{_SEVERE}(?:\s+{_SEVERE})*)",
    "something_and": "[a-z]+(?: [a-z]+){0,2} and",
    "dietary": rf"{_DIETARY}(?:,?\s+{_DIETARY})?",
    "ever": "(?:ever|really|usually|actually)",
    "eat": rf"(?P<verb>{any_of(tastes.AVOIDED_ACTS)})",
    "eating": "(?P<gerund>eating|drinking|wearing|consuming|touching|using)",
}
