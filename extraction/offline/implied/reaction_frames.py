"""Frames of reactions and abstentions: what a thing does to the writer, in each order of a clause, and what the writer must give up.

"Milk gives me cramps", "I get cramps from milk", "It gives me cramps when I drink milk", "One sip of milk and I get cramps": the same
reaction in four orders.
"""

import re
from typing import Final

from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.thing_patterns import AVOID, DISLIKE, EATEN, END, HARM, Rule
from memory.texts.prefiltered_patterns import compiled

_OFTEN: Final = r"(?:(?:always|usually|often|sometimes|just|really|only|instantly|immediately|also|still|even|literally|nearly|almost) )*"
_BAD: Final = (
    r"(?:(?:an?|the|some|my|awful|terrible|bad|horrible|severe|nasty|instant|such|massive|serious|really|very|so"
    r"|all|proper|stinking|full|mild) )*"
)
_HIVES: Final = (
    r"(?:hives|rash|rashes|welts|anaphylaxis|anaphylactic shock|swelling|allergic reactions?|reaction|swollen"
    r" (?:lips|eyes|throat|tongue|face)"
    r"|swollen|itchy|wheezy|blotchy)"
)
_CRAMPS: Final = (
    r"(?:migraines?|headaches?|stomach ?aches?|tummy ?aches?|belly ?aches?|heartburn|indigestion|cramps|reflux|acid"
    r" reflux|bloating|bloated|nausea"
    r"|the runs|palpitations|jitters|jittery|queasy|nauseous|sick|ill|poorly|gassy|dizzy|shaky|stomach pains?|gut pain)"
)
_SWELL: Final = (
    r"(?:swell(?:s)?(?: up)?|wheeze|sneeze|itch|come (?:out|up) in|break out in|go into|puff up|go blotchy|come up"
    r" blotchy|stop breathing|can['’]?t breathe"
    r"|end up in (?:hospital|a&e|the er|er|the emergency room|casualty)|am in (?:hospital|a&e|the er|er|the emergency room|casualty)"
    r"|need (?:an?|my) (?:epi-?pen|ambulance|antihistamine|inhaler))"
)
_EMERGENCY: Final = (
    r"(?:hospital|the hospital|a&e|the er|er|the emergency room|casualty|an ambulance|intensive care|the icu"
    r"|anaphylactic shock)"
)
_SICKEN: Final = (
    r"(?:throw up|vomit|gag|retch|feel (?:sick|ill|queasy|awful|terrible|rough|dreadful)|get (?:sick|ill)|bloat"
    r"|suffer for it|regret it|pay for it"
    r"|am (?:sick|ill)|can['’]?t sleep)"
)
_TAKE: Final = r"(?:eat|drink|have|touch|smell|take|try|wear|go near|use|swallow|come near|come into contact with|am around|am near)"
_WITH: Final = (
    r"(?:anything|everything|food|foods|stuff|things|dishes|products|meals)(?: (?:with|containing|made with|that"
    r" has|that contains|that have|made of))?(?: any)?"
)
_ANY: Final = rf"(?:(?:the|any|some|too much|a lot of|even a little|{_WITH}) )*"
_WHEN: Final = rf"(?:when|whenever|every time|each time|any time|anytime|as soon as|after|the moment) (?:i|we) {_OFTEN}{_TAKE} {_ANY}"
_FROM: Final = rf"(?:from|with|off|after|near|around|because of|thanks to) (?:eating |drinking |having |touching )?{_ANY}"
DOCTOR: Final = (
    r"(?:(?:my|the|our) )?(?:doctor|doctors|doc|gp|consultant|dietitian|dietician|nutritionist|cardiologist|surgeon"
    r"|midwife|nurse|specialist"
    r"|allergist|dentist|physio|pharmacist|hospital|dermatologist|gastroenterologist)"
)
_LEAVE: Final = (
    r"(?:avoid|cut out|cut back on|cut down on|give up|stay off|lay off|keep off|stay away from|keep away from"
    r"|steer clear of|leave|stop eating"
    r"|stop drinking|stop having|quit|drop|watch|do without|go without|go easy on|skip|never eat|never drink|come off|eliminate|limit)"
)
_NOT_TAKE: Final = (
    r"(?:not to|to not|never to|that i (?:must|should|can)(?: ?not|n['’]?t)|i (?:must|should|can)(?: ?not|n['’]?t))"
    r" (?:eat|drink|have|touch|take|go near)"
)
_MUST_NOT: Final = (
    r"(?:can['’]?t|cannot|can not|must not|mustn['’]?t|shouldn['’]?t|should not|may not|dare not|daren['’]?t|am not"
    r" allowed(?: to)?|['’]m not allowed(?: to)?"
    r"|am not supposed to|['’]m not supposed to|am not meant to|['’]m not meant to|am no longer allowed|['’]m no longer allowed|never)"
)
_BANNED: Final = (
    r"(?:off[- ]limits|a (?:big |huge |complete |total |definite |firm |absolute )?(?:no-go|no go|no-no|no no)|off"
    r" the (?:table|menu|list)|out of the question"
    r"|out of bounds|banned|forbidden|verboten|not an option|poison|toxic|not allowed|not possible|dangerous|a"
    r" problem|bad news|trouble|lethal|deadly)"
)
_FOR_ME: Final = (
    r"(?: (?:for|to|with) (?:me|us|my (?:stomach|gut|health|condition|kidneys|heart|tablets|meds))| in (?:my|our)"
    r" (?:house|home|kitchen|household|book))"
)
_STOPPED: Final = any_of(
    listed("""
    cut out, cut, stopped eating, stopped drinking, stopped having, dropped, given up, gave up, sworn off, swore off, eliminated, ditched,
    kicked, come off, came off, been off, said goodbye to, knocked on the head, weaned myself off, quit, had to give up, had to cut out,
    had to stop eating, had to stop drinking, had to quit, never touched, never tried
""")
)
_ONE_BITE: Final = r"one (?:bite|sip|whiff|spoonful|crumb|mouthful|drop|sniff|taste|lick|glass|slice) of"
_ALLERGIC: Final = r"I'm allergic to \g<x>"

