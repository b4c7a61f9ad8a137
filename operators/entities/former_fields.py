"""Types and fields that a schema no longer has: they get no new events, but existing values can still be read."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from memory.records import Contribution
from memory.schema.model import EntityProperty, EntityType, MemorySchema
from operators.entities.entity_state import EntityState
from operators.registry import bind


def has_former_fields(state: EntityState, entity_type: EntityType) -> bool:
    """Whether an entity has values of fields that its type no longer has."""
    return any(entity_type.property(name) is None for name in state.properties)


def with_former_fields(
    state: EntityState, entity_type: EntityType, former: Iterable[EntityType], *, names: Collection[str] | None = None
) -> EntityType:
    """The entity type as it takes to render an entity, or take something back of it, with the fields that are only the entity's any more.

    Args:
        state: The entity.
        entity_type: Its type.
        former: The type in other schemas of the entity, newest first.
        names: The wanted fields; None: all fields of which the entity has a value.
    """
    wanted = state.properties if names is None else [name for name in state.properties if name in names]
    missing = {name for name in wanted if entity_type.property(name) is None}
    found: list[EntityProperty] = []
    for each_type in former:
        for former_field in each_type.properties:
            bound = bind(former_field, entity_type) if former_field.name in missing else None
            if bound is not None and bound.tag == state.properties[former_field.name][0]:
                found.append(former_field)
                missing.discard(former_field.name)
        if not missing:
            break
    return replace(entity_type, properties=(*entity_type.properties, *found)) if found else entity_type


def former_part(contributions: Iterable[Contribution], schema: MemorySchema) -> tuple[Contribution, ...]:
    """The contributions reduced to changes of types and fields that the schema no longer has; those without such a change are left out."""
    return _part(contributions, schema, is_former=True)


def present_part(contributions: Iterable[Contribution], schema: MemorySchema) -> tuple[Contribution, ...]:
    """The contributions reduced to changes of types and fields that the schema has; those without such a change are left out."""
    return _part(contributions, schema, is_former=False)


def _part(contributions: Iterable[Contribution], schema: MemorySchema, *, is_former: bool) -> tuple[Contribution, ...]:
    parts = []
    for contribution in contributions:
        entity_type = schema.entity_type(contribution.entity_type)
        changes = [
            change for change in contribution.changes if (entity_type is None or entity_type.property(change.property) is None) is is_former
        ]
        if changes:
            parts.append(contribution.model_copy(update={"changes": changes}))
    return tuple(parts)
