"""The forms of statements that event types of certain names demand: nearness alone takes "the sad song" for a mood."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from extraction.offline.events.property_roles import normalized_name
from extraction.offline.grammar.life_forms import LIFE_EVENT
from extraction.offline.grammar.patterns import any_of, listed
from extraction.offline.grammar.plan_forms import KEPT, PLAN, PROMISE
from extraction.offline.words.people import PETS, RELATIVES

_I: Final = r"(?:\b(?:I|i|we|We)\b)"
_DAY: Final = (
    r"(?:\b(?:today|tonight|tomorrow|next|this (?:week|weekend|month|summer|winter|spring|autumn|fall|year|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday)|soon|(?:on|by|in|at|until|from) (?:the )?(?:\d|mon|tue|wed"
    r"|thu"
    r"|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|week|weekend|spring|summer|autumn|fall|winter|end of)\w*)(?<!days)\b)"
)
_PAST: Final = (
    rf"(?:(?<!ve )(?<!have )got(?! (?:this|it|you|to|me)\b| (?:an?|my|our|the|another) (?:[\w'’-]+ ){{0,2}}?{KEPT}\b)|went|(?:was"
    rf"|were) (?:born|fired|hired|promoted|diagnosed|robbed|admitted|laid off)"
    r"|broke|lost|won(?!['’]t)|bought|sold|met|left|began|became|moved|married|born|graduated|passed"
    r"|failed|quit|started|finished|adopted|buried|relocated|turned|found|took|gave|made|came|flew|drove"
    r"|ran|swam|rode|cycled|hiked|climbed|skied|walked|jogged|rowed|trained|lifted|did(?!n| not)|played|(?!(?:lived|liked|loved"
    r"|hated|wanted|needed|used|seemed|worked|enjoyed|preferred|believed|looked|liked|promised|excited|tired|worried|scared|bored|relieved|pleased|annoyed"
    r"|stressed|exhausted|depressed|frustrated|overwhelmed|thrilled|delighted|devastated|embarrassed|interested|determined|amazed|surprised"
    r"|confused|disappointed|inspired|decided|discussed|mentioned|demanded|requested|asked|confirmed|reviewed|specified|based|need|feed|speed|indeed|agreed|noted|blessed)\b)[a-z]{3,}ed)"
)
_SPORT: Final = (
    r"(?:ran|(?<!to )(?<!can )(?<!will )(?<!would )(?<!should )(?<!could )(?<!and )run|swam|(?<!to )swim|rode|cycled"
    r"|biked|hiked|climbed|skied|walked|jogged|rowed|trained|lifted|workout|yoga|pilates|gym|exercised|stretched|boxed"
    r"|danced|bouldered|paddled|skated|sprinted|spin class)"
)
_MY_FAMILY: Final = rf"\b(?:my|our) (?:\w+ ){{0,2}}?{any_of(RELATIVES, PETS)}(?:,? (?-i:[A-Z])\w+,?)?"
_ILLNESSES: Final = (
    r"(?:(?:\w+ )?cancer|covid|(?:the )?(?:flu|measles|mumps)|chicken ?pox|pneumonia|dementia|alzheimer['’]?s|parkinson['’]?s|diabetes"
    r"|leukaemia|leukemia|an? (?:stroke|heart attack|tumou?r|baby|boy|girl|son|daughter|miscarriage|accident|fall|seizure|concussion))"
)
_FAMILY_EVENT: Final = (
    rf"(?:(?: (?:has|have|had|is|was|were|just|finally|also|now|got|gets|getting))* (?:broke(?:n)? (?:his|her|their|an?|both)"
    rf"|{_ILLNESSES}|born|engaged|married|divorced|separated|diagnosed|hospitali[sz]ed|promoted|fired|laid off|in (?:the )?hospital"
    r"|started (?:school|kindergarten|nursery|uni\w*|college)|graduated|died|passed away|left (?:me|us|him|her)|moved (?:out|in|away))\b)"
)
_PARTED_OR_JOINED: Final = (
    r"(?:split up|broke up|separated|(?:got|are getting|are|have got) (?:engaged|married|divorced|separated)|are expecting)"
)
_NOT_AHEAD: Final = r"(?!.*\b(?:had|missed|cancel+ed|was|were|went|is there|no)\b)"
_APPOINTMENTS: Final = (
    r"(?:appointment|(?:\w+ )?test|exam|interview|check-?up|meeting|scan|surgery|operation|lesson|date|viewing|call|flight|trip|wedding"
    r"|funeral|concert|party|session|presentation|audition|consultation|vaccination|jab|x-?ray|mri|hearing|reservation|haircut)"
)
_SEEN: Final = r"(?:dentist|doctor['’]?s?|gp|vet|physio|hairdresser|optician|therapist|midwife|haircut|check-?up|exam|interview|blood test)"
_SPORT_NOUN: Final = (
    r"(?:spinning|treadmill|rowing(?: machine)?|elliptical|cross[- ]trainer|stretching|squats|push-?ups|pull-?ups|burpees|planks?"
    r"|deadlifts?|bench press|(?:bike )?ride|run(?! of)|jog|swim|hike|walk|yoga|pilates|zumba|crossfit|hiit|weights|cardio|intervals"
    r"|tennis|squash|badminton|climbing|bouldering|skipping|boxing|cycling|running|swimming|jogging|hiking|aerobics|\d+k)"
)
_SPORT_AMOUNT: Final = (
    r"(?:\d[\d.,:]*\s*(?:km|k|m|mi|miles?|mins?|minutes?|h|hrs?|hours?|laps|reps|sets)\b|half an hour|an hour|one hour|two hours)"
)
_VERBLESS: Final = (
    r"(?!.*\b(?:is|are|was|were|costs?|takes?|took|lasted|opens?|has|have|had|needs?|by (?:bus|car|train|tram)|research|to the|from the"
    r"|until|away|watch\w*|tv|film|match|why|how|what|when|should|can|could|would|will|burns?)\b)"
)
_AMOUNT: Final = r"(?:\d|half|hour|minute|\bkm\b|mile|lap|reps|sets)"
_MORE_FEELINGS: Final = any_of(
    listed("""
    gutted, chuffed, knackered, shattered, drained, wiped out, worn out, burnt out, burned out, frazzled, buzzing, stoked, psyched, livid,
    fuming, raging, seething, irritated, irritable, fed up, cheesed off, pissed off, gobsmacked, stunned, speechless, touched, emotional,
    tearful, teary, weepy, homesick, crushed, shaken, panicked, panicky, terrified, petrified, frightened, uneasy, restless, jittery,
    stressed out, freaking out, blue, gloomy, glum, melancholy, moody, grumpy, cranky, disheartened, discouraged, disappointed, let down,
    helpless, worthless, empty, peaceful, relaxed, at peace, refreshed, energised, energized, motivated, optimistic, pessimistic, ecstatic,
    elated, overjoyed, giddy, jubilant, euphoric, on cloud nine, pleased, satisfied, humbled, thankful, nostalgic, wistful, isolated,
    betrayed, humiliated, mortified, resentful, bitter, spooked
