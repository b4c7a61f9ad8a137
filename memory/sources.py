"""Sources of messages, and of the events and patches that are based on them. Pure.

A source is what a message says of its origin: its role, its speaker, a tool that it calls or whose result it has, and the entries ``app``,
``channel`` and ``source`` of its metadata. :mod:`memory.trust` gives sources their levels.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

import orjson
from pydantic import BeforeValidator, StringConstraints

from memory.messages.extraction_view import extraction_view
from memory.records.extraction import Extraction, SourceSet
from memory.records.message import Message, Window
from memory.texts.terms import terms_of

_METADATA: Final = ("app", "channel", "source")
_KINDS: Final = ("role", "speaker", "tool", *_METADATA)
_LONGEST_NAME: Final = 200
_MAX_SOURCES: Final = 32
"""Limit of the sources of one message."""
_SAID_OF_PEOPLE: Final = ("user", "assistant", "speaker", "person")
_READ_CHARACTERS: Final = 50_000
"""Characters of a message that are compared with a memory."""


def _checked_source(source: Any) -> Any:
    if isinstance(source, str) and not (source.startswith(tuple(f"{kind}:" for kind in _KINDS)) and source.partition(":")[2]):
        raise ValueError(f"{source[:_LONGEST_NAME]!r} is no source: write KIND:NAME, such as tool:browser; kinds: {', '.join(_KINDS)}")
    return source


SourceName = Annotated[
    str, StringConstraints(pattern=rf"^(?:{'|'.join(_KINDS)}):.{{1,{_LONGEST_NAME}}}$"), BeforeValidator(_checked_source)
]
"""A source: ``role:tool``, ``speaker:Ann``, ``tool:browser``, ``app:crm``, ``channel:support``, ``source:example.org``. ``tool:*`` stands
for every tool without its own level."""


def any_of_kind(source: str) -> str:
    """The name that stands for all sources of a source's kind: ``tool:*`` for ``tool:browser``."""
    return f"{source.partition(':')[0]}:*"


def with_sources(extraction: Extraction, window: Window) -> Extraction:
    """The extraction with the sources of the messages that its events and patches are based on.

    A result of a tool, or a text from an app, may make a model state something and name another message as evidence. So an event or patch
    also gets the messages with a named origin that say what its evidence lacks (:attr:`memory.records.Event.also_from`): a number, or at
    least half of the words.

    Args:
        extraction: The extraction of the window, with the window's message ids.
        window: The window.
    """
    names = sources_of(window)
    texts = _Texts(window, extraction.message_ids)
    foreign = [index for index, each in enumerate(names) if any(not name.startswith(("role:", "speaker:")) for name in each)]
    events = [_with_contributors(each, (each.content, each.properties), texts, foreign) for each in extraction.events]
    patches = [_with_contributors(each, (each.replace,), texts, foreign) for each in extraction.patches]
    by_names: dict[tuple[str, ...], list[int]] = {}
    for index, (of_message, _) in enumerate(zip(names, extraction.message_ids, strict=False)):
        by_names.setdefault(of_message, []).append(index)
    sets = [SourceSet(names=list(of_message), messages=indices) for of_message, indices in by_names.items()]
    return extraction.model_copy(update={"events": events, "patches": patches, "sources": sets}).with_sources_in_use()


def names_origins(window: Window) -> bool:
    """Whether a message names more of its origin than its role and speaker. Then :func:`with_sources` compares texts."""
    return any(each.calls or each.tool_results or not each.metadata.keys().isdisjoint(_METADATA) for each in window.messages)


def sources_of(window: Window) -> list[tuple[str, ...]]:
    """The sources of each message of a window, sorted.

    An assistant's turn after results of tools repeats them, so it has these tools as sources, up to the next message of a user.
    """
    found = [_own_sources(each) for each in window.messages]
    for index, tool in _tools_of(window):
        found[index].add(f"tool:{tool[:_LONGEST_NAME]}")
    heard: set[str] = set()
    for message, sources in zip(window.messages, found, strict=True):
        if message.role == "user":
            heard = set()
        elif message.role == "assistant":
            sources |= heard
        heard |= {each for each in sources if each.startswith("tool:")}
    return [tuple(sorted(each)[:_MAX_SOURCES]) for each in found]


def _own_sources(message: Message) -> set[str]:
    found = {f"role:{message.role}"}
    if message.speaker:
        found.add(f"speaker:{_name(message.speaker)}")
    for kind in _METADATA:
        value = message.metadata.get(kind)
        if isinstance(value, str) and value.strip():
            found.add(f"{kind}:{_name(value)}")
    return found


def _name(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_NAME]


def _tools_of(window: Window) -> Iterable[tuple[int, str]]:
    """Each message that calls a tool or has its result, by index, with the tool's name."""
    if not any(each.calls or each.tool_results for each in window.messages):
        return
    view = extraction_view(window)
    for turn, indices in zip(view.messages, view.sources, strict=True):
        if turn.tool_call is not None:
            yield from ((index, _name(turn.tool_call.name)) for index in indices)


class _Texts:
    """The words of a window's messages, each message read at most once."""

    def __init__(self, window: Window, ids: Sequence[str]) -> None:
        self._messages = window.messages
        self.ids = ids
        self.places = {name: index for index, name in enumerate(ids)}
        self._words: dict[int, frozenset[str]] = {}
        names = {each.speaker or "" for each in window.messages} | {each.user for each in window.messages}
        self.common = _words_of(" ".join((*names, *_SAID_OF_PEOPLE)))
        """Words that a model writes for a person."""

    def words(self, index: int) -> frozenset[str]:
        if index not in self._words:
            self._words[index] = _words_of(_text_of(self._messages[index]))
        return self._words[index]


def _with_contributors(result: Any, parts: Iterable[Any], texts: _Texts, foreign: Sequence[int]) -> Any:
    evidence = {texts.places[name] for name in result.message_ids if name in texts.places}
    others = [index for index in foreign if index not in evidence and index < len(texts.ids)]
    if not others:
        return result
    words = _words_of(" ".join(_as_text(each) for each in parts if each))
    unsaid = words.difference(texts.common, *(texts.words(each) for each in evidence))
    found = [texts.ids[index] for index in others if _states(texts.words(index), unsaid)]
    return result.model_copy(update={"also_from": found}) if found else result


def _states(words: frozenset[str], unsaid: frozenset[str]) -> bool:
    """Whether a message says what the evidence of a result lacks: a number, or at least half of the words."""
    shared = unsaid & words
    return any(any(map(str.isdigit, each)) for each in shared) or (bool(shared) and 2 * len(shared) >= len(unsaid))


def _text_of(message: Message) -> str:
    parts: list[object] = [message.text]
    for call in message.calls:
        parts += [call.arguments, call.result, call.error]
    parts += [each.content for each in message.tool_results]
    return " ".join(_as_text(each) for each in parts if each)[:_READ_CHARACTERS]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _words_of(text: str) -> frozenset[str]:
    return frozenset(terms_of(text))
