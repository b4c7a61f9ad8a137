"""Deterministic ids: the same source gives the same id, in every process and on every replay (docs/internals/architecture.md, invariant 2).

All ids are UUIDs (version 5) in their 36-character text form: what Qdrant takes as a point id, and what no tenant can guess into
another tenant's data, since the tenant is always among the parts.
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


def sent_message_id(tenant: str, request_key: str, index: int) -> str:
    """The id of a message that its sender named by the request alone.

    Args:
        tenant: Whose message.
        request_key: The sender's name for the request, with what tells it from another request of that name.
        index: The message's place in it, from 0.
    """
    return _derive("sent", tenant, request_key, str(index))


def correction_id(tenant: str, memory: str, request_key: str) -> str:
    """The id of a correction that its sender named by the request.

    Args:
        tenant: Whose memory.
        memory: The memory's id.
        request_key: The sender's name for the request, with what tells it from another request of that name.
    """
    return _derive("correction", tenant, memory, request_key)


def segment_id(window: str, index: int, generation: str = "") -> str:
    """The id of a segment of a window's extraction.

    Args:
        window: The window's id.
        index: The segment's index among those of the extraction.
        generation: As :func:`event_id` takes it.
    """
    return _derive("segment", window, str(index), generation or "-")


def event_id(window: str, index: int, generation: str = "") -> str:
    """The id of an event of a window's extraction.

    Args:
        window: The window's id.
        index: The event's index among those of the extraction.
        generation: Empty for the live generation; a name for a re-extraction that grows beside it.
    """
    return _derive("event", window, str(index), generation or "-")


def patch_id(window: str, index: int, generation: str = "") -> str:
    """The id of a patch of a window's extraction.

    Args:
        window: The window's id.
        index: The patch's index among those of the extraction.
        generation: As :func:`event_id` takes it.
    """
    return _derive("patch", window, str(index), generation or "-")


def summary_id(tenant: str, entity_type: str, entity_key: str, property_name: str, period: str, generation: str = "") -> str:
    """The id of the summary of a period of a timeline.

    Args:
        tenant: Whose it is.
        entity_type: The type of the entity that the timeline belongs to.
        entity_key: The entity's key, as :func:`memory.keys.entity_key` builds it.
        property_name: The property that is the timeline.
        period: The period's name: ``2026-W19``, ``2026-05`` or ``2026``.
        generation: As :func:`event_id` takes it.
    """
    return _derive("summary", tenant, entity_type, entity_key, property_name, period, generation or "-")


@lru_cache(maxsize=65_536)
def entity_id(tenant: str, entity_type: str, entity_key: str, generation: str = "") -> str:
    """The id of an entity.

    Args:
        tenant: Whose entity it is.
        entity_type: Its type's name.
        entity_key: Its ``GROUP BY`` key, as :func:`memory.keys.entity_key` builds it.
        generation: As :func:`event_id` takes it.
    """
    return _derive("entity", tenant, entity_type, entity_key, generation or "-")


@lru_cache(maxsize=65_536)
def step_id(entity: str, source: str, place: str) -> str:
    """The id of a step of an entity's history.

    Args:
        entity: The entity's id.
        source: The source that the step comes of, ``extractions/3``; of a model's answer the property that it is about.
        place: Which of the places that are kept for that source.
    """
    return _derive("step", entity, source, place)


def message_id(tenant: str, session: str, origin: str) -> str:
    """The id of a message whose producer gave it none.

    Args:
        tenant: The session's tenant.
        session: The session.
        origin: Where the message first lay in the log, ``topic/partition/offset``.
    """
    return _derive("message", tenant, session, origin)


def _derive(kind: str, *parts: str) -> str:
    # uuid.uuid5 by hand: the class around the 16 bytes costs four times what the hash does, and every event and entity pays it.
    digest = bytearray(hashlib.sha1(_NAMESPACE.bytes + join_parts(kind, *parts), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
