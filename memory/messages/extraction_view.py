"""The messages of a window as extraction reads them. Pure.

- Automated turns and placeholders of chat exports are left out.
- A message with several tool calls becomes one message for each call, after the message's text.
- Results that arrived in later messages of the window join their calls, by the calls' ids. A result whose call is in no message of the
  window is its own message.

A message without any of these stays as it is.

A placeholder is what WhatsApp, Telegram, Slack, Signal and others write for media and deleted messages. A text counts as one only if it is
nothing else, and a bare word such as "photo" only in brackets, because it may be an answer.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import is_not
from typing import Final

from memory.records.message import Message, ToolCall, ToolResult, Window

_MEDIA: Final = (
    r"(?:image|photo|picture|video(?: note| message)?|audio(?: file)?|voice (?:message|note)|gif|sticker|document|file|media"
    r"|contact(?: card)?|animation|location|live location|poll)"
)
_OMITTED: Final = (
    rf"{_MEDIA}s? (?:omitted|not included|unavailable|expired)",
    r"(?:medien|mediendatei|bild|video|audio|sticker|gif|dokument|kontaktkarte) (?:ausgeschlossen|weggelassen|nicht enthalten)",
    r"(?:archivo|multimedia|archivo multimedia|imagen|video|audio|sticker|gif|documento) omitid[oa]s?",
    r"(?:médias?|fichier(?: média)?|image|vidéo|audio|sticker|gif|document) (?:omise?s?|absente?s?)",
    r"(?:mídia|arquivo de mídia|imagem|vídeo|áudio|figurinha|gif|documento) (?:ocult[oa]s?|omitid[oa]s?|ocultad[oa]s?)",
    r"(?:immagine|video|audio|sticker|gif|documento|media) omess[oaie]",
    r"(?:afbeelding|video|audio|sticker|gif|document|media) weggelaten",
)
_DELETED: Final = (
    r"(?:this|the) (?:message|file) (?:was|has been) (?:deleted|removed)(?: by (?:admin|an admin|the sender).{0,60})?",
    r"you deleted this message|message deleted|deleted message|file deleted|a file was deleted",
    r"diese nachricht wurde gelöscht|du hast diese nachricht gelöscht",
    r"se eliminó este mensaje|eliminaste este mensaje|este mensaje fue eliminado|mensagem apagada|(?:essa|esta) mensagem foi apagada",
    r"ce message a été supprimé|vous avez supprimé ce message|questo messaggio è stato eliminato|hai eliminato questo messaggio",
    r"dit bericht is verwijderd|je hebt dit bericht verwijderd",
)
_CALLS: Final = (
    r"(?:silenced |missed |declined |cancell?ed |unanswered |no answer )(?:group )?(?:voice |video |audio |phone )?call(?: at \d.{0,12})?",
    r"(?:voice|video|audio) call[,.] ?(?:no answer|missed|declined|tap to call back|\d{1,3} ?(?:s|sec|min|h)\w*)(?: at \d.{0,12})?",
    r"verpasste[rs]? (?:gruppen|sprach|video)?anruf|llamada (?:de (?:voz|vídeo|video|grupo) )?perdida|appel (?:vocal |vidéo )?manqué",
    r"chamada (?:de (?:voz|vídeo) )?perdida|chiamata (?:vocale |video )?persa|gemiste (?:spraak|video)?oproep",
)
_SYSTEM: Final = (
    r"messages and calls are end-to-end encrypted\..{0,200}",
    r"waiting for this message(?:\. this may take a while)?",
    r"(?:you received a )?view once (?:message|photo|video|voice message)(?: omitted)?.{0,60}",
    r"this message (?:contains interactive elements|can't be displayed(?: here)?)|this content can't be displayed",
    r"<@[UW]\w{5,20}(?:\|[^>]{0,80})?> has (?:joined|left) the (?:channel|group)",
    r"(?:\S{1,150} )?\(file attached\)",
    r"\(?(?:file|photo|video|voice message|sticker|animation) not included\. change data exporting settings.{0,40}",
)
_WHOLE: Final = re.compile(rf"(?:{'|'.join((*_OMITTED, *_DELETED, *_CALLS, *_SYSTEM))})[.!)]?", re.IGNORECASE)
_IN_BRACKETS: Final = re.compile(rf"(?:{_MEDIA}s?|attached: .{{1,200}}|deleted|removed|(?:voice|video) call)", re.IGNORECASE)
_BRACKETS: Final = re.compile(r"<(?P<angle>[^<>]+)>|\[(?P<square>[^\[\]]+)\]|\((?P<round>[^()]+)\)|\*(?P<star>[^*]+)\*|_(?P<line>[^_]+)_")
_LONGEST: Final = 320
_INVISIBLE: Final = str.maketrans("", "", "\u200e\u200f\u202a\u202b\u202c\ufeff")

UNKNOWN_TOOL: Final = "tool"
"""Name of the tool of a result without a name and a call."""


def is_export_placeholder(text: str) -> bool:
    """Whether a text is nothing but a placeholder that a chat export wrote."""
    if len(text) > _LONGEST:
        return False
    bare = " ".join(text.translate(_INVISIBLE).split())
    if _WHOLE.fullmatch(bare):
        return True
    bracketed = _BRACKETS.fullmatch(bare)
    if bracketed is None:
        return False
    inner = next(filter(None, bracketed.groups())).strip()
    return bool(_WHOLE.fullmatch(inner) or (bare[0] in "<[(" and _IN_BRACKETS.fullmatch(inner)))


@dataclass(frozen=True, slots=True)
class ExtractionView:
    """The messages to extract from."""

    messages: tuple[Message, ...]
    sources: tuple[tuple[int, ...], ...]
    """For each of them the indices of the window's messages that it is based on, the most important first."""
    dropped: Mapping[str, int]
    """Number of messages that were left out, by reason."""
    is_changed: bool
    """Whether these are other messages than the window's."""

    def source_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Inclusive ranges in the window for ranges of :attr:`messages`, ascending."""
        indices = sorted({source for first, last in ranges for index in range(first, last + 1) for source in self.sources[index]})
        found: list[tuple[int, int]] = []
        for index in indices:
            if found and index == found[-1][1] + 1:
                found[-1] = (found[-1][0], index)
            else:
                found.append((index, index))
        return found


def extraction_view(window: Window) -> ExtractionView:
    """The messages of a window to extract from, with the messages that they are based on."""
    view = _View()
    for index, message in enumerate(window.messages):
        if message.automated:
            view.dropped["automated"] += 1
        elif not message.calls and not message.tool_results and is_export_placeholder(message.text):
            view.dropped["export_placeholder"] += 1
        else:
            view.add(index, message)
    sources = tuple(tuple(dict.fromkeys(each.sources)) for each in view.turns)
    messages = tuple(each.message for each in view.turns)
    is_changed = len(messages) != len(window.messages) or any(map(is_not, messages, window.messages))
    return ExtractionView(messages, sources, dict(view.dropped), is_changed)


@dataclass(slots=True)
class _Turn:
    """A message to extract from, and the indices of its sources."""

    message: Message
    sources: list[int]

    @property
    def awaits_result(self) -> bool:
        """Whether it is a call without a result."""
        call = self.message.tool_call
        return call is not None and call.result is None and call.error is None


class _View:
    """The view so far."""

    def __init__(self) -> None:
        self.turns: list[_Turn] = []
        self.dropped: Counter[str] = Counter()

    def add(self, index: int, message: Message) -> None:
        """Adds a message of the window."""
        if not message.tool_calls and not message.tool_results:
            self.turns.append(_Turn(message, [index]))
            return
        unjoined = [each for each in message.tool_results if not self._join(index, each)]
        if message.text.strip():
            plain = message.model_copy(update={"tool_call": None, "tool_calls": [], "tool_results": []})
            self.turns.append(_Turn(plain, [index]))
        for call in message.calls:
            self.turns.append(_Turn(_tool_message(message, call), [index]))
        for result in unjoined:
            call = ToolCall(id=result.call_id, name=result.name or UNKNOWN_TOOL)
            self.turns.append(_Turn(_tool_message(message, _with_result(call, result)), [index]))

    def _join(self, index: int, result: ToolResult) -> bool:
        """Joins a result to its call."""
        turn = self._call_of(result)
        if turn is None or turn.message.tool_call is None:
            return False
        turn.message = turn.message.model_copy(update={"role": "tool", "tool_call": _with_result(turn.message.tool_call, result)})
        turn.sources.append(index)
        return True

    def _call_of(self, result: ToolResult) -> _Turn | None:
        waiting = [each for each in self.turns if each.awaits_result]
        if result.call_id is not None:
            for turn in reversed(waiting):
                if turn.message.tool_call is not None and turn.message.tool_call.id == result.call_id:
                    return turn
        for turn in waiting:
            call = turn.message.tool_call
            if call is not None and call.id is None and result.name in (None, call.name):
                return turn
        return None


def _tool_message(message: Message, call: ToolCall) -> Message:
    speaker = None if message.role != "tool" else message.speaker
    return message.model_copy(
        update={"role": "tool", "speaker": speaker, "text": "", "tool_call": call, "tool_calls": [], "tool_results": []}
    )


def _with_result(call: ToolCall, result: ToolResult) -> ToolCall:
    changes: dict[str, object] = {"result": result.content}
    if result.success is not None:
        changes["success"] = result.success
    return call.model_copy(update=changes)
