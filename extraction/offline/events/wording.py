"""The two texts of an event: its content, which is what was said, and its search text, which names the speaker and the days.

The search text is used by the index and the ranking only (:mod:`memory.records.wording`). Of the forms that were tried on LoCoMo, dense,
BM25 and late-interaction search find most evidence with this one. Only English prose is rewritten: never code, quotations, addresses,
numerals ("World War I"), or text in another language.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

import orjson

from extraction.bounds import LONGEST_CONTENT
from extraction.offline.grammar.sentences import pieces_of
from extraction.offline.turns import Passage, Turn
from memory.dates.calendar import day_in_words
from memory.dates.event_date import UNKNOWN_DATE, EventDate
from memory.dates.mentions import DateMention, UnclearDate, resolve_dates
from memory.messages.attribution import Part, attributed_parts
from memory.records import ToolCall
from memory.records.limits import is_recordable_time
from memory.records.message import STATEMENT
from memory.texts.language import is_english, is_foreign
from memory.texts.prefiltered_patterns import Table, compiled
from memory.texts.scripts import FULL_WIDTH_ENDS, SENTENCE_ENDS
from memory.texts.text import estimate_tokens, shortened
from memory.texts.words import TOPICLESS_WORDS

_QUESTION_TOKENS: Final = 60
_RESULT_CHARACTERS: Final = 300

_VERB_WORDS: Final = """
love like enjoy hate prefer want need hope think know feel live work play study teach run walk read write cook bake paint draw sing
dance travel own use make take get keep call believe remember plan try miss wish volunteer drive eat drink sleep wake speak collect
swim hike bike ride practice help spend wear watch listen start stop go do look select limit send upload wait search check fix ask
prepare finish agree put pay order find add open close show bring leave move sell lead manage care worry expect understand recommend
suggest support join count approve
"""
_VERBS: Final = tuple(_VERB_WORDS.split())
_IRREGULAR: Final = {"teach": "teaches", "watch": "watches", "miss": "misses", "wish": "wishes", "go": "goes", "do": "does", "fix": "fixes"}
_THIRD_FORM: Final = {
    verb: _IRREGULAR.get(verb, f"{verb[:-1]}ies" if verb in ("study", "try", "carry", "worry") else f"{verb}s") for verb in _VERBS
}
_AUXILIARY: Final = r"(?P<auxiliary>\b(?i:shall|will|can|could|should|would|do|did|does|may|might|must)\s+)?"
_ADVERB: Final = r"(?P<adverb>(?:really|also|always|usually|often|still|just|never|sometimes|currently|actually|even|only|especially) )?"

_FIRST_PERSON: Final = Table(
    (
        (r"\b[Ii](?:['’]m| am)\b|\b[Ii]m\b(?= [a-z])", "{name} is"),
        (r"\b[Aa]m I\b", "is {name}"),
        (r"\b[Ii](?:['’]ve| have)\b", "{name} has"),
        (r"\b[Ii]['’]d\b", "{name} would"),
        (r"\b[Ii]['’]ll\b", "{name} will"),
        (r"\b[Ii] don['’]t\b", "{name} doesn't"),
        (r"\b[Ii] do not\b", "{name} does not"),
        (r"\b[Ii] haven['’]t\b", "{name} hasn't"),
    )
)
_PRESENT: Final = compiled(rf"{_AUXILIARY}\b[Ii] {_ADVERB}(?P<verb>{'|'.join(_VERBS)})\b")
_POSSESSIVE: Final = compiled(r"\b[Mm]y\b")
_OBJECT: Final = compiled(
    r"\bI\b(?!['’])|(?<![\w'’])i(?= (?:am|was|have|had|will|would|can|could|shall|should|may|might|must|do|did|got"
    r"|went|just|really|also|never|always|still)\b)"
    r"|\b(?:[Mm]e|[Mm]yself)\b"
)
_PROTECTED: Final = compiled(
    r"```.*?(?:```|\Z)|`[^`\n]+`|\"[^\"\n]{1,500}\"|“[^”\n]{1,500}”|«[^»\n]{1,500}»|(?m:^[ \t]*>.*$)|\b(?:https?://"
    r"|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.-]+",
    re.DOTALL,
)
"""Code, quotations, quoted lines, links and mail addresses."""
_MASK: Final = "\ue000"
_AFTER_NAME: Final = compiled(r"(?P<word>\b[A-Z][\w'’-]*)(?P<blank>[^\S\n]+)I\b(?!['’])")
_NUMERAL: Final = compiled(r"(?<![\w'’])I(?=[/&.)\-:]\S|[.)]\s+[A-Z]|-)|(?<=[/&-])I\b|^\s*I[.)](?=\s)", re.MULTILINE)
_OPENING_WORDS: Final = """
yesterday today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday january february march april june july august
september october november december yes no yeah yep nope oh well ok okay so hi hey hello sorry thanks sure right god wow honestly mom
dad fyi btw ps lately recently currently nowadays normally maybe perhaps anyway besides usually sometimes often please guess think glad
wish hope happy realizing knew know thought wonder believe suppose like where whatever everything something
"""
_BEFORE_PRONOUN: Final = frozenset(_OPENING_WORDS.split())
_SENTENCE_END: Final = re.compile(rf"[.{SENTENCE_ENDS}{FULL_WIDTH_ENDS}][\"'”’)]*(?=\s)|\n")
_MINE: Final = compiled(r"\b[Mm]ine\b")

_SECOND_PERSON: Final = Table(
    (
        (r"\b[Aa]re you\b", "is {name}"),
        (r"\b[Hh]ave you\b", "has {name}"),
        (r"\b[Dd]o you\b", "does {name}"),
        (r"\b[Ww]ere you\b", "was {name}"),
        (r"\b[Yy]ou(?:['’]re| are)\b", "{name} is"),
        (r"\b[Yy]ou(?:['’]ve| have)\b", "{name} has"),
        (r"\b[Yy]ou['’]ll\b", "{name} will"),
        (r"\b[Yy]ou['’]d\b", "{name} would"),
        (r"\b[Yy]our(?:s)?\b", "{name}'s"),
        (r"\b[Yy]ou(?:rself)?\b", "{name}"),
    )
)


def event_content(turn: Turn, passage: Passage, *, event_type: str) -> str:
    """The content of a passage's event: the words of the message, or a description of the tool call.

    Args:
        turn: The message.
        passage: The part of it.
        event_type: The event's type. A tool call of that name states the event; all others are described by their outcome.
    """
    if (call := turn.message.tool_call) is not None:
        return shortened(_call_text(turn, call, event_type), LONGEST_CONTENT)
    return shortened_to_sentences(passage.text, passage.longest_content)


def search_text(turn: Turn, passage: Passage) -> str | None:
    """The passage with the speaker's name, resolved days, and what it answers or agrees with; None for a tool call."""
    if turn.message.tool_call is not None:
        return None
    text = with_dates(passage.text, passage.mentions)
    if passage.is_own_prose or speaks_for_others(text):
        text = with_names(text, turn.speaker)
    text = f"{opening_of(turn)} {text}"
    if (before := passage.turn_before) is not None:
        said = _said_before(before, passage.agreed or " ".join(before.questions[-2:]))
        text = f"{text} ({'like' if passage.agreed else 'answering'} {before.speaker}: {said})"
    return shortened(text, LONGEST_CONTENT)