""")
)
_FEELINGS: Final = (
    rf"(?:{_MORE_FEELINGS}|happy|sad|angry|anxious|nervous|worried|(?:scared|afraid)(?! of)|lonely|proud|excited|thrilled|relieved|stressed"
    r"|exhausted|tired|depressed|down|awful|terrible|great|good|bad|better|worse|fine|okay|ok|upset|frustrated|annoyed"
    r"|overwhelmed|calm|content|grateful|hopeful|hopeless|hurt|jealous|guilty|ashamed|embarrassed|bored|miserable"
    r"|heartbroken|delighted|cheerful|furious|devastated|over the moon|on edge|numb|low|wonderful|fantastic|so so)"
)
_JUDGEMENTS: Final = r"(?:down|low|awful|terrible|great|good|bad|better|worse|fine|okay|ok|wonderful|fantastic)"
"""Words that judge anything; a feeling only with a subject, or alone: "Fine with me", "Better by letter"."""
_VERY: Final = (
    r"(?:not |so |really |very |a bit |a little |quite |pretty |absolutely |feeling |too |just |still |totally |completely |utterly )*"
)
_OWN_FEELING: Final = (
    r"\b(?<!must )(?<!must have )(?<!you )(?<!they )(?<!he )(?<!who )(?<!one )(?<!people )(?<! is )(?<! are )(?<!['’]re )(?<!be )"
    r"(?:feel|feeling|felt)\b"
)
"""A feeling whose subject is nobody else: "Feeling low today", not "You must have felt low"."""
_COMPLEMENT: Final = (
    r"(?=\s*(?:[^\w\s]|$)|\s+(?:about|that|to|for|with|because|cos|but|and|so|of|from|at|by|as|after|when|since|over|if|today|tonight|now"
    r"|lately|again|right|these|this|i|we|you|my|though|enough)\b)"
)
"""After an adjective that is a sentence of its own; a noun would make it an attribute: "content analysis"."""
_UPSETTING: Final = (
    r"\b(?:is|are|['’]s|['’]re|keeps?) (?:(?:really|just|absolutely|seriously|constantly) )*(?:doing my head in|getting on my"
    r" (?:nerves|wick)"
    r"|driving me (?:mad|crazy|nuts|insane|bonkers|bananas|wild|up the wall|round the (?:bend|twist)|to (?:drink|tears|despair))"
    r"|stressing me out|wearing me (?:out|down)|getting (?:me down|to me)|breaking my heart|winding me up|pissing me off|freaking me out)\b"
)
"""What something does to the writer's mood."""
_GOING: Final = (
    r"(?!(?:think|wonder|feel|look|ask|try|hop|wait|work|liv|say|tell|talk|read|learn|study|miss|lov|enjoy|kidd|jok|writ|us|go|do)ing\b)"
    r"[a-z]+ing"
)
"""The progressive of an act that can be planned."""
_SET: Final = (
    r"(?:start|begin|fly|leave|arrive|go back|return|move|finish|interview|meet|see|travel|sit|present|play|run|race|take|get|collect"
    r"|pick up)s?"
)
"""An act in the simple present whose day is fixed: "I start on 19 August"."""
VERDICT: Final = re.compile(rf"\W*{_VERY}\b{_JUDGEMENTS}\b(?=\W*$|,? (?:thanks|thank you|but|and|though)\b)", re.IGNORECASE)
"""Begins a sentence that judges anything: a mood only as the answer to how somebody is."""
_FORMS: Final[dict[str, str]] = {
    "preference preferences taste tastes liking likes dislike": (
        r"(?:\b(?:I|we|he|she|they|who|and|but|really|also|do|does|just|absolutely|always)\b|(?-i:\b(?!Looks|Sounds|Feels|Seems|Things|Stuff|Just|Not|Something)[A-Z]\w+)|^)\W+(?:love"
        r"|like|enjoy|prefer|adore|hate|dislike|detest|loathe)s?\b(?! (?:to hear|to say|it|how|what|where|that|this"
        r"|these|those|you|your|nothing|the \w+ (?:one|option|version))\b)"
        r"|\bcan['’]?t stand\b|\bdon['’]?t like\b|\bfavou?rite\b|\bfan of\b|\bkeen on\b"
        r"|\b(?:am|['’]m|['’]s|is|are) (?:really )?(?:into|fond of|an? (?:strict )?(?:vegan|vegetarian|pescatarian)|vegan"
        r"|vegetarian|pescatarian)\b|\b(?:don['’]?t|do not|never|doesn['’]?t) (?:eat|drink)\b"
    ),
    "plan plans intention intentions appointment appointments": (
        r"^(?!.*\b(?:every|each|always|usually|on (?:mon|tues|wednes|thurs|fri|satur|sun)days)\b)"
        rf"(?=.*\b(?:i|we|they|he|she|(?:my|our) (?:\w+ )?\w+|(?-i:(?!No\b)[A-Z])\w+)(?:['’]m|['’]re| am| are| is|) (?:also "
        rf"|then )?(?:{_GOING}|{_SET})\b)"
        rf"(?=.*\b(?:next|tomorrow|on (?:the )?\d+|(?:on |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b)"
        rf"(?!.*\b(?:was|were|had|did|went|came|said|told)\b)"
        rf"|^\W*(?:an? |my |the )?{_APPOINTMENTS} (?:at|with|for|in) [^.!?]*{_DAY}"
        rf"|^(?=.*{_DAY})(?!.*\byou(?:['’]ll| will|['’]re| are)\b)"
        r"(?=.*\b(?:(?:am|['’]m|are|['’]re|is|['’]s|im) (?:going|visiting|flying|moving|starting|meeting"
        rf"|leaving|travel+ing|planning|seeing|taking|driving|running|having|getting|expecting|coming|arriving)|will|['’]ll"
        rf"|(?:plan|plans|intend|intends|hope|want|wants|hoping|planning|going) to)\b)|^{_NOT_AHEAD}.*\b(?:appointment|booked|scheduled)\b"
        rf"|{PLAN}|^(?=.*{_DAY}){_NOT_AHEAD}.*(?:\b(?:i|we)(?:['’]ve| have)?(?: got| have)? (?:(?:an?|my|our|another) (?:\w+ )?"
        rf"|(?=surgery\b))"
        rf"{_APPOINTMENTS}\b"
        rf"|\b(?:my|our) (?:\w+ )?(?:(?:train|flight|plane|bus|ferry|coach)(?: to (?-i:[A-Z])\w+)? (?:leaves|departs|takes off|goes|is)"
        rf"|{_APPOINTMENTS} is)\b)|^\W*(?:the )?{_SEEN}(?: appointment)?,? (?={_DAY})"
    ),
    "promise promises commitment": PROMISE,
    "mood moods feeling feelings emotion emotions": (
        rf"(?:(?:\b(?:I|i)(?:\s?['’]\s?m| am|m)\b|\b(?:I|i) (?:feel|felt|have been feeling)\b|{_OWN_FEELING})\W*{_VERY}\b{_FEELINGS}\b"
        r"(?! at\b(?! (?:the moment|ease|peace|home|last|present)\b))"
        rf"|^\W*{_VERY}\b{_JUDGEMENTS}\b(?=\W*$|,? (?:thanks|thank you|today|now|actually|but|and|though|really|lately|again)\b)"
        rf"|(?:^|(?<=[.!?]\s)|(?<=, )(?=so |really |absolutely ))\W*{_VERY}\b(?!{_JUDGEMENTS}\b){_FEELINGS}\b{_COMPLEMENT}|{_UPSETTING})"
        r"(?! (?:with (?:me|that|this|it|any|every)\w*|morning|afternoon|evening|night|day|idea|question|point|job|news))"
    ),
    "workout workouts training session_of_sport": (
        rf"^(?!.*\b(?:my|his|her|their|brother|sister|wife|husband|friend|dad|mom|he|she|they) (?:\w+ )?{_SPORT}\b)"
        rf"(?!.*\bby (?:bus|car|train|tram)\b)(?!.*\b(?:run of|(?:the|a) (?:[\w.]+ ){{0,2}}(?:run|swim) (?:takes?|is|costs?))\b)"
        rf"(?=.*\b{_SPORT}\b)(?=.*{_AMOUNT})"
        rf"|^{_VERBLESS}(?=\W*(?:\w+:? ){{0,2}}?(?:{_SPORT_AMOUNT}|{_SPORT_NOUN}\b))(?=.*{_SPORT_AMOUNT})(?=.*\b{_SPORT_NOUN}\b)"
    ),
    "life_event life_events milestone milestones": (
        rf"{_I}(?:['’]ve| have| just| finally| also)* (?:just |finally |never )?{_PAST}\b|^\W*(?:just |finally )?{_PAST}\b"
        rf"|\b(?:I|i)(?:\s?['’]\s?m| am) (?:pregnant|engaged|divorced|married|widowed|fired|expecting)\b(?! to (?:my|the|this)\b)"
        r"|\bwe(?:['’]re| are) (?:pregnant|engaged|expecting|getting married)\b"
        rf"|{_MY_FAMILY}{_FAMILY_EVENT}|\bwe(?:['’]ve| have|) had an? (?:baby|boy|girl|son|daughter)\b"
        rf"|(?:(?-i:\b[A-Z]\w+)|\b(?:my|our) \w+) and I (?:(?:have|just|finally) )?{_PARTED_OR_JOINED}\b"
        rf"|\b(?:surgery|operation|funeral|wedding) (?:was|went)\b|{LIFE_EVENT}"
    ),
}
_OPEN_FORMS: Final[dict[str, str]] = {
    "mood moods feeling feelings emotion emotions": (
        r"(?:^\W*|[,;.]\s|\b(?:and|but|so) )(?:(?:i['’]?m|i am|i feel|i felt|i['’]ve been|i have been|i get|it makes me|makes me)"
        rf" (?:feeling )?|feeling ){_VERY}(?!(?:in|on|at|from|with|for|off|up|the|a|an|my|it|that|this|like|not|no|sure|here|there|back"
        r"|home|done|going|trying|looking|working|doing|getting|living|making|using|thinking|wondering)\b)[a-z]{3,}\b(?! (?:to|of|at|with"
        r" (?:it|this|that)|person|years?|old|from)\b)"
    ),
}
"""Forms whose slot any word may fill, if the embedding says that the sentence is of that type."""
_SURE_FORMS: Final[dict[str, str]] = {
    "plan plans intention intentions appointment appointments": PLAN,
    "promise promises commitment": PROMISE,
    "life_event life_events milestone milestones": LIFE_EVENT,
}
"""Forms that say by themselves what kind of statement it is, whatever its words are near to."""
_TASTE_TYPES: Final = frozenset(listed("preference, preferences, taste, tastes, liking, likes, dislike"))


