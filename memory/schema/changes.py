"""Whether a tenant's entities can go on under another schema. Added and removed types and fields can; an operator cannot become another."""

from collections.abc import Sequence

from memory.schema.model import EntityProperty, EntityType, MemorySchema


def problem_of_change(before: MemorySchema, after: MemorySchema, *, earlier: Sequence[MemorySchema] = ()) -> str | None:
    """Why entities that grew under one schema cannot grow on under another; None: they can.

    What an operator keeps of an entity is its own: another operator, or the same otherwise configured, could neither go on from it nor take
    anything back of it.

    Args:
        before: The schema that they grew under last.
        after: The other one.
        earlier: Schemas that they may have grown under before, the newest first: what they had of a field that was removed is still kept.
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
    """What drove a field in the newest schema that has it; None: none has."""
    for schema in schemas:
        known = schema.entity_type(entity_type)
        each = None if known is None else known.property(name)
        if known is not None and each is not None:
            return _driven_by(each, known)
    return None


def _driven_by(each: EntityProperty, entity_type: EntityType) -> str | None:
    """A field's operator, with all that its state depends on; None for a part of the key."""
    op = entity_type.op_of(each)
    if op is None or each.aggregate is None:
        return op
    parameters = ", ".join(f"{name}={value}" for name, value in each.aggregate.parameters)
    configured = f"{op}({parameters})" if parameters else op
    return configured if entity_type.window is None else f"{configured} over {entity_type.window}"


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(keys)
