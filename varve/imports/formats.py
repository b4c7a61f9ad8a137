"""Messages in the exports of ChatGPT, Claude, mem0 and Zep, in LoCoMo's benchmark, and in Varve's own export. Pure."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from api.mem0.owners import ID_FIELDS, Owner
from memory.message_parts import json_type
from varve.chat_exports import chatgpt_messages, claude_messages, is_chatgpt_export, is_claude_export
from varve.conversations import locomo_conversation
from varve.errors import ConversationError, ImportFileError
from varve.imports.files import Item

NO_TEXT: Final = "no text"
NO_TIME: Final = "no time"
NOT_SAID: Final = "hidden, of a tool, or on a branch that was left"
NOT_VALID: Final = "not valid any more"
COMPUTED: Final = "computed from events, as Varve does again"
NO_STATEMENT: Final = "data in JSON, which nobody said"
_ROLES: Final = ("user", "assistant", "system", "tool")


@dataclass(frozen=True, slots=True)
class Skipped:
    """Items that are not imported."""

    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names for messages that have none."""

    user: str | None = None
    session: str | None = None


Read = Callable[[Item, Names], Iterator[dict[str, Any] | Skipped]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format of exports."""

    read: Read
    """The messages of one item of a file."""
    arrays: tuple[str, ...] = ()
    """Fields with the list of items, if the file is a page of the other service's API."""


def _chatgpt(item: Item, names: Names) -> Iterator[dict[str, Any] | Skipped]:
    conversation = item.value
    if not is_chatgpt_export(conversation):
        raise _no("a conversation of a ChatGPT export (an object with mapping)", item)
    messages = list(chatgpt_messages(conversation, _number(item)))
    nodes = [each for each in conversation["mapping"].values() if isinstance(each, Mapping) and isinstance(each.get("message"), Mapping)]
    yield from _said(messages, names, item)
    if len(nodes) > len(messages):
        yield Skipped(NOT_SAID, len(nodes) - len(messages))


def _claude(item: Item, names: Names) -> Iterator[dict[str, Any] | Skipped]:
    if not is_claude_export(item.value):
        raise _no("a conversation of a Claude export (an object with chat_messages)", item)
    yield from _said(list(claude_messages(item.value, _number(item))), names, item)


def _mem0(item: Item, names: Names) -> Iterator[dict[str, Any] | Skipped]:
    """One memory: its text is what a user stated, since mem0 does not keep the messages."""
    fields = _object(item, "memory", "a memory of mem0 (an object with memory)")
    owner = Owner.of(fields, {"user_id": names.user})
    if owner is None:
        raise ImportFileError(f"{item.place} has none of {', '.join(ID_FIELDS)}: give --user NAME")
    metadata = {name: fields[name] for name in ("metadata", "categories") if fields.get(name)}
    message = {
        "session": names.session or owner.session,
        "user": owner.user,
        "text": fields["memory"],
        "event_time": fields.get("created_at"),
    }
    yield from _fact(message, "mem0", fields, metadata)


def _zep(item: Item, names: Names) -> Iterator[dict[str, Any] | Skipped]:
    """A message of a thread, an episode, or a fact (an edge of the graph)."""
    fields = item.value
    if not isinstance(fields, Mapping) or not fields.keys() & {"content", "fact"}:
        raise _no("a message, an episode or an edge of Zep (an object with content or fact)", item)
    thread = next((fields[name] for name in ("thread_uuid", "thread_id", "session_id") if fields.get(name)), None)
    message: dict[str, Any] = {"user": fields.get("user_id") or names.user, "session": thread or names.session}
    if "fact" in fields:
        if fields.get("invalid_at") or fields.get("expired_at"):
            yield Skipped(NOT_VALID)
            return
        time = fields.get("valid_at") or fields.get("created_at")
        yield from _fact(
            _named({**message, "session": message["session"] or "zep"}, item) | {"text": fields["fact"], "event_time": time}, "zep", fields
        )
        return
    if fields.get("source") == "json":
        yield Skipped(NO_STATEMENT)
        return
    role, speaker = fields.get("role"), fields.get("role_name") or fields.get("name")
    message |= {
        "role": role if role in _ROLES else "user",
        "text": fields.get("content"),
        "event_time": fields.get("reference_time") or fields.get("created_at"),
        **({"id": str(fields["uuid"])} if fields.get("uuid") else {}),
        **({"speaker": speaker} if speaker else {}),
    }
    yield from _said([message], names, item)


def _locomo(item: Item, names: Names) -> Iterator[dict[str, Any] | Skipped]:
    try:
        conversation = locomo_conversation(item.value, source=item.place)
    except ConversationError as error:
        raise ImportFileError(str(error)) from error
    owner = {} if names.user is None else {"user": names.user}
    yield from _said([{**each, **owner} for each in conversation.messages], names, item)


def _varve(item: Item, names: Names) -> Iterator[dict[str, Any] | Skipped]:
    """One memory of ``varve memories export``: an event is stated again, and everything else is computed from events."""
    fields = _object(item, "content", "a memory of `varve memories export` (an object with kind and content)")
    if fields.get("kind") != "event":
        yield Skipped(COMPUTED)
        return
    correction = fields.get("correction")
    if isinstance(correction, Mapping) and correction.get("action") == "invalidate":
        yield Skipped(NOT_VALID)
        return
    message = {
        "user": names.user or fields.get("user"),
        "session": names.session or fields.get("session"),
        "text": fields["content"],
        "event_time": fields.get("said_at") or fields.get("event_time"),
        **({"speaker": fields["speaker"]} if fields.get("speaker") else {}),
    }
    metadata = {name: fields[name] for name in ("evidence", "type", "date") if fields.get(name)}
    yield from _fact(_named(message, item), "varve", fields, metadata)


FORMATS: Final[Mapping[str, Format]] = {
    "chatgpt": Format(read=_chatgpt),
    "claude": Format(read=_claude),
    "mem0": Format(read=_mem0, arrays=("results", "memories")),
    "zep": Format(read=_zep, arrays=("messages", "episodes", "edges")),
    "locomo": Format(read=_locomo),
    "varve": Format(read=_varve),
}
"""The formats by name."""


def _said(messages: list[dict[str, Any]], names: Names, item: Item) -> Iterator[dict[str, Any] | Skipped]:
    """Messages with names, times and ids."""
    for each in messages:
        text = each.get("text")
        if not isinstance(text, str) or not text.strip():
            yield Skipped(NO_TEXT)
            continue
        time = _time(each.get("event_time"), item)
        if time is None:
            yield Skipped(NO_TIME)
            continue
        defaults = {"user": names.user, "session": names.session}
        message = _named({**defaults, **{name: value for name, value in each.items() if value is not None}}, item)
        yield {**message, "event_time": time, "id": each.get("id") or _content_id(message, time)}


def _fact(
    message: dict[str, Any], source: str, fields: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any] | Skipped]:
    """A statement whose original messages are unknown: a message of its own, which names its source."""
    name = fields.get("id") or fields.get("uuid")
    identity = {"id": f"{source}-{name}"} if name else {}
    about = {source: {**({"id": name} if name else {}), **(metadata or {})}}
    yield from _said([{"role": "user", **message, **identity, "metadata": about}], Names(), Item(fields, source))


