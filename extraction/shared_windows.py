"""Shared windows, which hold messages of several users: each event and patch belongs to the user who stated it.

That is the user of the first message of its evidence that a person wrote: an answer to the assistant's question belongs to the one who
answers. What only the assistant said belongs to the user whom the assistant's message names.
"""

from collections.abc import Sequence

from extraction.port import ExtractionContext, ExtractorLayer
from memory.errors import KeyFormatError
from memory.ids import event_id, patch_id, segment_id, window_part_id
from memory.keys import entity_key, entity_key_parts
from memory.records import Dropped, EntityPatch, Event, Extraction, Message, Segment, Window
from memory.schema.model import MemorySchema


def part_of_window(window: Window, user: str) -> Window:
    """A shared window as the window of one of its users, with all messages."""
    return window.model_copy(update={"id": window_part_id(window.id, user), "user": user, "users": []})


def parts_of(extraction: Extraction, window: Window, schema: MemorySchema) -> list[Extraction]:
    """The extraction of each user of a shared window, in the window's order of users.

    Ids follow from the part of the window and the index in it. What was dropped, and the cost, are in the first part only.

    Args:
        extraction: The extraction of the whole window.
        window: The shared window.
        schema: The schema that was used.
    """
    authors = _Authors(window)
    return [
        _part(extraction, window, user, authors, schema, update={} if index == 0 else {"dropped": [], "usage": []})
        for index, user in enumerate(window.users)
    ]


class PerUserExtractor(ExtractorLayer):
    """Extracts a shared window once for each of its users, with an extractor that takes all messages of a window as one user's."""

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """See :meth:`extraction.port.Extractor.extract`."""
        if not window.users:
            return await self._extractor.extract(window, schema, context)
        authors = _Authors(window)
        found = [await self._extractor.extract(_as_heard_by(window, user), schema, context) for user in window.users]
        own = list(zip(window.users, found, strict=True))
        events = [each for user, one in own for each in one.events if authors.of(each.message_ids) == user]
        patches = [each for user, one in own for each in one.patches if authors.of(each.message_ids) == user]
        places = {message_id: index for index, message_id in enumerate(found[0].message_ids)}
        events.sort(key=lambda each: places[each.message_ids[0]])
        generation = context.generation
        return found[0].model_copy(
            update={
                "window_id": window.id,
                "segments": [
                    each.model_copy(update={"id": segment_id(window.id, index, generation)}) for index, each in enumerate(found[0].segments)
                ],
                "events": [
                    each.model_copy(update={"id": event_id(window.id, index, generation), "segment_id": None})
                    for index, each in enumerate(events)
                ],
                "patches": [each.model_copy(update={"id": patch_id(window.id, index, generation)}) for index, each in enumerate(patches)],
            }
        )


def _as_heard_by(window: Window, user: str) -> Window:
    """The window of one user: what other users say is said to this user, and sets nothing in this user's profile."""
    messages = [each if each.user == user else _said_by_other(each) for each in window.messages]
    return part_of_window(window, user).model_copy(update={"messages": messages})


def _said_by_other(message: Message) -> Message:
    if message.role != "user":
        return message
    return message.model_copy(update={"role": "assistant", "speaker": message.speaker or message.user})


def _part(
    extraction: Extraction,
    window: Window,
    user: str,
    authors: "_Authors",
    schema: MemorySchema,
    *,
    update: dict[str, list[Dropped]],
) -> Extraction:
    part, generation = window_part_id(window.id, user), extraction.generation
    segments = {each.id: segment_id(part, index, generation) for index, each in enumerate(extraction.segments)}
    events = [each for each in extraction.events if authors.of(each.message_ids) == user]
    patches = [each for each in extraction.patches if authors.of(each.message_ids) == user]

    def event(index: int, each: Event) -> Event:
        segment = None if each.segment_id is None else segments.get(each.segment_id)
        own = {"id": event_id(part, index, generation), "user": user, "window_id": part, "segment_id": segment}
        return each.model_copy(update=own)

    def patch(index: int, each: EntityPatch) -> EntityPatch:
        own = {"id": patch_id(part, index, generation), "entity_key": _key_of(each, user, schema)}
        return each.model_copy(update=own)

    def segment(each: Segment) -> Segment:
        return each.model_copy(update={"id": segments[each.id]})

    return extraction.model_copy(
        update={
            "window_id": part,
            "user": user,
            "segments": [segment(each) for each in extraction.segments],
            "events": [event(index, each) for index, each in enumerate(events)],
            "patches": [patch(index, each) for index, each in enumerate(patches)],
            **update,
        }
    ).with_sources_in_use()


def _key_of(patch: EntityPatch, user: str, schema: MemorySchema) -> str:
    """The patch's entity, with the user of its message. A key that cannot be read stays; the events stage counts such patches."""
    entity_type = schema.entity_type(patch.entity_type)
    if entity_type is None or "user" not in entity_type.keys:
        return patch.entity_key
    try:
        parts = dict(zip(entity_type.keys, entity_key_parts(patch.entity_key), strict=True))
    except (KeyFormatError, ValueError):
        return patch.entity_key
    return entity_key(*({**parts, "user": user}[key] for key in entity_type.keys))


class _Authors:
    """The users of a window's messages. No two users have messages of the same id in one window."""

    def __init__(self, window: Window) -> None:
        self._messages = {message.id or "": message for message in window.messages}

    def of(self, evidence: Sequence[str]) -> str | None:
        """The user who stated what the evidence shows; None if the window lacks the first message."""
        found = [self._messages.get(each) for each in evidence]
        by_people = (each for each in found if each is not None and each.role == "user")
        first = next(by_people, found[0])
        return None if first is None else first.user


def users_to_show(window: Window, most: int) -> list[str]:
    """The users of a window whose entities are shown: those with the most messages."""
    if not window.users:
        return [window.user]
    counts = dict.fromkeys(window.users, 0)
    for message in window.messages:
        counts[message.user] = counts.get(message.user, 0) + 1
    return sorted(counts, key=lambda user: -counts[user])[:most]
