"""Finds which messages of a conversation are in their speaker's own voice, from what was said before them.

An earlier message, also one of the assistant's, can set a *frame*: the words that follow are then a text to work on, a role or an exercise.

- **A text** is announced ("can you proofread this?", "what my tenant sent:"),
or mentioned right before. The frame lasts until the assistant has answered the text, or
  until the speaker turns to the assistant again ("thanks", "by the way", "what should I reply?").
- **A standing task** ("translate everything I send", "just testing") and **a play** ("let's role-play", "be the customer",
a mock interview)
  last until a clear return ("stop the game", "in real life"), or to the end of the window. Words of fiction and lines of a narrator also
  give way to "by the way" or "thanks".
- **An exercise** of the assistant's ("repeat after me") lasts for the answers to that message.

A text within the same message ("translate 'kaas'") sets no frame. When in doubt, a message is not in the speaker's own voice. A frame of an
earlier window holds if the session's latest events show the message that set it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from extraction.offline.factuality import frame_cues as cues
from extraction.offline.factuality import mood_patterns as moods
from extraction.offline.factuality.unrelated_cues import without_unrelated_cues
from extraction.offline.grammar.sentences import sentences_of

_LONGEST_PROMPT: Final = 25
"""Words of an assistant's reply that only waits for the announced text."""
_LONGEST_MENTION: Final = 14
"""Words of a message that only mentions the text that follows."""
_LONGEST_END: Final = 2000
"""Characters at each end of a message that are looked at."""
_LONGEST_SETTING: Final = 400
"""Characters of a message in which a frame is looked for: a longer one reports a play rather than opens one."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a conversation."""

    role: str
    speaker: str
    text: str


class _Kind(Enum):
    MENTION = auto()
    TEXT = auto()
    EXERCISE = auto()
    FICTION = auto()
    STANDING = auto()
    PLAY = auto()


_FIRM: Final = frozenset((_Kind.STANDING, _Kind.PLAY))
"""Kinds of frames that only a strong return ends."""


@dataclass(slots=True)
class _Frame:
    kind: _Kind
    is_given: bool = False
    """Whether a message came after it that may be the announced text."""


class _Frames:
    """The open frames: one that the assistant set for all, and those that the speakers set for themselves."""

    def __init__(self) -> None:
        self._shared: _Frame | None = None
        self._own: dict[str, _Frame] = {}

    def of(self, speaker: str) -> _Frame | None:
        return self._own.get(speaker) or self._shared

    def set_own(self, speaker: str, kind: _Kind) -> None:
        frame = self._own.get(speaker)
        if frame is None or frame.kind not in _FIRM:
            self._own[speaker] = _Frame(kind)

    def set_shared(self, kind: _Kind) -> None:
        if self._shared is None or self._shared.kind not in _FIRM:
            self._shared = _Frame(kind)

    def leave(self, speaker: str) -> None:
        self._own.pop(speaker, None)
        self._shared = None

    def interrupted(self, speaker: str) -> None:
        """Ends what others only mentioned, since another speaker goes on."""
        for other, frame in list(self._own.items()):
            if other != speaker and frame.kind is _Kind.MENTION:
                del self._own[other]

    def answered(self, text: str) -> None:
        """Ends the frames that an assistant's message answers."""
        if cues.STRONG_RETURN.search(text):
            self._shared = None
            self._own.clear()
            return
        if self._shared is not None and self._shared.kind is _Kind.EXERCISE:
            self._shared = None
        waits = len(text.split()) <= _LONGEST_PROMPT and cues.ASKS_FOR_TEXT.search(text) is not None
        for speaker, frame in list(self._own.items()):
            if frame.kind in (_Kind.TEXT, _Kind.MENTION) and (frame.is_given or not waits):
                del self._own[speaker]


