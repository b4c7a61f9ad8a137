"""The forms of statements that event types of certain names demand: nearness alone takes "the sad song" for a mood."""

import re
from typing import Final

from extraction.offline.property_roles import name_words

_I: Final = r"(?:\b(?:I|i|we|We)\b)"
_DAY: Final = (
    r"(?:\b(?:today|tonight|tomorrow|next|this (?:week|weekend|month|summer|winter|spring|autumn|fall|year|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday)|soon|(?:on|by|in|at|until|from) (?:the )?(?:\d|mon|tue|wed"
    r"|thu"
    r"|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|week|weekend|spring|summer|autumn|fall|winter|end of)\w*)\b)"
)
_PAST: Final = (
    r"(?:(?<!ve )(?<!have )got|went|(?:was|were) (?:born|fired|hired|promoted|diagnosed|robbed|admitted|laid off)"
    r"|broke|lost|won(?!['’]t)|bought|sold|met|left|began|became|moved|married|born|graduated|passed"
    r"|failed|quit|started|finished|adopted|buried|relocated|turned|found|took|gave|made|came|flew|drove"
    r"|ran|swam|rode|cycled|hiked|climbed|skied|walked|jogged|rowed|trained|lifted|did|played|(?!(?:lived|liked|loved"
    r"|hated|wanted|needed|used|seemed|worked|enjoyed|preferred|believed|looked|liked|promised)\b)[a-z]{3,}ed)"
)
_SPORT: Final = (
    r"(?:ran|(?<!to )(?<!can )(?<!will )(?<!would )(?<!should )(?<!could )(?<!and )run|swam|(?<!to )swim|rode|cycled"
    r"|biked|hiked|climbed|skied|walked|jogged|rowed|trained|lifted|workout|yoga|pilates|gym|exercised|stretched|boxed"
    r"|danced|bouldered|paddled|skated|sprinted|spin class)"
)
_AMOUNT: Final = r"(?:\d|half|hour|minute|\bkm\b|mile|lap|reps|sets)"
_FEELINGS: Final = (
    r"(?:happy|sad|angry|anxious|nervous|worried|(?:scared|afraid)(?! of)|lonely|proud|excited|thrilled|relieved|stressed"
    r"|exhausted|tired|depressed|down|awful|terrible|great|good|bad|better|worse|fine|okay|ok|upset|frustrated|annoyed"
    r"|overwhelmed|calm|content|grateful|hopeful|hopeless|hurt|jealous|guilty|ashamed|embarrassed|bored|miserable"
    r"|heartbroken|delighted|cheerful|furious|devastated|over the moon|on edge|numb|low|wonderful|fantastic|so so)"
)
_FORMS: Final[dict[str, str]] = {
    "preference preferences taste tastes liking likes dislike": (
        r"(?:\b(?:I|we|he|she|they|who|and|but|really|also|do|does|just|absolutely|always)\b|(?-i:\b[A-Z]\w+)|^)\W+(?:love"
        r"|like|enjoy|prefer|adore|hate|dislike|detest|loathe)s?\b(?! (?:to hear|to say|it|how|what|where|that|this"
        r"|these|those|you|your|nothing|the \w+ (?:one|option|version))\b)"
        r"|\bcan['’]?t stand\b|\bdon['’]?t like\b|\bfavou?rite\b|\bfan of\b|\bkeen on\b"
        r"|\b(?:am|['’]m|['’]s|is|are) (?:really )?(?:into|fond of|an? (?:strict )?(?:vegan|vegetarian|pescatarian)|vegan"
        r"|vegetarian|pescatarian)\b|\b(?:don['’]?t|do not|never|doesn['’]?t) (?:eat|drink)\b"
    ),
    "plan plans intention intentions appointment appointments": (
        rf"^(?=.*{_DAY})(?=.*\b(?:(?:am|['’]m|are|['’]re|is|['’]s|im) (?:going|visiting|flying|moving|starting|meeting"
        rf"|leaving|travel+ing|planning|seeing|taking|driving|running|having|getting|expecting)|will|['’]ll"
        rf"|(?:plan|plans|intend|intends|hope|want|wants|hoping|planning|going) to)\b)|\b(?:appointment|booked|scheduled)\b"
    ),
    "promise promises commitment": rf"{_I} (?:have |solemnly )?promised?\b|\b(?:I|i) (?:give|gave) (?:you|him|her|them|\w+) my word\b",
    "mood moods feeling feelings emotion emotions": (
        rf"(?:\b(?:I|i)(?:\s?['’]\s?m| am|m)\b|\b(?:I|i) (?:feel|felt|have been feeling)\b|\b(?:feel|feeling)\b|^)"
        rf"\W*(?:not |so |really |very |a bit |a little |quite |pretty |absolutely |feeling |too |just )*\b{_FEELINGS}\b"
        r"(?! (?:morning|afternoon|evening|night|day|idea|question|point|job|news))"
    ),
    "workout workouts training session_of_sport": (
        rf"^(?!.*\b(?:my|his|her|their|brother|sister|wife|husband|friend|dad|mom|he|she|they) (?:\w+ )?{_SPORT}\b)"
        rf"(?=.*\b{_SPORT}\b)(?=.*{_AMOUNT})"
    ),
    "life_event life_events milestone milestones": (
        rf"{_I}(?:['’]ve| have| just| finally| also)* (?:just |finally |never )?{_PAST}\b|^\W*(?:just |finally )?{_PAST}\b"
        rf"|\b(?:I|i)(?:\s?['’]\s?m| am) (?:pregnant|engaged|divorced|married|widowed|fired|expecting)\b(?! to (?:my|the|this)\b)"
        r"|\bwe(?:['’]re| are) (?:pregnant|engaged|expecting|getting married)\b|\b(?:my|our) \w+ (?:died|passed away"
        r"|was born|got married|graduated)\b|\b(?:surgery|operation|funeral|wedding) (?:was|went)\b"
    ),
}
_BY_NAME: Final = {name: re.compile(pattern, re.IGNORECASE) for names, pattern in _FORMS.items() for name in names.split()}


def form_of(type_name: str) -> re.Pattern[str] | None:
    """The form that a statement of an event type has; None if the name demands none."""
    return _BY_NAME.get("_".join(name_words(type_name)))
