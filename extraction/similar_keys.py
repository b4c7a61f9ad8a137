"""Key values that mean the same: a topic that an extractor words differently stays one topic. Pure.

Events are grouped by what an extractor calls a thing, and it seldom finds the same words twice. Where a schema gives a part of a key a
``Similarity``, a value that is new takes the name of the present one that it is nearest to. The names alone are compared: an event's text
is nearer to another of the same person than to one of the same matter (docs/internals/adr/0039). A thing has the name that
came first, and no mean of what joined it, so that it does not drift.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from extraction.statements import numbers_in
from memory.errors import KeyFormatError
from memory.keys import entity_key, entity_key_parts, key_part
from memory.records import EntityPatch, Event, Extraction
from memory.schema import MemorySchema
from memory.texts.scripts import INSIDE_WORD
from memory.texts.words import FUNCTION_WORDS
from models.embedding.port import Vector

_LETTER: Final = re.compile(rf"(?<![\w{INSIDE_WORD}])[^\W\d_](?![\w{INSIDE_WORD}])")

Names = Mapping[str, str]
"""For each value of a key the name of the thing that it means."""


def stated_values(extraction: Extraction, schema: MemorySchema) -> dict[str, tuple[str, ...]]:
    """The values that an extraction has for each key that is matched by meaning, in its order, each value once.

    Args:
        extraction: Extraction of a window.
        schema: The schema of the extraction.
    """
    found: dict[str, dict[str, None]] = {key: {} for key in schema.similarities()}
    for event in extraction.events:
        for key, values in found.items():
            if isinstance(event.properties.get(key), str) and (value := key_part(event.properties[key])) is not None:
                values[value] = None
    for patch in extraction.patches:
        for key, value in _parts_of(patch, schema):
            if key in found:
                found[key][value] = None
    return {key: tuple(values) for key, values in found.items() if values}


def names_of(values: Sequence[str], present: Sequence[str], *, vectors: Mapping[str, Vector], similarity: float) -> dict[str, str]:
    """The names of what values mean: a present one, or the value itself where it is the first of its kind.

    Two values with different numbers or letters never mean the same: "release 2.3" and "release 2.4", "plan A" and "plan B" are near each
    other and two things.

    Args:
        values: New ones, in their order. Each may be one with those before it.
        present: The names that are there.
        vectors: Vectors of all of them, of unit length; a value without one is its own name.
        similarity: The least cosine.
    """
    known = list(dict.fromkeys(present))
    by_word = {name.casefold(): name for name in reversed(known)}
    names: dict[str, str] = {}
    for value in values:
        name = by_word.get(value.casefold()) or _nearest(value, known, vectors, similarity)
        if name is None:
            name = value
            known.append(name)
            by_word[name.casefold()] = name
        names[value] = name
    return names


def with_names(extraction: Extraction, schema: MemorySchema, names: Mapping[str, Names]) -> Extraction:
    """An extraction whose events and patches have the names.

    Args:
        extraction: Extraction of a window.
        schema: The schema of the extraction.
        names: For each key, those of the values that :func:`stated_values` found.
    """
    return extraction.model_copy(
        update={
            "events": [_named_event(each, names) for each in extraction.events],
            "patches": [_named_patch(each, schema, names) for each in extraction.patches],
        }
    )


def _nearest(value: str, known: Sequence[str], vectors: Mapping[str, Vector], similarity: float) -> str | None:
    if value not in vectors:
        return None
    near = [
        (cosine, name)
        for name in known
        if name in vectors and (cosine := float(vectors[name] @ vectors[value])) >= similarity and _marks_in(name) == _marks_in(value)
    ]
    # Of equally near ones the last in the alphabet, in whichever order the store names them.
    return max(near)[1] if near else None


def _marks_in(value: str) -> frozenset[str]:
    """Parts that distinguish things of one kind: numbers, and single letters."""
    return numbers_in(value) | frozenset(_LETTER.findall(value.casefold())) - FUNCTION_WORDS


def _named_event(event: Event, names: Mapping[str, Names]) -> Event:
    changed = {
        key: name
        for key, of_key in names.items()
        if isinstance(value := event.properties.get(key), str) and (name := of_key.get(key_part(value) or "")) is not None
    }
    return event.model_copy(update={"properties": event.properties | changed}) if changed else event


def _named_patch(patch: EntityPatch, schema: MemorySchema, names: Mapping[str, Names]) -> EntityPatch:
    parts = list(_parts_of(patch, schema))
    named = [names.get(key, {}).get(value, value) for key, value in parts]
    return patch.model_copy(update={"entity_key": entity_key(*named)}) if parts else patch


def _parts_of(patch: EntityPatch, schema: MemorySchema) -> Iterator[tuple[str, str]]:
    """The keys of a patch's entity with their values; empty if the schema lacks the entity, or the key is invalid."""
    entity_type = schema.entity_type(patch.entity_type)
    if entity_type is None:
        return
    try:
        parts = entity_key_parts(patch.entity_key)
    except KeyFormatError:
        return
    if len(parts) == len(entity_type.keys):
        yield from zip(entity_type.keys, parts, strict=True)
