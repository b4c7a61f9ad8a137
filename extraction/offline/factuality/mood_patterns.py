"""The patterns that find moods in a message or a sentence, made of the cues in :mod:`extraction.offline.factuality.mood_words`."""

import re
from typing import Final

from extraction.offline.factuality import mood_words as words
from extraction.offline.grammar.patterns import any_of, cue, either, listed, whole_apart
from extraction.offline.grammar.plan_forms import PROMISE
from extraction.offline.words.people import PETS, RELATIVES
from memory.texts.prefiltered_patterns import compiled

_FIRST_PERSON: Final = r"(?:i|i['’]?m|my|we|our|call me)\b"
_TEXT: Final = any_of(words.TEXT_NOUNS)
_I_AM_NOW: Final = r"\b(?:i(?:['’]?m| am)|we(?:['’]re| are))(?: now| still)?"
TASK: Final = either(
    *whole_apart(words.PROCESSING),
    rf"\b{any_of(words.SENTENCE_VERBS)}(?: (?:this|these|the|my|following|for me|after me))*(?: {_TEXT}\b|\s*:)",
    r"(?<!sorry, )(?<!oops, )(?<!^)\btypos?\b(?!\s*[:,])(?! (?:from|on|of) )",
    r"\bhow (?:do|would|can|should|to) (?:you|i|we|one)? ?(?:say|spell|pronounce|put)\b|\bhow is .{1,60} (?:said|spelled|written)\b",
    r"\bhow (?:do|would|can|should) (?:you|i|we|one) write (?:this|that|['\"“]|in [A-Z])",
    r"\bwhat(?:['’]s| is| does| do) .{0,40}\b(?:mean|in (?:french|german|spanish|english|italian|latin)|for [\"'“‘]"
    r"|(?:french|german|spanish|english|latin|italian) for)\b",
    rf"\b(?:this|that|these|those|above|following|below) (?:{any_of(words.READ_TEXTS)}|{_TEXT})\b",
    r"\btl;?dr\b[^:]*\b(?:please|pls|this|of)\b",
    r"^\W*test(?:ing)?\b",
    r"\bguess (?:who(?:\s*[!.?:…,]| i am| am i)|what i do\b|where i|my (?:job|name|age|home|city|profession"
    r"|occupation)\b)|\btwo truths\b|\briddle me\b",
    rf"\b(?:his|her|their|whose|\w+['’]s) {any_of(words.OTHERS_TEXTS)}\s*:",
    rf"\b{any_of(words.OTHERS_TEXTS)} (?:of|by|from) [^:\n]{{1,50}}:",
    r"^\W*(?:say|repeat|quote|echo|print|note that down)\s*:",
)
"""A message with it gives a text to work on, before or after it."""
_WORK_ON_TEXTS: Final = r"(?:translat|transcrib|proof-?read|subtitl|caption|interpret|summari[sz]|dictat)"
NO_TASK: Final = either(
    # "I translate contracts for a living", "my job is translating patents", "I'm a sworn translator"
    rf"\b(?:i|we)(?: (?:mostly|mainly|usually|also|now))? {_WORK_ON_TEXTS}\w*\b[^.!?:\n]{{0,60}}?\bfor (?:an?"
    rf"|my|our) (?:living|job|work|day job)\b"
    r"(?:,? (?:from|into|between)\b[^.!?:,\n]{0,40})?",
    rf"\bfor (?:a|my) living,? (?:i|we) {_WORK_ON_TEXTS}\w*\b[^.!?:\n]{{0,40}}",
    rf"\b(?:my|our) (?:day )?(?:job|work|trade|profession|line of work)(?:['’]s| is| involves| means) (?:mostly |mainly |just )?"
    rf"{_WORK_ON_TEXTS}ing\b[^.!?:\n]{{0,40}}",
    rf"\b(?:i['’]?m|i am|(?:i )?work(?:ing)? as) (?:an?|the) (?:[\w-]+ ){{0,3}}(?:{_WORK_ON_TEXTS}e?[or]r?|proofreader)\b",
    r"\bi (?:work|freelance|am|earn (?:a|my) living) in (?:\w+ )?(?:translation|subtitling|transcription)\b",
    r"\b(?:i|we) do (?:\w+ )?(?:translations?|transcriptions?|subtitles|proofreading|dictations?"
    r"|captions?)\b[^.!?:\n]{0,30}?\bfor (?:a|my) living\b",
    # "good luck spelling that", "the spelling is Irish": said of a name
    r"\b(?:good luck|have fun|nobody manages|people struggle|people have trouble|never mind|don['’]?t mind)(?: with)?(?: the)? "
    r"(?:spelling|pronouncing|pronunciation)\b(?: (?:that|it|of it|this)\b)?",
    r"\b(?:weird|odd|strange|unusual|funny|rare|irish|welsh|polish|finnish|old|different) spelling\b|\bthe spelling (?:is|varies)\b",
)
"""Words of tasks in a message that gives no text to work on: the writer's trade, or how a name is written."""
WRITING: Final = either(
    rf"\b{any_of(words.WRITING_VERBS)}\b[^.!?]{{0,40}}\b{any_of(words.WRITTEN)}\b",
    rf"\b{any_of(words.READING_VERBS)}\b[^.!?]{{0,25}}\b{any_of(words.READ_TEXTS)}\b",
    *whole_apart(words.EXERCISES),
)
"""Orders or shows a text; what follows may be it. What was said before is not."""
FICTION: Final = either(
    *whole_apart(words.FICTION, words.SUPPOSITIONS),
    rf"\b{any_of(words.PROPOSALS)} {any_of(words.PLAYS)}\b",
    r"\b(?:act|acting|behave|speak|talk|answer|respond) (?:as|like)\b|\byou(?:['’]re| are| be)(?: now)? (?:a|an|the"
    r"|my) \w+|\blet me be\b|\bi(?:['’]ll| will) be (?:the|a|an)\b",
    r"^\W*(?:please |you )?be (?:my|an?|the) \w+",
    rf"\b{any_of(words.TALES)} (?:goes|says|begins|starts|opens|in which|where (?:i|he|she)|about (?:a|an|my|me)"
    rf"|i(?:['’]m| am) (?:writing|working))\b",
    rf"\bin (?:my|the|this|a|our|that|another|every) (?:\w+ )?{any_of(words.WORLDS)}\b(?! (?:chat|forum|club|shop|design"
    rf"|industry|development))",
    r"\[(?:ooc|ic)\b|^\W*\*[^*]{2,60}\*|[🎵🎶♪🎭]|\bsing(?:s|ing)?:",
    rf"(?:^\W*|[.!?:;,]\s+|\b(?:just|let['’]?s|let us) ){any_of(words.SUPPOSING)}(?: that|,)? (?:i|i['’]?m|we|you|my|the)\b",
    # "simulate a first date", "can we enact": an order or a proposal; "I rehearse with my choir" is a habit
    r"(?:^\W*|[.!?:;,]\s+|\b(?:let['’]?s|let us|(?:can|could|shall|will|would) (?:we|you|i)|please|(?:want|like|wanna) to|help me)\s+)"
    r"(?:simulate|enact|re-?enact|act out|improvise|rehearse|impersonate|portray|mimic|dramati[sz]e)\b",
    rf"\b(?:practi[sc]e|practi[sc]ing|mock|run through|warm up for|prepare|prep)\b(?: \w+){{0,3}} {any_of(words.PERFORMED)}s?\b",
    # "You're Sherlock. I'm Watson": parts are given by name
    r"^\W*(?:you(?:['’]re| are))(?: now)? (?-i:[A-Z][a-z]+)(?:\s*[.,;!])?\s+(?:(?:and )?i(?:['’]m| am|['’]ll be))\b",
    r"\bin the (?:role|part|shoes) of\b|\byou(?:['’]ll| will)? play (?:a|an|the|my)\b|\bi(?:['’]ll| will)? play (?:a|an"
    r"|your|the (?:role|part|[a-z]+ in))\b",
    rf"\b(?:in|playing) (?:my )?{any_of(words.GAMES)}\b",
    r"\bfrom the (?:perspective|point of view|viewpoint) of\b",
    r"\bin (?:this|that|the|my|our) (?:example|exercise|hypothetical|hypothesis)\b",
    # "I'm Zyx, the space goblin", "I'm Lord Brackenfell", "I'm Fenwick the Grey": a part
    rf"{_I_AM_NOW} (?:[\w’-]+,? ){{0,4}}?{any_of(words.PERSONAS)}s?(?=\s*(?:[^\w\s’'-]|$)"
    r"|\s+(?:named|called|who|and|with|from|of|in|on|ranger|smith|queen|king|lord|lady|hunter|warrior|thief|prince|princess)\b)",
    rf"{_I_AM_NOW} {any_of(words.FAMOUS)}(?=\s*(?:[^\w\s’'-]|$)|\s+(?:and|from|of)\b)",
    rf"(?:{_I_AM_NOW}|\bmy name(?:['’]s| is)) {any_of(words.TITLES)} (?:of the\b|(?-i:[A-Z]))",
    r"\bi(?:['’]?m| am) (?-i:[A-Z]\w+ the [A-Z])",
)
PLAYED_ON: Final = either(
    r"(?:^|[.!?,;]\s+)(?:ok(?:ay)?,? )?(?:please )?(?:your (?:turn|line|move)|now you"
    r"|(?:continue|go on)(?: with (?:the|our) \w+)?)\s*[.!]*$",
    r"^\W*(?:act|scene) (?:one|two|three|four|five|\d|[ivx]+)\b|\b(?:new|next) scene\b|\bwhat do i (?:see|hear|find)\b",
)
"""Asks the other to go on with a play; the statements of the message are part of it."""
END_OF_FICTION: Final = cue(words.END_OF_FICTION)
IRONY: Final = either(
    *whole_apart(words.MOCKING),
    r"(?:^|\s)/s\b|\bnot really\s*[.!]*$|\bnot\s*[!.]*$(?<=not!)|\bi wish\s*[!.]*$",
    rf"^\W*{any_of(words.SIGHS)}\b,?(?: {any_of(words.JOYS)}\b)?[,!.…]+\s*(?:i|i['’]m|my|we)\b(?! (?:also|just moved))",
    rf"^\W*{any_of(words.SIGHS)}\b,? (?:another|more|yet another|one more|just what|exactly what)\b",
    rf"^\W*(?:such|what|how)(?: an?)? {any_of(words.JOYS)}\b",
    rf"^\W*(?:oh|ah|well|wow|gee) {any_of(words.JOYS)}\b",
    r"[🙄😏🤡🥁]",
)
_UNPLEASANT: Final = any_of(words.UNPLEASANT)
MOCKED_PRAISE: Final = either(
    # "I love queueing for hours. Highlight of my week."
    rf"\b(?:love|adore|enjoy|loving|enjoying) (?:being |getting |having to )?(?=\w+(?:ing|ed"
    rf"|en)\b)(?=[^.!?…]*\b{_UNPLEASANT})[^.!?…]*[.!…]+"
    rf"\s+(?:\w+ ){{0,2}}?(?:{any_of(words.WEAK_MOCKERY)})\b",
    rf"\b(?:love|adore|enjoy|loving|enjoying) (?=[\w ]*\w{{2,}}ing\b)[^.!?…]*[.!…—–]+\s+(?:\w+ ){{0,2}}?{any_of(words.STRONG_MOCKERY)}\b",
    rf"\b(?:just|absolutely|simply|really|so|truly|do|totally) (?:love|adore|enjoy) (?:being |getting |having to )?(?=\w+(?:ing|ed|en)\b)"
    rf"(?=[^.!?…]*\b{_UNPLEASANT})[^.!?…]*(?:[!…]|\.\s+(?!i\b|i['’]|it\b|my\b|it['’]s\b))",
)
"""Praise of an unpleasant act, and mockery after it."""
IN_A_TITLE: Final = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|well|currently|right now|now|also|btw|haha)\W+)*(?i:in|on|playing"
    r"|inside) (?P<title>(?-i:[A-Z0-9])[\w'’:&-]*"
    r"(?: (?:of|the|and|in|to|for|&|(?-i:[A-Z0-9])[\w'’:&-]*))*)(?: (?:online|vr|rn|right now))?,?\s+(?i:i|i['’]?m|my|we)\b(?P<rest>.*)$",
    re.DOTALL,
)
"""Begins with what may be the title of a game: "In Hollow Keep, I farm and I'm married to Odo"."""
IN_GAME: Final = either(
    r"\b(?:i|we) (?:\w+ )?live (?:in|at|on|near) (?-i:[A-Z]|a (?:castle|cave|tower|village|hut|cabin|camp|dungeon|swamp"
    r"|forest|ship|palace|tent"
    r"|treehouse|farm))|\b(?:level|levels|quest|quests|guild|npc|loot|mana|potions?|sword|dragons?|goblins?|elf|dwarf|mage|wizard|knight"
    r"|castle|armou?r|spells?|gold coins|campaign|server|character|avatar|clan|raid|boss fight|crops|craft|mine|spaceship"
    r"|kingdom|villagers?"
    r"|farm|farmer|fisherman|fishing|grow|blacksmith|bard|ranger|pirate|hunter|orc)\b"
)
COORDINATED: Final = compiled(r"(?:,|\band)\s+(?:i|i['’]?m|i['’]ve|my)\b", re.IGNORECASE)
KNOWN_PLACES: Final = compiled(
    any_of(
        listed("""
    germany, france, spain, italy, portugal, poland, austria, switzerland, belgium, holland, denmark, sweden, norway, finland, ireland,
    scotland, wales, england, britain, uk, greece, turkey, croatia, hungary, romania, ukraine, japan, china, korea, india, australia,
    canada, america, usa, us, mexico, brazil, argentina, europe, asia, africa, texas, california, florida, bavaria, tuscany, berlin,
    hamburg,
    munich, cologne, vienna, zurich, paris, london, manchester, dublin, edinburgh, rome, milan, madrid, barcelona, lisbon, amsterdam,
    brussels,
    oslo, stockholm, copenhagen, helsinki, warsaw, prague, budapest, athens, istanbul, tokyo, sydney, toronto, boston, chicago, january,
    february, march, april, may, june, july, august, september, october, november, december, english, french, german, spanish
""")
    ),
    re.IGNORECASE,
)
"""Places and times that open a true sentence far more often than games do."""
TITLE_OF_GAME: Final = re.compile(
    r"(?!(?:New|San|Santa|St|Saint|Los|Las|El|La|Le|Rio|Cape|Port|North|South|East|West|Northern|Southern|Eastern|Western"
    r"|Central|Great|Greater"
    r"|Sri|Hong|Kuala|Buenos|Costa|The Hague|Upper|Lower|Bad|Fort|Mount|Abu|Tel|Sierra|Puerto|Saudi|United|Czech|Ho|Novi"
    r"|Nizhny|Stoke|Newcastle"
    r"|Milton|Salt|Ann|Old|Mexico|Quezon|January|February|March|April|May|June|July|August|September|October|November|December|\d{4}$)\b)"
    r"(?:\S+ (?:\S+ )*(?:[A-Z]\S*|\d+)|\S*[:\d]\S*)"
)
"""A title of several words that begins as no place does."""
LAUGHTER: Final = either(*whole_apart(words.LAUGHTER), r"[😂🤣😜😝🤪]")
OTHER_TOPIC: Final = re.compile(
    r"^\W*(?:(?:and|but|so|also|btw|by the way|anyway|yesterday|today|now)\W+)*(?:(?:my|our|the|her|his"
    r"|their|any|what|how|where|who|which|can|could"
    r"|should|do|does|is|are|nobody|no one|everyone|everybody|people|he|she|they|some|somebody|someone|good luck)\b"
    r"|(?:i|we) (?:need|want|just|also|have|had|went|saw|got|can['’]?t|forgot|lost|love|hate|live|work|moved"
    r"|told|was|spent)\b)(?! (?:that|this)\b)",
    re.IGNORECASE,
)
"""Begins a sentence about something else than the one before it."""
IRONIC_AGREEMENT: Final = either(
    # "Sure, and I live in Versailles with forty servants", "Right, so I'm the king": an agreement that tops a claim
    rf"^\W*(?!(?:yeah|yea|yep) so\b)(?:oh |ah |well )?{any_of(words.AGREEMENTS)}(?:,? {any_of(words.AGREEMENTS)})*"
    rf"[,!.…—–-]*\s+(?:and|then|so|because|like) {_FIRST_PERSON}(?! also\b)",
    # "And I'm the Queen of Sheba": nobody introduces themselves so
    rf"\b(?:i['’]?m|i am) (?:the )?{any_of(words.ROYALS)}\b",
)
REPORT: Final = either(
    *whole_apart(words.REPORTING),
    r"\b(?:goes|go|went|'s like|is like|was like|be like),? (?:i|i['’]?m|i am|my|we)\b",
    rf"\b(?:my|his|her|our|their|the|some|every)\b(?: \w+){{1,2}} {any_of(words.THINKING)}\b",
    rf"\b{any_of(words.OTHERS)} {any_of(words.THINKING)}\b",
)
"""Somebody's claim, whatever clause it stands in."""
LATER_REPORT: Final = compiled(
    r"\s*,?\s+(?:and|but|so|because|though|although|while)\s+(?=(?:my|our|the|his|her|he|she|they|everyone"
    r"|everybody|people|nobody|some|(?-i:[A-Z]\w+))\b"
    r"(?! (?:says?|said|thinks?|agrees?) so\b))",
    re.IGNORECASE,
)
"""Begins a clause with another subject, whose report says nothing of the clause before it."""
CONDITION: Final = cue(words.UNCERTAIN)
"""A condition, a wish or a doubt, in one clause."""
BACKGROUND: Final = compiled(rf"\W*{any_of(words.BACKGROUNDS)}\b", re.IGNORECASE)
"""Begins a sentence about another time, or a condition."""
WANTED: Final = either(
    r"\b(?:i|we) (?:really )?(?:want|hope|am hoping|['’]m hoping) to\b",
    r"\b(?:i['’]?m|i am|we['’]re|we are) (?:(?:going|planning) to\b|(?:thinking (?:of|about)|considering) (?=[a-z]+ing\b))",
    r"\bwish (?:me|us|him|her|them)\b|\b(?:hopefully|literally|basically|obviously|clearly|technically)\b|\bdecided to\b",
    r"(?<=\bso )(?P<how>[a-z]+(?: \w+)?) (?:that )?(?:i|we) could [^,.!?]*",
)
"""A wish that is a plan, a greeting, or a word of degree."""
PROMISED: Final = either(PROMISE)
ASIDE: Final = either(rf",? ?\b{any_of(words.ASIDES)}\b,?", r",? ?\b(?:so )?when you say \w+")
"""Words about the saying itself."""
COMMENT: Final = either(
    # "I'm allergic to celery, which nobody ever believes": true, unless the comment takes it back
    r",\s+(?:which|though nobody|though no one)\b(?!.*\b(?:lie|untrue|myth|mistake|say|says|said|claims?|true|according)\b)[^,;:]*$"
)
"""A comment on a statement, at its end."""
QUOTE_MARKS: Final = re.compile(r"[\"“”«»„‟❝❞]|(?<!\w)['‘](?:[^'’\n]|(?<=\w)['’](?=\w)){6,}['’](?!\w)")
QUOTED: Final = re.compile(r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|(?<!\w)['‘](?:[^'’\n]|(?<=\w)['’](?=\w)){6,200}['’](?!\w)")
"""A quotation that ends in its sentence."""
OPENS_QUOTE: Final = re.compile(r"[:：]\s*$")
OWN_COLON: Final = either(
    r"^\W*(?:(?:a )?(?:few |some |quick |short )?(?:facts|things|bits|words|intro\w*|details|info\w*|background|update"
    r"|notes?|news|reminder)(?: about (?:me|myself|us))?|about me|me|fyi|btw|ps|p\.s\."
    r"|heads[- ]up(?: (?:for|about|on|before) [\w ]{2,20})?|update"
    r"|for the (?:record|form|minutes|notes|log|file|group|chat|newcomers|new (?:people|folks|ones))|(?:quick "
    r"|short |brief )?round of (?:names|intro\w*)|action|just so you know.*|big news|good news|important|context|my"
    r" (?:allergies|details|data|profile))\s*:"
)
TEXT_HEAD: Final = compiled(
    rf"^\W*(?:(?:the|my|a|an|this) )?(?:{any_of(words.READ_TEXTS, words.WRITTEN)}|subject|headline|title|caption|body)"
    rf"(?: (?:of|from|to|for|idea)\b[^:\n]{{0,30}})?\s*:"
    rf"|^\W*(?:please |pls )?{any_of(words.WRITING_VERBS, words.SENTENCE_VERBS)} (?:this|that|these|the following)\b[^:\n]{{0,30}}:"
    r"|^\W*dear [\w ]{2,30},",
    re.IGNORECASE,
)
"""Begins a text that is shown, not said: "Email: ...", "Post this for me: ..."."""
_ASKS_PLEASE: Final = r"(?:(?:please|pls|plz|kindly|just)\s+|(?:can|could|would|will) you\s+)"
_PASS: Final = r"(?:tell|let|inform|warn|remind|notify|mention|note|write|add|pass|make sure|forward|relay|put)"
PASSED_ON: Final = either(
    rf"(?:(?:\s*[,;—–]|\s+-)\s+(?:(?:and|so|but)\s+)?{_ASKS_PLEASE}*|\s+(?:(?:and|so|but)\s+)?{_ASKS_PLEASE}+)"
    rf"{_PASS}\b(?!.*\b(?:i|i['’]?m|we)\b)[^:;]*$"
)
"""Asks the other to pass on the statement right before it: "please let the cook know"."""
TAKEN_BACK: Final = either(
    r"^\W*(?:that['’]?s|that is|this is|it['’]?s|it is)\b.*\b(?:he|she|they|(?:my|his|her|their|the) \w+)"
    r" (?:wrote|said|says|told me|claims)\b",
    r"^\W*(?:said|says|wrote) (?:my|his|her|the|our) \w+|^\W*is what (?:i|he|she|they)\b",
    r"^\W*in (?:the|my|that|a) (?:game|story|play|film|movie|dream|book|novel)\b",
    r"^\W*that['’]?s (?:the|a|my) (?:\w+ ){0,2}(?:line|sentence|quote|title|lyrics?|example|beginning) (?:of|from|in)\b",
    r"^\W*(?:\w+ )?(?:just |only )?(?:jk|j/k|kidding|joking)\b",
    r"^\W*(?:can you |could you |please |now )*(?:translate|rephrase|proofread|correct|rewrite|summari[sz]e) (?:that|this|it)\b",
)
"""A message that makes a joke, a quotation or a text to work on of the message before it."""
COLON: Final = compiled(r"^(?P<head>(?:[^:：\n]|(?<=\d)[:：](?=\d)){1,160})[:：]\s")
GREETING: Final = compiled(
    r"\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|greetings|merhaba|bonjour|salut|hola|buen[oa]s (?:d[ií]as|tardes|noches)"
    r"|ciao|buongiorno|hallo|servus|moin|guten (?:tag|morgen|abend)|ol[áa]|bom dia|ahoj|cze[śs][ćc]|dzie[ńn] dobry|hej|hei|namaste|salaam"
    r"|shalom|konnichiwa|aloha)\b",
    re.IGNORECASE,
)
ASKING: Final = re.compile(rf"\W*(?:(?:and|so|but|ok|okay|hey|hi|well)\W+)*{any_of(words.ASKING)}\b", re.IGNORECASE)
UNMARKED_QUESTION: Final = compiled(
    r"^(?:\W|\b(?:and|so|but|ok|okay|hey|hi|oh|wow|well|yes|no|yeah|cool|great|nice|awesome|good|lol|haha|that(?:['’]s| is) \w+)\b)*"
    r"(?:(?:what|where|which|who|when|why|how)(?: (?!i\b|we\b|my\b|is\b|are\b)[a-z]+){0,2}"
    r" (?:is|are|do|does|did|was|were|can|would|will|have|has)"
    r" (?:you|your|it|they|he|she|there|that|this)\b|(?:do|did|are|were|have|can|could|would|will) (?:you|your)\b)",
    re.IGNORECASE,
)
"""A question by its word order, although no mark ends it: "great what is your favourite hat"."""
SEPARATOR: Final = re.compile(r"(?:\s*[,;:—–\U0001F300-\U0001FAFF\u2600-\u27bf\ufe0f]+|\s+-)\s*")
ASKED: Final = re.compile(
    rf"(?:(?:and|so|but|ok|okay|btw)\s+)*(?!{any_of(words.TAGS)}\W*$){any_of(words.ASKING)}\b[^,]*(?:,[^,]*)?$", re.IGNORECASE | re.DOTALL
)
"""A question after a statement, which is no tag such as "am I?"."""
TOPIC: Final = re.compile(
    rf"^\W*(?!{any_of(words.ASKING, words.JOYS, words.SIGHS, words.AGREEMENTS)}\b)"
    r"(?!(?:this|that|these|those|the|my|your|our|his|her|me|you"
    r"|us|really|seriously|also|again|new|more|another|no|yes|not|same)\b)(?P<topic>[^\W\d_]{3,}(?: (?!(?:again|today|tonight|tomorrow|now"
    r"|later|here|there|too|for|in|on|at)\b)[^\W\d_]{3,})?)"
    r"(?:\s*(?:\?+|\.{3}|…)|\s+(?:is|are) my (?:thing|weakness|passion|jam|guilty pleasure|happy place)\s*[.!]+)$",
    re.IGNORECASE,
)
"""Names the topic of the next sentence: "Snails?", "Pottery is my thing."."""
REACTION: Final = re.compile(
    r"^(?:\W*(?:no way|oh|ugh|yes|yeah|yum|nah|no|well|ew|yuck|mmm?|man|god)\b)*\W*(?:i(?:\s+|(?=['’]m)))?"
    r"(?P<verb>(?:(?:really|absolutely|just|so) )?"
    r"(?:love|adore|hate|loathe|detest|can['’]?t stand)|['’]?m allergic to) (?:it|them)(?P<rest>\s*(?:[^\w\s'’].*)?)$",
    re.IGNORECASE,
)
"""States a taste for the topic that was just named."""
INTRODUCES_TEXT: Final = compiled(
    r"\b(?:he|she|they|someone|somebody|(?:my|our|the) (?:[a-z]+ )?\w+|(?-i:[A-Z]\w+))\s+(?:just |also )?"
    r"(?:posted|wrote|sent|texted|replied|answered|commented|said|emailed|messaged|introduced (?:him|her)self)"
    r"(?: (?:me|us|this|that|back|yesterday|today|online|earlier|here))*(?: (?:for|to|in|on|about) [\w ]{1,30})?\s*[.:!]?$",
    re.IGNORECASE,
)
"""Announces somebody else's words: "This is what she posted."."""
ENGLISH_NOUNS: Final = either(
    *whole_apart(words.ENGLISH_NOUNS),
    rf"\b(?:my|our) {any_of(RELATIVES, PETS)}\b|\b(?:[a-z]{{4,}}s|drive|make|give) me\b|\bi (?:freelance|answer to|go by)\b"
    rf"|\bspeaking\s*[.!]*$"
    r"|\bi (?:recently|just|now|really|also|never|always|still) [a-z]+\b|\bis my (?:thing|passion|favou?rite)\b",
    r"\b(?:is dead|died|passed away)\b",
    r"^\W*(?:i|i['’]m|i['’]ve|we|we['’]re) [a-z]+\b",
)
MARKED_WORD: Final = re.compile(
    r"^(?:\*(?:(?:in|to|an?) )?\w+|\w+\*)(?:,? (?:sorry|sry|oops|i meant|obviously|lol|haha|he['’]d \w+ me|she['’]d"
    r" \w+ me|damn \w+|stupid \w+|autocorrect))*[.!]?$"
)
"""A correction of one word, as chats mark it; too short to have a language."""
FIRST_PERSON_AFTER: Final = either(rf"\W*(?:\w+[,!]? )?{_FIRST_PERSON}")
_OTHERS: Final = any_of(words.OTHERS_IN_HEADS, words.REPORTING, RELATIVES)
OWN_REMARK: Final = compiled(
    rf"^\W*(?!.*\b(?:{any_of(words.READ_TEXTS, words.WRITTEN, words.TALES, words.PERFORMED)}|{any_of(RELATIVES)})s?\b[^:]*:)"
    r"(?:(?:good|useful|handy|nice|helpful|important|worth) (?:to know|knowing)[^:\n]{0,40}"
    r"|(?:before|when|once) (?:you|we) \w+(?: \w+){0,3}|(?:for|about|regarding|re|as to) (?:the|our|my|your|this|that|next) "
    r"(?![^:\n]*\b(?:days?|weeks?|weekends?|months?|evening|night|lent|ramadan|season|year)\b)[^:\n]{1,30}"
    r"|diet|food|shopping|groceries|dinner|lunch|breakfast|menu|cooking|catering|allergies|health|work|family|pets|travel|trip"
    r"|hobbies)\s*:",
    re.IGNORECASE,
)
"""Begins with the purpose or the topic of the writer's own statement: "For the cake: ...", "Diet: ..."."""
OWN_HEAD: Final = compiled(
    rf"\b{any_of(words.OWN_HEADS)}\b(?!.*\b(?:goes|asked|found|saw|read|copied|pasted|came across|online|change the|landlord|{_OTHERS})\b)",
    re.IGNORECASE,
)
"""The head of a sentence is the writer's own: "One more thing: ..."; not "From my landlord: ..."."""
