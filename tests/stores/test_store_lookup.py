"""Memories by their source messages and by their sessions, on both engines."""

import pytest

from stores.port import MemoryFilter, MemoryStore, RecallQuery, TenantScope
from tests.stores.factories import embedding, memory, point

ACME = TenantScope("acme")

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")


async def test_memories_are_found_by_their_messages(store: MemoryStore) -> None:
    both = memory("Ann bought a bicycle", message_ids=["m1", "m2"], session="s", user="ann")
    second = memory("It is red", message_ids=["m2"], session="s", user="ann")
    elsewhere = memory("It snows", message_ids=["m2"], session="t", user="ann")
    others = [
        memory("Bob", message_ids=["m2"], session="s", user="bob"),
        memory("Rival", message_ids=["m2"], session="s", tenant="rival"),
        memory("New", message_ids=["m2"], session="s", user="ann", generation="b"),
        memory("Profile", message_ids=["m2"], session="s", user="ann", kind="entity"),
    ]
    await store.upsert([point(each) for each in (both, second, elsewhere, *others)])
    ann = TenantScope("acme", "ann")

    async def found(*messages: str, scope: TenantScope = ann, sessions: tuple[str, ...] = (), generation: str = "") -> set[str]:
        return {each.content for each in await store.by_evidence(scope, messages, sessions=sessions, generation=generation)}

    assert await found("m1") == {both.content}
    assert await found("m2") == {both.content, second.content, elsewhere.content}
    assert await found("m1", "m2", sessions=("s",)) == {both.content, second.content}
    assert await found("m2", sessions=("s",), generation="b") == {"New"}
    assert await found("m2", scope=ACME, sessions=("s",)) == {both.content, second.content, "Bob"}
    assert await found("m2", scope=TenantScope("rival")) == {"Rival"}
    assert await found("m9") == await found() == set()
    assert len(await store.by_evidence(ACME, ["m2"], limit=2)) == 2


async def test_a_recall_is_limited_to_its_sessions(store: MemoryStore) -> None:
    here, there, nowhere = memory("red tea", session="s"), memory("red car", session="t"), memory("red apple")
    await store.upsert([point(each) for each in (here, there, nowhere)])

    async def found(*sessions: str) -> set[str]:
        query = RecallQuery(filter=MemoryFilter(scope=ACME, sessions=sessions), text="red", embedding=embedding("red"))
        return {each.memory.content for each in await store.recall(query)}

    assert await found("s") == {here.content}
    assert await found("s", "t") == {here.content, there.content}
    assert await found() == {here.content, there.content, nowhere.content}