def _by_name(forms: Mapping[str, str]) -> dict[str, str]:
    return {name: pattern for names, pattern in forms.items() for name in names.split()}


_BY_NAME: Final = _by_name(_FORMS)
_OPEN_BY_NAME: Final = _by_name(_OPEN_FORMS)
_SURE_BY_NAME: Final = _by_name(_SURE_FORMS)


def form_of(type_name: str) -> re.Pattern[str] | None:
    """The form that a statement of an event type has; None if the name demands none."""
    return _compiled(_BY_NAME.get(normalized_name(type_name)))


def sure_form_of(type_name: str) -> re.Pattern[str] | None:
    """The form that alone makes a statement one of an event type; None if the name has none."""
    return _compiled(_SURE_BY_NAME.get(normalized_name(type_name)))


def open_form_of(type_name: str) -> re.Pattern[str] | None:
    """The form of statements that are of an event type if their words are near to it; None if the name has none."""
    return _compiled(_OPEN_BY_NAME.get(normalized_name(type_name)))


@cache
def _compiled(form: str | None) -> re.Pattern[str] | None:
    """Compiles a form when a schema first has its type: all of them take a tenth of a second, and most processes extract nothing."""
    return None if form is None else re.compile(form, re.IGNORECASE)


def is_of_tastes(type_name: str) -> bool:
    """Whether an event type takes tastes."""
    return normalized_name(type_name) in _TASTE_TYPES
