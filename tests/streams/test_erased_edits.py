"""Users whose blocks outside agents have edited are erased, through all real stages: no edit, reason or author is left anywhere."""

from collections.abc import Iterable
from typing import Final

import pytest

from loadtest.llm_simulator import LLMSimulator
from memory.keys import distinct_key
from memory.records import Extraction
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import GuardedRedis
from runtime.settings import LLMSettings, Settings
from stores.port import MemoryStore
from streams.operations.erasure.erase import erase
from streams.operations.erasure.remnants import remnants
from tests.api.block_agent import Agent, applied
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, add_tenant
from tests.streams.agent_remarks import editing_answer, schema
from tests.streams.flow import caught_up, serving
from tests.streams.linked_remarks import remarks
from tests.streams.merged_remarks import TENANT
from tests.streams.merging_flow import memory_lines, rebuild_and_catch_up
from tests.streams.standing_words import redis_contents, standing_records, stored_contents

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

LEAVING: Final = "annelore"
SILENT: Final = "rosalind"
"""A second leaving user, of whom the log has nothing but edits."""
STAYING: Final = "ben"
AUTHOR: Final = "planner-of-leaving"
"""Label of the key with which the agent of a leaving user works. Control log and audit log have it, because the key is the tenant's."""
WORDS: Final = ("Reykjavik", "Hafnarfjordur", "Akureyri", "Selfoss", "Keflavik", "Kopavogur", "Husavik", LEAVING, SILENT, AUTHOR)
"""Texts of edits that are applied, replaced, refused, undone and repeated, a reason, the users and the author."""


async def test_edits_of_an_erased_user_are_removed(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    async with LLMSimulator(answer=editing_answer) as simulator:
        settings = leased.model_copy(update={"llm": LLMSettings(base_url=simulator.base_url, model="simulated")})
        await add_tenant(settings, TENANT, schema=schema(Characters=400))
        leaving_key, staying_key = await add_key(settings, TENANT, label=AUTHOR), await add_key(settings, TENANT, label="planner")
        async with serving(settings), service_of(settings) as http:
            leaving, staying = Agent(http, leaving_key, LEAVING), Agent(http, staying_key, STAYING)
            await say(settings, stated(LEAVING, "one", "I live in Keflavik."), stated(STAYING, "two", "I live in Rome."))
            await caught_up(settings)
            await edit_in_every_way(leaving)
            applied(await Agent(http, leaving_key, SILENT).edit("append", text="Lives in Husavik.", key="four"))
            applied(await staying.edit("append", text="Has a dog.", key="five"))
            applied(await staying.edit("replace", old="Rome", text="Bergen"))
            await caught_up(settings)
            kept = await staying.read()
            assert (kept["text"], len(kept["edits"])) == ("Lives in Bergen\nHas a dog.", 2)
            before = await places_of_words(settings, store)
            assert {each.rpartition(".")[2] for each in before} >= {"extractions", "merged", "memories", "store", "redis entity"}, before

            receipts = await erase(settings, TENANT, [LEAVING, SILENT], by="test", store=store, redis=redis)
            assert [(each.finished_at is not None, each.remains) for each in receipts] == [(True, ())] * 2
            await check_erased(settings, store, redis)
            assert await staying.read() == kept
            for each in (leaving, Agent(http, leaving_key, SILENT)):
                block = await each.read()
                assert (block["text"], block["version"], block["edits"]) == ("", 0, [])

        found = await memory_lines(settings)
        assert found
        await rebuild_and_catch_up(settings)
        assert await memory_lines(settings) == found
        await check_erased(settings, store, redis)
        async with service_of(settings) as http:
            assert await Agent(http, staying_key, STAYING).read() == kept


def stated(user: str, session: str, text: str) -> Extraction:
    """The extraction of a user's remark, in a session that is not named after the user."""
    given = remarks(session, 0, text)
    return given.model_copy(update={"user": user, "events": [each.model_copy(update={"user": user}) for each in given.events]})


async def say(settings: Settings, *given: Extraction) -> None:
    """Produces extractions as their stage does, each with its own key."""
    async with Producer(kafka=settings.kafka) as producer:
        topic = settings.topic("extractions")
        await producer.send_many([OutgoingRecord(topic, distinct_key(each.tenant, each.user), each.to_json()) for each in given])


async def edit_in_every_way(agent: Agent) -> None:
    """Edits that are applied, repeated, replaced, undone and refused."""
    for _ in range(2):
        applied(await agent.edit("append", text="Works in Reykjavik.", key="one"))
    applied(await agent.edit("replace", old="Reykjavik", text="Hafnarfjordur", reason="She has left Kopavogur.", key="two"))
    undone = await agent.undo(applied(await agent.edit("append", text="Has a boat in Selfoss.")))
    assert undone.status_code == 200, undone.text
    refused = await agent.edit("replace", old="Akureyri", text="Akureyri or Selfoss", key="three")
    assert refused.status_code == 409, refused.text
    assert (await agent.read())["text"] == "Lives in Keflavik\nWorks in Hafnarfjordur."


async def check_erased(settings: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    assert await places_of_words(settings, store) == {}
    for user in (LEAVING, SILENT):
        named = await remnants(settings, TENANT, user, store=store, redis=redis)
        assert {each.place: each.standing for each in named if each.standing} == {}


async def places_of_words(settings: Settings, store: MemoryStore) -> dict[str, set[str]]:
    """The places that have words of a leaving user, each with the words."""
    places = {**await standing_records(settings), **await redis_contents(settings), "store": await stored_contents(store, TENANT)}
    keys = [settings.topic("control"), settings.topic("audit")]
    found = {place: words_in(contents) - ({AUTHOR} if place in keys else set()) for place, contents in places.items()}
    return {place: words for place, words in found.items() if words}


def words_in(contents: Iterable[bytes]) -> set[str]:
    """The leaving user's words in contents."""
    every = [*contents]
    return {word for word in WORDS if any(word.encode() in each for each in every)}
