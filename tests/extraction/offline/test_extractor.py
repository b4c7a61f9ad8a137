from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.ids import event_id
from memory.records import Extraction, Memory, Message, Window
from memory.schema import coerce_properties, sample_conversation, scenario, scenario_names
from memory.text import content_hash
from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from runtime.settings import EmbeddingSettings


@pytest.fixture(scope="module")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture
async def embedder(model_cache: Path) -> AsyncIterator[Embedder]:
    embedder = build_embedder(EmbeddingSettings(), cache=model_cache)
    yield embedder
    await embedder.close()


def windows_of(name: str) -> list[Window]:
    messages = [Message(tenant="acme", **turn) for turn in sample_conversation(name)]
    return [window([each for each in messages if each.session == session]) for session in dict.fromkeys(each.session for each in messages)]


def window(messages: list[Message]) -> Window:
    first = messages[0]
    return Window(
        id="0f0e0d0c-0000-4000-8000-000000000000",
        tenant=first.tenant,
        user=first.user,
        session=first.session,
        sequence=0,
        messages=messages,
        closed_by="flush",
        source_partition=0,
        first_offset=0,
        last_offset=len(messages) - 1,
    )


def said(*texts: str, speaker: str | None = None, **fields: object) -> list[Message]:
    return [
        Message.model_validate(
            {"tenant": "acme", "user": "mara", "session": "s", "id": f"m{place}", "text": text, "speaker": speaker}
            | {"event_time": "2023-05-08T13:56:00Z"}
            | fields
        )
        for place, text in enumerate(texts)
    ]


async def extract(embedder: Embedder, messages: list[Message], name: str = "companion", **context: object) -> Extraction:
    extractor = OfflineExtractor(embedder=embedder)
    return await extractor.extract(window(messages), scenario(name), ExtractionContext(**context))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", scenario_names())
async def test_every_scenario_gives_events_that_keep_their_schema_and_rest_on_real_messages(name: str, embedder: Embedder) -> None:
    schema = scenario(name)
    for each in windows_of(name):
        extraction = await OfflineExtractor(embedder=embedder).extract(each, schema, ExtractionContext())

        assert len(extraction.events) >= len(each.messages) / 3
        assert extraction.extractor == "offline"
        ids = [message.id for message in each.messages]
        segments = {segment.id for segment in extraction.segments}
        for place, event in enumerate(extraction.events):
            event_type = schema.event_type(event.type)
            assert event_type is not None
            assert coerce_properties(event_type, event.properties).properties == event.properties
            assert set(event.message_ids) <= set(ids)
            assert event.extractor == "offline"
            assert event.segment_id in segments
            assert event.id == event_id(each.id, place)
        covered = [place for segment in extraction.segments for first, last in segment.ranges for place in range(first, last + 1)]
        assert sorted(set(covered)) == sorted(covered)
        for patch in extraction.patches:
            entity_type = schema.entity_type(patch.entity_type)
            assert entity_type is not None
            assert patch.field in {field.name for field in entity_type.patched_properties()}


async def test_the_same_window_gives_the_same_bytes_also_beside_others(embedder: Embedder, model_cache: Path) -> None:
    first, *others = windows_of("meetings") + windows_of("companion")
    context = ExtractionContext()
    alone = await OfflineExtractor(embedder=embedder).extract(first, scenario("meetings"), context)
    fresh = build_embedder(EmbeddingSettings(batch_size=5), cache=model_cache)
    for each in others:
        await OfflineExtractor(embedder=fresh).extract(each, scenario("companion"), context)

    again = await OfflineExtractor(embedder=fresh).extract(first, scenario("meetings"), context)

    await fresh.close()
    assert again.to_json() == alone.to_json()


async def test_a_tool_call_fills_the_properties_of_its_meaning(embedder: Embedder) -> None:
    call = {"name": "sql_query", "arguments": {"q": "x"}, "success": False, "error": "timeout", "duration_ms": 30012}
    messages = said("I count the unpaid invoices.", speaker="agent", role="assistant") + said(
        "The query failed.", role="tool", id="call", tool_call=call
    )

    extraction = await extract(embedder, messages, "agent_tools")

    event = next(each for each in extraction.events if each.message_ids == ["call"])
    assert event.type == "tool_use"
    assert event.properties == {
        "tool_name": "sql_query",
        "situation": "agent counts the unpaid invoices.",
        "goal": "agent counts the unpaid invoices.",
        "success": False,
        "failure": 1,
        "duration_ms": 30012.0,
        "error": "timeout",
    }


