"""A fact is told once: an event that an entity says word by word is left to the entity."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from memory.records import Memory
from memory.records.wording import attributed_text
from retrieval.deduplication import significant_words, telling_characters
from retrieval.request import RecallHit


def covered_by_entity(hits: Iterable[RecallHit], entities: Iterable[Memory]) -> dict[str, str]:
    """By the ids of the hits that an entity repeats, the entity's id.

    An entity repeats an event of its user whose messages it rests on, too, if one line of its values has the event's words in their order.

    Args:
        hits: What was found. Only events are repeated: an entity among them stands, whatever another says.
        entities: What is told: beside the hits, and among them.
    """
    lines: dict[tuple[str | None, bytes], list[tuple[str, Memory]]] = defaultdict(list)
    for entity in entities:
        for line in _lines(entity):
            lines[entity.user, telling_characters(line)].append((line, entity))
    told: dict[str, str] = {}
    if not lines:
        return told
    for hit in hits:
        if hit.memory.kind == "event" and (alike := lines.get((hit.memory.user, telling_characters(attributed_text(hit.memory))))):
            teller = next((entity for line, entity in alike if _says(line, entity, hit.memory)), None)
            if teller is not None:
                told[hit.memory.id] = teller.id
    return told


def _says(line: str, entity: Memory, event: Memory) -> bool:
    same_words = significant_words(line) == significant_words(attributed_text(event))
    return same_words and not set(entity.message_ids).isdisjoint(event.message_ids)


def _lines(entity: Memory) -> Iterator[str]:
    for value in entity.properties.values():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                yield from text.splitlines()
