"""The calls that each way of extraction makes for a window: what is sent, and what comes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from evaluation.tokens import others
from evaluation.tokens.scenes import Change, Scene
from extraction.one_pass.answer import form
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.fencing import fenced, nonce_of, one_line
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.one_pass.source import Source
from extraction.port import ExtractionContext
from memory.schema import EntityType, MemorySchema
from runtime.settings import ExtractionSettings

_LIMITS: Final = PromptLimits.of(ExtractionSettings())


@dataclass(frozen=True, slots=True)
class Call:
    """One call."""

    prefix: str
    """The same bytes every time: what a prefix cache holds."""
    body: str
    answer: str


def one_pass(scene: Scene, schema: MemorySchema) -> Iterator[Call]:
    """One call with EUA: events and patches at once, the nearest entities shown."""
    patches = [change.patch for change in scene.changes]
    lists = {form.SEGMENTS: scene.segments, form.EVENTS: scene.events, form.PATCHES: patches}
    yield _extraction(scene, schema, scene.nearest, lists)


def one_pass_without_eua(scene: Scene, schema: MemorySchema) -> Iterator[Call]:
    """One call for segments and events, then one for each entity that they change: the old entity goes in, the whole new one comes out.

    An entity without a key is told all the window's events, for which of them concern it is for the merge to see.
    """
    yield _extraction(scene, replace(schema, entity_types=()), (), {form.SEGMENTS: scene.segments, form.EVENTS: scene.events})
    yield from _merges(scene.changes, told=[event[form.CONTENT] for event in scene.events])


def multi_pass(scene: Scene, schema: MemorySchema) -> Iterator[Call]:
    """One call per memory type over the same messages, then a merge of what each entity's call found.

    Event types are asked for by the prompt that the extractor compiles for that type alone.
    """
    for event_type in schema.event_types:
        own = [event for event in scene.events if event[form.TYPE] == event_type.name]
        alone = MemorySchema(name=schema.name, event_types=(event_type,))
        yield _extraction(scene, alone, (), {form.SEGMENTS: (), form.EVENTS: own})
    for entity_type in form.patched_types(schema):
        own_changes = [change for change in scene.changes if change.entity.type is entity_type]
        facts = [
            {form.KEY: "/".join(change.entity.key), form.FIELD: change.field, "fact": fact}
            for change in own_changes
            for fact in change.facts
        ]
        body = _extraction(scene, schema, (), {}).body
        yield Call(_entity_prompt(entity_type), body, _json({"facts": facts}))
    yield from _merges(scene.changes)


def per_message(scene: Scene, memories: Sequence[str]) -> Iterator[Call]:
    """Two calls per message, as mem0 works: its facts, then what becomes of them beside the nearest memories.

    Args:
        scene: The window.
        memories: What is remembered already, newest last; its newest stand for the nearest, which are as long.
    """
    known = list(memories)
    lines = [f"{message.speaker}: {one_line(message.text)}" for message in scene.annotated.window.messages]
    for place, line in enumerate(lines):
        facts = [each.text for each in scene.annotated.observations if each.places[0] == place]
        context = lines[max(0, place - others.LAST_MESSAGES) : place]
        summary = one_line(scene.annotated.summary)
        body = _fenced(
            {"summary": [summary], "last": context, "newest": [f"{scene.annotated.window.messages[place].event_time:%Y-%m-%d} {line}"]}
        )
        yield Call(others.MESSAGE_FACTS, body, _json({"facts": facts}))
        if not facts:
            continue
        old = known[-others.NEAREST_MEMORIES * len(facts) :]
        shown = [{"id": str(number), "text": text} for number, text in enumerate(old)]
        done = [{**each, "event": "NONE"} for each in shown]
        done += [{"id": str(len(shown) + number), "text": fact, "event": "ADD"} for number, fact in enumerate(facts)]
        yield Call(others.MESSAGE_UPDATE, _fenced({"memories": [_json(shown)], "facts": [_json(facts)]}), _json({"memory": done}))
        known += facts


def _extraction(scene: Scene, schema: MemorySchema, nearest: Any, lists: dict[str, Any]) -> Call:
    context = ExtractionContext(session_summary=scene.before.summary, entities=tuple(nearest))
    prompt = build_prompt(Source(scene.annotated.window, schema), context, _LIMITS)
    return Call(prompt.prefix, prompt.body, form.encode_answer({name: lists[name] for name in form.LISTS if name in lists}))


def _merges(changes: Sequence[Change], *, told: Sequence[str] = ()) -> Iterator[Call]:
    """One call for each entity that changed, with all its changes; one without a key gets ``told`` instead, where that is given."""
    by_entity: dict[int, list[Change]] = {}
    for change in changes:
        by_entity.setdefault(id(change.entity), []).append(change)
    for own in by_entity.values():
        found = list(dict.fromkeys(fact for change in own for fact in change.facts))
        facts = found if own[0].entity.key else list(told) or found
        body = _fenced({"fields": [_json(own[0].before)], "statements": [_json(facts)]})
        yield Call(others.MERGE, body, _json(own[-1].after))


def _entity_prompt(entity_type: EntityType) -> str:
    fields = "\n".join(f"- {each.name}: {each.description}" for each in entity_type.patched_properties())
    return others.ENTITY_FACTS.format(name=entity_type.name, description=entity_type.description, fields=fields)


def _fenced(parts: dict[str, list[str]]) -> str:
    nonce = nonce_of([line for lines in parts.values() for line in lines])
    return "\n".join(fenced(name, lines, nonce) for name, lines in parts.items())


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
