import pytest

from extraction.offline.extractor import OfflineExtractor
from extraction.offline.turns import LONGEST_SHORTENED
from extraction.port import ExtractionContext
from memory.ids import event_id
from memory.records import Extraction, Memory, Message, Window
from memory.schema import coerce_properties, sample_conversation, scenario, scenario_names
from memory.texts.text import content_hash
from models.embedding.build import build_embedder
from models.embedding.port import Embedder
from runtime.settings import EmbeddingSettings, Settings
from tests.made_records import made_window


def windows_of(name: str) -> list[Window]:
    messages = [Message(tenant="acme", **turn) for turn in sample_conversation(name)]
    return [window([each for each in messages if each.session == session]) for session in dict.fromkeys(each.session for each in messages)]


def window(messages: list[Message]) -> Window:
    return made_window(messages, id="0f0e0d0c-0000-4000-8000-000000000000")


def messages_of(*texts: str, speaker: str | None = None, **fields: object) -> list[Message]:
    return [
        Message.model_validate(
            {"tenant": "acme", "user": "mara", "session": "s", "id": f"m{index}", "text": text, "speaker": speaker}
            | {"event_time": "2023-05-08T13:56:00Z"}
            | fields
        )
        for index, text in enumerate(texts)
    ]


async def extract(
    embedder: Embedder, messages: list[Message], name: str = "companion", context: ExtractionContext | None = None
) -> Extraction:
    extractor = OfflineExtractor(embedder=embedder)
    return await extractor.extract(window(messages), scenario(name), context or ExtractionContext())


@pytest.mark.parametrize("name", scenario_names())
async def test_every_scenarios_extraction_is_valid(name: str, embedder: Embedder) -> None:
    schema = scenario(name)
    for each in windows_of(name):
        extraction = await OfflineExtractor(embedder=embedder).extract(each, schema, ExtractionContext())

        assert len(extraction.events) >= len(each.messages) / 3
        assert extraction.extractor == "offline"
        ids = [message.id for message in each.messages]
        segments = {segment.id for segment in extraction.segments}
        for index, event in enumerate(extraction.events):
            event_type = schema.event_type(event.type)
            assert event_type is not None
            assert coerce_properties(event_type, event.properties).properties == event.properties
            assert set(event.message_ids) <= set(ids)
            assert event.extractor == "offline"
            assert event.segment_id in segments
            assert event.id == event_id(each.id, index)
        covered = [index for segment in extraction.segments for first, last in segment.ranges for index in range(first, last + 1)]
        assert sorted(set(covered)) == sorted(covered)
        for patch in extraction.patches:
            entity_type = schema.entity_type(patch.entity_type)
            assert entity_type is not None
            assert patch.field in {field.name for field in entity_type.patched_properties()}


async def test_the_same_window_gives_the_same_bytes(embedder: Embedder) -> None:
    first, *others = windows_of("meetings") + windows_of("companion")
    context = ExtractionContext()
    alone = await OfflineExtractor(embedder=embedder).extract(first, scenario("meetings"), context)
    fresh = build_embedder(EmbeddingSettings(batch_size=5), cache=Settings().cache_path)
    for each in others:
        await OfflineExtractor(embedder=fresh).extract(each, scenario("companion"), context)

    again = await OfflineExtractor(embedder=fresh).extract(first, scenario("meetings"), context)

    await fresh.close()
    assert again.to_json() == alone.to_json()


async def test_a_tool_call_fills_the_properties_of_its_meaning(embedder: Embedder) -> None:
    call = {"name": "sql_query", "arguments": {"q": "x"}, "success": False, "error": "timeout", "duration_ms": 30012}
    messages = messages_of("I count the unpaid invoices.", speaker="agent", role="assistant") + messages_of(
        "The query failed.", role="tool", id="call", tool_call=call
    )

    extraction = await extract(embedder, messages, "agent_tools")

    event = next(each for each in extraction.events if each.message_ids == ["call"])
    assert event.type == "tool_use"
    assert event.properties == {
        "tool_name": "sql_query",
        "situation": "I count the unpaid invoices.",
        "goal": "I count the unpaid invoices.",
        "success": False,
        "failure": 1,
        "duration_ms": 30012.0,
        "error": "timeout",
    }


