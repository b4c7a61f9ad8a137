"""An entity as the memories that are stored, searched and returned: its own, and those that its operators publish."""

from collections.abc import Mapping
from datetime import date
from typing import Final

from pydantic import JsonValue

from memory.ids import entity_id
from memory.keys import entity_key_parts
from memory.records import Link, Memory, WrittenText
from memory.schema.coerce import coerce_value
from memory.schema.model import EntityProperty, EntityType, ValueType
from memory.times import time_of_microseconds
from operators.entities.entity_state import EntityState, current_states
from operators.errors import EntityStateError
from operators.llm.llm_operator import LLMOperator
from operators.operator import State, UnknownValue, Value
from operators.patches.patch import PatchedText
from operators.publishing import LinkedOperator, Note, Owner, PublishingOperator
from operators.registry import bound_operator, bound_operators

_LONG_FLOAT: Final = 1e15
_KEY_TYPES: Final[frozenset[ValueType]] = frozenset({"int64", "float32", "bool"})
_LIST: Final = "LIST"


def render(state: EntityState, entity_type: EntityType, tenant: str, key: str) -> Memory:
    """The entity as a memory. As to statistics, the same contributions in any order across sources give an equal one.

    Args:
        state: The entity's state, not empty.
        entity_type: Its type.
        tenant: The tenant of the entity.
        key: Its ``GROUP BY`` key, as :func:`memory.keys.entity_key` joins it.

    Returns:
        A memory of kind ``entity``. ``properties`` has the key's parts and every known value. ``content`` is a sentence that names them,
        with ``unknown`` for a value that has to be rebuilt. ``user`` is set where the entity is grouped by user.

    Raises:
        EntityStateError: If the state is empty: such an entity is removed, not rendered.
        memory.errors.KeyFormatError: If the key is not one.
    """
    if state.empty or state.last_time is None:
        raise EntityStateError(f"the entity {entity_type.name}/{key} is empty; it has no memory to render")
    parts = dict(zip(entity_type.keys, entity_key_parts(key), strict=False))
    key_parts = dict(zip(entity_type.key_names, parts.values(), strict=False))
    values = {each.name: _value_of(state, entity_type, each) for each in entity_type.properties if each.name not in key_parts}
    known = _known(values)
    written = _written(state, entity_type, values)
    links, note = _linked(state, entity_type, tenant, key)
    extra = {} if note is None else dict(note.properties)
    names = [part for name, part in parts.items() if name != "event"]
    return Memory(
        id=entity_id(tenant, entity_type.name, key, state.generation),
        tenant=tenant,
        user=parts.get("user"),
        kind="entity",
        type=entity_type.name,
        content=note.content
        if note is not None
        else _sentence(entity_type.name, tuple(key_parts.values()), values, remarks=_remarks(entity_type, values, written)),
        properties={**{name: _key_value(entity_type, name, part) for name, part in key_parts.items()}, **extra, **known},
        keywords=list(dict.fromkeys([*names, *(note.keywords if note is not None else ())])),
        event_time=time_of_microseconds(state.last_time) if note is None else note.event_time,
        date=None if note is None else note.date,
        session=parts.get("session"),
        entity_key=key,
        message_ids=[message_id for _, message_id in state.message_ids],
        extractor=", ".join(sorted(state.extractors)) or None,
        trust=state.lowest_trust,
        unsupported=state.unsupported or None,
        generation=state.generation,
        version=state.version,
        written=written or None,
        since=_since(state, entity_type, known) or None,
        links=list(links) or None,
        expires_at=note.hidden_at if note is not None else None,
    )


def published_memories(state: EntityState | None, entity_type: EntityType, tenant: str, key: str) -> dict[str, Memory]:
    """The memories that all operators of an entity publish, by id.

    Args:
        state: The entity. None: there is none.
        entity_type: Its type.
        tenant: Its tenant.
        key: Its ``GROUP BY`` key.
    """
    return published_changes(None, state, entity_type, tenant, key)[0]


def published_changes(
    before: EntityState | None, after: EntityState | None, entity_type: EntityType, tenant: str, key: str
) -> tuple[dict[str, Memory], set[str]]:
    """The changes of the memories that all operators of an entity publish: new and different ones by id, and the ids of removed ones.

    Args:
        before: The entity before. None: it did not exist.
        after: The entity after. None: it does not exist.
        entity_type: Its type.
        tenant: Its tenant.
        key: Its ``GROUP BY`` key.
    """
    changed: dict[str, Memory] = {}
    removed: set[str] = set()
    trust_before, trust = (None if state is None else state.lowest_trust for state in (before, after))
    for name, bound in sorted(bound_operators(entity_type)):
        if not isinstance(bound.operator, PublishingOperator):
            continue
        old, new = (_inner(state, name, bound.tag) for state in (before, after))
        if old is not new or trust_before != trust:
            owner = Owner(name, entity_type, tenant, key, (after or before or EntityState()).generation)
            wanted, deleted = bound.operator.changes(old, new, owner)
            if trust_before != trust:
                # All of them show the trust of their entity.
                wanted |= bound.operator.changes(None, new, owner)[0]
            changed |= wanted
            removed |= deleted
    if trust is not None:
        changed = {name: memory.model_copy(update={"trust": trust}) for name, memory in changed.items()}
    return changed, removed


