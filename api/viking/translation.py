"""Messages, memories and sessions between VikingDB's forms and Varve's."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from varve_client import Memory, RecalledMemory, Session

from api.viking.errors import VikingError
from api.viking.filters import time_of
from api.viking.owners import OF_ASSISTANT, MessageOwner, Owner, is_of_assistant, user_ids

MAX_MESSAGES: Final = 1000
_ROLES: Final = ("user", "assistant", "system")
_DAY_S: Final = 86_400
_MAX_DAYS: Final = 10_000
_REFUSED_OPTIONS: Final[Mapping[str, str]] = {
    "extract_memory_type": "the schema of the tenant decides what is extracted",
    "ttl_absolute": "the schema of the tenant decides how long memories are kept",
    "ttl_relative": "the schema of the tenant decides how long memories are kept",
    "store_file": "Varve stores the text of messages only",
}
"""Options of ``add_session`` that would change what is stored, and that Varve does not have."""


def messages_of(body: Mapping[str, Any], *, session: str, now: datetime) -> list[dict[str, Any]]:
    """The messages of an ``add_session`` as Varve's.

    A message with a time has an id that follows from its content, so that a repeated request stores it once.

    Args:
        body: The request.
        session: The session.
        now: The time, for messages without one.

    Raises:
        VikingError: If the messages have another form, or an option is not available.
    """
    for name, reason in _REFUSED_OPTIONS.items():
        if body.get(name):
            raise VikingError(f"{name}: not available; {reason}")
    messages, metadata = body.get("messages"), body.get("metadata") or {}
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        raise VikingError("messages: expected a list of {role, content}")
    if not 0 < len(messages) <= MAX_MESSAGES:
        raise VikingError(f"messages: expected 1 to {MAX_MESSAGES}, found {len(messages)}")
    if not isinstance(metadata, dict):
        raise VikingError("metadata: expected an object")
    owner = owner_of(metadata, user="default_user_id", assistant="default_assistant_id")
    started = optional_time(metadata, "metadata.time") or now
    return [_message(each, index, metadata, owner, session, started) for index, each in enumerate(messages)]


def owner_of(fields: Mapping[str, Any], *, user: str = "user_id", assistant: str = "assistant_id") -> Owner:
    """The ids in a request.

    Args:
        fields: The object that has them.
        user: The field of the user.
        assistant: The field of the assistant.

    Raises:
        VikingError: If one is no text, or the user could be an assistant's.
    """
    ids = {name: optional_text(fields, field) for name, field in (("user_id", user), ("assistant_id", assistant), ("group_id", "group_id"))}
    if is_of_assistant(ids["user_id"]):
        raise VikingError(f"{user}: must not begin with {OF_ASSISTANT}, which stands for the events of an assistant without a user")
    return Owner(**ids)


def optional_text(fields: Mapping[str, Any], name: str) -> str | None:
    """A text of a request; None if it is missing or empty.

    Raises:
        VikingError: If it is another value.
    """
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise VikingError(f"{name}: expected a text, found {type(value).__name__}")
    return value or None


def optional_time(fields: Mapping[str, Any], path: str) -> datetime | None:
    """The ``time`` of a part of a request, in milliseconds since 1970; None if it is missing.

    Args:
        fields: The object that has it.
        path: Its name in errors.

    Raises:
        VikingError: If it is no time.
    """
    value = fields.get("time")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise VikingError(f"{path}: expected milliseconds since 1970")
    return time_of(value, path, VikingError)


def milliseconds(time: datetime) -> int:
    """A time as VikingDB returns it."""
    return round(time.timestamp() * 1000)


def weights_of(body: Mapping[str, Any]) -> dict[str, float]:
    """The weights of a search as fields of a recall.

    VikingDB's score is ``origin * w + time * w + custom * w``, with weights that are 1 together; Varve's is the same.

    Args:
        body: ``time_decay_config`` with ``weight`` and ``no_decay_period`` (days), and ``custom_weight``.

    Raises:
        VikingError: If a weight is not in [0, 1), or the period not in [0, 10000].
    """
    weights: dict[str, float] = {}
    decay = body.get("time_decay_config")
    if decay is not None:
        if not isinstance(decay, dict) or "weight" not in decay:
            raise VikingError("time_decay_config: expected an object with weight")
        weights["time_weight"] = _share(decay["weight"], "time_decay_config.weight")
        period = decay.get("no_decay_period", 0)
        if not _is_number(period) or not 0 <= period <= _MAX_DAYS:
            raise VikingError(f"time_decay_config.no_decay_period: expected days from 0 to {_MAX_DAYS}")
        weights["freshness_window_s"] = period * _DAY_S
    if body.get("custom_weight") is not None:
        weights["business_weight"] = _share(body["custom_weight"], "custom_weight")
    return weights


def result_of(memory: Memory) -> dict[str, Any]:
    """A memory as a result of a search. ``evidence`` lists the ids of its source messages.

    Args:
        memory: The memory. One that a recall found also has its scores.
    """
    owner = MessageOwner.of(memory.user, memory.evidence)
    fields: dict[str, Any] = {
        "id": memory.id,
        "memory_type": [memory.type],
        "user_id": user_ids(memory.user),
        "assistant_id": [*owner.assistants],
        "group_id": owner.groups[0] if owner.groups else "",
        "session_id": memory.session or "",
        "time": milliseconds(memory.event_time),
        "status": "",
        "labels": "",
        "memory_info": memory_info(memory),
        "evidence": memory.evidence,
    }
    if memory.entity_key is not None:
        fields["entity_key"] = memory.entity_key
    if isinstance(memory, RecalledMemory):
        parts = (memory.model_extra or {}).get("parts") or {}
        fields["score"] = memory.score
        fields |= {
            name: parts[part]
            for name, part in (("origin_score", "origin"), ("time_score", "time"), ("custom_weight_score", "business"))
            if part in parts
        }
    return fields


def memory_info(memory: Memory) -> dict[str, Any]:
    """The properties of a memory, and its text under the name of VikingDB's built-in types."""
    text = "user_profile" if memory.kind == "entity" else "summary"
    return {**memory.properties, text: memory.content}


