"""Relations without a model: each change of the user's profile states one, or says that one holds no longer."""

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue

from extraction.offline.facts.profile_lines import holds_one, relation_of_line
from memory.keys import entity_key_parts
from memory.records import EntityPatch, Extraction
from memory.relations import ENDS, OBJECT, RELATION, SEVERAL, SUBJECT
from memory.schema.model import EntityProperty, MemorySchema


class StatedRelation(NamedTuple):
    """A relation that a message states."""

    content: str
    """The relation as a sentence."""
    properties: dict[str, JsonValue]
    """The properties of an event of the type :data:`memory.schema.method.RELATION`."""
    message_ids: list[str]


def stated_relations(extraction: Extraction, schema: MemorySchema) -> list[StatedRelation]:
    """The relations that an extraction's patches of profiles state, each once, in the order of the patches.

    The offline extractor makes patches only from plain statements of the user, so the subject is the user.

    Args:
        extraction: A window's extraction without a model.
        schema: The tenant's schema.
    """
    found: dict[tuple[str, str], StatedRelation] = {}
    for patch in extraction.patches:
        entity_type = schema.entity_type(patch.entity_type)
        field = None if entity_type is None else entity_type.property(patch.field)
        if entity_type is None or field is None or "user" not in entity_type.keys:
            continue
        user = entity_key_parts(patch.entity_key)[entity_type.keys.index("user")]
        for each in _of_patch(patch, field, user):
            found.setdefault((user, each.content), each)
    return list(found.values())


def _of_patch(patch: EntityPatch, field: EntityProperty, user: str) -> Iterator[StatedRelation]:
    """A replaced line of a field with one value needs no end: the new value contradicts it."""
    is_single = holds_one(field)
    if patch.search and not (is_single and patch.replace):
        yield from _of_line(patch, field, patch.search, user, ends=True)
    if patch.replace:
        yield from _of_line(patch, field, patch.replace, user, ends=False)


def _of_line(patch: EntityPatch, field: EntityProperty, line: str, user: str, *, ends: bool) -> Iterator[StatedRelation]:
    stated = relation_of_line(field, line)
    if stated is None:
        return
    relation, other = stated
    sentence = f"{user} {relation} {other}"
    properties: dict[str, JsonValue] = {SUBJECT: user, RELATION: relation, OBJECT: other, ENDS: ends, SEVERAL: not holds_one(field)}
    yield StatedRelation(f"No longer: {sentence}" if ends else sentence, properties, patch.message_ids)