def publishes(entity_type: EntityType) -> bool:
    """Whether entities of a type publish memories in addition to their own."""
    return any(isinstance(bound.operator, PublishingOperator) for _, bound in bound_operators(entity_type))


def _inner(state: EntityState | None, name: str, tag: str) -> State | None:
    """The state of a property; None if there is none of the operator with this tag."""
    known_tag, inner = (None, None) if state is None or state.empty else state.properties.get(name, (None, None))
    return inner if known_tag == tag else None


def _linked(state: EntityState, entity_type: EntityType, tenant: str, key: str) -> tuple[list[Link], Note | None]:
    """The links of an entity's memory, and how its operators show it."""
    links: list[Link] = []
    note: Note | None = None
    for name, bound, inner in sorted(current_states(state, entity_type), key=lambda each: each[0]):
        if isinstance(bound.operator, LinkedOperator):
            links.extend(bound.operator.links(inner, Owner(name, entity_type, tenant, key, state.generation)))
            note = note or bound.operator.note(inner)
    return sorted(links, key=lambda each: (-each.score, each.id)), note


def known_values(state: EntityState, entity_type: EntityType) -> dict[str, JsonValue]:
    """The values that an entity's properties have, without the parts of its key.

    Args:
        state: The entity's state; it may be empty.
        entity_type: Its type.
    """
    return _known({each.name: _value_of(state, entity_type, each) for each in entity_type.properties})


def _known(values: Mapping[str, Value]) -> dict[str, JsonValue]:
    return {name: value for name, value in values.items() if value is not None and not isinstance(value, UnknownValue)}


def _value_of(state: EntityState, entity_type: EntityType, each: EntityProperty) -> Value:
    """The value of one property; None if it has none, ``UNKNOWN`` if the entity must be rebuilt from the log first."""
    bound = bound_operator(entity_type, each.name)
    if bound is None or bound.operator is None or each.name not in state.properties:
        return None
    tag, inner = state.properties[each.name]
    if tag != bound.tag:
        return UnknownValue.UNKNOWN
    value = bound.operator.value(inner)
    if value is None or isinstance(value, UnknownValue):
        return value
    coerced = coerce_value(value, each.value_type)
    return UnknownValue.UNKNOWN if coerced is None else coerced


def _written(state: EntityState, entity_type: EntityType, values: Mapping[str, Value]) -> dict[str, WrittenText]:
    """The origin of each known merged text, and of each empty one that agents have edited."""
    texts = {}
    for name, bound, inner in current_states(state, entity_type):
        written = bound.operator.written(inner) if isinstance(bound.operator, LLMOperator) else None
        if written is not None and (isinstance(values.get(name), str) or written.edits):
            texts[name] = written
    return texts


def _since(state: EntityState, entity_type: EntityType, known: Mapping[str, JsonValue]) -> dict[str, list[date]]:
    """The days, in their users' zones, since which the lines of known texts hold that patches edit."""
    return {
        name: [time_of_microseconds(each).date() for each in bound.operator.since(inner)]
        for name, bound, inner in current_states(state, entity_type)
        if name in known and isinstance(bound.operator, PatchedText)
    }


def _remarks(entity_type: EntityType, values: Mapping[str, Value], written: Mapping[str, WrittenText]) -> dict[str, str]:
    """Remarks on properties, by name: an older item of a list may no longer hold, and a text may be stale."""
    lists = (each.name for each in entity_type.properties if entity_type.op_of(each) == _LIST)
    ordered = {name: " (oldest first)" for name in lists if isinstance(value := values.get(name), list) and len(value) > 1}
    return ordered | {name: " (being revised)" for name, text in written.items() if text.stale}


def _key_value(entity_type: EntityType, name: str, part: str) -> JsonValue:
    """A part of a key in the value type of its property."""
    each = entity_type.property(name)
    value = coerce_value(part, each.value_type) if each and each.value_type in _KEY_TYPES else None
    return part if value is None else value


def _sentence(name: str, parts: tuple[str, ...], values: dict[str, Value], *, remarks: Mapping[str, str]) -> str:
    head = f"{_spaced(name)} of {', '.join(parts)}"
    clauses = [f"{_spaced(each)}{remarks.get(each, '')}: {_text(value)}" for each, value in values.items() if value is not None]
    return f"{head}: {'; '.join(clauses)}" if clauses else head


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _text(value: Value) -> str:
    if isinstance(value, UnknownValue):
        return value.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) < _LONG_FLOAT else f"{value:g}"
    if isinstance(value, list):
        return _enumerated([_text(each) for each in value])
    return _enumerated([line.strip() for line in str(value).splitlines() if line.strip()])


def _enumerated(items: list[str]) -> str:
    """Items on one line. A comma does not separate those that have commas: "brother Tom, lives in Graz, Joris" are one or three people."""
    return (" / " if any("," in each for each in items) else ", ").join(items)
