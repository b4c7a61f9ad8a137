"""English words that carry no topic."""

from typing import Final

_WORDS: Final = """
a about above after again against all almost alone along already also although always am among an and another any anybody anyone
anything anyway are aren't around as at away be became because become been before began behind being below between both but by came
can can't cannot come comes coming could couldn't did didn't do does doesn't doing don't done down during each either else enough even
ever every everybody everyone everything few for from further gave get gets getting give given gives go goes going gonna gotten had
hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself his how how's however i i'd i'll i'm
i've if in instead into is isn't it it'd it'll it's its itself just least less let let's like lot lots made make makes making many may
maybe me might mine more most much must my myself need needs neither never next no nobody none nor not nothing now of off often on
once one only onto or other others ought our ours ourselves out over own per perhaps put quite rather real said same say says seem
seems shall she she'd she'll she's should shouldn't since so some somebody someone something sometimes somewhere still stuff such than
that that'll that's the their theirs them themselves then there there's these they they'd they'll they're they've thing things this
those though through thus till to together too took toward towards tried try trying under until up upon us use used using usually very
want wanted wants was wasn't way we we'd we'll we're we've went were weren't what what's whatever when when's where where's whether
which while who who's whole whom whose why will with within without won't would wouldn't yet you you'd you'll you're you've your yours
yourself yourselves actually basically certainly kind kinda sort bit feel feels feeling felt look looks looking looked
"""
STOPWORDS: Final = frozenset(_WORDS.split())
