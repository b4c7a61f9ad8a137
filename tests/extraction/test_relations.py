"""Relations without a model: the plain statements of a user about themselves."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from extraction.build import build_extractor
from extraction.port import ExtractionContext
from memory.keys import entity_key
from memory.records import Event, Memory
from memory.schema import MemorySchema, parse_schema
from models.embedding.port import Embedder
from tests.extraction.windows import BEGIN, window_of
from tests.streams.harness import plain_settings


def schema(*, relations: bool = True) -> MemorySchema:
    """A profile, and a method with a graph of relations."""
    fields = [{"PropertyName": name, "PropertyValueType": "string"} for name in ("home", "relationships", "preferences", "allergies")]
    edges = {"Op": "EDGE", "EventType": "relation"}
    node = {
        "EntityType": "node",
        "Keys": ["user", "nodes"],
        "Properties": [{"PropertyName": "edges", "PropertyValueType": "string", "AggregateExpression": edges}],
    }
    method = {"Method": "graph", "Extract": {"Relations": True}, "Archive": {"Turns": True}, "Manage": {"EntityTypes": [node]}}
    return parse_schema(
        {
            "Name": "tests",
            "EventTypes": [{"EventType": "fact", "Description": "Something that holds for long."}],
            "EntityTypes": [{"EntityType": "profile", "Keys": ["user"], "Properties": fields}],
            **({"Method": method} if relations else {}),
        }
    )


def profile(**fields: str) -> Memory:
    """The known profile."""
    return Memory(
        id="p",
        tenant="acme",
        user="alice",
        kind="entity",
        type="profile",
        content="the profile",
        properties={"user": "alice", **fields},
        event_time=BEGIN,
        entity_key=entity_key("alice"),
        message_ids=["m0"],
    )


async def events_of(
    tmp_path: Path, embedder: Embedder, texts: Sequence[str], *, known: Sequence[Memory] = (), relations: bool = True
) -> list[Event]:
    extractor = build_extractor(plain_settings(tmp_path), embedder=embedder, llm=None)
    window = window_of(*({"text": text, "role": "user"} for text in texts))
    found = await extractor.extract(window, schema(relations=relations), ExtractionContext(entities=tuple(known)))
    return found.events


def stated(events: Sequence[Event]) -> list[tuple[str, bool, bool]]:
    relations = [each for each in events if each.type == "relation"]
    return [(each.content, bool(each.properties["ends"]), bool(each.properties["several"])) for each in relations]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("I live in Bergen.", ("alice lives in Bergen", False, False)),
        ("My sister Maria is here.", ("alice has sister Maria", False, True)),
        ("I love green tea.", ("alice likes green tea", False, True)),
        ("I'm allergic to peanuts.", ("alice is allergic to peanuts", False, True)),
    ],
)
async def test_a_plain_statement_is_a_relation(tmp_path: Path, embedder: Embedder, text: str, relation: tuple[str, bool, bool]) -> None:
    events = await events_of(tmp_path, embedder, [text])
    assert relation in stated(events)
    (event,) = [each for each in events if each.type == "relation" and each.content == relation[0]]
    assert (event.message_ids, event.properties["subject"]) == (["m0"], "alice")
    assert len({each.id for each in events}) == len(events)


@pytest.mark.parametrize(
    "text", ["I wish I lived in Bergen.", "Do I live in Bergen?", "Tom says I live in Bergen.", "I never lived in Bergen."]
)
async def test_no_plain_statement_is_no_relation(tmp_path: Path, embedder: Embedder, text: str) -> None:
    assert stated(await events_of(tmp_path, embedder, [text])) == []


async def test_a_removed_line_ends_its_relation(tmp_path: Path, embedder: Embedder) -> None:
    events = await events_of(tmp_path, embedder, ["I no longer live in Oslo."], known=[profile(home="Oslo")])
    assert stated(events) == [("No longer: alice lives in Oslo", True, False)]


async def test_a_replaced_home_is_left_to_contradict(tmp_path: Path, embedder: Embedder) -> None:
    events = await events_of(tmp_path, embedder, ["I live in Bergen."], known=[profile(home="Oslo")])
    assert stated(events) == [("alice lives in Bergen", False, False)]


async def test_an_opposite_taste_ends_the_former(tmp_path: Path, embedder: Embedder) -> None:
    events = await events_of(tmp_path, embedder, ["I hate green tea."], known=[profile(preferences="likes green tea")])
    assert stated(events) == [("No longer: alice likes green tea", True, True), ("alice dislikes green tea", False, True)]


async def test_a_statement_has_no_derived_type(tmp_path: Path, embedder: Embedder) -> None:
    texts = ["One message is unchanged.", "Paul is in a relation with Maria, two people.", "I live in Bergen."]
    events = await events_of(tmp_path, embedder, texts)
    without = await events_of(tmp_path, embedder, texts, relations=False)
    assert [each.content for each in events if each.type == "fact"] == [each.content for each in without]
    assert sum(each.type == "turn" for each in events) == len(texts)
