"""The formats of imports; and messages in the exports of ChatGPT, Claude, mem0, Zep and Varve, and in LoCoMo's benchmark."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.mem0.owners import ID_FIELDS, Owner, OwnerError
from memory.records.message import STATEMENT
from varve.conversations import locomo_conversation
from varve.errors import ConversationError, ImportFileError
from varve.imports.chat_exports import chatgpt_messages, claude_messages, is_chatgpt_export, is_claude_export
from varve.imports.files import ExportFile, Item
from varve.imports.messages import Found, ImportOptions, Read, ReadFile, Remark, Skipped, another_form, named, said
from varve.imports.openai import openai_messages
from varve.imports.slack import slack_messages
from varve.imports.whatsapp import whatsapp_messages

NOT_SAID: Final = "hidden, of a tool, or on a branch that was left"
NOT_VALID: Final = "not valid any more"
COMPUTED: Final = "computed from events, as Varve does again"
OTHER_PAGES: Final = "on other pages of this list: import those, too"
NOT_EXPIRING: Final = "with an expiration_date, which removes nothing: `varve tenants set --retention` keeps a type for a time"
NO_STATEMENT: Final = "data in JSON, which nobody said"
_ROLES: Final = ("user", "assistant", "system", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format whose files are lists of JSON values."""

    read: Read
    """The messages of one item of a file."""
    arrays: tuple[str, ...] = ()
    """Fields with the list of items, if the file is a page of the other service's API."""

    def messages(self, file: ExportFile, options: ImportOptions) -> Iterator[Found]:
        """The messages of a file in order, and what is left out.

        Raises:
            ImportFileError: If the file has another form; says where.
        """
        items = 0
        for item in file.items(self.arrays):
            items += 1
            yield from self.read(item, options)
        if self.arrays and (others := file.on_other_pages(self.arrays, items)):
            yield Skipped(OTHER_PAGES, others)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format whose messages follow from the whole file or folder."""

    messages: ReadFile
    """As :meth:`Format.messages`."""


def _chatgpt(item: Item, options: ImportOptions) -> Iterator[Found]:
    conversation = item.value
    if not is_chatgpt_export(conversation):
        raise another_form("a conversation of a ChatGPT export (an object with mapping)", item)
    messages = list(chatgpt_messages(conversation, _number(item)))
    nodes = [each for each in conversation["mapping"].values() if isinstance(each, Mapping) and isinstance(each.get("message"), Mapping)]
    yield from said(messages, options, item)
    if len(nodes) > len(messages):
        yield Skipped(NOT_SAID, len(nodes) - len(messages))


def _claude(item: Item, options: ImportOptions) -> Iterator[Found]:
    if not is_claude_export(item.value):
        raise another_form("a conversation of a Claude export (an object with chat_messages)", item)
    yield from said(list(claude_messages(item.value, _number(item))), options, item)


def _mem0(item: Item, options: ImportOptions) -> Iterator[Found]:
    """One memory: its text is what a user stated, since mem0 does not keep the messages."""
    fields = _object(item, "memory", "a memory of mem0 (an object with memory)")
    try:
        owner = Owner.of(fields, {"user_id": options.user})
    except OwnerError as error:
        raise ImportFileError(f"{item.place}: {error}") from error
    if owner is None:
        raise ImportFileError(f"{item.place} has none of {', '.join(ID_FIELDS)}: give --user NAME")
    metadata = {name: fields[name] for name in ("metadata", "categories", "expiration_date") if fields.get(name)}
    message = {
        "session": options.session or owner.session,
        "user": owner.user,
        "text": fields["memory"],
        "event_time": fields.get("created_at"),
    }
    for found in _fact(message, "mem0", item, metadata):
        yield found
        if isinstance(found, dict) and "expiration_date" in metadata:
            yield Remark(NOT_EXPIRING)


def _zep(item: Item, options: ImportOptions) -> Iterator[Found]:
    """A message of a thread, an episode, or a fact (an edge of the graph)."""
    fields = item.value
    if not isinstance(fields, Mapping) or not fields.keys() & {"content", "fact"}:
        raise another_form("a message, an episode or an edge of Zep (an object with content or fact)", item)
    thread = next((fields[name] for name in ("thread_uuid", "thread_id", "session_id") if fields.get(name)), None)
    message: dict[str, Any] = {"user": fields.get("user_id") or options.user, "session": thread or options.session}
    if "fact" in fields:
        if fields.get("invalid_at") or fields.get("expired_at"):
            yield Skipped(NOT_VALID)
            return
        time = fields.get("valid_at") or fields.get("created_at")
        yield from _fact(
            named({**message, "session": message["session"] or "zep"}, item) | {"text": fields["fact"], "event_time": time}, "zep", item
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
    yield from said([message], options, item)


def _locomo(item: Item, options: ImportOptions) -> Iterator[Found]:
    try:
        conversation = locomo_conversation(item.value, source=item.place)
    except ConversationError as error:
        raise ImportFileError(str(error)) from error
    owner = {} if options.user is None else {"user": options.user}
    yield from said([{**each, **owner} for each in conversation.messages], options, item)


def _varve(item: Item, options: ImportOptions) -> Iterator[Found]:
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
        "user": options.user or fields.get("user"),
        "session": options.session or fields.get("session"),
        "text": fields["content"],
        "event_time": fields.get("said_at") or fields.get("event_time"),
        **({"speaker": fields["speaker"]} if fields.get("speaker") else {}),
    }
    metadata = {name: fields[name] for name in ("evidence", "type", "date") if fields.get(name)}
    yield from _fact(named(message, item), "varve", item, metadata)


FORMATS: Final[Mapping[str, Format | FileFormat]] = {
    "chatgpt": Format(read=_chatgpt),
    "claude": Format(read=_claude),
    "mem0": Format(read=_mem0, arrays=("results", "memories")),
    "zep": Format(read=_zep, arrays=("messages", "episodes", "edges")),
    "whatsapp": FileFormat(messages=whatsapp_messages),
    "slack": FileFormat(messages=slack_messages),
    "openai-messages": FileFormat(messages=openai_messages),
    "locomo": Format(read=_locomo),
    "varve": Format(read=_varve),
}
"""The formats by name."""


def _fact(message: dict[str, Any], source: str, item: Item, metadata: Mapping[str, Any] | None = None) -> Iterator[Found]:
    """A fact whose original messages are unknown becomes a separate message, which names its source.

    What another service has extracted is stated as an event. An event of Varve is extracted again: it has the words of a person, from which
    the profile follows, too.
    """
    name = item.value.get("id") or item.value.get("uuid")
    statement = {} if source == "varve" else {"tool_call": {"name": STATEMENT}}
    identity = {"id": f"{source}-{name}"} if name else {}
    about = {source: {**({"id": name} if name else {}), **(metadata or {})}}
    yield from said([{"role": "user", **message, **identity, **statement, "metadata": about}], ImportOptions(), item)


def _object(item: Item, field: str, what: str) -> Mapping[str, Any]:
    if not isinstance(item.value, Mapping) or field not in item.value:
        raise another_form(what, item)
    found: Mapping[str, Any] = item.value
    return found


def _number(item: Item) -> int:
    return int(item.place.rpartition(" ")[2])