def opening_of(turn: Turn) -> str:
    """The beginning of a turn's search texts: its speaker and day, as ``Ann (8 May 2023):``."""
    name = turn.speaker if turn.message.speaker else turn.speaker.capitalize()
    return f"{name} ({day_in_words(turn.message.event_time)}):"


def shortened_to_sentences(text: str, longest: int) -> str:
    """The text, or its beginning up to a sentence's end and an ellipsis, at most ``longest`` characters."""
    if len(text) <= longest:
        return text
    head = text[: longest - 2]
    end = max((found.end() for found in _SENTENCE_END.finditer(head)), default=0)
    if end < longest // 2:
        end = max(head.rfind(" "), head.rfind("\n"), longest // 2)
    return f"{head[:end].rstrip()} …"


def with_dates(text: str, mentions: Sequence[DateMention]) -> str:
    """The text with the absolute date after each relative one: ``yesterday (7 May 2023)``.

    Args:
        text: A text, or the beginning of one.
        mentions: The dates in the whole text, in order.
    """
    parts: list[str] = []
    done = 0
    for mention in mentions:
        if not mention.is_relative or mention.end > len(text):
            continue
        end = mention.end + 2 * text.startswith(("'s", "’s"), mention.end)
        parts.append(f"{text[done:end]} ({mention.label})")
        done = end
    return "".join([*parts, text[done:]])


def event_date_of(mentions: Sequence[DateMention], said_at: datetime, unclear: Sequence[UnclearDate] = ()) -> EventDate | None:
    """When the event of a text happened: the first past date in it; None: when it was said, as for "ran today, first time since May".

    A date in the future is not the time of an event: the message about it is of now. If a date that cannot be determined comes first, the
    date is unknown. A date that no record may contain is ignored.

    Args:
        mentions: The known dates in the text, in order.
        said_at: When the message was said.
        unclear: The dates in the text that cannot be determined, in order.
    """
    today = said_at.date()
    past = next((mention for mention in mentions if mention.last < today or mention.first == mention.last == today), None)
    if unclear and (past is None or unclear[0].start < past.start):
        return UNKNOWN_DATE
    if past is None or past.last == today:
        return None
    begins_at = datetime.combine(past.first, datetime.min.time(), tzinfo=said_at.tzinfo)
    return EventDate(past.first, past.last) if is_recordable_time(begins_at) else None


def first_to_third_person(text: str, name: str) -> str:
    """Puts a speaker's name where they speak of themselves: ``I'm moving, my dog too`` to ``Ann is moving, Ann's dog too``.

    Code, quotations, addresses and numerals stay.
    """
    parts: list[str] = []
    done = 0
    for found in _PROTECTED.finditer(text):
        parts += (_in_third_person(text[done : found.start()], name), found.group())
        done = found.end()
    return "".join([*parts, _in_third_person(text[done:], name)])


def with_names(text: str, speaker: str) -> str:
    """Puts the author's name where a part of a message speaks in the first person; of an unknown author, no name.

    Args:
        text: An English message.
        speaker: The message's speaker.
    """
    parts = attributed_parts(text)
    if all(part.author is None for part in parts):
        return first_to_third_person(text, speaker)
    found: list[str] = []
    done = 0
    for part in parts:
        start = text.find(part.text, done)
        if start >= 0:
            found += (text[done:start], _with_author(part, speaker))
            done = start + len(part.text)
    return "".join([*found, text[done:]])


def _with_author(part: Part, speaker: str) -> str:
    if is_foreign(part.text):
        return part.text
    if part.author is None:
        return first_to_third_person(part.text, speaker)
    return _in_third_person(part.text, part.author) if part.author else part.text


def speaks_for_others(text: str) -> bool:
    """Whether a message quotes somebody whom it names."""
    return any(part.author for part in attributed_parts(text))


def _in_third_person(text: str, name: str) -> str:
    text = _NUMERAL.sub(_masked, _AFTER_NAME.sub(_masked_after_name, text))
    text = _FIRST_PERSON.rewritten(text, partial(_with_name, name))
    text = _PRESENT.sub(lambda match: _present(match, name), text)
    text = _POSSESSIVE.sub(_literal(f"{name}'s"), text)
    text = _MINE.sub(_literal(f"{name}'s"), text)
    return _OBJECT.sub(_literal(name), text).replace(_MASK, "I")


def _masked(match: re.Match[str]) -> str:
    return match.group().replace("I", _MASK)


def _masked_after_name(match: re.Match[str]) -> str:
    """The numeral of "World War I" and "Henry I", masked. After "And" or "Yesterday", "I" is the pronoun."""
    word = match["word"].lower()
    is_opening = word in TOPICLESS_WORDS or word in _BEFORE_PRONOUN or word.endswith("ly")
    return match.group() if is_opening else f"{match['word']}{match['blank']}{_MASK}"


def _present(match: re.Match[str], name: str) -> str:
    """The verb in its third form. After an auxiliary ("shall I start") it keeps its form."""
    verb = match["verb"] if match["auxiliary"] else _THIRD_FORM[match["verb"]]
    return f"{match['auxiliary'] or ''}{name} {match['adverb'] or ''}{verb}"


def second_to_third_person(text: str, name: str) -> str:
    """Puts a listener's name where they are spoken to: ``have you moved?`` to ``has Ann moved?``."""
    return _SECOND_PERSON.rewritten(text, partial(_with_name, name))


def _with_name(name: str, pattern: re.Pattern[str], replacement: str, text: str) -> str:
    return pattern.sub(_literal(replacement.format(name=name)), text)


def _literal(text: str) -> str:
    return text.replace("\\", r"\\")


def _said_before(turn: Turn, text: str) -> str:
    """A part of the turn before as its listener's event has it: with names and days, and of bounded length."""
    text = _last_piece(text)
    text = with_dates(text, resolve_dates(text, turn.message.event_time.date()))
    if not is_english(text):
        return _last_piece(text)
    text = first_to_third_person(text, turn.speaker)
    return _last_piece(second_to_third_person(text, turn.listener) if turn.listener else text)


def _last_piece(text: str) -> str:
    return pieces_of(text, tokens=_QUESTION_TOKENS)[-1] if estimate_tokens(text) > _QUESTION_TOKENS else text


def _call_text(turn: Turn, call: ToolCall, event_type: str) -> str:
    if call.name == STATEMENT:
        return turn.text
    return _stated_text(turn, call) if call.name == event_type else _tool_text(turn, call)


def _stated_text(turn: Turn, call: ToolCall) -> str:
    said = turn.text or orjson.dumps(call.arguments).decode()
    return f"{call.name.replace('_', ' ').capitalize()} ({day_in_words(turn.message.event_time)}): {said}"


def _tool_text(turn: Turn, call: ToolCall) -> str:
    outcome = {True: " succeeded", False: " failed", None: " was called"}[call.success]
    parts = [f"{call.name}{outcome}"]
    if call.duration_ms is not None:
        parts.append(f" after {call.duration_ms:g} ms")
    parts.append(f" ({day_in_words(turn.message.event_time)})")
    shown: set[str] = set()
    for label, value in (("error", call.error), ("arguments", call.arguments), ("result", call.result)):
        if value not in (None, "", [], {}):
            text = value if isinstance(value, str) else orjson.dumps(value).decode()
            shown.add(" ".join(text.split()))
            parts.append(f"; {label}: {shortened(text, _RESULT_CHARACTERS)}")
    # Agents often send a call's result as the text of its message, too.
    if turn.text and " ".join(turn.text.split()) not in shown:
        parts.append(f". {turn.text}")
    return "".join(parts)
