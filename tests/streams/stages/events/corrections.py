"""Corrections of agents' events, as test data."""

from datetime import datetime
from typing import Any

from memory.headers import CORRECTION, KIND
from memory.keys import encode_key
from memory.records import Correction, Event, EventFields, EventSeen
from streams.engine.records import ConsumedRecord
from tests.streams.agent_extractions import START, TENANT
from tests.streams.harness import delivered

LATER: datetime = START.replace(year=2025)


def correction(event: Event, number: int, action: str = "correct", *, seen: str | None = None, **fields: Any) -> Correction:
    """A correction of an event as somebody sees it."""
    return Correction.model_validate(
        {
            "id": f"c{number}",
            "tenant": TENANT,
            "user": event.user,
            "action": action,
            "memory_id": event.id,
            "event": EventSeen(window_id=event.window_id, type=event.type, content=seen or event.content, message_ids=event.message_ids),
            "fields": EventFields(**fields),
            "by": "support (k1)",
            "reason": "the user said so",
            "time": LATER,
        }
    )


def correction_record(what: Correction, offset: int) -> ConsumedRecord:
    key = encode_key(what.tenant, what.user or what.memory_id)
    return delivered("extractions", offset, key, what.to_json(), headers=((KIND, CORRECTION),))
