"""Records for the trace of a user."""

from memory.headers import CORRECTION, ERASURE, EXPIRY, KIND, TOUCHES
from memory.keys import entity_key
from memory.records import (
    Correction,
    EntityPatch,
    ErasureCommand,
    Expiry,
    Extraction,
    Touches,
)
from memory.records.base import Record
from tests.streams.agent_extractions import START


def headers_of(record: Record) -> tuple[tuple[str, bytes], ...]:
    kinds: dict[type[Record], bytes] = {Correction: CORRECTION, Touches: TOUCHES, Expiry: EXPIRY, ErasureCommand: ERASURE}
    kind = kinds.get(type(record))
    return () if kind is None else ((KIND, kind),)


def with_outcome(what: Extraction, **properties: str) -> Extraction:
    """With an event that reaches the agent's own record."""
    own = what.events[0].model_copy(update={"type": "task_outcome", "id": f"{what.window_id}-end", "properties": properties})
    return what.model_copy(update={"events": [*what.events, own]})


def patched(what: Extraction, entity_type: str, key: str, field: str) -> Extraction:
    patch = EntityPatch(
        id="p1", entity_type=entity_type, entity_key=entity_key(key), field=field, replace="Use -r.", event_time=START, message_ids=["m0-0"]
    )
    return what.model_copy(update={"patches": [*what.patches, patch]})