async def test_without_a_type_for_them_tool_calls_are_facts(embedder: Embedder) -> None:
    call = {"name": "get_forecast", "arguments": {"city": "Gera"}, "result": {"rain_mm": 3, "mood": "gloomy"}}
    extraction = await extract(embedder, messages_of("", role="assistant", id="call", tool_call=call), "companion")

    assert [(event.type, event.properties) for event in extraction.events] == [("fact", {})]


async def test_only_tool_calls_become_tool_events(embedder: Embedder) -> None:
    extraction = await extract(
        embedder, messages_of("The sql_query tool failed with a timeout after 30 seconds again.", role="user"), "agent_tools"
    )

    assert [event.type for event in extraction.events if event.type == "tool_use"] == []
    assert len(extraction.events) == 1


async def test_content_is_the_original_wording(embedder: Embedder) -> None:
    extraction = await extract(embedder, messages_of("I went to a pottery workshop yesterday with my kids.", speaker="Melanie"))

    event = extraction.events[0]
    assert (event.content, event.speaker) == ("I went to a pottery workshop yesterday with my kids.", "Melanie")
    assert event.search_text == "Melanie (8 May 2023): Melanie went to a pottery workshop yesterday (7 May 2023) with Melanie's kids."
    assert event.event_time.isoformat() == "2023-05-07T00:00:00+00:00"
    assert event.said_at.isoformat() == "2023-05-08T13:56:00+00:00"


async def test_a_short_answer_carries_its_question_as_evidence(embedder: Embedder) -> None:
    messages = messages_of("Do you have any pets?", speaker="Iris", role="assistant", id="q") + messages_of("Yes!", speaker="Mara", id="a")

    extraction = await extract(embedder, messages)

    assert [event.message_ids for event in extraction.events] == [["a", "q"]]
    assert extraction.events[0].content == "Yes!"
    assert extraction.events[0].search_text == "Mara (8 May 2023): Yes! (answering Iris: does Mara have any pets?)"


async def test_greetings_and_system_prompts_leave_no_event(embedder: Embedder) -> None:
    extraction = await extract(
        embedder, messages_of("Hey Mara!", "Thanks, bye!") + messages_of("You are a helpful companion.", role="system", id="p")
    )

    assert extraction.events == []
    assert {(each.what, each.reason): each.count for each in extraction.dropped} == {("message", "filler"): 2, ("message", "system"): 1}


async def test_echoes_of_a_recall_are_not_extracted(embedder: Embedder) -> None:
    memory = "Mara works at the city library since April."
    marked = messages_of("Mara has a cat that is called Pixel.", from_recall=True, id="marked")
    echoed = messages_of(f"- {memory}", id="echo")
    own = messages_of("My brother Jonas bakes bread in Oslo.", id="own")

    extraction = await extract(
        embedder, marked + echoed + own, context=ExtractionContext(recalled_hashes=frozenset({content_hash(memory)}))
    )

    assert {each for event in extraction.events for each in event.message_ids} == {"own"}


async def test_stated_facts_replace_the_entitys_values(embedder: Embedder) -> None:
    profile = Memory.model_validate(
        {
            "id": "e", "tenant": "acme", "user": "mara", "kind": "entity", "type": "user_profile", "content": "", "entity_key": "mara",
            "event_time": "2023-01-01T00:00:00Z", "properties": {"home": "Oslo", "preferences": "likes tea"},
        }
    )  # fmt: skip

    extraction = await extract(
        embedder,
        messages_of("I moved to Bergen last month. I like tea, and my sister Lene lives here. I'm allergic to nuts."),
        context=ExtractionContext(entities=(profile,)),
    )

    assert [(patch.field, patch.search, patch.replace) for patch in extraction.patches] == [
        ("home", "Oslo", "Bergen"),
        ("relationships", "", "sister: Lene"),
        ("preferences", "", "allergic to nuts"),
    ]
    assert {patch.entity_key for patch in extraction.patches} == {"mara"}


async def test_only_the_users_own_words_patch_their_profile(embedder: Embedder) -> None:
    messages = messages_of("I live in Bergen now.", speaker="Lene", id="x") + messages_of("I live in Oslo now.", speaker="Mara", id="y")

    extraction = await extract(embedder, messages)

    assert [(patch.field, patch.replace) for patch in extraction.patches] == [("home", "Oslo")]


