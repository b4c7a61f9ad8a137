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

    def event(index: int, each: EventDraft) -> Event:
        return Event(
            id=event_id(window.id, index, generation),
            tenant=window.tenant,
            user=window.user,
            session=window.session,
            window_id=window.id,
            type=each.type,
            content=each.content,
            speaker=each.speaker,
            properties=each.properties,
            importance=each.importance,
            keywords=list(each.keywords),
            event_time=each.event_time,
            date=None if each.date is None else each.date.text,
            said_at=each.said_at,
            segment_id=None if each.segment is None else segments[each.segment].id,
            message_ids=[ids[index] for index in each.messages],
            said=each.said,
            search_text=each.search_text,
            extractor=extractor,
            unsupported=each.unsupported or None,
        )

    def patch(index: int, each: PatchDraft) -> EntityPatch:
        return EntityPatch(
            id=patch_id(window.id, index, generation),
            entity_type=each.entity_type,
            entity_key=each.entity_key,
            field=each.field,
            search=each.search,
            replace=each.replace,
            event_time=each.event_time,
            message_ids=[ids[index] for index in each.messages],
        )

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
        events=[event(index, each) for index, each in enumerate(draft.events)],
        patches=[patch(index, each) for index, each in enumerate(draft.patches)],
        dropped=draft.tally.as_dropped(),
        usage=list(usage),
        window_end=max(message.event_time for message in window.messages),
    )
