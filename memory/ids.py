"""Deterministic ids: the same source gives the same id, in every process and on every replay (docs/internals/architecture.md, invariant 2).

All ids are UUIDs (version 5) in their 36-character text form, which Qdrant accepts as point ids. The tenant is always among the parts, so
ids of different tenants never collide.
"""

import hashlib
import uuid
from functools import lru_cache
from typing import Final

from memory.keys import join_parts

_NAMESPACE: Final = uuid.UUID("6b1f0f5e-7c1a-5d0e-9a57-2f6d1c0b8e42")


def window_id(tenant: str, session: str, sequence: int) -> str:
    """The id of a session's window.

    Args:
        tenant: The session's tenant.
        session: The session.
        sequence: The window's number in it, from 0.
    """
    return _derive("window", tenant, session, str(sequence))


def window_part_id(window: str, user: str) -> str:
    """The id of one user's part of a window with messages of several users. The parts are extracted, corrected and erased like windows."""
    return _derive("window part", window, user)


def sent_message_id(tenant: str, request_key: str, index: int) -> str:
    """The id of a message in a request with an idempotency key.

    Args:
        tenant: The message's tenant.
        request_key: The sender's key of the request, with anything else that distinguishes requests with this key.
        index: The message's index in the request, from 0.
    """
    return _derive("sent", tenant, request_key, str(index))


def correction_id(tenant: str, memory: str, request_key: str) -> str:
    """The id of a correction in a request with an idempotency key.

    Args:
        tenant: The memory's tenant.
        memory: The memory's id.
        request_key: The sender's key of the request, with anything else that distinguishes requests with this key.
    """
    return _derive("correction", tenant, memory, request_key)


def segment_id(window: str, index: int, generation: str = "") -> str:
    """The id of a segment of a window's extraction.

    Args:
        window: The window's id.
        index: The segment's index among those of the extraction.
        generation: The generation's name; empty for the first.
    """
    return _derive("segment", window, str(index), generation or "-")


def event_id(window: str, index: int, generation: str = "") -> str:
    """The id of an event of a window's extraction.

    Args:
        window: The window's id.
        index: The event's index among those of the extraction.
        generation: The generation's name; empty for the first.
    """
    return _derive("event", window, str(index), generation or "-")


def patch_id(window: str, index: int, generation: str = "") -> str:
    """The id of a patch of a window's extraction.

    Args:
        window: The window's id.
        index: The patch's index among those of the extraction.
        generation: The generation's name; empty for the first.
    """
    return _derive("patch", window, str(index), generation or "-")


@lru_cache(maxsize=65_536)
def summary_id(tenant: str, entity_type: str, entity_key: str, property_name: str, period: str, generation: str = "") -> str:
    """The id of the summary of a timeline's period.

    Args:
        tenant: The entity's tenant.
        entity_type: The type of the entity that the timeline belongs to.
        entity_key: The entity's key, from :func:`memory.keys.entity_key`.
        property_name: The timeline property.
        period: The period's name: ``2026-W19``, ``2026-05`` or ``2026``. Of a tree: the node's.
        generation: The generation's name; empty for the first.
    """
    return _derive("summary", tenant, entity_type, entity_key, property_name, period, generation or "-")


@lru_cache(maxsize=65_536)
def entity_id(tenant: str, entity_type: str, entity_key: str, generation: str = "") -> str:
    """The id of an entity.

    Args:
        tenant: The entity's tenant.
        entity_type: Its type's name.
        entity_key: Its ``GROUP BY`` key, from :func:`memory.keys.entity_key`.
        generation: The generation's name; empty for the first.
    """
    return _derive("entity", tenant, entity_type, entity_key, generation or "-")


@lru_cache(maxsize=65_536)
def step_id(entity: str, source: str, place: str) -> str:
    """The id of a step of an entity's history.

    Args:
        entity: The entity's id.
        source: The source of the step, ``extractions/3``; for a model's answer, its property.
        place: The slot among those kept for the source.
    """
    return _derive("step", entity, source, place)


def message_id(tenant: str, session: str, origin: str) -> str:
    """The id of a message without an id from its producer.

    Args:
        tenant: The session's tenant.
        session: The session.
        origin: The message's original position in the log, ``topic/partition/offset``.
    """
    return _derive("message", tenant, session, origin)


def user_digest(user: str) -> str:
    """A digest of a user's id, for the name of a session that Varve makes: names of sessions outlive the erasure of a user."""
    return hashlib.sha256(user.encode()).hexdigest()[:16]


def _derive(kind: str, *parts: str) -> str:
    # Equals uuid.uuid5, without the class around the 16 bytes, which takes four times as long as the hash.
    digest = bytearray(hashlib.sha1(_NAMESPACE.bytes + join_parts(kind, *parts), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
