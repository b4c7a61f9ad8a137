"""Patches of a user's earlier windows on the entities in a window's prompt, for entities that do not have them yet. Pure.

A window's patches reach an entity through two other stages. The user's next window must see their effect earlier: the lines that they add,
and those that they remove. The last word on each line counts, so the patches can be applied to any version of the entity, with none, some
or all of them.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime

from memory.ids import entity_id
from memory.keys import entity_key_parts
from memory.records import EntityPatch, Extraction, Memory, Window
from memory.schema.model import EntityProperty, MemorySchema
from operators.errors import RefusedChangeError
from operators.patches.dated_text import DatedText
from operators.patches.patch import patch_of
from operators.patches.patch_edit import Patch, text_of_value, value_of
from operators.work import WorkBudget
from runtime.redis.recent_patches import RecentPatch


def patches_of(extraction: Extraction, schema: MemorySchema, shown: Iterable[Memory]) -> tuple[RecentPatch, ...]:
    """Effect of an extraction's patches on the entities in its window's prompt, without patches that have no effect there.

    Patches that cost more work than one contribution may are dropped as well.
    """
    entities = {(each.type, each.entity_key): each for each in shown}
    texts: dict[tuple[str, str, str], DatedText] = {}
    found = []
    work = WorkBudget()
    for patch in extraction.patches:
        field = _property_of(schema, patch.entity_type, patch.field)
        if field is None:
            continue
        place = (patch.entity_type, patch.entity_key, patch.field)
        before = texts[place] if place in texts else _text_of(entities.get((patch.entity_type, patch.entity_key)), field)
        try:
            after = before.patched(_in_days(patch), field.value_type, work)
        except RefusedChangeError:
            continue
        # An entity knows more about former lines than this window does.
        texts[place] = DatedText(after.text, after.since)
        removed, added = (tuple(line for line in one.since if line not in other.since) for one, other in ((before, after), (after, before)))
        if removed or added:
            found.append(
                RecentPatch(
                    entity_type=patch.entity_type,
                    entity_key=patch.entity_key,
                    field=patch.field,
                    removed=removed,
                    added=added,
                    event_time=patch.event_time,
                    message_ids=tuple(patch.message_ids),
                )
            )
    return tuple(found)


def with_recent_patches(
    found: Sequence[Memory], patches: Sequence[RecentPatch], *, window: Window, schema: MemorySchema, generation: str
) -> tuple[Memory, ...]:
    """Entities with the patches of earlier windows.

    Args:
        found: The entities as read, nearest first.
        patches: Patches of the user's earlier windows, in order.
        window: The window whose prompt they are for.
        schema: The generation's schema.
        generation: The generation of memories.

    Returns:
        The entities found, in their order. Entities that no stage has yet come first if the window names them, or if the user has only one
        of the type; otherwise last.
    """
    by_entity: dict[tuple[str, str], list[RecentPatch]] = {}
    for patch in patches:
        by_entity.setdefault((patch.entity_type, patch.entity_key), []).append(patch)
    known = [_overlaid(each, by_entity.pop((each.type, each.entity_key or ""), []), schema) for each in found]
    created = [entity for own in by_entity.values() if (entity := _created(own, window, schema, generation)) is not None]
    text = " ".join(message.text for message in window.messages).casefold()
    named = [each for each in created if all(part.casefold() in text for part in _named_parts(each, window))]
    return (*named, *known, *(each for each in created if each not in named))


def _overlaid(entity: Memory, patches: Sequence[RecentPatch], schema: MemorySchema) -> Memory:
    """An entity with the patches that it lacks. Windows reach it in order, so it has all patches up to the last window that it names."""
    has = set(entity.message_ids)
    last = max((index for index, each in enumerate(patches) if not has.isdisjoint(each.message_ids)), default=-1)
    missing = patches[last + 1 :]
    if not missing:
        return entity
    properties, dates = dict(entity.properties), dict(entity.since or {})
    for name in dict.fromkeys(each.field for each in missing):
        field = _property_of(schema, entity.type, name)
        if field is None:
            continue
        lines = _text_of(entity, field).since
        for each in (each for each in missing if each.field == name):
            lines = _with_lines(lines, each)
        value = value_of("\n".join(lines), field.value_type)
        properties.pop(name, None)
        dates.pop(name, None)
        if value is not None:
            properties[name] = value
            days = [day for line, day in lines.items() if line.strip()]
            if all(days):
                dates[name] = [date.fromordinal(day) for day in days]
    return entity.model_copy(update={"properties": properties, "since": dates or None})


def _with_lines(lines: dict[str, int], patch: RecentPatch) -> dict[str, int]:
    """Lines, each with its day, after a patch. The patch removes no line that is valid since a later day than the patch."""
    day = _day_of(patch.event_time)
    removed = {line for line in patch.removed if line in lines and lines[line] <= day}
    added = {line: day for line in patch.added if line not in lines}
    result: dict[str, int] = {}
    for line, since in lines.items():
        if line in removed:
            result |= added
        else:
            result[line] = since
    return result | added


def _created(patches: Sequence[RecentPatch], window: Window, schema: MemorySchema, generation: str) -> Memory | None:
    """An entity that no stage has yet; None if it is empty."""
    first, last = patches[0], max(each.event_time for each in patches)
    empty = Memory(
        id=entity_id(window.tenant, first.entity_type, first.entity_key, generation),
        tenant=window.tenant,
        user=window.user,
        kind="entity",
        type=first.entity_type,
        content=first.entity_type,
        event_time=last,
        entity_key=first.entity_key,
        generation=generation,
    )
    entity = _overlaid(empty, patches, schema)
    return entity if entity.properties else None


def _named_parts(entity: Memory, window: Window) -> list[str]:
    return [part for part in entity_key_parts(entity.entity_key or "") if part not in (window.user, window.session)]


def _in_days(patch: EntityPatch) -> Patch:
    return patch_of({"search": patch.search, "replace": patch.replace}, time=_day_of(patch.event_time), source_id=patch.id)


def _day_of(time: datetime) -> int:
    return time.date().toordinal()


def _property_of(schema: MemorySchema, type_name: str, name: str) -> EntityProperty | None:
    entity_type = schema.entity_type(type_name)
    patched = () if entity_type is None else entity_type.patched_properties()
    return next((each for each in patched if each.name == name), None)


def _text_of(entity: Memory | None, field: EntityProperty) -> DatedText:
    """A field's text, and the days since when its lines are valid; 0 if unknown."""
    value = None if entity is None else entity.properties.get(field.name)
    try:
        text = "" if value is None else text_of_value(value, field.value_type)
    except RefusedChangeError:
        # The schema has changed the type since.
        text = ""
    lines = [line for line in text.splitlines() if line.strip()]
    dates = ((entity.since if entity is not None else None) or {}).get(field.name, [])
    days = [each.toordinal() for each in dates] if len(dates) == len(lines) else [0] * len(lines)
    return DatedText("\n".join(lines), dict(zip(lines, days, strict=True)))
