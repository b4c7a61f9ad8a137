"""The body of a delivery, and the id that identifies it. Pure."""

import hashlib
from datetime import UTC, datetime
from typing import Any

import orjson

from api.reads.memory_fields import memory_fields
from memory.records import Memory, WebhookDelivery


def delivery_id(tenant: str, webhook: str, partition: int, offset: int) -> str:
    """The id of the delivery of a change. It is the same if the change is read again.

    Args:
        tenant: The tenant.
        webhook: The webhook's id.
        partition: The partition of the change in the feed.
        offset: The offset of the change in the feed.
    """
    return "msg_" + hashlib.sha256(f"{tenant}\n{webhook}\n{partition}\n{offset}".encode()).hexdigest()[:32]


def body_of(delivery: WebhookDelivery, memory: Memory | None, *, with_content: bool, max_bytes: int) -> bytes:
    """The JSON of a delivery.

    Args:
        delivery: The delivery.
        memory: The memory as the change wrote it; None for a deletion.
        with_content: Whether to include the memory.
        max_bytes: A larger body is replaced by one without the memory.
    """
    data: dict[str, Any] = {
        "id": delivery.memory_id,
        "position": {"partition": delivery.partition, "offset": delivery.offset},
    }
    if memory is not None:
        data |= {"kind": memory.kind, "type": memory.type, "version": memory.version}
        data |= memory.model_dump(mode="json", include={"expires_at"}, exclude_none=True)
    if memory is not None and with_content:
        body = _json(delivery.event, delivery.changed_at, {**data, "memory": memory_fields(memory)})
        if len(body) <= max_bytes:
            return body
        data["content_too_large"] = True
    return _json(delivery.event, delivery.changed_at, data)


def trial_body(now: datetime) -> bytes:
    """The JSON of a test delivery."""
    return _json("webhook.test", now, {})


def _json(kind: str, moment: datetime, data: dict[str, Any]) -> bytes:
    return orjson.dumps({"type": kind, "timestamp": moment.astimezone(UTC).isoformat(), "data": data})