def own_texts(conversation: Sequence[Said], earlier: Iterable[str] = ()) -> list[str]:
    """For each message the part that is in its speaker's own voice: all of it, its end after a return, or nothing.

    Args:
        conversation: The messages of a window, in order, system prompts too.
        earlier: Contents of the session's latest events, in order. Only standing tasks and plays are read from them.
    """
    frames = _Frames()
    for content in earlier:
        if cues.STRONG_RETURN.search(content):
            frames.set_shared(_Kind.FICTION)
            frames.leave("")
        elif (kind := _firm_kind(content)) is not None:
            frames.set_shared(kind)
    return [_own_text(each, frames) for each in conversation]


def _ends_of(text: str) -> str:
    """The beginning and the end of a long text, where frames are set and left."""
    return text if len(text) <= 2 * _LONGEST_END else f"{text[:_LONGEST_END]}\n{text[-_LONGEST_END:]}"


def _own_text(said: Said, frames: _Frames) -> str:
    if said.role == "assistant":
        shown = _ends_of(said.text)
        frames.answered(shown)
        kind = _kind_set_by_assistant(shown)
        if kind is not None:
            frames.set_shared(kind)
        return said.text
    if said.role != "user":
        return said.text
    frames.interrupted(said.speaker)
    text, frame = said.text, frames.of(said.speaker)
    if frame is not None:
        text = _after_return(text, frame)
        if not text:
            frame.is_given = True
            _open(said.text, said.speaker, frames)
            return ""
        frames.leave(said.speaker)
    return "" if _open(text, said.speaker, frames) in (_Kind.FICTION, _Kind.PLAY) else text


def _open(text: str, speaker: str, frames: _Frames) -> _Kind | None:
    """Opens the frame that a message of a speaker's sets, if any."""
    kind = _kind_set_by_user(_ends_of(text))
    if kind is not None:
        frames.set_own(speaker, kind)
    return kind


def _after_return(text: str, frame: _Frame) -> str:
    """The end of a message from where it leaves a frame; empty if it does not."""
    sentences = sentences_of(text)
    for number, sentence in enumerate(sentences):
        ended = moods.END_OF_FICTION.search(sentence)
        if ended is not None or cues.STRONG_RETURN.search(sentence):
            rest = " ".join(sentences[number + 1 :])
            without_cue = cues.STRONG_RETURN.sub("", sentence).strip(" ,.!;:-—")
            return f"{without_cue}. {rest}".strip() if without_cue else rest
        if frame.kind in _FIRM:
            continue
        if cues.WEAK_RETURN.search(sentence) or (frame.is_given and cues.REQUEST.search(sentence)):
            return " ".join(sentences[number:])
    return ""


def _kind_set_by_user(text: str) -> _Kind | None:
    text = moods.NO_TASK.sub("", without_unrelated_cues(text))
    if (kind := _firm_kind(text)) is not None:
        return kind
    if len(text) <= _LONGEST_SETTING and cues.GIVEN_PART.search(text):
        return _Kind.PLAY
    plain = cues.ONE_MESSAGE.sub("", cues.NO_PLAY.sub("", text))
    if moods.FICTION.search(plain) and not moods.END_OF_FICTION.search(text):
        return _Kind.FICTION
    is_announced = any(cues.ANNOUNCEMENT.search(each) for each in sentences_of(text)[-2:])
    if cues.SERVED.search(text):
        return None
    if is_announced:
        return _Kind.TEXT
    is_short = 0 < len(text.split()) <= _LONGEST_MENTION
    return _Kind.MENTION if is_short and cues.MENTION.search(sentences_of(text)[-1]) else None


def _firm_kind(text: str) -> _Kind | None:
    if len(text) > _LONGEST_SETTING or cues.STRONG_RETURN.search(text):
        return None
    if cues.STANDING.search(text):
        return _Kind.STANDING
    return _Kind.PLAY if cues.PLAY.search(cues.NO_PLAY.sub("", text)) else None


def _kind_set_by_assistant(text: str) -> _Kind | None:
    if cues.NARRATION.search(text):
        return _Kind.FICTION
    if cues.EXERCISE.search(text):
        return _Kind.EXERCISE
    if len(text) <= _LONGEST_SETTING and cues.PLAY.search(cues.NO_PLAY.sub("", text)):
        return _Kind.FICTION if text.rstrip().endswith("?") and cues.SERVED.search(text) else _Kind.PLAY
    return None
