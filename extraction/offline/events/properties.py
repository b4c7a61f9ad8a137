"""An event's properties by rule: only what the text, the message or the tool call plainly states."""

import re
from collections.abc import Sequence
from typing import Final

import orjson
from pydantic import JsonValue

from extraction.bounds import LONGEST_CONTENT, bounded_value
from extraction.offline.events.property_roles import Meaning, meaning_of, name_words
from extraction.offline.events.quantities import number_for, quantities_of
from extraction.offline.events.tool_events import FALLBACK, nearest_stated, stated_properties, stated_type
from extraction.offline.events.type_forms import is_of_tastes
from extraction.offline.facts.plain_facts import facts_of
from extraction.offline.facts.sentence_facts import PlainFact
from extraction.offline.factuality.moods import plain_sentences
from extraction.offline.grammar.content_words import content_words, is_filler, topic_words
from extraction.offline.grammar.fact_grammar import Field
from extraction.offline.grammar.patterns import any_of
from extraction.offline.grammar.plan_forms import promised_act
from extraction.offline.grammar.sentences import questions_of, sentences_of
from extraction.offline.turns import Passage, Turn
from extraction.offline.words.people import MANY_RELATIVES, PETS, RELATIVES
from memory.dates.mentions import DateMention
from memory.records import ToolCall
from memory.schema import EventType, Property
from memory.texts.prefiltered_patterns import compiled
from memory.texts.text import shortened

_EXAMPLES: Final = compiled(r"(?:such as|for example|e\.g\.,?|one of:?)\s+([^.;:()]+)")
_PLACE: Final = compiled(r"\b(?:in|at)\s+((?:the\s+)?[A-Z][\w'’]+(?:\s+(?:of\s+)?[A-Z][\w'’]+)*)")
_KEYWORDS: Final = 6
_FIRST_PERSON: Final = compiled(r"\b(?:I|I['’]\w+|mine|me)\b")
_OWN_SUBJECT: Final = re.compile(
    r"(?:^|[.!?]\s+)(?:\W|\b(?:and|but|so|oh|well|yes|yeah|no|also|now|today|ok|okay|hi|hey)\b)*(?:I|i|[Ii]['’]\w+|im|[Mm]y|[Ww]e)\b"
    r"(?! \w+ (?:is|are|has|was|will|says)\b)"
    rf"(?!(?<=y) (?:[\w'’-]+ )?{any_of(RELATIVES, MANY_RELATIVES, PETS)}\b(?!['’]|(?:,? [A-ZÀ-Þ]\w+)?,? and (?:I|i|me)\b))"
)
"""A sentence that begins with its speaker. "My brother is" and "My sister loves" begin with another person."""
_OTHERS_OR_NONE: Final = compiled(
    r"\b(?:not|no|nothing|never|without|\w+n['’]t)\b(?:(?!\bbut\b)[^,;.!?])*$"
    r"|\b(?:you|he|she|they|who|some(?:one|body)|any(?:one|body)|people)\b(?:(?!\b(?:i|i['’]?m|we|my|me|us)\b)[^,;.!?])*$",
    re.IGNORECASE,
)
"""Ends a clause before a word that is denied, or said of somebody else: "I'm not", "I'm sorry that you are"."""
_CALLED: Final = (
    r"(?:(?:^|[,.!?;:–—-]|\b(?:hey|hi|hello|hiya|dear|oh|wow|thanks|thank you|congrats|congratulations|sorry|yes|no|yeah)\b)\W*)"
)
"""Before the name of somebody who is addressed."""
_FIRST_PERSON_ANYWHERE: Final = compiled(r"\b(?:i|i['’]?m|my|we|our)\b", re.IGNORECASE)
_NEGATION: Final = compiled(r"\b(?:not|no|none|nobody|never|hardly|stopped|used to|\w+n['’]?t)\b", re.IGNORECASE)
TASTES: Final = frozenset({Field.LIKE, Field.DISLIKE, Field.AVOID, Field.DIET, Field.HABIT})
"""Kinds of facts that say what somebody likes, avoids or regularly does."""
_TASTES: Final = TASTES - {Field.HABIT}
_ILLNESS: Final = compiled(r"\b(?:diabet\w+|c(?:o)?eliac\w*|intoleran\w+)\b", re.IGNORECASE)
"""A diet that is no choice."""
_YES_WORDS: Final[dict[str, str]] = {
    "likes": r"love|like|enjoy|prefer|adore|favou?rite|fan of|fond of",
    "correct": r"correct|right answer|exactly right|full marks|well done",
}
_NO_WORDS: Final[dict[str, str]] = {
    "likes": r"hate|dislike|can['’]?t stand|don['’]?t like|do not like|not a fan|detest|never liked",
    "correct": r"incorrect|wrong|not quite|half right|no point|mistake",
}


