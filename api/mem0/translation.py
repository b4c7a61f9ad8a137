"""Messages and memories between mem0's forms and Varve's."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from varve_client import Memory, RecalledMemory

from api.mem0.owners import Owner
from memory.records.limits import is_recordable_time
from memory.records.message import STATEMENT

MAX_MESSAGES: Final = 1000
"""Most messages of an ``add``."""
MAX_METADATA: Final = 16_000
"""Most characters of its metadata. Each message gets them: a request of a megabyte could fill the disks of all tenants."""
REFUSED_OPTIONS: Final = (
    "expiration_date",
    "custom_categories",
    "custom_instructions",
    "agent_custom_instructions",
    "structured_data_schema",
    "includes",
    "excludes",
    "immutable",
    "observation_date",
    "observation_time",
    "timezone",
)
"""Options of ``add`` that would change what is stored, and that Varve does not have: its schema decides what is extracted."""


class RequestError(ValueError):
    """A request is not one of mem0's, or needs something that Varve does not have."""


def messages_of(body: Mapping[str, Any], owner: Owner, *, now: datetime) -> list[dict[str, Any]]:
    """The messages of an ``add`` as Varve's.

    With ``infer`` false, each message becomes one event with its text, unchanged.

    Args:
        body: ``messages`` (a list, or one text), and mem0's options.
        owner: The owner of the messages.
        now: The time, for messages without one.

    Raises:
        RequestError: If the messages have another form, or an option is not available.
    """
    given = [name for name in REFUSED_OPTIONS if body.get(name) not in (None, False, [], {}, "")]
    if given:
        raise RequestError(f"{', '.join(given)}: not available; the schema of the tenant decides what is extracted and how long it is kept")
    messages = body.get("messages")
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if isinstance(messages, dict):
        messages = [messages]
    if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
        raise RequestError("messages: expected a list of {role, content}")
    if len(messages) > MAX_MESSAGES:
        raise RequestError(f"messages: at most {MAX_MESSAGES}, found {len(messages)}; send several requests")
    started = _moment(body.get("timestamp"), now)
    metadata, infer = body.get("metadata") or {}, body.get("infer")
    if not isinstance(metadata, dict):
        raise RequestError("metadata: expected an object")
    if len(json.dumps(metadata)) > MAX_METADATA:
        raise RequestError(f"metadata: at most {MAX_METADATA} characters of JSON, as each message gets it")
    if infer is not None and not isinstance(infer, bool):
        raise RequestError("infer: expected true or false")
    # Messages of one turn need an order, and their times are whole seconds.
    return [
        {
            **{name: value for name, value in each.items() if name in ("role", "content", "tool_calls", "tool_call_id", "name", "id")},
            "user": owner.user,
            "session": owner.session,
            "event_time": (started + timedelta(milliseconds=index)).isoformat(),
            **({"metadata": metadata} if metadata else {}),
            **({"tool_call": {"name": STATEMENT}} if infer is False and not each.get("tool_calls") else {}),
        }
        for index, each in enumerate(messages)
    ]


def memory_fields(memory: Memory, *, confidence: float | None = None) -> dict[str, Any]:
    """A memory in mem0's form. ``metadata`` carries what mem0 has no field for.

    Args:
        memory: The memory.
        confidence: The confidence of the recall that found it. None: it was read.
    """
    created = (memory.said_at or memory.event_time).isoformat()
    correction = (memory.model_extra or {}).get("correction") or {}
    metadata: dict[str, Any] = {
        "evidence": memory.evidence,
        "kind": memory.kind,
        "event_time": memory.event_time.isoformat(),
        **({} if memory.date is None else {"date": memory.date}),
        **({} if memory.speaker is None else {"speaker": memory.speaker}),
        **({"properties": memory.properties} if memory.properties else {}),
        **({} if confidence is None else {"confidence": confidence}),
    }
    fields = {
        "id": memory.id,
        "memory": memory.content,
        **Owner.of_memory(memory.user, memory.session).fields(),
        "metadata": metadata,
        "categories": [memory.type],
        "expiration_date": None,
        "created_at": created,
        "updated_at": correction.get("time", created),
    }
    return {**fields, "score": _similarity_of(memory)} if isinstance(memory, RecalledMemory) else fields


def _similarity_of(memory: RecalledMemory) -> float:
    """The score in mem0's sense: a similarity from 0 to 1, for which programs have a ``threshold``. Varve's own score only orders results.

    Args:
        memory: A result of a recall with ``explain``.
    """
    parts = (memory.model_extra or {}).get("parts") or {}
    return min(1.0, max(0.0, float(parts.get("dense") or 0.0)))


def history_of(memory: Memory) -> list[dict[str, Any]]:
    """The history of a memory: its extraction, and the corrections in force as one step.

    Args:
        memory: The memory.
    """
    fields = memory_fields(memory)
    correction = (memory.model_extra or {}).get("correction")
    original = memory.content
    if correction is not None:
        original = (correction.get("before") or {}).get("content") or memory.content
    steps = [_step(fields, "ADD", None, original, fields["created_at"])]
    if correction is not None:
        is_removed = correction.get("action") == "invalidate"
        new = None if is_removed else memory.content
        steps.append(_step(fields, "DELETE" if is_removed else "UPDATE", original, new, correction["time"]))
    return steps


def page_of(items: Sequence[Any], *, page: int, size: int, path: str) -> dict[str, Any]:
    """One page of a complete list.

    Args:
        items: All items.
        page: The number of the page, from 1.
        size: Items of a page.
        path: The address of the list.
    """
    start = (page - 1) * size
    more = start + size < len(items)
    return {
        "count": len(items),
        "next": f"{path}?page={page + 1}&page_size={size}" if more else None,
        "previous": f"{path}?page={page - 1}&page_size={size}" if page > 1 else None,
        "results": list(items[start : start + size]),
    }


def _step(fields: Mapping[str, Any], event: str, old: str | None, new: str | None, time: str) -> dict[str, Any]:
    return {
        "id": f"{fields['id']}-{event.lower()}",
        "memory_id": fields["id"],
        "input": [],
        "old_memory": old,
        "new_memory": new,
        "user_id": fields["user_id"],
        "categories": fields["categories"],
        "event": event,
        "created_at": time,
        "updated_at": time,
    }


def _moment(timestamp: Any, now: datetime) -> datetime:
    if timestamp is None:
        return now
    if isinstance(timestamp, bool) or not isinstance(timestamp, int | float):
        raise RequestError("timestamp: expected seconds since 1970")
    try:
        moment = datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise RequestError(f"timestamp: {timestamp} is no time in seconds since 1970") from error
    if not is_recordable_time(moment):
        raise RequestError(f"timestamp: {timestamp} is no time in seconds since 1970")
    return moment