async def test_only_tool_calls_become_events_of_a_type_made_for_them(embedder: Embedder) -> None:
    extraction = await extract(
        embedder, said("The sql_query tool failed with a timeout after 30 seconds again.", role="user"), "agent_tools"
    )

    assert [event.type for event in extraction.events if event.type == "tool_use"] == []
    assert len(extraction.events) == 1


async def test_content_names_the_speaker_and_the_absolute_date(embedder: Embedder) -> None:
    extraction = await extract(embedder, said("I went to a pottery workshop yesterday with my kids.", speaker="Melanie"))

    event = extraction.events[0]
    assert event.content == "Melanie (8 May 2023): Melanie went to a pottery workshop yesterday (7 May 2023) with Melanie's kids."
    assert event.event_time.isoformat() == "2023-05-07T00:00:00+00:00"
    assert event.said_at.isoformat() == "2023-05-08T13:56:00+00:00"


async def test_a_short_answer_is_kept_with_its_question_and_both_are_evidence(embedder: Embedder) -> None:
    messages = said("Do you have any pets?", speaker="Iris", role="assistant", id="q") + said("Yes!", speaker="Mara", id="a")

    extraction = await extract(embedder, messages)

    assert [event.message_ids for event in extraction.events] == [["a", "q"]]
    assert extraction.events[0].content == "Mara (8 May 2023): Yes! (answering Iris: does Mara have any pets?)"


async def test_greetings_and_system_prompts_leave_no_event(embedder: Embedder) -> None:
    extraction = await extract(embedder, said("Hey Mara!", "Thanks, bye!") + said("You are a helpful companion.", role="system", id="p"))

    assert extraction.events == []
    assert {(each.what, each.reason): each.count for each in extraction.dropped} == {("message", "filler"): 2, ("message", "system"): 1}


async def test_what_a_recall_put_there_is_not_extracted_again(embedder: Embedder) -> None:
    memory = "Mara works at the city library since April."
    marked = said("Mara has a cat that is called Pixel.", from_recall=True, id="marked")
    echoed = said(f"- {memory}", id="echo")
    own = said("My brother Jonas bakes bread in Oslo.", id="own")

    extraction = await extract(embedder, marked + echoed + own, recalled_hashes=frozenset({content_hash(memory)}))

    assert {each for event in extraction.events for each in event.message_ids} == {"own"}


async def test_stated_facts_become_patches_and_replace_what_is_shown(embedder: Embedder) -> None:
    shown = Memory.model_validate(
        {
            "id": "e", "tenant": "acme", "user": "mara", "kind": "entity", "type": "user_profile", "content": "", "entity_key": "mara",
            "event_time": "2023-01-01T00:00:00Z", "properties": {"home": "Oslo", "preferences": "likes tea"},
        }
    )  # fmt: skip

    extraction = await extract(
        embedder, said("I moved to Bergen last month. I like tea, and my sister Lene lives here. I'm allergic to nuts."), entities=(shown,)
    )

    assert [(patch.field, patch.search, patch.replace) for patch in extraction.patches] == [
        ("home", "Oslo", "Bergen"),
        ("relationships", "", "sister: Lene"),
        ("preferences", "", "allergic to nuts"),
    ]
    assert {patch.entity_key for patch in extraction.patches} == {"mara"}


async def test_where_several_people_speak_only_the_users_own_words_are_their_profile(embedder: Embedder) -> None:
    messages = said("I live in Bergen now.", speaker="Lene", id="x") + said("I live in Oslo now.", speaker="Mara", id="y")

    extraction = await extract(embedder, messages)

    assert [(patch.field, patch.replace) for patch in extraction.patches] == [("home", "Oslo")]


async def test_a_long_message_becomes_several_events_of_bounded_length(embedder: Embedder) -> None:
    text = " ".join(f"In year {year} the glacier lost about {year % 7 + 1} metres of ice near the village." for year in range(1980, 2010))

    extraction = await extract(embedder, said(text))

    assert len(extraction.events) > 3
    assert max(len(event.content) for event in extraction.events) < 1200
