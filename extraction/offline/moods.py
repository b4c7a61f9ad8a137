"""Finds the sentences of a message that are plain: what their writer states about the present as true.

A sentence is not plain if a mood is found in it or around it. Two kinds of cues are looked for:

- **Cues for a whole message**, since they are about its other sentences: a text to process (translate, proofread, write a story), a role or
  a fiction, irony and jokes, somebody else's words after a colon, a later "just kidding". A role goes on in the messages after it.
- **Cues for one sentence**: a question, a quotation, a condition, a wish, a report ("she says"), a doubt.

When a cue is doubtful, the sentence is not plain: an empty profile field is better than a wrong one, and its event is stored anyway.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from extraction.language import is_english
from extraction.offline import mood_words as words
from extraction.offline.blocks import blocks_of, prose_of
from extraction.offline.fact_words import RELATIVES
from extraction.offline.patterns import any_of, cue
from extraction.offline.sentences import QUESTION_MARKS, sentences_of


@dataclass(frozen=True, slots=True)
class PlainSentence:
    """A sentence that may state a fact."""

    text: str
    message: int
    """Which of the messages it is from."""
    states_present: bool = True
    """False where only names of relatives are believed: in a question, a condition or a report."""
    greets: bool = False
    """Whether it or the sentence before it is a greeting."""
    is_laughing: bool = False
    """Whether its message laughs, so that it may be a joke."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_I: Final = r"(?:i|i['’]?m|my|we|our|call me)\b"
_TEXT: Final = any_of(words.TEXT_NOUNS)
_TASK: Final = _any(
    cue(words.PROCESSING).pattern,
    rf"\b{any_of(words.SENTENCE_VERBS)}(?: (?:this|these|the|my|following|for me|after me))*(?: {_TEXT}\b|\s*:)",
    r"(?<!sorry, )(?<!oops, )(?<!^)\btypos?\b(?!\s*[:,])(?! (?:from|on|of) )",
    r"\bhow (?:do|would|can|should|to) (?:you|i|we|one)? ?(?:say|spell|pronounce|put)\b|\bhow is .{1,60} (?:said|spelled|written)\b",
    r"\bhow (?:do|would|can|should) (?:you|i|we|one) write (?:this|that|['\"“]|in [A-Z])",
    r"\bwhat(?:['’]s| is| does| do) .{0,40}\b(?:mean|in (?:french|german|spanish|english|italian|latin)|for [\"'“‘]"
    r"|(?:french|german|spanish|english|latin|italian) for)\b",
    rf"\b(?:this|that|these|those|above|following|below) (?:{any_of(words.READ_TEXTS)}|{_TEXT})\b",
    r"^\W*test(?:ing)?\b",
    rf"\b(?:his|her|their|whose|\w+['’]s) {any_of(words.OTHERS_TEXTS)}\s*:",
    rf"\b{any_of(words.OTHERS_TEXTS)} (?:of|by|from) [^:\n]{{1,50}}:",
    r"^\W*(?:say|repeat|quote|echo|print|note that down)\s*:",
)
"""A message with it gives a text to work on, before or after it."""
_WRITING: Final = _any(
    rf"\b{any_of(words.WRITING_VERBS)}\b[^.!?]{{0,40}}\b{any_of(words.WRITTEN)}\b",
    rf"\b{any_of(words.READING_VERBS)}\b[^.!?]{{0,25}}\b{any_of(words.READ_TEXTS)}\b",
    cue(words.EXERCISES).pattern,
)
"""Orders or shows a text; what follows may be it. What was said before is not."""
_FICTION: Final = _any(
    cue(words.FICTION, words.SUPPOSITIONS).pattern,
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
    r"^\W*(?:you(?:['’]re| are))(?: now)? (?-i:[A-Z][a-z]+)\s*[.,;!]\s+(?:(?:and )?i(?:['’]m| am|['’]ll be))\b",
    r"\bin the (?:role|part|shoes) of\b|\byou(?:['’]ll| will)? play (?:a|an|the|my)\b|\bi(?:['’]ll| will)? play (?:a|an"
    r"|your|the (?:role|part|[a-z]+ in))\b",
    r"\bfrom the (?:perspective|point of view|viewpoint) of\b",
)
_END_OF_FICTION: Final = cue(words.END_OF_FICTION)
_IRONY: Final = _any(
    cue(words.MOCKING).pattern,
    r"(?:^|\s)/s\b|\bnot really\s*[.!]*$|\bnot\s*[!.]*$(?<=not!)|\bi wish\s*[!.]*$",
    rf"^\W*{any_of(words.SIGHS)}\b,?(?: {any_of(words.JOYS)}\b)?[,!.…]+\s*(?:i|i['’]m|my|we)\b(?! (?:also|just moved))",
    rf"^\W*{any_of(words.SIGHS)}\b,? (?:another|more|yet another|one more|just what|exactly what)\b",
    rf"^\W*(?:such|what|how)(?: an?)? {any_of(words.JOYS)}\b",
    rf"^\W*(?:oh|ah|well|wow|gee) {any_of(words.JOYS)}\b",
    r"[🙄😏🤡🥁]",
)
_LAUGHTER: Final = _any(cue(words.LAUGHTER).pattern, r"[😂🤣😜😝🤪]")
_IRONIC_AGREEMENT: Final = _any(
    # "Sure, and I live in Versailles with forty servants", "Right, so I'm the king": an agreement that tops a claim
    rf"^\W*(?:oh |ah |well )?{any_of(words.AGREEMENTS)}(?:,? {any_of(words.AGREEMENTS)})*[,!.…—–-]*\s+(?:and|then|so"
    rf"|because|like) {_I}(?! also\b)",
    # "And I'm the Queen of Sheba": nobody introduces themselves so
    rf"\b(?:i['’]?m|i am) (?:the )?{any_of(words.ROYALS)}\b",
)
_REPORT: Final = _any(
    cue(words.REPORTING).pattern,
    rf"\b(?:my|his|her|our|their|the|some|every)\b(?: \w+){{1,2}} {any_of(words.THINKING)}\b",
    rf"\b{any_of(words.OTHERS)} {any_of(words.THINKING)}\b",
)
"""Somebody's claim, whatever clause it stands in."""
_CONDITION: Final = cue(words.UNCERTAIN)
"""A condition, a wish or a doubt, in one clause."""
_BACKGROUND: Final = re.compile(rf"\W*{any_of(words.BACKGROUNDS)}\b", re.IGNORECASE)
"""Begins a sentence about another time, or a condition."""
_WANTED: Final = re.compile(r"\b(?:i|we) (?:really )?(?:want|hope|am hoping|['’]m hoping) to\b", re.IGNORECASE)
"""A wish that is a plan."""
_ASIDE: Final = _any(
    r",? ?\b(?:believe it or not|if you must know|if you ask me|if (?:that|it) (?:helps|matters)|in case you(?:['’]re"
    r"| are)? wonder(?:ing|ed)?|if you(?:['’]re| are) wondering|i(?:['’]m| am) afraid|to be honest|tbh"
    r"|no joke|i swear|swear to god|i must say|i have to say|needless to say|as (?:i|they) say|that said"
    r"|(?:so )?when you say \w+|not to mention|let['’]s just say|sad to say|happy to say|you (?:could|might) say"
    r"|i always say|no lie|not gonna lie|i kid you not|like i said|as i said|as i mentioned|as mentioned|i(?:['’]d"
    r"| would) say)\b,?"
)
"""Words about the saying itself."""
_COMMENT: Final = _any(
    # "I'm allergic to celery, which nobody ever believes": true, unless the comment takes it back
    r",\s+(?:which|though nobody|though no one)\b(?!.*\b(?:lie|untrue|myth|mistake|say|says|said|claims?|true|according)\b)[^,;:]*$"
)
"""A comment on a statement, at its end."""
_QUOTE_MARKS: Final = re.compile(r"[\"“”«»„‟❝❞]|(?<!\w)['‘](?:[^'’\n]|(?<=\w)['’](?=\w)){6,}['’](?!\w)")
_OPENS_QUOTE: Final = re.compile(r"[:：]\s*$")
_OWN_COLON: Final = _any(
    r"^\W*(?:(?:a )?(?:few |some |quick |short )?(?:facts|things|bits|words|intro\w*|details|info\w*|background|update"
    r"|notes?|news|reminder)(?: about (?:me|myself|us))?|about me|me|fyi|btw|ps|p\.s\.|heads up|update"
    r"|for the (?:record|form)|just so you know.*|big news|good news|important|context|my (?:allergies|details|data|profile))\s*:"
)
_COLON: Final = re.compile(r"^(?P<head>[^:：\n]{1,160})[:：]\s")
_GREETING: Final = re.compile(r"\W*(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening)|greetings)\b", re.IGNORECASE)
_ASKING: Final = re.compile(rf"\W*(?:(?:and|so|but|ok|okay|hey|hi|well)\W+)*{any_of(words.ASKING)}\b", re.IGNORECASE)
_ASKS_AT_END: Final = re.compile(
    rf"(?P<stated>.+?)(?:\s*[,;:—–]|\s+-)\s*(?P<asked>(?:(?:and|so|but|ok|okay"
    rf"|btw)\s+)*(?!{any_of(words.TAGS)}\W*$){any_of(words.ASKING)}\b[^,]*(?:,[^,]*)?)$",
    re.IGNORECASE | re.DOTALL,
)
"""A statement and then a question, which is no tag such as "am I?"."""
_INTRODUCES_TEXT: Final = re.compile(
    r"\b(?:he|she|they|someone|somebody|my \w+|(?-i:[A-Z]\w+))\s+(?:just |also )?(?:posted|wrote|sent|texted|replied"
    r"|answered|commented|said|emailed|messaged)"
    r"(?: (?:me|us|this|that|back|yesterday|today|online|earlier|here))*\s*[.:!]?$",
    re.IGNORECASE,
)
"""Announces somebody else's words: "This is what she posted."."""
_MARKED_WORD: Final = re.compile(r"^(?:\*\w+|\w+\*)[.!]?$")
"""A correction of one word, as chats mark it; too short to have a language."""
_FIRST_PERSON_AFTER: Final = _any(rf"\W*(?:\w+[,!]? )?{_I}")
_OWN_HEAD: Final = _any(
    r"\b(?:i|my|me|as for \w+|things?|point|request|question|problem|issue|ps|also|plus|so|news|update|reason|because"
    r"|background|context|intro|introduction|info|note|reminder|typo|correction|sorry|oops|careful|warning|caution"
    r"|beware|disclaimer|confession|fact|truth|secret|short|tl;?dr|simple|changed|changes|wait|edit)\b"
    rf"(?!.*\b(?:from my|from our|landlord|{any_of(RELATIVES)[3:-1]}|goes|asked|himself|herself|themselves|he|she|they"
    rf"|his|her|their|change the|{any_of(words.REPORTING)[3:-1]})\b)"
)


def plain_sentences(messages: Sequence[str]) -> list[PlainSentence]:
    """The sentences that may state facts about their writer, in order.

    Args:
        messages: The texts that one person wrote, in order, without binary data.
    """
    found: list[PlainSentence] = []
    in_fiction = False
    for number, text in enumerate(messages):
        if _END_OF_FICTION.search(text):
            in_fiction = False
            continue
        if _FICTION.search(text):
            in_fiction = True
        if not in_fiction:
            found += _of_message(text, number)
    return found


def is_plain(text: str) -> bool:
    """Whether a message states something plainly in one of its sentences at least, and in none of them plays, processes or quotes a text.

    Args:
        text: A message, or a part of one.
    """
    if _FICTION.search(text) or _IRONY.search(text) or _LAUGHTER.search(text) or _WRITING.search(text) or _BACKGROUND.match(text):
        return False
    sentences = list(_of_message(text, 0))
    stated = [each for each in sentences if each.states_present and not _CONDITION.search(_WANTED.sub("", each.text))]
    return bool(stated) and len(stated) == len([each for each in sentences if not each.text.endswith(QUESTION_MARKS)])


def is_conditional(clause: str) -> bool:
    """Whether a clause states a condition, a wish or a doubt."""
    return _CONDITION.search(clause) is not None


def _of_message(text: str, number: int) -> Iterator[PlainSentence]:
    prose = prose_of(blocks_of(text))
    if _MARKED_WORD.match(prose):
        yield PlainSentence(prose, number)
        return
    if not prose or not is_english(prose) or _TASK.search(text):
        return
    sentences = _with_continuations(sentences_of(prose))
    is_ironic = any(_IRONY.search(_ASIDE.sub("", each)) or _IRONIC_AGREEMENT.search(each) for each in sentences)
    is_laughing = _LAUGHTER.search(text) is not None
    greets = False
    for sentence in sentences:
        if _OPENS_QUOTE.search(sentence) is not None and _OWN_COLON.search(sentence) is None:
            return  # what follows is quoted
        own = _without_own_head(_ASIDE.sub(", ", sentence).strip(" ,"))
        if own is None:
            return
        if _QUOTE_MARKS.search(own):
            continue
        is_reported = _REPORT.search(_COMMENT.sub("", own)) is not None
        writing = _WRITING.search(own)
        stated, asked = _asked_at_end(own if writing is None else own[: writing.start()])
        is_greeting = _GREETING.match(own) is not None
        if stated.strip():
            yield PlainSentence(stated, number, not (is_ironic or is_reported), is_greeting or greets, is_laughing)
        greets = is_greeting
        if asked or writing is not None:
            yield PlainSentence(own, number, states_present=False)
        if writing is not None or _INTRODUCES_TEXT.search(own):
            return  # what follows may be the text


def _with_continuations(sentences: Sequence[str]) -> list[str]:
    """The sentences, with what goes on after three dots: "I'm a vegetarian... between meals"."""
    joined: list[str] = []
    for sentence in sentences:
        if joined and joined[-1].endswith(("...", "…")) and sentence[0].islower():
            joined[-1] = f"{joined[-1]} {sentence}"
        else:
            joined.append(sentence)
    return joined


def _asked_at_end(sentence: str) -> tuple[str, str]:
    """The statement and the question of a sentence: "I'm a baker, any tips?" states and asks. One of them is empty if it does not do both."""
    if not sentence.rstrip(" )\"'").endswith(QUESTION_MARKS):
        return sentence, ""
    found = _ASKS_AT_END.match(sentence)
    if found is None or _ASKING.match(found["stated"]):
        return "", sentence
    return found["stated"], found["asked"]


def _without_own_head(sentence: str) -> str | None:
    """The sentence without a head such as "FYI:"; None if a colon in it may introduce somebody else's words."""
    found = _OWN_COLON.match(sentence)
    if found is not None:
        return sentence[found.end() :].strip()
    head = _COLON.match(sentence)
    if head is None or _OWN_HEAD.search(head["head"]):
        return sentence
    return None if _FIRST_PERSON_AFTER.match(sentence, head.end()) else sentence
