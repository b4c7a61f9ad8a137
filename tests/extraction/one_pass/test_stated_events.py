"""Events that an application states are stored as it states them, also where a model extracts."""

import json
from dataclasses import replace
from typing import Any

import pytest

from extraction.build import build_extractor
from extraction.port import ExtractionContext
from memory.records import Event
from memory.records.message import STATEMENT
from memory.schema import MemorySchema, scenario
from models.llm.port import LLMAnswer, LLMRequest
from runtime.settings import Settings
from tests.extraction.embedders import CountingEmbedder
from tests.extraction.windows import window_of

MOVED: dict[str, Any] = {
    "role": "tool",
    "speaker": "Registry",
    "text": "Ann moved to Bergen with three others.",
    "tool_call": {"name": "life_event", "arguments": {"place": "Bergen", "count": 3}, "success": True},
}
COMPANION = scenario("companion")
FAILED: dict[str, Any] = MOVED | {"tool_call": MOVED["tool_call"] | {"success": False}}


class CountedLLM:
    """Answers with one event per message number, of the type and in the words that it is given."""

    model = "counted"

    def __init__(self, *events: tuple[str, int, str]) -> None:
        self.asked: list[LLMRequest] = []
        self._answer = json.dumps(
            {
                "segments": [],
                "events": [{"type": kind, "msgs": [message], "content": content} for kind, message, content in events],
                "patches": [],
            }
        )

    async def complete(self, request: LLMRequest) -> LLMAnswer:
        self.asked.append(request)
        return LLMAnswer(text=self._answer, model=self.model)

    async def close(self) -> None:
        """Nothing is open."""


async def extracted(llm: CountedLLM, schema: MemorySchema, *messages: str | dict[str, Any]) -> list[Event]:
    extractor = build_extractor(Settings(), embedder=CountingEmbedder(), llm=llm)  # type: ignore[arg-type]
    return (await extractor.extract(window_of(*messages), schema, ExtractionContext())).events


async def test_a_stated_event_keeps_its_properties(schema: MemorySchema) -> None:
    llm = CountedLLM(("life_event", 1, "Someone moved somewhere."), ("life_event", 0, "Alice waits."))

    waits, moved = await extracted(llm, schema, "I am waiting for the registry.", MOVED)

    assert waits.content == "Alice waits."
    assert moved.properties == {"place": "Bergen", "count": 3}
    assert "Ann moved to Bergen" in moved.content
    assert moved.message_ids == ["m1"]


async def test_a_model_is_not_called_for_stated_events_only(schema: MemorySchema) -> None:
    llm = CountedLLM()

    events = await extracted(llm, schema, MOVED, MOVED)

    assert [each.properties["place"] for each in events] == ["Bergen", "Bergen"]
    assert llm.asked == []


async def test_a_model_may_find_other_types_there(schema: MemorySchema) -> None:
    other = next(each.name for each in schema.event_types if each.name != "life_event")
    llm = CountedLLM((other, 0, "Three people left."), ("life_event", 0, "Ann moved."))

    events = await extracted(llm, schema, MOVED, "Thanks for that.")

    assert sorted(each.type for each in events) == sorted(["life_event", other])


async def test_a_failed_call_states_nothing(schema: MemorySchema) -> None:
    llm = CountedLLM(("life_event", 0, "The registry was not reached."))

    (event,) = await extracted(llm, schema, FAILED)

    assert event.content == "The registry was not reached."
    assert len(llm.asked) == 1


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("text", ["ok", "Hello!", "  Likes   pizza,\nnot pasta. ", "What time is it?"])
async def test_a_statement_is_stored_word_for_word(role: str, text: str) -> None:
    llm = CountedLLM()

    (event,) = await extracted(llm, COMPANION, {"role": role, "text": text, "tool_call": {"name": STATEMENT}})

    assert (event.type, event.content, event.properties, event.message_ids) == ("fact", text, {}, ["m0"])
    assert llm.asked == []


async def test_a_statement_changes_no_other_event() -> None:
    extractor = build_extractor(Settings(), embedder=CountingEmbedder(), llm=None)
    said = "My sister plays the cello in a small orchestra."
    statement = {"text": "The sky is blue.", "tool_call": {"name": STATEMENT}}

    (without,) = (await extractor.extract(window_of(said), COMPANION, ExtractionContext())).events
    within = (await extractor.extract(window_of(said, statement), COMPANION, ExtractionContext())).events

    assert [each.content for each in within] == [said, "The sky is blue."]
    assert (within[0].type, within[0].content) == (without.type, without.content)


async def test_a_statement_needs_no_type_for_facts() -> None:
    others = replace(COMPANION, event_types=COMPANION.event_types[:2])

    (event,) = await extracted(CountedLLM(), others, {"text": "The sky is blue.", "tool_call": {"name": STATEMENT}})

    assert (event.type, event.content) == (others.event_types[0].name, "The sky is blue.")


@pytest.mark.parametrize("also_said", [(), ("Thanks for that.",)])
@pytest.mark.parametrize("model", [True, False])
async def test_wrong_arguments_of_a_stated_event_are_named(schema: MemorySchema, model: bool, also_said: tuple[str, ...]) -> None:
    wrong = MOVED | {"tool_call": {"name": "life_event", "arguments": {"plaec": "Bergen", "count": "three"}}}
    extractor = build_extractor(Settings(), embedder=CountingEmbedder(), llm=CountedLLM() if model else None)  # type: ignore[arg-type]

    found = await extractor.extract(window_of(wrong, *also_said), schema, ExtractionContext())

    named = [(each.reason, each.count, each.names) for each in found.dropped if each.what == "property"]
    assert named == [("not_int64", 1, ["life_event.count"]), ("unknown_property", 1, ["life_event.plaec"])]
