"""Fields that a schema has no more: nothing comes to them, and what an entity had of them can still be read."""

from collections.abc import Iterable
from dataclasses import replace

from memory.schema.model import EntityProperty, EntityType
from operators.entity_state import EntityState
from operators.registry import driver_of


def has_former_fields(state: EntityState, entity_type: EntityType) -> bool:
    """Whether an entity has something of fields that its type has no more."""
    return any(entity_type.property(name) is None for name in state.properties)


def with_former_fields(state: EntityState, entity_type: EntityType, former: Iterable[EntityType]) -> EntityType:
    """The entity type as it takes to render an entity, with the fields that are only the entity's any more.

    Args:
        state: The entity.
        entity_type: Its type.
        former: The type as earlier schemas had it, the newest first.
    """
    missing = {name for name in state.properties if entity_type.property(name) is None}
    found: list[EntityProperty] = []
    for each_type in former:
        for each in each_type.properties:
            driver = driver_of(each, entity_type) if each.name in missing else None
            if driver is not None and driver.tag == state.properties[each.name][0]:
                found.append(each)
                missing.discard(each.name)
        if not missing:
            break
    return replace(entity_type, properties=(*entity_type.properties, *found)) if found else entity_type