def tastes_in(passage: Passage, turn: Turn, tastes: Sequence[PlainFact]) -> list[PlainFact]:
    """The user's tastes that a passage states.

    Args:
        passage: A part of a turn.
        turn: The turn.
        tastes: Those of the window.
    """
    own = [each for each in tastes if each.message == passage.turn_index and _ILLNESS.search(each.value) is None]
    return own if passage.text == turn.text else [each for each in own if each.value.casefold() in passage.text.casefold()]


def properties_of(
    event_type: EventType, turns: Sequence[Turn], passage: Passage, *, topic: str, tastes: Sequence[PlainFact] = ()
) -> dict[str, JsonValue]:
    """The properties of an event that a passage states. Those that no rule can fill are left out.

    Args:
        event_type: The event's type.
        turns: Of the window.
        passage: The part of a turn that becomes the event.
        topic: The topic of its segment.
        tastes: The user's tastes that it states.
    """
    turn = turns[passage.turn_index]
    if (call := turn.message.tool_call) is not None:
        if stated_type((event_type,), call) is not None:
            from_call = stated_properties(call)
        else:
            from_call = tool_properties(event_type, call, goal=_message_before(turns, passage.turn_index))
        return {name: bounded_value(value) for name, value in from_call.items()}
    if event_type.name == FALLBACK or not (passage.is_plain or tastes):
        return {}
    tastes = tastes if is_of_tastes(event_type.name) else ()
    quantities = tuple(quantities_of(passage.text))
    values: dict[str, JsonValue] = {}
    for each in event_type.properties:
        value: JsonValue = None
        if each.value_type in ("int64", "float32"):
            value = number_for(each, quantities)
        elif each.value_type == "bool":
            if meaning_of(each.name) is Meaning.OWN:
                value = True if tastes else _is_own(turns, turn, passage.text)
            else:
                value = _truth(each, passage.text, tastes)
        elif each.value_type in ("string", "list<string>"):
            value = _text_for(each, event_type, turns, passage, topic, tastes)
        if value is not None:
            values[each.name] = bounded_value(value)
    return values


def _message_before(turns: Sequence[Turn], index: int) -> str | None:
    """The message right before a tool call: what the agent wants of the tool."""
    for turn in reversed(turns[:index]):
        if turn.message.tool_call is None:
            return shortened(turn.text, LONGEST_CONTENT)
    return None


def _truth(field: Property, text: str, tastes: Sequence[PlainFact]) -> bool | None:
    if "likes" in name_words(field.name) and (tastes or _FIRST_PERSON_ANYWHERE.search(text)):
        kinds = {fact.field for fact in tastes or facts_of(plain_sentences([text]))} & _TASTES
        return None if len(kinds) != 1 else {Field.LIKE: True, Field.DISLIKE: False}.get(next(iter(kinds)))
    for word in name_words(field.name):
        key = "likes" if word in ("likes", "liked", "like") else "correct" if word in ("correct", "right") else None
        if key is None:
            continue
        without_no, negations = re.subn(_NO_WORDS[key], " ", text, flags=re.IGNORECASE)
        affirms = re.search(rf"\b(?:{_YES_WORDS[key]})", without_no, re.IGNORECASE) is not None
        if affirms and _NEGATION.search(without_no):
            return None  # "She never really loved it"
        if affirms != bool(negations):
            return affirms
    return None


def _text_for(
    field: Property, event_type: EventType, turns: Sequence[Turn], passage: Passage, topic: str, tastes: Sequence[PlainFact]
) -> JsonValue:
    turn, text, mentions = turns[passage.turn_index], passage.text, passage.mentions
    example = next((found for each in passage.statements or (text,) if (found := _example(field.description, each)) is not None), None)
    if example is not None:
        return example
    meaning = meaning_of(field.name)
    if meaning is Meaning.STATEMENT and (promised := promised_act(passage.statements)) is not None:
        return promised
    if meaning is Meaning.STATEMENT or name_words(field.name) == name_words(event_type.name):
        return _main_sentence(passage)
    match meaning:
        case Meaning.TOOL:
            tools = {each.message.tool_call.name for each in turns if each.message.tool_call is not None}
            return next((tool for tool in sorted(tools) if re.search(rf"\b{re.escape(tool)}\b", text)), None)
        case Meaning.QUESTION:
            return next(iter(questions_of(text)), None) or _main_sentence(passage)
        case Meaning.SPEAKER:
            return turn.speaker if tastes else _who(turns, turn, text)
        case Meaning.PEOPLE:
            named: list[JsonValue] = [
                name for name in _speakers(turns) if name != turn.speaker and re.search(rf"\b{re.escape(name)}\b", text)
            ]
            return named or None
        case Meaning.TASTE:
            things = {fact.value for fact in tastes or facts_of(plain_sentences([text])) if fact.field in _TASTES}
            return next(iter(things)) if len(things) == 1 else None
        case Meaning.TOPIC:
            return nearest_stated(field.name, turns, passage.turn_index) or topic.split(", ")[0] or None
        case Meaning.TIME:
            return _date(mentions[0]) if mentions else None
        case Meaning.DUE:
            future = [each for each in mentions if each.last >= turn.message.event_time.date()]
            return _date(future[0]) if future else None
        case Meaning.PLACE:
            return _place(text, mentions)
        case Meaning.KEYWORDS:
            words: list[JsonValue] = [*dict.fromkeys(topic_words(text))]
            return words[:_KEYWORDS]
    return None


