"""A window's messages as the offline extractor reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from extraction.bounds import LONGEST_CONTENT, LONGEST_SPEAKER
from extraction.drafts import DropCounter
from extraction.echo_filter import is_echo, without_echoes, without_echoes_in_result
from extraction.offline.content_words import content_words, is_filler, only_asks
from extraction.offline.sentences import pieces_of, questions_of
from memory.dates.mentions import DateMention, resolve_dates
from memory.records import Message
from memory.text import shortened

_SHORT_ANSWER: Final = 4
PASSAGE_TOKENS: Final = 120
"""Longer messages become several events, since the vector of a long text is near to no question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message that may be extracted."""

    message_index: int
    """Of its message in the window."""
    message: Message
    text: str
    """Without what a recall added to it."""
    speaker: str
    """A name, or "the user" and the like if the message names nobody."""
    listener: str | None
    """The other speaker, if the window has exactly one."""
    is_filler: bool
    """Whether nothing in it is worth remembering by itself."""

    @property
    def questions(self) -> list[str]:
        """The sentences that ask something."""
        return questions_of(self.text)


def turns_of(messages: Sequence[Message], *, recalled: frozenset[str], tally: DropCounter) -> list[Turn]:
    """The messages that may be extracted: no system prompts, no echoes of recalls, nothing empty.

    Args:
        messages: Of one window, in order.
        recalled: Content hashes of what recalls returned lately.
        tally: Counts what is left out.
    """
    speakers = [speaker_of(message) for message in messages]
    others = {speaker for speaker, message in zip(speakers, messages, strict=True) if message.role in ("user", "assistant")}
    names = frozenset(word for speaker in speakers for word in speaker.lower().split())
    turns: list[Turn] = []
    for index, (message, speaker) in enumerate(zip(messages, speakers, strict=True)):
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
                    message_index=index,
                    message=without_echoes_in_result(message, recalled),
                    text=text,
                    speaker=speaker,
                    listener=next(iter(listeners)) if len(listeners) == 1 else None,
                    is_filler=message.tool_call is None and is_filler(text, names=names),
                )
            )
    return turns


def speaker_of(message: Message) -> str:
    """A message's speaker, in words that fit into a sentence."""
    if message.speaker and message.speaker.strip():
        return shortened(" ".join(message.speaker.split()), LONGEST_SPEAKER)
    if message.tool_call is not None:
        return message.tool_call.name
    return f"the {message.role}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a turn that becomes one event."""

    turn_index: int
    """Of its turn among the turns."""
    text: str
    question_turn: Turn | None
    """The turn before, if this passage may answer a question in it."""
    mentions: tuple[DateMention, ...]
    """The dates in its text, resolved once since that is costly."""

    @property
    def is_short(self) -> bool:
        """Whether it can hardly be understood without its question."""
        return len(content_words(self.text)) <= _SHORT_ANSWER


def passages_of(turns: Sequence[Turn], index: int) -> list[Passage]:
    """What of a turn is worth remembering: all of a short one, bounded pieces of a long one, nothing of a filler that answers nothing."""
    turn, question_turn = turns[index], _question_before(turns, index)
    if turn.message.tool_call is not None:
        text = shortened(turn.text, LONGEST_CONTENT) or turn.message.tool_call.name
        return [Passage(turn_index=index, text=text, question_turn=None, mentions=())]
    if _is_answered(turns, index):
        return []
    if turn.is_filler:
        return [_passage(turn, index, turn.text, question_turn)] if question_turn is not None else []
    pieces = [piece for piece in pieces_of(turn.text, tokens=PASSAGE_TOKENS) if not is_filler(piece)] or [turn.text]
    return [_passage(turn, index, piece, None if number else question_turn) for number, piece in enumerate(pieces)]


def _passage(turn: Turn, index: int, text: str, question_turn: Turn | None) -> Passage:
    text = shortened(text, LONGEST_CONTENT)
    mentions = tuple(resolve_dates(text, turn.message.event_time.date()))
    return Passage(turn_index=index, text=text, question_turn=question_turn, mentions=mentions)


def _is_answered(turns: Sequence[Turn], index: int) -> bool:
    """Whether a turn only asks, and the next one answers: the answer's event carries the question."""
    return index + 1 < len(turns) and only_asks(turns[index].text) and _question_before(turns, index + 1) is turns[index]


def _question_before(turns: Sequence[Turn], index: int) -> Turn | None:
    """The turn right before, if it is another speaker's and asks something. A short answer has to be read with it."""
    if index == 0:
        return None
    before, turn = turns[index - 1], turns[index]
    if before.message_index != turn.message_index - 1 or before.speaker == turn.speaker:
        return None
    return before if any(content_words(question) for question in before.questions) else None
