"""The texts of events: self-contained, in the third person, with absolute dates, close to the words that were said."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import orjson

from extraction.bounds import LONGEST_CONTENT, shortened
from extraction.offline.dates import DateMention, resolve_dates
from extraction.offline.person import first_to_third_person, second_to_third_person
from extraction.offline.sentences import pieces_of
from extraction.offline.turns import Passage, Turn
from memory.records import ToolCall
from memory.tokens import estimate_tokens

_QUESTION_TOKENS: Final = 60
_RESULT_CHARACTERS: Final = 300


def event_content(turn: Turn, passage: Passage) -> str:
    """The content of the event that a passage becomes.

    The form was chosen by the evidence that dense, BM25 and late-interaction search find with it on LoCoMo: the speaker's name in place
    of "I", and the question behind its answer.

    Args:
        turn: The message.
        passage: The part of it.
    """
    if turn.message.tool_call is not None:
        return shortened(_tool_text(turn, turn.message.tool_call), LONGEST_CONTENT)
    said_at = turn.message.event_time
    opening = turn.speaker if turn.message.speaker else turn.speaker.capitalize()
    text = f"{opening} ({in_words(said_at)}): {first_to_third_person(with_dates(passage.text, passage.mentions), turn.speaker)}"
    if passage.asked is not None:
        text = f"{text} (answering {passage.asked.speaker}: {_question(passage.asked)})"
    return shortened(text, LONGEST_CONTENT)


def with_dates(text: str, mentions: Sequence[DateMention], *, opening: int = 0) -> str:
    """The text with the absolute date behind each relative one: ``yesterday (7 May 2023)``.

    Args:
        text: A text, or a part of one.
        mentions: The dates in the whole text, in order.
        opening: Where the part begins in the whole.
    """
    parts: list[str] = []
    done = 0
    for mention in mentions:
        end = mention.end - opening
        if not mention.is_relative or mention.start < opening or end > len(text):
            continue
        end += 2 * text.startswith(("'s", "’s"), end)
        parts.append(f"{text[done:end]} ({mention.label})")
        done = end
    return "".join([*parts, text[done:]])


def event_time_of(mentions: Sequence[DateMention], said_at: datetime) -> datetime:
    """When that happened which a text tells: the beginning of the first past date in it, else when it was said.

    A date in the future is no time of an event: what was said of it was said now.
    """
    today = said_at.date()
    past = next((mention for mention in mentions if mention.last < today), None)
    return said_at if past is None else datetime.combine(past.first, datetime.min.time(), tzinfo=said_at.tzinfo)


def in_words(time: datetime) -> str:
    """A day as ``8 May 2023``."""
    return f"{time.day} {time:%B} {time.year}"


def _question(asked: Turn) -> str:
    text = _last_piece(" ".join(asked.questions[-2:]))
    text = first_to_third_person(with_dates(text, resolve_dates(text, asked.message.event_time.date())), asked.speaker)
    return _last_piece(second_to_third_person(text, asked.listener) if asked.listener else text)


def _last_piece(text: str) -> str:
    return pieces_of(text, tokens=_QUESTION_TOKENS)[-1] if estimate_tokens(text) > _QUESTION_TOKENS else text


def _tool_text(turn: Turn, call: ToolCall) -> str:
    outcome = {True: " succeeded", False: " failed", None: " was called"}[call.success]
    parts = [f"{call.name}{outcome}"]
    if call.duration_ms is not None:
        parts.append(f" after {call.duration_ms:g} ms")
    parts.append(f" ({in_words(turn.message.event_time)})")
    for label, value in (("error", call.error), ("arguments", call.arguments), ("result", call.result)):
        if value not in (None, "", [], {}):
            text = value if isinstance(value, str) else orjson.dumps(value).decode()
            parts.append(f"; {label}: {shortened(text, _RESULT_CHARACTERS)}")
    if turn.text:
        parts.append(f". {turn.text}")
    return "".join(parts)
