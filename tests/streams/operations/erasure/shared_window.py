"""A user's part of a shared window, and its retraction."""

from memory.ids import window_id, window_part_id
from memory.records import Extraction, MessageRetraction, Segment
from tests.streams.agent_extractions import TENANT, extraction

USER = "bob"
WINDOW = window_id(TENANT, "s1", 0)
PART = window_part_id(WINDOW, USER)


def shared(revision: int, said: dict[str, list[str]], *, generation: str = "", extractor: str = "offline") -> Extraction:
    """An extraction of the user's part of a window: events by content, each with its messages."""
    made = extraction(0, [("grep", 0)] * len(said), generation=generation)
    events = [
        each.model_copy(
            update={"content": content, "message_ids": ids, "window_id": PART, "user": USER, "search_text": f"asked: {content}"}
        )
        for each, (content, ids) in zip(made.events, said.items(), strict=True)
    ]
    segments = [Segment(id="s", topic="what was said", ranges=[(0, 1)])]
    own = {"window_id": PART, "user": USER, "revision": revision, "events": events, "segments": segments, "extractor": extractor}
    return made.model_copy(update=own)


def retraction(revision: int, *messages: str, is_erasure: bool = True, part: str = PART) -> MessageRetraction:
    return MessageRetraction(tenant=TENANT, user=USER, window_id=part, revision=revision, message_ids=list(messages), is_erasure=is_erasure)
