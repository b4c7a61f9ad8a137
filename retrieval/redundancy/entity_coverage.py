"""Which events repeat an entity: an event that an entity contains word by word is covered by the entity."""

from collections import defaultdict
from collections.abc import Iterable

from memory.records import Memory
from memory.records.wording import attributed_text
from memory.texts.terms import terms_of
from retrieval.redundancy.significant_words import significant_words
from retrieval.relevance.traits import traits_of
from retrieval.request import RecallHit


def covered_by_entity(hits: Iterable[RecallHit], entities: Iterable[Memory]) -> dict[str, str]:
    """By the id of each hit that an entity covers, the entity's id.

    An entity covers an event of the same user with a common source message if a line of its values has the event's words in their order.

    Args:
        hits: The hits. Only events can be covered.
        entities: The returned entities.
    """
    lines: dict[tuple[str | None, bytes], list[tuple[str, Memory]]] = defaultdict(list)
    for entity in entities:
        for line, telling in traits_of(entity).lines:
            lines[entity.user, telling].append((line, entity))
    covered: dict[str, str] = {}
    if not lines:
        return covered
    for hit in hits:
        if hit.memory.kind == "event" and (alike := lines.get((hit.memory.user, traits_of(hit.memory).telling_shown))):
            by = next((entity for line, entity in alike if _covers(line, entity, hit.memory)), None)
            if by is not None:
                covered[hit.memory.id] = by.id
    return covered


def fields_with_words_of(entity: Memory, texts: Iterable[str]) -> list[str]:
    """The properties of an entity whose value, or a line of it, consists of the words of one of the texts.

    Args:
        entity: An entity or a summary.
        texts: The wordings of a message.
    """
    said = [frozenset(terms_of(text)) for text in texts]
    key = frozenset((entity.entity_key or "").split("/"))
    found = []
    for name, value in entity.properties.items():
        lines = [line for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) for line in text.splitlines()]
        stated = (frozenset(terms_of(line)) for line in lines if line not in key)
        if any(terms and any(terms <= words for words in said) for terms in stated):
            found.append(name)
    return found


def _covers(line: str, entity: Memory, event: Memory) -> bool:
    same_words = significant_words(line) == significant_words(attributed_text(event))
    return same_words and not set(entity.message_ids).isdisjoint(event.message_ids)
