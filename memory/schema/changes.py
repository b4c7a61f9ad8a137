"""Checks whether entities can be continued under another schema: types and fields may come and go, operators may not change."""

from collections.abc import Sequence

from memory.schema.model import EntityProperty, EntityType, MemorySchema


def problem_of_change(before: MemorySchema, after: MemorySchema, *, earlier: Sequence[MemorySchema] = ()) -> str | None:
    """The reason why entities cannot be continued under another schema; None: they can.

    An operator's state is specific to it: another operator, or the same one with other parameters, could neither continue nor retract it.

    Args:
        before: The entities' current schema.
        after: The new schema.
        earlier: Earlier schemas of the entities, newest first: the state of removed fields is still stored.
    """
    for entity_type in after.entity_types:
        known = before.entity_type(entity_type.name)
        if known is not None and known.keys != entity_type.keys:
            return f"the entity type {entity_type.name} is grouped by {_listed(known.keys)}, and would be by {_listed(entity_type.keys)}"
        for each in entity_type.properties:
            former = _driven_formerly(each.name, [before, *earlier], entity_type.name)
            driven = _driven_by(each, entity_type)
            if former is not None and driven is not None and former != driven:
                return f"the field {each.name} of the entity type {entity_type.name} is made by {former}, and would be by {driven}"
    return None


def _driven_formerly(name: str, schemas: Sequence[MemorySchema], entity_type: str) -> str | None:
    """The operator of a field in the newest schema that has the field; None: none has it."""
    for schema in schemas:
        known = schema.entity_type(entity_type)
        each = None if known is None else known.property(name)
        if known is not None and each is not None:
            return _driven_by(each, known)
    return None


def _driven_by(each: EntityProperty, entity_type: EntityType) -> str | None:
    """A field's operator, with everything that its state depends on; None for a part of the key."""
    op = entity_type.op_of(each)
    if op is None or each.aggregate is None:
        return op
    parameters = ", ".join(f"{name}={value}" for name, value in each.aggregate.parameters)
    configured = f"{op}({parameters})" if parameters else op
    return configured if entity_type.window is None else f"{configured} over {entity_type.window}"


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(keys)
