"""The LLM calls that each way of extraction makes for a window, with their prompts and completions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from evaluation.tokens import baseline_prompts
from evaluation.tokens.simulation import EntityChange, SimulatedWindow
from extraction.one_pass.answer import form
from extraction.one_pass.extraction_input import ExtractionInput
from extraction.one_pass.prompt.build import build_prompt
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.port import ExtractionContext
from memory.schema import EntityType, MemorySchema
from memory.texts.fencing import delimiter_for, fenced, one_line
from runtime.settings import ExtractionSettings

_LIMITS: Final = PromptLimits.of(ExtractionSettings())


@dataclass(frozen=True, slots=True)
class Call:
    """One LLM call."""

    prefix: str
    """The constant part of the prompt, which a prefix cache holds."""
    body: str
    completion: str


def one_pass(simulated: SimulatedWindow, schema: MemorySchema) -> Iterator[Call]:
    """One call with EUA: events and patches at once, with the nearest entities in the prompt."""
    patches = [change.patch for change in simulated.changes]
    lists = {form.SEGMENTS: simulated.segments, form.EVENTS: simulated.events, form.PATCHES: patches}
    yield _extraction(simulated, schema, simulated.nearest, lists)


def one_pass_without_eua(simulated: SimulatedWindow, schema: MemorySchema) -> Iterator[Call]:
    """One call for segments and events, then one for each changed entity, which reads the old entity and writes the whole new one.

    The merge of an entity without a key gets all the window's events, and has to find those that concern it.
    """
    yield _extraction(simulated, replace(schema, entity_types=()), (), {form.SEGMENTS: simulated.segments, form.EVENTS: simulated.events})
    yield from _merges(simulated.changes, events=[event[form.CONTENT] for event in simulated.events])


def multi_pass(simulated: SimulatedWindow, schema: MemorySchema) -> Iterator[Call]:
    """One call per memory type over the same messages, then a merge of what each entity's call found.

    An event type's prompt is the one that the extractor compiles for that type alone.
    """
    for event_type in schema.event_types:
        own = [event for event in simulated.events if event[form.TYPE] == event_type.name]
        alone = MemorySchema(name=schema.name, event_types=(event_type,))
        yield _extraction(simulated, alone, (), {form.SEGMENTS: (), form.EVENTS: own})
    for entity_type in form.patched_types(schema):
        own_changes = [change for change in simulated.changes if change.entity.type is entity_type]
        facts = [
            {form.KEY: "/".join(change.entity.key), form.FIELD: change.field, "fact": fact}
            for change in own_changes
            for fact in change.facts
        ]
        body = _extraction(simulated, schema, (), {}).body
        yield Call(_entity_prompt(entity_type), body, _json({"facts": facts}))
    yield from _merges(simulated.changes)


def per_message(simulated: SimulatedWindow, memories: Sequence[str]) -> Iterator[Call]:
    """Two calls per message, as mem0 works: its facts, then how they change the nearest memories.

    Args:
        simulated: The window.
        memories: The memories so far, newest last. The newest stand in for the nearest, which are as long.
    """
    known = list(memories)
    lines = [f"{message.speaker}: {one_line(message.text)}" for message in simulated.annotated.window.messages]
    for index, line in enumerate(lines):
        facts = [each.text for each in simulated.annotated.observations if each.message_indexes[0] == index]
        context = lines[max(0, index - baseline_prompts.LAST_MESSAGES) : index]
        summary = one_line(simulated.annotated.summary)
        body = _fenced(
            {"summary": [summary], "last": context, "newest": [f"{simulated.annotated.window.messages[index].event_time:%Y-%m-%d} {line}"]}
        )
        yield Call(baseline_prompts.MESSAGE_FACTS, body, _json({"facts": facts}))
        if not facts:
            continue
        old = known[-baseline_prompts.NEAREST_MEMORIES * len(facts) :]
        listed = [{"id": str(number), "text": text} for number, text in enumerate(old)]
        updates = [{**each, "event": "NONE"} for each in listed]
        updates += [{"id": str(len(listed) + number), "text": fact, "event": "ADD"} for number, fact in enumerate(facts)]
        yield Call(
            baseline_prompts.MESSAGE_UPDATE, _fenced({"memories": [_json(listed)], "facts": [_json(facts)]}), _json({"memory": updates})
        )
        known += facts


def _extraction(simulated: SimulatedWindow, schema: MemorySchema, nearest: Any, lists: dict[str, Any]) -> Call:
    context = ExtractionContext(session_summary=simulated.before.summary, entities=tuple(nearest))
    prompt = build_prompt(ExtractionInput(simulated.annotated.window, schema), context, _LIMITS)
    return Call(prompt.prefix, prompt.body, form.encode_answer({name: lists[name] for name in form.LISTS if name in lists}))


def _merges(changes: Sequence[EntityChange], *, events: Sequence[str] = ()) -> Iterator[Call]:
    """One call for each changed entity, with all its changes. One without a key gets ``events`` instead, if there are any."""
    by_entity: dict[int, list[EntityChange]] = {}
    for change in changes:
        by_entity.setdefault(id(change.entity), []).append(change)
    for own in by_entity.values():
        changed = list(dict.fromkeys(fact for change in own for fact in change.facts))
        facts = changed if own[0].entity.key else list(events) or changed
        body = _fenced({"fields": [_json(own[0].before)], "statements": [_json(facts)]})
        yield Call(baseline_prompts.MERGE, body, _json(own[-1].after))


def _entity_prompt(entity_type: EntityType) -> str:
    fields = "\n".join(f"- {each.name}: {each.description}" for each in entity_type.patched_properties())
    return baseline_prompts.ENTITY_FACTS.format(name=entity_type.name, description=entity_type.description, fields=fields)


def _fenced(sections: dict[str, list[str]]) -> str:
    nonce = delimiter_for([line for lines in sections.values() for line in lines])
    return "\n".join(fenced(name, lines, nonce) for name, lines in sections.items())


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