REACTION_FRAMES: Final[tuple[Rule, ...]] = (
    # the thing acts
    (
        rf"^(?:{_WITH} )?{HARM} {_OFTEN}(?:sends?|puts?|lands?|has (?:sent|put|landed)|have (?:sent|put|landed)|put|sent"
        rf"|landed) me (?:straight |right )?(?:in|into|to) {_EMERGENCY}",
        _ALLERGIC,
    ),
    (
        rf"^(?:{_WITH} )?{HARM} {_OFTEN}(?:brings? me (?:out|up) in|makes? me (?:break|come) (?:out|up) in|leaves? me"
        rf" (?:with|covered in)|gives? me|has given me|gave me) {_BAD}{_HIVES}{END}",
        _ALLERGIC,
    ),
    (rf"^(?:{_WITH} )?{HARM} {_OFTEN}(?:kills|killed|kill) me\b(?! (?:with|that|how|to))", _ALLERGIC),
    (
        rf"^(?:{_WITH} )?{HARM} {_OFTEN}(?:wrecks?|ruins?|destroys?|floors?|hates?|does(?:n['’]?t| not) (?:like|love)"
        r"|do(?:n['’]?t| not) (?:like|love)|messes up|plays up) (?:me|my (?:stomach|tummy|gut|guts|skin|sinuses"
        r"|insides))\b",
        DISLIKE,
    ),
    (rf"^(?:{_WITH} )?{HARM} {_OFTEN}(?:gives? me|leaves? me|makes? me(?: feel)?) {_BAD}{_CRAMPS}{END}", DISLIKE),
    (
        rf"^(?:my|the) (?:throat|tongue|face|lips|mouth|eyes|skin|nose) {_OFTEN}(?:closes? up|close|closes|swells?(?:"
        rf" up)?|itch(?:es)?|tingles?|burns?|streams?|erupts?|flares? up|runs?) (?:{_FROM}|{_WHEN}){HARM}{END}",
        _ALLERGIC,
    ),
    # the writer reacts
    (
        rf"^(?:i|we) {_OFTEN}(?:get|have|suffer|end up with|come out in|break out in|come up in|go into) {_BAD}{_HIVES}"
        rf" (?:{_FROM}|{_WHEN}){HARM}{END}",
        _ALLERGIC,
    ),
    (rf"^(?:i|we) {_OFTEN}{_SWELL}(?: [a-z]+){{0,4}}? (?:{_FROM}|{_WHEN}){HARM}{END}", _ALLERGIC),
    (rf"^(?:i|we) {_OFTEN}(?:get|have|suffer|end up with|feel) {_BAD}{_CRAMPS} (?:{_FROM}|{_WHEN}){HARM}{END}", DISLIKE),
    (rf"^(?:i|we) {_OFTEN}{_SICKEN} (?:{_FROM}|{_WHEN}){HARM}{END}", DISLIKE),
    (rf"^it {_OFTEN}(?:gives me|brings me out in|leaves me with) {_BAD}{_HIVES} {_WHEN}{HARM}{END}", _ALLERGIC),
    (rf"^it {_OFTEN}(?:makes me(?: feel)?|gives me|leaves me) {_BAD}{_CRAMPS} {_WHEN}{HARM}{END}", DISLIKE),
    (
        rf"^(?:even )?(?:just )?{_ONE_BITE} {HARM} and (?:i['’]?m in {_EMERGENCY}"
        rf"|(?:i|my) [^.,;!?]{{0,20}}?{_SWELL}|i['’]?m (?:covered in|breaking out))",
        _ALLERGIC,
    ),
    (
        rf"^(?:even )?(?:just )?{_ONE_BITE} {HARM} and i(?:['’]?m| am| feel| get) {_BAD}(?:{_CRAMPS}|done for|on the floor|in bed)",
        DISLIKE,
    ),
    (rf"^(?:i['’]?m|i am) {_BAD}(?:sensitive|reactive|averse) to {HARM}{END}", r"I'm intolerant to \g<x>"),
    (
        rf"^(?:i|we) {_OFTEN}react (?:(?:very|really|quite) )*(?:badly|strongly|violently|terribly)? ?to {HARM}{END}",
        r"I'm intolerant to \g<x>",
    ),
    (
        rf"^(?:i|we) {_OFTEN}(?:carry|keep|have|need) (?:an? |my )?(?:epi-?pen|epinephrine|antihistamines?|inhaler)s?"
        rf" (?:for|because of|on account of|in case of) {HARM}{END}",
        _ALLERGIC,
    ),
    # the thing is barred
    (
        rf"^(?:(?:an? |had an? )?(?:bad|allergic|severe|nasty|serious|terrible) )?reaction to {HARM}(?: (?:in \d{{4}}"
        r"|once|as a (?:child|kid)|years ago|last year)|,|$)",
        _ALLERGIC,
    ),
    (rf"^(?:i['’]?m|i am|we['’]?re|we are) (?:now |completely |strictly |totally |still )*off (?:the )?{EATEN}{END}", AVOID),
    (rf"^no more {EATEN} for (?:me|us)\b(?! (?:today|tonight|this|yet|right|now|to|until|till|please just|tomorrow))", AVOID),
    (rf"^{HARM} (?:pillows?|duvets?|bedding|gloves|products|jumpers|plasters) (?:is|are) out for (?:me|us)\b", AVOID),
    (rf"^{HARM} (?:is|are) out for (?:me|us)\b", AVOID),
    (
        rf"^{HARM} (?:dust |hair |smoke |fumes )?(?:sets?|set|kicks?) off my (?:asthma|migraines?|eczema|ibs|reflux"
        r"|allerg(?:y|ies)|sinuses)",
        DISLIKE,
    ),
    (rf"^{HARM},? (?:is|are|['’]s) (?:strictly |absolutely |sadly |just |completely |totally |now )*{_BANNED}{_FOR_ME}", AVOID),
    (
        rf"^(?:please )?(?:nothing|no dishes|no food) (?:with|containing|made with|that has|that contains) {EATEN}(?=,?"
        r" (?:please|pls|thanks|for me|ever)\b)",
        AVOID,
    ),
    (
        rf"^(?:i|we) ?{_MUST_NOT} (?:(?:even|really|ever) )*(?:(?:have|eat|drink|touch|go near|be near|be around) "
        rf"|(?<=allowed )){_ANY}{EATEN}{END}",
        AVOID,
    ),
    (
        rf"^{DOCTOR}(?:['’]s| has| have)? (?:told|asked|advised|ordered|instructed|warned|recommended|said|got|forbidden"
        rf"|begged) (?:me )?(?:(?:to|i (?:have|need|must|should|ought)(?: to)?) (?:completely )?{_LEAVE}|{_NOT_TAKE})"
        rf" {_ANY}{EATEN}(?: alone)?{END}",
        AVOID,
    ),
    (
        r"^(?:i['’]?m|i am|i['’]?ve been|i have been|i was|been) (?:now )?(?:told|advised|ordered|instructed|warned"
        rf"|asked) (?:by [\w' ]{{3,25}} )?(?:to (?:completely )?{_LEAVE}|{_NOT_TAKE}) {_ANY}{EATEN}(?: alone)?{END}",
        AVOID,
    ),
    (rf"^(?:i|we)(?:['’]ve| have)?(?: got)? to (?:completely )?{_LEAVE} {_ANY}{EATEN}(?: alone)?{END}", AVOID),
    (
        rf"^(?:(?:i|we)(?:['’]?ve| have)? )?{_OFTEN}(?:recently |completely |finally |now |since |long since"
        rf" )*{_STOPPED} (?:the )?{EATEN}(?:{END}| (?:in \d{{4}}|years ago|ages ago|last year|for good|completely"
        r"|altogether)\b)",
        AVOID,
    ),
)
CONDITION_OF_REACTION: Final = re.compile(rf"\bif i (?={_OFTEN}{_TAKE}\b)", re.IGNORECASE)
"""A condition in form only: "I swell up if I eat nuts"."""
TWO_CLAUSES: Final = compiled(
    rf"\W*(?:even |just )*{_ONE_BITE}\b",
    re.IGNORECASE,
)
"""Begins a reaction that takes two clauses: "One bite of shrimp and I'm in A&E"."""