def _example(description: str, text: str) -> str | None:
    """One of the examples that a description names ("such as running or swimming"), where the text has the word."""
    match = _EXAMPLES.search(description)
    if match is None:
        return None
    for example in re.split(r",\s*(?:or\s+|and\s+)?|\s+or\s+|\s+and\s+", match[1].strip()):
        found = re.search(rf"\b{re.escape(example.strip())}\b", text, re.IGNORECASE) if example else None
        if found is not None and _OTHERS_OR_NONE.search(text[: found.start()]) is None:
            return example.strip()
    return None


def _main_sentence(passage: Passage) -> str:
    sentences = [each for each in sentences_of(passage.text) if not is_filler(each)] or [passage.text]
    return max(sentences, key=lambda sentence: len(content_words(sentence)))


def _speakers(turns: Sequence[Turn]) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in turns if turn.message.role in ("user", "assistant")))


def _who(turns: Sequence[Turn], turn: Turn, text: str) -> str | None:
    """The speaker if the text begins with them; otherwise the one speaker of whom it speaks by name; None if it may be about others."""
    if _OWN_SUBJECT.search(text):
        return turn.speaker
    if _FIRST_PERSON.search(text):
        return None
    named = [name for name in _speakers(turns) if _speaks_of(name, text)]
    return named[0] if len(named) == 1 else None


def _speaks_of(name: str, text: str) -> bool:
    """Whether a text has a name other than to address its bearer: "Nate won", not "Way to go, Nate!"."""
    called = rf"{_CALLED}{re.escape(name)}(?=\s*(?:[,.!?;:]|$|[–—-]\s))"
    return re.search(rf"\b{re.escape(name)}\b", re.sub(called, " ", text, flags=re.IGNORECASE)) is not None


def _is_own(turns: Sequence[Turn], turn: Turn, text: str) -> bool | None:
    """Whether something is the user's own; None if the words do not show whose it is."""
    who = _who(turns, turn, text)
    return None if who is None else turn.message.role == "user" and who == turn.speaker


def _date(mention: DateMention) -> str:
    match mention.precision:
        case "month":
            return mention.first.strftime("%Y-%m")
        case "year":
            return str(mention.first.year)
        case _:
            return mention.first.isoformat()


def _place(text: str, mentions: Sequence[DateMention]) -> str | None:
    for match in _PLACE.finditer(text):
        if not any(mention.start < match.end(1) and match.start(1) < mention.end for mention in mentions):
            return match[1]
    return None


def tool_properties(event_type: EventType, call: ToolCall, *, goal: str | None) -> dict[str, JsonValue]:
    """The values that a call gives to a type's properties; the others are left out.

    Args:
        event_type: The event's type.
        call: The tool call.
        goal: The agent's message right before it.
    """
    text = {
        Meaning.TOOL: call.name,
        Meaning.SUCCESS: call.success,
        Meaning.FAILURE: None if call.success is None else int(not call.success),
        Meaning.ERROR: call.error,
        Meaning.ARGUMENTS: _as_text(call.arguments),
        Meaning.RESULT: _as_text(call.result),
        Meaning.GOAL: goal,
    }
    values: dict[str, JsonValue] = {}
    for each in event_type.properties:
        meaning = meaning_of(each.name)
        value = _duration(call, each.name) if meaning is Meaning.DURATION else text.get(meaning) if meaning else None
        if value is not None:
            values[each.name] = bool(value) if each.value_type == "bool" and isinstance(value, int) else value
    return values


def _duration(call: ToolCall, name: str) -> float | None:
    if call.duration_ms is None:
        return None
    return call.duration_ms / 1000 if name_words(name)[-1] in ("s", "seconds", "sec") else call.duration_ms


def _as_text(value: JsonValue) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()
