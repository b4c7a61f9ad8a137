"""Extraction of windows with tool turns of other APIs, automated turns and export placeholders."""

from typing import Any

from extraction.port import ExtractionContext
from extraction.viewed import ViewedExtractor
from memory.records import Extraction, Window
from memory.schema import MemorySchema, scenario
from tests.memory.sample_windows import window_of


class EventPerMessage:
    """An extractor that states what it reads."""

    name = "test"

    def __init__(self) -> None:
        self.windows: list[Window] = []

    def edited_entities(self, window: Window, schema: MemorySchema) -> None:
        """Unknown."""

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """One event and one segment for each message."""
        self.windows.append(window)
        ids = [each.id for each in window.messages]
        common = {"tenant": "acme", "user": "ann", "session": "s1", "window_id": window.id, "extractor": "test"}
        time = window.messages[0].event_time
        events = [
            {
                **common,
                "id": f"e{index}",
                "type": "fact",
                "content": each.text or "call",
                "event_time": time,
                "said_at": time,
                "message_ids": [each.id],
            }
            for index, each in enumerate(window.messages)
        ]
        segments = [{"id": f"s{index}", "topic": "any", "ranges": [(index, index)]} for index in range(len(ids))]
        fields = {
            **common,
            "sequence": 0,
            "schema_name": schema.name,
            "message_ids": ids,
            "segments": segments,
            "events": events,
            "window_end": time,
        }
        return Extraction.from_fields(fields)

    async def close(self) -> None:
        """Has nothing to close."""


async def extracted(*messages: dict[str, Any]) -> tuple[Extraction, EventPerMessage]:
    inner = EventPerMessage()
    return await ViewedExtractor(inner).extract(window_of(*messages), scenario("companion"), ExtractionContext()), inner


async def test_evidence_of_a_call_is_call_and_result() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    made, _ = await extracted(
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "user", "text": "Heartbeat.", "automated": True},
        {"role": "tool", "tool_call_id": "c1", "content": "12:00"},
    )
    assert [(each.content, each.message_ids) for each in made.events] == [("What time is it?", ["m0"]), ("I look.", ["m1", "m3"])]
    assert [each.ranges for each in made.segments] == [[(0, 0)], [(1, 1), (3, 3)]]
    assert made.message_ids == ["m0", "m1", "m2", "m3"]
    assert [(each.what, each.reason, each.count) for each in made.dropped] == [("message", "automated", 1)]


async def test_nothing_is_asked_for_automated_turns() -> None:
    made, inner = await extracted({"text": "Heartbeat.", "automated": True}, {"text": "<Media omitted>"})
    assert inner.windows == []
    assert (made.events, made.message_ids) == ([], ["m0", "m1"])


async def test_other_windows_are_handed_on_unchanged() -> None:
    made, inner = await extracted({"text": "I moved to Bergen."})
    assert [each.text for each in inner.windows[0].messages] == ["I moved to Bergen."]
    assert made.events[0].message_ids == ["m0"]