def _object(item: Item, field: str, what: str) -> Mapping[str, Any]:
    if not isinstance(item.value, Mapping) or field not in item.value:
        raise _no(what, item)
    found: Mapping[str, Any] = item.value
    return found


def _no(what: str, item: Item) -> ImportFileError:
    kind = json_type(item.value)
    fields = f" with {', '.join(sorted(map(str, item.value))[:8])}" if isinstance(item.value, Mapping) else ""
    return ImportFileError(f"{item.place} is not {what}, but {kind}{fields}; is --format right?")


def _named(message: dict[str, Any], item: Item) -> dict[str, Any]:
    for name in ("user", "session"):
        if not message.get(name):
            raise ImportFileError(f"{item.place} names no {name}: give --{name} NAME")
    return message


def _time(value: Any, item: Item) -> str | None:
    """A time in ISO 8601; None if there is none. A time without a zone is UTC, as the services export it."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).isoformat()
        found = datetime.fromisoformat(value)
    except (ValueError, TypeError, OverflowError, OSError) as error:
        raise ImportFileError(f"{item.place}: {value!r} is no time: expected ISO 8601, or seconds since 1970") from error
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).isoformat()


def _content_id(message: Mapping[str, Any], time: str) -> str:
    """An id for a message without one: the same content has the same id, so that a repeated import stores it once."""
    content = [message["user"], message["session"], message.get("role"), message.get("speaker"), message["text"], time]
    return f"import-{hashlib.sha256(orjson.dumps(content)).hexdigest()[:32]}"


def _number(item: Item) -> int:
    return int(item.place.rpartition(" ")[2])
