"""Records that no stage can process, each with the reason for which it must be refused."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Contribution, Extraction, Message

UNKNOWN_TENANT = "unknown-tenant"
UNKNOWN_REVISION = 1_000_000
TOO_LARGE = 1_500_000


@dataclass(frozen=True, slots=True)
class Poison:
    """A record that must be refused."""

    topic: str
    reason: str
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


def poison(tenant: str, *, number: int, now: datetime) -> Iterator[Poison]:
    """Every kind once: twelve in the messages, and some in the topics of the other stages.

    Args:
        tenant: A tenant that is known.
        number: The number of the round; makes ids unique.
        now: The wall clock's time.
    """
    good = Message(tenant=tenant, user="user-0", session="session-0", id=f"poison-{number}", text="never to be seen", event_time=now)
    fields = good.model_dump(mode="json", exclude_none=True)
    key = encode_key(tenant, good.session)

    def changed(**changes: object) -> bytes:
        return orjson.dumps({name: value for name, value in (fields | changes).items() if value is not None})

    def message(reason: str, value: bytes | None, *headers: tuple[str, bytes], key: bytes | None = key) -> Poison:
        return Poison("messages", reason, key, value, headers)

    yield message("malformed", b'{"tenant": "half a', ("trace", b"kept"))
    yield message("malformed", changed(text="?").replace(b"?", b"\xff\xfe"))
    yield message("malformed", b"[]", key=None)
    yield message("malformed", None)
    yield message("malformed", b"")
    yield message("malformed", changed(session=None))
    yield message("malformed", changed(tenant=""))
    yield message("malformed", changed(event_time="the day before yesterday"))
    yield message("malformed", changed(event_time="2025-03-01T08:00:00"))
    yield message("unsupported_version", changed(schema_version="2.0"))
    yield message("unknown_tenant", changed(tenant=UNKNOWN_TENANT))
    yield message("future_dated", changed(event_time=(now + timedelta(days=400)).isoformat()))
    yield message("forged_header", b'{"command": "explode"}', (KIND, COMMAND))
    yield Poison("windows", "malformed", key, b"no window")
    yield Poison("extractions", "malformed", encode_key(tenant, good.user), b'{"window_id": 7}')
    orphan = Extraction(
        window_id=f"window-{number}",
        tenant=tenant,
        user=good.user,
        session=good.session,
        sequence=0,
        extractor="none",
        schema_name="gone",
        schema_revision=UNKNOWN_REVISION,
        message_ids=[f"poison-{number}"],
        window_end=now,
    )
    yield Poison("extractions", "unknown_schema", key, orphan.to_json())
    contribution = Contribution(
        tenant=tenant, entity_type="dragon", entity_key="user-0", source="extractions/0", position=number, time=now, schema_name="education"
    )
    yield Poison("contributions", "unknown_entity_type", encode_key(tenant, "dragon", "user-0"), contribution.to_json())
    yield Poison("contributions", "malformed", encode_key(tenant, "dragon", "user-0"), b"\x00\x01")
    yield Poison("memories", "malformed", encode_key(tenant, f"memory-{number}"), b'{"op": "upsert"}')


def too_large(tenant: str, *, number: int, now: datetime) -> Poison:
    """A well-formed message over the size limit.

    Args:
        tenant: A known tenant.
        number: Makes its id unique.
        now: The wall clock's time.
    """
    text = "x" * TOO_LARGE
    message = Message(tenant=tenant, user="user-0", session="session-0", id=f"large-{number}", text=text, event_time=now)
    return Poison("messages", "too_large", encode_key(tenant, message.session), message.to_json())


def wall_clock() -> datetime:
    """The time now."""
    return datetime.now(UTC)
