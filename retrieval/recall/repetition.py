"""A fact is told once: an event that an entity beside it says word by word is left to the entity."""

from collections.abc import Iterable, Iterator, Sequence

from memory.records import Memory
from retrieval.recall.deduplication import significant_words
from retrieval.recall.request import RecallHit


def repeated(hits: Iterable[RecallHit], entities: Sequence[Memory]) -> dict[str, str]:
    """By the ids of the hits that an entity repeats, the entity's id.

    An entity repeats an event of its user whose messages it rests on, too, if one line of its values has the event's words in their order.

    Args:
        hits: What was found.
        entities: What is told beside.
    """
    lines: dict[tuple[str | None, tuple[str, ...]], Memory] = {}
    for entity in entities:
        for line in _lines(entity):
            lines.setdefault((entity.user, significant_words(line)), entity)
    told: dict[str, str] = {}
    for hit in hits:
        teller = lines.get((hit.memory.user, significant_words(hit.memory.content))) if hit.memory.kind == "event" else None
        if teller is not None and not set(teller.message_ids).isdisjoint(hit.memory.message_ids):
            told[hit.memory.id] = teller.id
    return told


def _lines(entity: Memory) -> Iterator[str]:
    for value in entity.properties.values():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                yield from text.splitlines()
