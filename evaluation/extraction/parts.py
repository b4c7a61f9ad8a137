"""The parts of an answer: what each takes in tokens, and memories that go without one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import orjson

from evaluation.recall.memories import UserMemories
from extraction.one_pass.answer import form
from extraction.one_pass.answer.parsing import parse_answer
from memory.records import Extraction, Memory
from memory.schema import MemorySchema
from models.embedding.tokens import count_tokens

_OWN_FIELDS: Final = form.EVENT_FIELDS - {form.PROPERTIES}


def answer_tokens(answers: Iterable[str]) -> dict[str, int]:
    """The tokens of each part over all answers; braces and commas between the parts count nowhere."""
    tokens: Counter[str] = Counter()
    for answer in answers:
        for part, value in _parts_of(answer):
            tokens[part] += count_tokens(orjson.dumps(value).decode())
    return dict(tokens.most_common())


def _parts_of(answer: str) -> Iterator[tuple[str, Any]]:
    lists = parse_answer(answer).lists
    for segment in lists[form.SEGMENTS]:
        yield form.SEGMENTS, segment
    for patch in lists[form.PATCHES]:
        yield form.PATCHES, patch
    for event in lists[form.EVENTS]:
        fields = event if isinstance(event, dict) else {form.CONTENT: event}
        for name, value in fields.items():
            yield (name if name in _OWN_FIELDS else form.PROPERTIES), {name: value}


def variants_of(extractions: Sequence[Extraction], schema: MemorySchema) -> dict[str, list[Memory]]:
    """The memories of a user's windows, and the same without one part: entities, keywords, the search text, or events of a type."""
    user = memories_from(extractions, schema)
    events, entities = user.events, user.entities()
    variants = {
        "all": [*events, *entities],
        "without_entities": events,
        "without_keywords": [*(each.model_copy(update={"keywords": []}) for each in events), *entities],
        "without_search_text": [*(each.model_copy(update={"search_text": None}) for each in events), *entities],
    }
    for name in sorted({each.type for each in events}):
        rest = memories_from([_without(each, name) for each in extractions], schema)
        variants[f"without_{name}"] = [*rest.events, *rest.entities()]
    return variants


def memories_from(extractions: Sequence[Extraction], schema: MemorySchema) -> UserMemories:
    """The memories that the stages derive from one user's extractions, in order."""
    user = UserMemories(schema)
    for extraction in extractions:
        user.add(extraction)
    return user


def _without(extraction: Extraction, event_type: str) -> Extraction:
    return extraction.model_copy(update={"events": [each for each in extraction.events if each.type != event_type]})