def event_of(memory: Memory) -> dict[str, Any]:
    """An event as the details of a session list it."""
    owner = MessageOwner.of(memory.user, memory.evidence)
    return {
        "event_id": memory.id,
        "event_type": memory.type,
        "memory_info": memory_info(memory),
        "user_id": user_ids(memory.user),
        "assistant_id": [*owner.assistants],
        "time": milliseconds(memory.event_time),
        "evidence": memory.evidence,
    }


def session_fields(session: Session, memories: Sequence[Memory]) -> dict[str, Any]:
    """The details of a session.

    It is ``processing`` while its window is open, or no memory names one of its newest messages.

    Args:
        session: Its newest messages.
        memories: All memories of the session.
    """
    messages = [each["message"] for each in session.messages]
    newest = {each["id"] for each in messages if each.get("id")}
    used = {each for memory in memories for each in memory.evidence}
    is_open = session.open_window is not None and session.open_window.message_count > 0
    is_done = not is_open and (not newest or bool(newest & used))
    # The newest messages of a session are kept for some time only: memories name the others.
    owners = [MessageOwner.of(each.get("user"), [each.get("id") or ""]) for each in messages]
    owners += [MessageOwner.of(each.user, each.evidence) for each in memories]
    users = dict.fromkeys(
        user for named in (*(each.get("user") for each in messages), *(each.user for each in memories)) for user in user_ids(named)
    )
    times = [_time_of_message(each) for each in messages] + [milliseconds(each.event_time) for each in memories]
    return {
        "session_id": session.session,
        "status": "success" if is_done else "processing",
        "time": max(times, default=0),
        "user_ids": [*users],
        "assistant_ids": [*dict.fromkeys(name for each in owners for name in each.assistants)],
        "messages": [_message_fields(each) for each in messages],
        "event_memory": [event_of(each) for each in memories if each.kind == "event"],
        "usage": {},
    }


def _message(
    fields: Mapping[str, Any], index: int, metadata: Mapping[str, Any], owner: Owner, session: str, started: datetime
) -> dict[str, Any]:
    path = f"messages[{index}]"
    role, content = fields.get("role"), fields.get("content")
    if role not in _ROLES:
        raise VikingError(f"{path}.role: expected one of {', '.join(_ROLES)}")
    if not isinstance(content, str | list):
        raise VikingError(f"{path}.content: expected a text or a list of parts")
    speaker_id = optional_text(fields, "role_id")
    name = optional_text(fields, "role_name") or optional_text(metadata, f"default_{role}_name")
    if role == "user" and is_of_assistant(speaker_id):
        raise VikingError(f"{path}.role_id: must not begin with {OF_ASSISTANT}, which stands for the events of an assistant without a user")
    if role == "user" and speaker_id is not None:
        owner = Owner(user_id=speaker_id, assistant_id=owner.assistant_id, group_id=owner.group_id)
    elif role == "assistant" and speaker_id is not None:
        owner = Owner(user_id=owner.user_id, assistant_id=speaker_id, group_id=owner.group_id)
    # Messages of one request need an order, and may share a time.
    time = optional_time(fields, f"{path}.time") or started + timedelta(milliseconds=index)
    # Not by orjson: a part of the content may have an integer beyond 64 bits.
    identity = json.dumps([index, role, speaker_id, name, content, milliseconds(time)])
    content_hash = hashlib.sha256(identity.encode()).hexdigest()
    return {
        "id": owner.message_id(content_hash[:24]),
        "user": owner.user,
        "session": session,
        "role": role,
        "content": content,
        "event_time": time.isoformat(),
        **({} if name is None else {"speaker": name}),
    }


def _message_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    owner = MessageOwner.of(message.get("user"), [message.get("id") or ""])
    role = message.get("role", "user")
    ids = owner.assistants if role == "assistant" else user_ids(message.get("user"))
    return {
        "message_id": message.get("id") or "",
        "role": role,
        "role_id": ids[0] if ids else "",
        "role_name": message.get("speaker") or "",
        "content": message.get("text") or "",
        "time": _time_of_message(message),
    }


def _time_of_message(message: Mapping[str, Any]) -> int:
    return milliseconds(datetime.fromisoformat(message["event_time"]))


def _share(value: Any, name: str) -> float:
    if not _is_number(value) or not 0 <= value < 1:
        raise VikingError(f"{name}: expected a number from 0 to below 1")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
