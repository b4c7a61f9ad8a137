"""A block that a model edits, through the stages with a real store: exact retraction, rebuild, outages, and the borders of users."""

import signal

import pytest

from loadtest.requests import ChatRequest
from memory.headers import ERASURE, KIND
from memory.keys import encode_key
from memory.records import ErasedWindow, ErasureCommand
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.errors import TransientError
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.agent_remarks import asked, calls, editing_answer, schema
from tests.streams.linked_remarks import remarks
from tests.streams.merged_remarks import TENANT
from tests.streams.stages.merging.agent_blocks import BERGEN, CAT, OSLO, asking, rows, text_of
from tests.streams.stages.merging.linked_stages import LinkedStages, LinkingLLM


async def test_a_rebuild_repeats_no_call(settings: Settings, store: MemoryStore) -> None:
    llm = LinkingLLM(editing_answer)
    stages = LinkedStages(asking(settings), schema(), store, llm)
    await stages.say(OSLO, CAT, BERGEN)
    assert text_of(stages) == "Lives in Bergen\nHas a cat"
    assert llm.asked == 6, "two steps for each window"
    before, states = {name: each.to_json() for name, each in stages.notes().items()}, rows(stages)
    await stages.rebuild()
    assert {name: each.to_json() for name, each in stages.notes().items()} == before
    assert (rows(stages), llm.asked, stages.log["merges"]) == (states, 6, [])


async def test_a_retraction_edits_the_block_again(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(asking(settings), schema(), store, LinkingLLM(editing_answer))
    await stages.say(OSLO, CAT, BERGEN, remarks("ann", 2))
    assert text_of(stages) == "Lives in Oslo\nHas a cat", "what the retracted remark replaced holds again"
    await stages.say(remarks("ann", 1), remarks("ann", 0))
    assert stages.notes() == {}


async def test_a_search_finds_only_own_events(settings: Settings, store: MemoryStore) -> None:
    seen: list[str] = []

    def searching(request: ChatRequest) -> str:
        question = asked(request)
        if not question["calls"]:
            return calls({"tool": "search", "query": "I live in Oslo"})
        seen.extend(each["says"] for each in question["calls"][0]["result"])
        return calls({"tool": "finish"})

    stages = LinkedStages(asking(settings), schema(), store, LinkingLLM(searching))
    await stages.say(remarks("ben", 0, "I live in Oslo too."), OSLO)
    assert seen == ["I live in Oslo too.", "I live in Oslo."]
    (found,) = (each for each in stages.log["merged"] if b"ann" in (each.key or b""))
    assert OSLO.events[0].id.encode() in (found.value or b"")


async def test_a_loop_waits_for_the_store(settings: Settings, store: MemoryStore, edge: EdgeOwnerProcess) -> None:
    llm = LinkingLLM(lambda _: calls({"tool": "search", "query": "home"}, {"tool": "finish"}))
    stages = LinkedStages(asking(settings), schema(), store, llm)
    await stages.say(OSLO)
    request = stages.log["merges"][0]
    edge.stop(signal.SIGTERM)
    with pytest.raises(TransientError) as raised:
        await stages.merging.handle(request)
    assert raised.value.dependency == "store"
    edge.start()


async def test_without_a_model_no_block_is_shown(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(), store)
    await stages.say(OSLO, CAT)
    assert text_of(stages) is None
    assert [each.properties for each in stages.notes().values()] == [{"user": "ann"}]


async def test_unusable_answers_leave_the_block(settings: Settings, store: MemoryStore) -> None:
    answers = [editing_answer, editing_answer]
    stages = LinkedStages(
        asking(settings), schema(Steps=2), store, LinkingLLM(lambda request: answers.pop()(request) if answers else "what?")
    )
    await stages.say(OSLO, CAT)
    assert text_of(stages) == "Lives in Oslo"
    counted = stages.metrics.records.labels("merging", "by_rule_bad_answer")._value.get()
    assert counted == 1


async def test_an_erasure_takes_block_and_outcomes(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(asking(settings), schema(), store, LinkingLLM(editing_answer))
    await stages.say(remarks("ben", 0, "I live in Rome."))
    before = stages.notes()
    await stages.say(OSLO, CAT)
    windows = [ErasedWindow(window_id=each.window_id, memory_ids=[event.id for event in each.events]) for each in (OSLO, CAT)]
    command = ErasureCommand(tenant=TENANT, user="ann", windows=windows, entities=[])
    stages.append([OutgoingRecord("varve.extractions", encode_key(TENANT, "ann"), command.to_json(), headers=((KIND, ERASURE),))])
    while await stages.step():
        pass
    assert stages.notes() == before
    assert [key for key in stages.entities.rows.rows if b"ann" in key] == []
    newest = {each.key: each.value for each in stages.log["merged"]}
    assert {value is None for key, value in newest.items() if b"ann" in (key or b"")} == {True}


async def test_a_corrected_message_is_edited_again(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(asking(settings), schema(), store, LinkingLLM(editing_answer))
    await stages.say(OSLO, CAT, remarks("ann", 0, "I live in Rome."))
    assert text_of(stages) == "Lives in Rome\nHas a cat"
