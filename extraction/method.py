"""Adds to an extraction what a memory method needs: archived turns, segments, relations, and the vectors that operators compare."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from extraction.assemble import message_ids
from extraction.offline.events.quotations import quotations
from extraction.offline.extractor import NAME as OFFLINE
from extraction.port import ExtractionContext, Extractor, ExtractorLayer, Quotation
from extraction.relations import stated_relations
from memory.ids import event_id
from memory.records import Event, Extraction, Message, Segment, Window
from memory.records.wording import indexed_text
from memory.schema.method import RELATION, SEGMENT, TURN
from memory.schema.model import MemorySchema
from memory.schema.operator_specs import driving_event_types
from memory.texts.text import shortened
from memory.vectors import encode_vector
from models.embedding.port import Embedder

MAX_SEGMENT: Final = 2_000
"""Most characters of a segment's text."""
_IMPORTANCE: Final = 0.3
"""Importance of archived text, which no model has judged."""


class MethodExtractor(ExtractorLayer):
    """Adds to another extractor's result what the schema's method archives and compares.

    Args:
        extractor: The other extractor, closed with this one.
        embedder: The model of the vectors; not closed.
    """

    def __init__(self, extractor: Extractor, embedder: Embedder) -> None:
        super().__init__(extractor)
        self._embedder = embedder

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """See :meth:`extraction.port.Extractor.extract`."""
        compared = compared_types(schema)
        if schema.method is None and not compared:
            return await self._extractor.extract(window, schema, context)
        found = await self._extractor.extract(window, schema.without_event_types(TURN, SEGMENT), context)
        events = list(found.events)
        if schema.method is not None:
            events += derived_events(found, window, schema, quotations(window, context.recalled_hashes))
        return found.model_copy(update={"events": await self._with_vectors(events, compared)})

    async def _with_vectors(self, events: Sequence[Event], compared: Collection[str]) -> list[Event]:
        texts = list(dict.fromkeys(indexed_text(each) for each in events if each.type in compared))
        embeddings = await self._embedder.embed_documents(texts) if texts else []
        vectors = {text: encode_vector(each.dense) for text, each in zip(texts, embeddings, strict=True)}
        return [each if each.type not in compared else each.model_copy(update={"vector": vectors[indexed_text(each)]}) for each in events]


def compared_types(schema: MemorySchema) -> frozenset[str]:
    """The event types whose vectors an operator of the schema needs."""
    return driving_event_types(schema, lambda spec: spec.input == "embedded")


def derived_events(extraction: Extraction, window: Window, schema: MemorySchema, quoted: Mapping[int, Quotation]) -> list[Event]:
    """The events that a method derives from a window's messages. Messages without a quotation give none: fillers, echoes of recalls.

    Args:
        extraction: The window's extraction, with the segments.
        window: The messages.
        schema: The tenant's schema, with the method.
        quoted: The words of each message, by its index.
    """
    method = schema.method
    if method is None:
        return []
    derived: list[_Derived] = []
    if method.archives_turns:
        derived += _turns(window, quoted)
    if method.extracts_segments:
        derived += _segments(extraction, window, quoted)
    if method.extracts_relations and extraction.extractor == OFFLINE:
        derived += _relations(extraction, window, schema)
    ids = message_ids(window)
    return [_event(each, extraction, window, ids, place) for place, each in enumerate(derived, start=len(extraction.events))]


class _Derived(NamedTuple):
    """An event that a method derives from messages of a window."""

    type: str
    indices: Sequence[int]
    """The messages, by their indices in the window."""
    content: str
    fields: Mapping[str, object]
    """The fields that only events of this type have."""


def _turns(window: Window, quoted: Mapping[int, Quotation]) -> Iterator[_Derived]:
    for index in sorted(quoted):
        content, speaker = _words(window.messages[index], quoted[index])
        yield _Derived(TURN, [index], content, {"speaker": speaker, "search_text": quoted[index].search_text})


def _segments(extraction: Extraction, window: Window, quoted: Mapping[int, Quotation]) -> Iterator[_Derived]:
    for segment in extraction.segments:
        for indices in _members(segment, window, quoted):
            text = "\n".join(quoted[index].said for index in indices)
            fields = {"properties": {"topic": segment.topic}, "segment_id": segment.id}
            yield _Derived(SEGMENT, indices, shortened(text, MAX_SEGMENT), fields)


def _relations(extraction: Extraction, window: Window, schema: MemorySchema) -> Iterator[_Derived]:
    indices_of = {message_id: index for index, message_id in enumerate(message_ids(window))}
    for relation in stated_relations(extraction, schema):
        indices = [indices_of[each] for each in relation.message_ids]
        yield _Derived(RELATION, indices, relation.content, {"properties": relation.properties})


def _event(derived: _Derived, extraction: Extraction, window: Window, ids: Sequence[str], place: int) -> Event:
    newest = max(window.messages[index].event_time for index in derived.indices)
    return Event(
        id=event_id(window.id, place, extraction.generation),
        tenant=window.tenant,
        user=window.user,
        session=window.session,
        window_id=window.id,
        type=derived.type,
        content=derived.content,
        importance=_IMPORTANCE,
        event_time=newest,
        said_at=newest,
        message_ids=[ids[index] for index in derived.indices],
        extractor=extraction.extractor,
        **derived.fields,
    )


def _words(message: Message, quoted: Quotation) -> tuple[str, str | None]:
    """A message's own words and its speaker; of a message without words, the description of its tool call."""
    speaker = message.speaker or message.role
    prefix = f"{speaker}: "
    return (quoted.said.removeprefix(prefix), speaker) if quoted.said.startswith(prefix) else (quoted.said, None)


def _members(segment: Segment, window: Window, quoted: Mapping[int, Quotation]) -> list[list[int]]:
    """The quoted messages of a segment. In a shared window each user has a part: no user's memory holds the words of another."""
    indices = [index for start, end in segment.ranges for index in range(start, end + 1) if index in quoted]
    if not window.users:
        return [indices] if indices else []
    parts = ([index for index in indices if window.messages[index].user == user] for user in window.users)
    return [part for part in parts if part]
