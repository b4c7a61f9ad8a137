"""The patterns of values: names, places, noun phrases, and what ends them."""

from typing import Final

from extraction.offline.grammar.patterns import any_of
from extraction.offline.words.clauses import ADJUNCTS, ADVERBS, STOPS
from extraction.offline.words.people import NO_NAMES

DOT: Final = "\u2024"
"""The dot of an abbreviation or an initial, which ends no value: "J․ S․ Bach"."""
STOP: Final = any_of(STOPS)
_CAPITAL: Final = rf"(?-i:[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’.{DOT}-]*[\w{DOT}]|[A-ZÀ-ÖØ-ÞĀ-Ž])"
_PARTICLES: Final = r"(?:(?:van|von|der|den|de|da|di|del|la|el|al|bin|ibn|ter|ten|du|dos|das|y)\s+)*"
_PLACE_PARTICLES: Final = r"(?:(?:of|de|da|do|del|la|le|am|an der|upon|on(?! \w+day\b)|sur|sous|op|aan|bei|nad|pod|the|di|el|os)\s+)*"
DURATION: Final = (
    r"(?:(?:(?:well |just )?(?:about|around|roughly|approximately|nearly|almost|over|under|some)\s+)?"
    r"(?:half an? (?:year|decade|century)"
    r"|(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|several|many|\d+)(?: and a half)? "
    r"(?:few |good |couple (?:of )?|dozen )?(?:hrs?|hours?|days?|weeks?|months?|years?|decades?|while)\b(?: and a half\b)?))"
)
"""A length of time: "half a year", "about two and a half years"."""
CLAUSE_END: Final = (
    rf"(?=\s*(?:[.!,;:()…—–]|-(?!\w)|$)|\s+(?:{any_of(STOPS, ADJUNCTS)}\b|{DURATION})|\s*(?:[^\w\s.,;:!?'\"{DOT}/-]|/(?!\w)))"
)
WORD: Final = rf"[^\W\d_](?:[\w'’&+#{DOT}-]|/(?=\w))*(?:\+\+|#)?"
_NEXT: Final = rf"(?!{STOP}\b){WORD}"
PHRASE: Final = rf"(?:(?:the|a|an|my|some|all|any)\s+)?{_NEXT}(?:\s+(?:{_NEXT}|of\b|\d+)){{0,4}}"
"""A noun phrase, or what begins as one."""
_NEXT_VERB: Final = (
    r"(?:(?!(?:all|some|of|to)\b)\w+ (?:an?|the|my|our|it|them|one)\b|(?:carry|keep|avoid|use|wear"
    r"|need|am|was|will|can|live|work|love|leave|drink|eat|sleep|go|stay|get)\b)"
)
"""Begins a second predicate, not a second thing: "bees and keep a spray"."""
AND_ALSO: Final = (
    rf"(?:\s+and\s+(?!(?:i|i['’]?m|my|we|our|he|she|it|they|you|the|not|so|also)\b)(?!{_NEXT_VERB}){WORD}(?:\s+{_NEXT})?(?=\s*(?:[.!]|$)))?"
)
LIST: Final = (
    rf"{PHRASE}(?:(?:,\s+{PHRASE})*,?\s+(?:and|or|&)\s+(?:to\s+)?(?!(?:i|i['’]?m|my|we|it|he|she|they)\b)(?!{_NEXT_VERB}){PHRASE})?"
)
NAME: Final = rf"(?:(?:(?:Dr|Prof)\.?|(?-i:Mr|Mrs|Ms|Mx|Miss)[.{DOT}]?) )?{_CAPITAL}(?:\s+{_PARTICLES}{_CAPITAL}){{0,3}}"
_COUNTRY: Final = (
    r"(?:the\s+(?:united states|usa?|uk|united kingdom|netherlands|philippines|czech republic|uae|emirates|bahamas|maldives)\b)"
)
PLACE_NAME: Final = rf"(?:the\s+)?{_CAPITAL}(?:\s+{_PLACE_PARTICLES}{_CAPITAL}){{0,3}}"
_NO_PLACE: Final = (
    r"(?:that|this|these|those|his|her|their|your|every|any|some|its|a|an|my|our|the|near|in|at|on|by|next|close"
    r"|far|not|where)"
)
STATES: Final = (
    "(?:al|ak|az|ar|ca|co|ct|dc|fl|ga|ia|il|ks|ky|md|mi|mn|mo|ms|mt|nc|nd|ne|nh|nj|nm|nv|ny|ri|sc|sd|tn|tx|ut|va|vt|wa|wi|wv|wy"
    "|uk|usa|uae|nz|ie|sa|roi|bc|qc|nsw|vic|qld|aus|ger|ned|esp)"
)
_STATES_AT_END: Final = r"(?:(?:de|hi|id|la|ma|or|pa|ab|tas|act|ni)(?=\s*(?:[.!,;]|$)))"
"""Abbreviations that are common words, too, and count only at the end of a clause."""
_LOWER_WORD: Final = rf"(?!(?:{STATES})\b)[a-z]{{3,20}}"
_WITH_STATE: Final = (
    rf"(?:{PLACE_NAME}|(?-i:(?!{_NO_PLACE}\b){_LOWER_WORD}(?:\s+(?!{STOP}\b){_LOWER_WORD}){{0,2}}?)),?\s+(?-i:{STATES}|{_STATES_AT_END})\b"
)
"""A town with a state or a country in short, as people type them: "austin tx"."""
PLACE: Final = (
    rf"(?:{_WITH_STATE}|{_COUNTRY}|{PLACE_NAME}(?:,\s+{PLACE_NAME})?"
    rf"|(?-i:(?!{_NO_PLACE}\b)[a-z]{{3,20}}(?:\s+(?!{STOP}\b)[a-z]{{3,20}}){{0,2}}?))"
)
JOB: Final = rf"{_NEXT}(?:\s+(?!{STOP}\b)[a-z][\w'’-]*){{0,3}}"
ADV: Final = rf"(?:\s+{any_of(ADVERBS)}\b)*"
_MODAL: Final = r"(?!(?-i:Will|May)\s+(?!is\b|was\b|has\b|and\b)[a-z]+(?<!s)\b)"
"""The verbs of "My boss Will not come", written with a capital."""
_MR: Final = (
    rf"(?:(?:(?:Mr|Mrs|Ms|Dr|Prof){DOT}?|(?-i:Professor|Captain|Lady|Lord|Sir|Miss|Mister|Doctor|Princess"
    r"|Prince|King|Queen|Count|Major|General|Colonel"
    r"|Señora|Señor|Sra|Sr|Frau|Herr|Madame|Monsieur|Signora|Signor|Doña|Don|Pani|Tante|Onkel|Tía|Tío|Zia"
    r"|Zio|Father|Sister|Brother|Mother|Uncle|Auntie|Aunt|Saint|Baron|Duke|Sergeant|Madame))\s(?=[A-Z]))?"
)
FIRST_NAME: Final = rf"{_MR}{_MODAL}(?![A-Z]{{2,}}\b|\w*\d)(?!(?i:{any_of(NO_NAMES)}\b)){_CAPITAL}(?<!['’]s)(?:['’]s)?"
SINCE: Final = rf"(?=.*\b(?:since|for|(?:my whole|my entire|all my|half my) life|forever|now|going on|{DURATION})\b)"
"""The present perfect states a present only with a duration."""
