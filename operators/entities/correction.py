"""The changes that a manual correction makes to an entity's fields. Most fields are computed from events: correct those events instead."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from pydantic import JsonValue

from memory.records import Change
from memory.schema.coerce import coerce_value
from memory.schema.model import LATEST, PATCH, EntityProperty, EntityType, ValueType
from memory.schema.node import suggestion
from operators.aggregates.newest import MAX_VALUE
from operators.errors import UncorrectableFieldError
from operators.patches.patch_edit import MAX_TEXT

MAX_REVERTIBLE: Final = 16
"""Corrections of one entity that can be reverted one by one."""
BY_HAND: Final = "correction"
"""Extractor name of changes that a person made."""


def changes_of(
    entity_type: EntityType, fields: Mapping[str, JsonValue], *, source_id: str, newest: datetime, since: datetime | None = None
) -> list[Change]:
    """The changes that set an entity's fields.

    A patched text is replaced as a whole, and later patches edit the replacement. A LATEST field keeps the corrected value until a newer
    event arrives.

    Args:
        entity_type: The entity's type.
        fields: The new value of each property; null removes a text.
        source_id: Id of the correction.
        newest: The newest event time of the entity.
        since: Event time from which the values hold, not wall-clock time. None: after every event of the entity.

    Raises:
        UncorrectableFieldError: If a field cannot be set, or not to this value. The message has the reason.
    """
    return [
        Change(
            op="apply",
            property=name,
            source_id=source_id,
            value=_input_of(entity_type, name, value),
            event_time=since or newest + _behind(entity_type, name),
            extractor=BY_HAND,
        )
        for name, value in sorted(fields.items())
    ]


def _behind(entity_type: EntityType, name: str) -> timedelta:
    """Patches of one time keep the order in which they came; a value is to be newer than the newest."""
    each = entity_type.property(name)
    return timedelta(microseconds=1) if each is not None and entity_type.op_of(each) == LATEST else timedelta()


def _input_of(entity_type: EntityType, name: str, value: JsonValue) -> JsonValue:
    each = entity_type.property(name)
    if each is None:
        hint = suggestion(name, [each.name for each in entity_type.properties])
        raise UncorrectableFieldError(name, f"the entity type {entity_type.name} has no such property; {hint}")
    op = entity_type.op_of(each)
    if op is None:
        raise UncorrectableFieldError(name, "it is a part of the entity's key; correct the events instead, which then feed another entity")
    if op == PATCH:
        return {"search": None, "replace": _text_of(each, value)}
    if op == LATEST and value is not None:
        return _latest_of(each, value)
    raise UncorrectableFieldError(name, f"{op} computes it from events; correct or invalidate these events instead", is_of_events=True)


def _text_of(each: EntityProperty, value: JsonValue) -> str:
    if value is None:
        return ""
    coerced = _coerced(each, value, each.value_type)
    lines = [str(coerce_value(item, "string")) for item in (coerced if isinstance(coerced, list) else [coerced])]
    if isinstance(coerced, list) and any(not line.strip() or "\n" in line for line in lines):
        raise UncorrectableFieldError(each.name, "an item of the list is blank, or has more than one line")
    text = "\n".join(lines)
    if len(text) > MAX_TEXT:
        raise UncorrectableFieldError(each.name, f"it has {len(text)} characters; the limit is {MAX_TEXT}")
    return text


def _latest_of(each: EntityProperty, value: JsonValue) -> JsonValue:
    coerced = _coerced(each, value, each.value_type)
    if len(str(coerced)) > MAX_VALUE:
        raise UncorrectableFieldError(each.name, f"it has {len(str(coerced))} characters; the limit is {MAX_VALUE}")
    return coerced


def _coerced(each: EntityProperty, value: JsonValue, value_type: ValueType) -> JsonValue:
    coerced = coerce_value(value, value_type)
    if coerced is None:
        raise UncorrectableFieldError(each.name, f"the value must be of type {each.value_type}")
    return coerced
