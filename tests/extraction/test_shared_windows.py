"""Windows with messages of several users: whose memory each event and patch becomes, offline and with a model."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from extraction.build import build_extractor
from extraction.port import ExtractionContext
from extraction.shared_windows import parts_of, users_to_show
from loadtest.requests import ChatRequest
from memory.ids import window_id, window_part_id
from memory.keys import entity_key
from memory.records import Extraction, Memory, Message, Window
from memory.schema import scenario
from models.embedding.port import Embedder
from runtime.settings import Settings
from tests.streams.harness import plain_settings
from tests.streams.stages.extraction.doubles import llm_extractor

SCHEMA = scenario("companion")
START = datetime(2024, 5, 6, 18, tzinfo=UTC)
USERS = [f"u{number}" for number in range(7)]
SAID = [("u1", "Ann", "I live in Oslo."), ("u2", "Bo", "I live in Paris."), ("u1", "Ann", "I went to the Riverside market with Tom.")]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return plain_settings(tmp_path)


def shared(said: list[tuple[str, str, str]]) -> Window:
    messages = [
        Message(tenant="acme", user=user, session="g", id=f"m{index}", speaker=name, text=text, event_time=START + timedelta(minutes=index))
        for index, (user, name, text) in enumerate(said)
    ]
    users = list(dict.fromkeys(user for user, _, _ in said))
    fields = {"tenant": "acme", "session": "g", "sequence": 0, "closed_by": "flush", "source_partition": 0}
    return Window.model_validate(
        {**fields, "id": window_id("acme", "g", 0), "users": users, "messages": messages, "first_offset": 0, "last_offset": len(said) - 1}
    )


def lines(parts: list[Extraction]) -> list[tuple[str, str, str]]:
    return [(part.user, each.entity_key, each.replace) for part in parts for each in part.patches]


async def test_a_model_is_asked_once_for_seven_speakers(settings: Settings) -> None:
    window = shared([(USERS[index % 7], f"Name{index % 7}", f"I am number {index}.") for index in range(20)])
    prompts: list[str] = []

    def answer(request: ChatRequest) -> str:
        prompts.append(request.messages[-1][1])
        events = [{"type": "life_event", "msgs": [index], "date": "", "content": f"Number {index}.", "weight": 5} for index in range(20)]
        patches = [
            {"type": "user_profile", "field": "home", "search": "", "replace": f"Town {index}", "msgs": [index]} for index in range(7)
        ]
        return json.dumps({"segments": [], "events": events, "patches": patches})

    home = Memory(
        id="00000000-0000-5000-8000-000000000001",
        tenant="acme",
        user="u3",
        kind="entity",
        type="user_profile",
        content="home: Lima",
        properties={"home": "Lima"},
        event_time=START,
        entity_key=entity_key("u3"),
    )
    async with llm_extractor(settings, answer) as (extractor, _):
        extraction = await extractor.extract(window, SCHEMA, ExtractionContext(entities=(home,)))
    parts = parts_of(extraction, window, SCHEMA)
    assert len(prompts) == 1
    assert "user_profile of user u3" in prompts[0]
    assert "User u3 speaks as Name3" in prompts[0]
    assert [part.user for part in parts] == USERS
    for number, part in enumerate(parts):
        assert part.window_id == window_part_id(window.id, part.user)
        assert [each.content for each in part.events] == [f"Number {index}." for index in range(number, 20, 7)]
        assert {(each.user, each.window_id) for each in part.events} == {(part.user, part.window_id)}
    assert lines(parts) == [(user, entity_key(user), f"Town {number}") for number, user in enumerate(USERS)]
    ids = [each.id for part in parts for each in part.events]
    assert len(set(ids)) == len(ids)
    assert parts_of(extraction, window, SCHEMA) == parts, "the same window gives the same ids"


@pytest.mark.parametrize("names", [("Ann", "Bo"), ("Bo", "Ann")])
async def test_offline_profiles_follow_the_user_of_the_message(settings: Settings, embedder: Embedder, names: tuple[str, str]) -> None:
    said = [(user, names[int(user == "u2")], text) for user, _, text in SAID]
    window = shared(said)
    extractor = build_extractor(settings, embedder=embedder, llm=None)
    extraction = await extractor.extract(window, SCHEMA, ExtractionContext())
    parts = parts_of(extraction, window, SCHEMA)
    homes = [(part.user, each.replace) for part in parts for each in part.patches if each.field == "home"]
    assert homes == [("u1", "Oslo"), ("u2", "Paris")]
    assert all(each.entity_key == entity_key(part.user) for part in parts for each in part.patches)
    assert [sorted({each.message_ids[0] for each in part.events}) for part in parts] == [["m0", "m2"], ["m1"]]


async def test_an_answer_belongs_to_the_one_who_answers(settings: Settings) -> None:
    window = shared([("u1", "Bot", "Who of you moves to Oslo?"), ("u2", "Bo", "Me, in May."), ("u1", "Ann", "I stay.")])
    question = window.messages[0].model_copy(update={"role": "assistant"})
    window = window.model_copy(update={"messages": [question, *window.messages[1:]]})
    evidence = {"Bo moves to Oslo in May.": [0, 1], "The assistant asked who moves.": [0], "Ann stays.": [0, 2]}
    events = [{"type": "life_event", "msgs": msgs, "date": "", "content": text, "weight": 5} for text, msgs in evidence.items()]
    patches = [{"type": "user_profile", "field": "home", "search": "", "replace": "Oslo, from May", "msgs": [0, 1]}]
    answer = json.dumps({"segments": [], "events": events, "patches": patches})
    async with llm_extractor(settings, lambda request: answer) as (extractor, _):
        extraction = await extractor.extract(window, SCHEMA, ExtractionContext())
    parts = parts_of(extraction, window, SCHEMA)
    assert {part.user: [each.content for each in part.events] for part in parts} == {
        "u1": ["The assistant asked who moves.", "Ann stays."],
        "u2": ["Bo moves to Oslo in May."],
    }
    assert lines(parts) == [("u2", entity_key("u2"), "Oslo, from May")]


def test_the_users_with_most_messages_are_shown() -> None:
    window = shared([("a", "A", "x"), ("b", "B", "x"), ("b", "B", "x"), ("c", "C", "x")])
    assert users_to_show(window, 2) == ["b", "a"]
