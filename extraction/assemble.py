"""Turns a valid draft into the records of an extraction."""

from collections.abc import Sequence

from extraction.drafts import Draft, EventDraft, PatchDraft
from memory.ids import event_id, message_id, patch_id, segment_id
from memory.records import EntityPatch, Event, Extraction, Segment, Usage, Window
from memory.schema import MemorySchema


def message_ids(window: Window) -> list[str]:
    """The ids of a window's messages, in order; one made from its index where the window was built without."""
    return [
        message.id or message_id(window.tenant, window.session, f"{window.id}/{index}") for index, message in enumerate(window.messages)
    ]


def build_extraction(
    draft: Draft, *, window: Window, schema: MemorySchema, extractor: str, generation: str, usage: Sequence[Usage]
) -> Extraction:
    """The extraction of a window. Ids are made from the window's id and each item's index: the same draft gives the same records.

    Args:
        draft: The valid items of the answer.
        window: The window it was made from.
        schema: The schema it keeps.
        extractor: Stamped on every event.
        generation: Empty for the live one.
        usage: Usage of the model calls.
    """
    ids = message_ids(window)
    segments = [
        Segment(id=segment_id(window.id, index, generation), topic=segment.topic, ranges=list(segment.ranges))
        for index, segment in enumerate(draft.segments)
    ]
    events = [
        _event(event_id(window.id, index, generation), each, window, ids=ids, segments=segments, extractor=extractor)
        for index, each in enumerate(draft.events)
    ]
    patches = [_patch(patch_id(window.id, index, generation), each, ids=ids) for index, each in enumerate(draft.patches)]
    return Extraction(
        window_id=window.id,
        tenant=window.tenant,
        user=window.user,
        session=window.session,
        sequence=window.sequence,
        generation=generation,
        extractor=extractor,
        schema_name=schema.name,
        message_ids=ids,
        segments=segments,
        events=events,
        patches=patches,
        dropped=draft.tally.as_dropped(),
        usage=list(usage),
        window_end=max(message.event_time for message in window.messages),
    )


def _event(name: str, draft: EventDraft, window: Window, *, ids: Sequence[str], segments: Sequence[Segment], extractor: str) -> Event:
    return Event(
        id=name,
        tenant=window.tenant,
        user=window.user,
        session=window.session,
        window_id=window.id,
        type=draft.type,
        content=draft.content,
        speaker=draft.speaker,
        properties=draft.properties,
        importance=draft.importance,
        keywords=list(draft.keywords),
        event_time=draft.event_time,
        date=None if draft.date is None else draft.date.text,
        said_at=draft.said_at,
        segment_id=None if draft.segment is None else segments[draft.segment].id,
        message_ids=[ids[index] for index in draft.messages],
        said=draft.said,
        search_text=draft.search_text,
        extractor=extractor,
        unsupported=draft.unsupported or None,
    )


def _patch(name: str, draft: PatchDraft, *, ids: Sequence[str]) -> EntityPatch:
    return EntityPatch(
        id=name,
        entity_type=draft.entity_type,
        entity_key=draft.entity_key,
        field=draft.field,
        search=draft.search,
        replace=draft.replace,
        event_time=draft.event_time,
        message_ids=[ids[index] for index in draft.messages],
    )
