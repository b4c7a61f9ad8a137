"""A window's messages as the offline extractor reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from extraction.bounds import LONGEST_CONTENT, LONGEST_SPEAKER, shortened
from extraction.drafts import Tally
from extraction.echo_filter import is_echo, without_echoes, without_echoes_in_result
from extraction.offline.content_words import content_words, is_filler, only_asks
from extraction.offline.dates.mentions import DateMention, resolve_dates
from extraction.offline.sentences import pieces_of, questions_of
from memory.records import Message

_SHORT_ANSWER: Final = 4
PASSAGE_TOKENS: Final = 120
"""Longer messages are several events: the vector of a long text is near to no question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message that may be extracted."""

    place: int
    """In the window, from 0."""
    message: Message
    text: str
    """What was said, without what a recall had put there."""
    speaker: str
    """A name, or "the user" and its like where nobody is named."""
    listener: str | None
    """Who is spoken to, where the window has exactly one other speaker."""
    is_filler: bool
    """Nothing in it is worth remembering by itself."""

    @property
    def questions(self) -> list[str]:
        """The sentences that ask something."""
        return questions_of(self.text)


def turns_of(messages: Sequence[Message], *, recalled: frozenset[str], tally: Tally) -> list[Turn]:
    """The messages that may be extracted: no system prompts, nothing that a recall put there, nothing empty.

    Args:
        messages: Of one window, in order.
        recalled: Content hashes of what recalls returned lately.
        tally: Counts what is left out.
    """
    speakers = [speaker_of(message) for message in messages]
    others = {speaker for speaker, message in zip(speakers, messages, strict=True) if message.role in ("user", "assistant")}
    names = frozenset(word for speaker in speakers for word in speaker.lower().split())
    turns: list[Turn] = []
    for place, (message, speaker) in enumerate(zip(messages, speakers, strict=True)):
        if message.role == "system":
            tally.drop("message", "system")
        elif is_echo(message, recalled):
            tally.drop("message", "recalled")
        else:
            text = without_echoes(message.text, recalled).strip()
            if not text and message.tool_call is None:
                tally.drop("message", "empty")
                continue
            listeners = others - {speaker}
            turns.append(
                Turn(
                    place=place,
                    message=without_echoes_in_result(message, recalled),
                    text=text,
                    speaker=speaker,
                    listener=next(iter(listeners)) if len(listeners) == 1 else None,
                    is_filler=message.tool_call is None and is_filler(text, names=names),
                )
            )
    return turns


def speaker_of(message: Message) -> str:
    """Who said it, in words that fit into a sentence."""
    if message.speaker and message.speaker.strip():
        return shortened(" ".join(message.speaker.split()), LONGEST_SPEAKER)
    if message.tool_call is not None:
        return message.tool_call.name
    return f"the {message.role}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a turn that becomes one event."""

    index: int
    """The turn's place among the turns."""
    text: str
    asked: Turn | None
    """The turn before, where this passage may answer what it asked."""
    mentions: tuple[DateMention, ...]
    """The dates in its text. Several parts of an event need them, and finding them is costly."""

    @property
    def is_short(self) -> bool:
        """Whether it says too little of its own to be understood without what was asked."""
        return len(content_words(self.text)) <= _SHORT_ANSWER


def passages_of(turns: Sequence[Turn], index: int) -> list[Passage]:
    """What of a turn is worth remembering: all of a short one, bounded pieces of a long one, nothing of a filler that answers nothing."""
    turn, asked = turns[index], _asked_before(turns, index)
    if turn.message.tool_call is not None:
        text = shortened(turn.text, LONGEST_CONTENT) or turn.message.tool_call.name
        return [Passage(index=index, text=text, asked=None, mentions=())]
    if _is_answered(turns, index):
        return []
    if turn.is_filler:
        return [_passage(turn, index, turn.text, asked)] if asked is not None else []
    pieces = [piece for piece in pieces_of(turn.text, tokens=PASSAGE_TOKENS) if not is_filler(piece)] or [turn.text]
    return [_passage(turn, index, piece, None if place else asked) for place, piece in enumerate(pieces)]


def _passage(turn: Turn, index: int, text: str, asked: Turn | None) -> Passage:
    text = shortened(text, LONGEST_CONTENT)
    mentions = tuple(resolve_dates(text, turn.message.event_time.date()))
    return Passage(index=index, text=text, asked=asked, mentions=mentions)


def _is_answered(turns: Sequence[Turn], index: int) -> bool:
    """Whether a turn only asks, and the next one answers: the answer's event carries the question."""
    return index + 1 < len(turns) and only_asks(turns[index].text) and _asked_before(turns, index + 1) is turns[index]


def _asked_before(turns: Sequence[Turn], index: int) -> Turn | None:
    """The turn right before, if it asks something and another said it: what a short answer has to be read with."""
    if index == 0:
        return None
    before, turn = turns[index - 1], turns[index]
    if before.place != turn.place - 1 or before.speaker == turn.speaker:
        return None
    return before if any(content_words(question) for question in before.questions) else None
