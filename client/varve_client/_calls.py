"""The requests of the clients, without any I/O: both clients share this module.

A function for each method of the clients makes the :class:`Call`; the client sends it and parses its response.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote, urlencode

import httpx

from varve_client.errors import InvalidArgumentError
from varve_client.models import (
    BegunErasure,
    Block,
    ChangedMessage,
    Context,
    Correction,
    EditedBlock,
    Erasure,
    FoundEvents,
    HistoryPage,
    KeyStatus,
    Memory,
    MemoryPage,
    RecallResult,
    SentMessage,
    Session,
)

T = TypeVar("T")

Outcome = SentMessage | dict[str, Any]
"""A durable message; or a refused one: its index in the messages that were sent, its status and its problem."""

BATCH_SIZE: Final = 200
PAGE_SIZE: Final = 200
"""The most memories or entries that a page may have."""

_KEY: Final = re.compile(r"[\x21-\x7e]{1,256}")
"""The values of ``Idempotency-Key`` that the service accepts."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how to read its response."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    parse: Callable[[Any], T]
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


def content_of(call: Call[Any]) -> tuple[bytes | None, dict[str, str]]:
    """The body of a request, if it has one, and its headers.

    Raises:
        InvalidArgumentError: If JSON cannot contain a value: not a number, infinity, half of a character.
        TypeError: If a value has a type that JSON does not have.
    """
    if call.body is None:
        return None, dict(call.headers)
    try:
        content = json.dumps(call.body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError as error:
        raise InvalidArgumentError(f"{call.path}: JSON cannot contain a value of this request: {error}") from error
    return content, {"Content-Type": "application/json", **call.headers}


def send_calls(messages: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Iterator[Call[list[Outcome]]]:
    """One call per batch of messages, in order.

    Each batch has an idempotency key, so that a repeated request does not duplicate messages without an id.

    Args:
        messages: The messages.
        key: The key of the first batch; the others have the same with the index of their first message. Default: random keys.
    """
    if isinstance(messages, Mapping | str):
        raise TypeError("messages must be a list of messages: put a single one into a list")
    for index, each in enumerate(messages):
        if not isinstance(each, Mapping):
            raise TypeError(f"message {index} must be a dict with user, session and text, not {type(each).__name__}")
    for start in range(0, len(messages), BATCH_SIZE):
        batch = [{name: _plain(value) for name, value in each.items()} for each in messages[start : start + BATCH_SIZE]]
        headers = _key_header(key if key is None or start == 0 else f"{key}/{start}")
        yield Call("POST", "/v1/messages", partial(_outcomes, start=start), batch, headers)


def edit_call(session: str, message_id: str, text: str, *, user: str | None, key: str | None) -> Call[ChangedMessage]:
    """An edit of a message."""
    body = {"text": text} if user is None else {"text": text, "user": user}
    return Call("PUT", _message_path(session, message_id), ChangedMessage.model_validate, body, _key_header(key))


def delete_call(session: str, message_id: str, *, user: str | None, key: str | None) -> Call[ChangedMessage]:
    """A deletion of a message."""
    path = _with_query(_message_path(session, message_id), user=user)
    return Call("DELETE", path, ChangedMessage.model_validate, headers=_key_header(key))


def flush_call(session: str | None, *, key: str | None) -> Call[None]:
    """Closes the open windows of a session or of the tenant."""
    return Call("POST", "/v1/flush", lambda body: None, {} if session is None else {"session": session}, _key_header(key))


def recall_call(query: str, options: Mapping[str, Any]) -> Call[RecallResult]:
    """A recall."""
    return Call("POST", "/v1/recall", RecallResult.model_validate, {"query": query, **_given(options)})


def context_call(query: str, options: Mapping[str, Any]) -> Call[Context]:
    """A context for a prompt."""
    return Call("POST", "/v1/context", Context.model_validate, {"query": query, **_given(options)})


def feedback_call(recall_id: str, useful: Sequence[str], useless: Sequence[str], user: str | None) -> Call[None]:
    """Feedback on the results of a recall."""
    if isinstance(useful, str) or isinstance(useless, str):
        raise TypeError("useful and useless must be lists of memory ids: put a single one into a list")
    body = {"recall_id": recall_id, "useful": list(useful), "useless": list(useless)}
    return Call("POST", "/v1/feedback", lambda answer: None, body if user is None else {**body, "user": user})


def memory_call(memory_id: str) -> Call[Memory]:
    """One memory."""
    return Call("GET", _memory_path(memory_id), Memory.model_validate)


def session_call(session: str) -> Call[Session]:
    """The newest messages of a session."""
    return Call("GET", _path("sessions", session), Session.model_validate)


def memories_call(filters: Mapping[str, Any], *, after: str | None, limit: int) -> Call[MemoryPage]:
    """A page of memories."""
    return Call("GET", _with_query("/v1/memories", **filters, after=after, limit=limit), MemoryPage.model_validate)


def delete_memory_call(memory_id: str, *, reason: str, key: str | None) -> Call[Correction]:
    """A deletion of a memory."""
    path = _with_query(_memory_path(memory_id), reason=reason or None)
    return Call("DELETE", path, Correction.model_validate, headers=_key_header(key))


def erase_call(user: str, *, reason: str) -> Call[BegunErasure]:
    """An erasure of a user."""
    path = _with_query(_path("users", user), reason=reason or None)
    return Call("DELETE", path, BegunErasure.model_validate)


def erasure_call(subject: str) -> Call[Erasure]:
    """The receipt of an erasure."""
    return Call("GET", _path("erasures", subject), Erasure.model_validate)


def status_call() -> Call[KeyStatus]:
    """The reach of the key."""
    return Call("GET", "/v1/status", KeyStatus.model_validate)


def correction_call(
    method: Literal["POST", "PATCH"],
    memory_id: str,
    action: Literal["", "/invalidate", "/revert"],
    body: Mapping[str, Any],
    *,
    key: str | None,
) -> Call[Correction]:
    """A correction, an invalidation or a reversal."""
    return Call(
        method,
        _memory_path(memory_id) + action,
        Correction.model_validate,
        {name: _plain(value) for name, value in body.items()},
        _key_header(key),
    )


def blocks_call(user: str | None) -> Call[list[Block]]:
    """A user's blocks."""
    return Call("GET", _with_query("/v1/blocks", user=user), lambda body: [Block.model_validate(each) for each in body["blocks"]])


def block_call(entity_type: str, property_name: str, user: str | None) -> Call[Block]:
    """One block."""
    return Call("GET", _with_query(_block_path(entity_type, property_name), user=user), Block.model_validate)


def edit_block_call(entity_type: str, property_name: str, body: Mapping[str, Any], *, key: str | None) -> Call[EditedBlock]:
    """An edit of a block."""
    path = f"{_block_path(entity_type, property_name)}/edits"
    return Call("POST", path, EditedBlock.model_validate, _given(body), _key_header(key))


def undo_edit_call(entity_type: str, property_name: str, edit: str, body: Mapping[str, Any], *, key: str | None) -> Call[EditedBlock]:
    """The reversal of an edit."""
    path = f"{_path('blocks', entity_type, property_name, 'edits', edit)}/undo"
    return Call("POST", path, EditedBlock.model_validate, _given(body), _key_header(key))


def search_events_call(query: str, user: str | None, page: int) -> Call[FoundEvents]:
    """A page of the events nearest to a text."""
    return Call("POST", "/v1/blocks/search", FoundEvents.model_validate, _given({"query": query, "user": user, "page": page}))


def entity_call(entity_type: str, key: Sequence[str], *, as_of: datetime | None, known_at: datetime | None) -> Call[Memory]:
    """One entity."""
    return Call("GET", _with_query(_entity_path(entity_type, key), as_of=as_of, known_at=known_at), Memory.model_validate)


def history_call(
    entity_type: str, key: Sequence[str], *, as_of: datetime | None, known_at: datetime | None, after: str | None, limit: int
) -> Call[HistoryPage]:
    """A page of an entity's history."""
    path = f"{_entity_path(entity_type, key)}/history"
    return Call("GET", _with_query(path, as_of=as_of, known_at=known_at, after=after, limit=limit), HistoryPage.model_validate)


def _outcomes(body: Any, start: int) -> list[Outcome]:
    return [_sent(item) if item["status"] == httpx.codes.OK else {**item, "index": start + item["index"]} for item in body["items"]]


def _sent(item: Mapping[str, Any]) -> SentMessage:
    return SentMessage.model_validate({name: item[name] for name in SentMessage.model_fields if name in item})


def _key_header(key: str | None) -> dict[str, str]:
    """The header that marks the repetitions of one request.

    Args:
        key: The caller's key. Default: a random one, which marks the attempts of one call.

    Raises:
        InvalidArgumentError: If the service would refuse the key.
    """
    if key is None:
        return {"Idempotency-Key": str(uuid.uuid4())}
    if _KEY.fullmatch(key) is None:
        raise InvalidArgumentError(f"an idempotency_key has 1 to 256 visible ASCII characters, not {key!r}")
    return {"Idempotency-Key": key}


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in options.items() if value is not None}


def _plain(value: Any) -> Any:
    """A value as JSON has it: a time as text, a sent or changed message as the reference to it."""
    if isinstance(value, datetime):
        return value.isoformat()
    return value.reference if isinstance(value, SentMessage | ChangedMessage) else value


def _with_query(path: str, **parameters: Any) -> str:
    given = _given(parameters)
    return f"{path}?{_encoded(lambda: urlencode(given, doseq=True))}" if given else path


def _memory_path(memory_id: str) -> str:
    return _path("memories", memory_id)


def _block_path(entity_type: str, property_name: str) -> str:
    return _path("blocks", entity_type, property_name)


def _message_path(session: str, message_id: str) -> str:
    return _path("messages", session, message_id)


def _entity_path(entity_type: str, key: Sequence[str]) -> str:
    if isinstance(key, str):
        raise TypeError(f"key must be the list of the key's parts, such as [{key!r}]")
    if not key:
        raise InvalidArgumentError("the key of an entity has at least one part")
    return _path("entities", entity_type, *key)


def _path(*parts: str) -> str:
    """The address of something that the caller names.

    Raises:
        TypeError: If a name is no text.
        InvalidArgumentError: If a name cannot be a part of an address: URL parsers remove ``.`` and ``..``, and no route has an empty part.
            Or if it has half of a character.
    """
    for part in parts:
        if not isinstance(part, str):
            raise TypeError(f"{part!r} is not the text of a name or an id")
        if part in ("", ".", ".."):
            raise InvalidArgumentError(f"{part!r} cannot be part of an address: pass a name or an id")
    return _encoded(lambda: "/".join(["/v1", *(quote(part, safe="") for part in parts)]))


def _encoded(encode: Callable[[], str]) -> str:
    try:
        return encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{error.object!r} has half of a character: {error.reason}") from error
