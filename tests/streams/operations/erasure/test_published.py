"""Memories of users that the change feed still has: named by their traces, whatever the extractions and the stages' states know."""

import pytest

from control.tenants import TenantDirectory
from memory.ids import entity_id
from memory.keys import encode_key, entity_key
from memory.records import Memory, MemoryChange
from runtime.kafka import TopicPartition
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.published import PublishedMemories
from tests.streams.agent_extractions import START, TENANT, extraction
from tests.streams.operations.erasure.feed_event import USER, event
from tests.streams.operations.erasure.traced_records import headers_of

FEED = TopicPartition("varve.memories", 0)
BEGAN = 10
KEY = entity_key("grep")


@pytest.fixture
def user(tenants: TenantDirectory) -> ErasedUser:
    found = ErasedUser(TENANT, USER, begun_at=START, partitions=8)
    found.begin_trace(tenants)
    what = extraction(0, [("grep", 0)])
    found.trace.add(what.to_json(), headers_of(what))
    return found


def tool(name: str = "grep") -> Memory:
    key = entity_key(name)
    memory_id = entity_id(TENANT, "tool_experience", key)
    return Memory(
        id=memory_id, tenant=TENANT, kind="entity", type="tool_experience", content="grep is quick", entity_key=key, event_time=START
    )


def noted(user: ErasedUser, *records: tuple[int, Memory | None, str]) -> dict[str, list[str]]:
    """The ids that the trace names, by window or entity, after records of the feed: offset, memory or tombstone, and id."""
    published = PublishedMemories(TENANT, [user], began={FEED: BEGAN})
    for offset, memory, name in records:
        tenant = TENANT if memory is None else memory.tenant
        value = None if memory is None else MemoryChange(op="upsert", memory_id=name, tenant=tenant, memory=memory).to_json()
        published.add(FEED, offset, encode_key(tenant, name), value)
    published.note()
    windows = {window.window_id: window.memory_ids for command in user.trace.commands() for window in command.windows}
    entities = {entity.entity_key: entity.memory_ids for command in user.trace.commands() for entity in command.entities}
    return {name: ids for name, ids in (windows | entities).items() if ids}


def test_memories_without_an_extraction_are_named(user: ErasedUser) -> None:
    assert noted(user, (3, event("e-1"), "e-1"), (4, event("e-2"), "e-2")) == {"w-lost": ["e-1", "e-2"]}
    assert user.found["events"] == 3, "one of the extractions, two of the feed alone"


def test_retracted_results_are_not_named(user: ErasedUser) -> None:
    assert noted(user, (3, event("e-1"), "e-1"), (4, None, "e-1")) == {}


def test_the_new_life_is_not_named(user: ErasedUser) -> None:
    window = extraction(0, []).window_id
    late = event("e-late", window=window)
    assert noted(user, (BEGAN, event("e-new", window="w-new"), "e-new"), (BEGAN, late, "e-late")) == {window: ["e-late"]}


def test_events_of_other_users_are_not_named(user: ErasedUser) -> None:
    other, elsewhere = event("e-1", user="another"), event("e-2", tenant="umbrella")
    assert noted(user, (3, other, "e-1"), (4, elsewhere, "e-2"), (5, tool("make"), tool("make").id)) == {}


def test_a_shared_entity_is_named_by_its_sources(user: ErasedUser) -> None:
    assert noted(user, (BEGAN, tool(), tool().id)) == {KEY: [tool().id]}


def test_memories_only_in_the_store_are_named(user: ErasedUser) -> None:
    published = PublishedMemories(TENANT, [user], began={FEED: BEGAN})
    published.add_stored(TENANT, event("e-1"))
    published.add_stored(TENANT, event("e-new", window="w-new"))
    change = MemoryChange(op="upsert", memory_id="e-new", tenant=TENANT, memory=event("e-new", window="w-new"))
    published.add(FEED, BEGAN, encode_key(TENANT, "e-new"), change.to_json())
    published.note()
    assert [each.memory_ids for each in user.trace.windows if each.memory_ids] == [["e-1"]]


def test_many_entities_are_named_by_several_commands(user: ErasedUser) -> None:
    for number in range(2500):
        user.trace.note_entity_memory("tool_experience", KEY, "", f"m-{number}")
    named = [entity for command in user.trace.commands() for entity in command.entities if entity.entity_type == "tool_experience"]
    assert [len(each.memory_ids) for each in named] == [1000, 1000, 500]
    assert len({name for each in named for name in each.memory_ids}) == 2500
