"""The one-shot example of the prompt, made from the schema alone: equal schemas give equal bytes."""

from typing import Any, Final

from pydantic import JsonValue

from extraction.one_pass.answer import form
from extraction.one_pass.prompt.entity_view import entity_heading, field_lines, flat_text
from memory.schema import EntityType, EventType, MemorySchema, Property
from memory.schema.model import ValueType

_WORDS: Final = ("alpha", "beta", "gamma", "delta")
_MAX_PROPERTIES: Final = len(_WORDS)
_CAPTION: Final = """For a conversation such as
@ Tue 2024-03-05 18:30
[0] Ann: Hi Ben, good to see you!"""


def example(schema: MemorySchema) -> str:
    """A short conversation and its right answer under the schema: no greeting, a topic of two ranges, a relative date, a patch."""
    lines = [_CAPTION]
    answer: dict[str, list[Any]] = {form.SEGMENTS: []}
    if schema.event_types:
        event_type = schema.event_types[0]
        properties = event_type.properties[:_MAX_PROPERTIES]
        facts = ", ".join(f"{_words(each.name)} {_spoken(each, index)}" for index, each in enumerate(properties))
        about = _words(event_type.name) + (f" with {facts}" if facts else "")
        lines += [f"[1] Ann: Yesterday there was this {about}.", "[2] Ben: Lovely weather today, by the way."]
        lines += [f"[3] Ben: So that {_words(event_type.name)}, was it the last one?", "[4] Ann: Yes."]
        answer[form.SEGMENTS].append({form.TOPIC: f"Ann's {_words(event_type.name)}", form.RANGES: [[1, 1], [3, 4]]})
        answer[form.EVENTS] = [_event(event_type, properties, f"Ann's last {about} was on 2024-03-04.")]
    if entity_types := form.patched_types(schema):
        entity_type = entity_types[0]
        field = entity_type.patched_properties()[0]
        index = 5 if schema.event_types else 1
        about = "".join(f" of {part}" for part in _key(entity_type))
        lines.append(f"[{index}] Ann: One more thing: {_words(field.name)}{about} is {_WORDS[1]} now, no longer {_WORDS[0]}.")
        lines += [
            "and the entity",
            entity_heading(entity_type.name, _key(entity_type)),
            *field_lines(field.name, _present(field.value_type)),
        ]
        answer[form.SEGMENTS].append({form.TOPIC: f"Ann's {_words(field.name)}", form.RANGES: [[index, index]]})
        answer[form.PATCHES] = [_patch(entity_type, field.name, index)]
    return "\n".join([*lines, "answer", form.encode_answer(answer)])


def _event(event_type: EventType, properties: tuple[Property, ...], content: str) -> dict[str, Any]:
    event: dict[str, Any] = {
        form.TYPE: event_type.name,
        form.MESSAGES: [1, 4],
        form.DATE: "2024-03-04",
        form.CONTENT: content,
    }
    values = {each.name: _value(each.value_type, index) for index, each in enumerate(properties)}
    event |= form.property_fields(values, names=(each.name for each in event_type.properties))
    return event | {form.KEYWORDS: [], form.WEIGHT: 6}


def _patch(entity_type: EntityType, field: str, index: int) -> dict[str, Any]:
    patch: dict[str, Any] = {form.TYPE: entity_type.name}
    if key := _key(entity_type):
        patch[form.KEY] = key
    return patch | {form.FIELD: field, form.MESSAGES: [index], form.SEARCH: _WORDS[0], form.REPLACE: _WORDS[1]}


def _key(entity_type: EntityType) -> list[str]:
    return [_WORDS[3]] * len(form.named_key_parts(entity_type))


def _present(value_type: ValueType) -> str:
    """The field's value before the patch."""
    return flat_text([_WORDS[0], _WORDS[2]] if value_type in ("string", "list<string>") else _WORDS[0])


def _value(value_type: ValueType, index: int) -> JsonValue:
    word = _WORDS[index % len(_WORDS)]
    values: dict[ValueType, JsonValue] = {
        "int64": 1,
        "float32": 1.0,
        "string": word,
        "bool": True,
        "list<int64>": [1, 2],
        "list<float32>": [1.0],
        "list<string>": [word],
        "list<bool>": [True, False],
    }
    return values[value_type]


def _spoken(each: Property, index: int) -> str:
    value = _value(each.value_type, index)
    if isinstance(value, list):
        return " and ".join(map(_as_words, value))
    return _as_words(value)


def _as_words(value: JsonValue) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").strip().lower()