async def test_a_persons_long_story_becomes_several_events(embedder: Embedder) -> None:
    text = " ".join(f"In year {year} I lost about {year % 7 + 1} metres of my garden to the glacier." for year in range(1980, 2010))

    extraction = await extract(embedder, messages_of(text))

    assert len(extraction.events) > 3
    assert max(len(event.content) for event in extraction.events) < 1200


LONG_ANSWER = "\n".join(f"{number}. Soak the beans for {number} hours, then rinse them well under cold water." for number in range(1, 40))
ARTICLE = " ".join(f"In year {year} the glacier lost about {year % 7 + 1} metres of ice near the village." for year in range(1980, 2010))
TABLE = "Here are the sales, my boss wants a chart of them.\n" + "\n".join(
    f"| region {row} | {row * 10} | {row * 7} euros |" for row in range(60)
)
LOG = "The server that I run is down again.\n" + "\n".join(f"2024-05-06 10:{row:02}:12 ERROR request {row} failed" for row in range(60))


@pytest.mark.parametrize(
    ("text", "role", "events"), [(LONG_ANSWER, "assistant", 1), (ARTICLE, "user", 1), (TABLE, "user", 2), (LOG, "user", 2)]
)
async def test_an_answer_or_pasted_block_is_one_short_event(embedder: Embedder, text: str, role: str, events: int) -> None:
    extraction = await extract(embedder, messages_of(text, role=role))

    assert len(extraction.events) == events
    assert len(extraction.events[-1].content) <= LONGEST_SHORTENED
    assert extraction.events[-1].content.endswith("…")


async def test_an_image_leaves_the_sentences_around_it(embedder: Embedder) -> None:
    image = "data:image/png;base64," + "iVBORw0KGgo" + "aB3/x9Q+" * 12_000
    text = f"I must not take ibuprofen. This is the card from my doctor. {image} My sister Lene has a copy."

    extraction = await extract(embedder, messages_of(text))

    assert [event.content for event in extraction.events] == [
        "I must not take ibuprofen. This is the card from my doctor. My sister Lene has a copy."
    ]
    assert "image" not in extraction.to_json().decode()
    assert (await extract(embedder, messages_of(image))).events == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm a vegetarian.",
        "I'm pregnant.",
        "I have diabetes.",
        "I got divorced.",
        "I like tea.",
        "I like C# but I can't stand C++.",
        "Dad died.",
    ],
)
async def test_no_personal_statement_is_too_short(embedder: Embedder, text: str) -> None:
    assert [event.content for event in (await extract(embedder, messages_of(text))).events] == [text]


async def test_an_age_is_a_fact(embedder: Embedder) -> None:
    extraction = await extract(embedder, messages_of("Ann is 34.", "The recipe takes half an hour.", "The sad song is on again."))

    assert [(event.type, event.properties) for event in extraction.events] == [("fact", {})] * 3


async def test_a_personal_question_is_kept(embedder: Embedder) -> None:
    messages = messages_of("Can I eat shrimp with my shellfish allergy?", id="q") + messages_of(
        "No, better not eat any of it.", role="assistant", speaker="Guide", id="a"
    )

    assert [event.message_ids[0] for event in (await extract(embedder, messages)).events] == ["q", "a"]


async def test_an_assistants_repetition_is_no_newer_value(embedder: Embedder) -> None:
    said = messages_of("I don't like tea any more.", id="u", speaker="Ann")
    stale = messages_of("Since you live in Oslo and you like tea, I can book the harbour café.", role="assistant", speaker="Guide", id="g")

    extraction = await extract(embedder, said + stale)

    assert [(event.type, event.properties) for event in extraction.events if event.message_ids[0] == "g"] == [("fact", {})]
    assert all(patch.message_ids == ["u"] for patch in extraction.patches)


async def test_patches_edit_only_the_entities_that_are_named(embedder: Embedder) -> None:
    extractor = OfflineExtractor(embedder=embedder)
    texts = ("I live in Oslo.", "I love rye bread.", "My sister is called Ann.", "I work as a nurse.")
    for name in scenario_names():
        read, schema = window(messages_of(*texts)), scenario(name)
        named = extractor.edited_entities(read, schema)
        found = await extractor.extract(read, schema, ExtractionContext())
        assert {(each.entity_type, each.entity_key) for each in found.patches} <= set(named)
    profile = extractor.edited_entities(window(messages_of(*texts)), scenario("companion"))
    assert [(each.type, each.key) for each in profile] == [("user_profile", "mara")]
