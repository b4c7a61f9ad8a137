"""Lookups and updates of other memories, through the stages with a real store: exact retraction, repetition, rebuild, and outages."""

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from memory.headers import ERASURE, EVOLUTION, KIND
from memory.keys import encode_key
from memory.records import ErasedWindow, ErasureCommand, Memory
from runtime.kafka import KafkaOffsets, OutgoingRecord, TopicPartition
from runtime.settings import MergingSettings, Settings, StoreSettings
from stores.build import build_store
from stores.port import MemoryStore
from streams.errors import TransientError
from streams.stages.merging.indexed_log import IndexedLog
from tests.erased_users import now_erased
from tests.stores.edge_owner_process import EdgeOwnerProcess
from tests.streams.harness import plain_settings
from tests.streams.linked_remarks import note_id, remarks, schema
from tests.streams.merged_remarks import TENANT
from tests.streams.stages.merging.linked_stages import LinkedStages, LinkingLLM

CAT, ILL, VET = remarks("ann", 0, "I have a cat."), remarks("ann", 1, "My cat is ill."), remarks("ann", 2, "The vet saw my cat.")
NOTHING = {window: remarks("ann", window) for window in range(3)}


def unversioned(notes: dict[str, Memory]) -> dict[str, object]:
    return {name: each.model_dump(exclude={"version"}) for name, each in notes.items()}


def states(stages: LinkedStages) -> dict[bytes, bytes]:
    """The rows of entities, without the offset of the contribution that wrote them."""
    return {key: row[8:] for key, row in stages.entities.rows.rows.items()}


def links(stages: LinkedStages) -> set[tuple[str, str]]:
    return {(name, link.id) for name, note in stages.notes().items() for link in note.links or ()}


async def test_links_of_a_removed_note_are_removed(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="link"), store, LinkingLLM())
    await stages.say(CAT)
    alone = unversioned(stages.notes())
    await stages.say(ILL)
    two = unversioned(stages.notes())
    await stages.say(VET)
    cat, ill, vet = (note_id("ann", each) for each in (CAT, ILL, VET))
    assert links(stages) == {(one, other) for one in (cat, ill, vet) for other in (cat, ill, vet) if one != other}
    assert stages.notes()[cat].properties["context"] == "Later: The vet saw my cat."
    await stages.say(NOTHING[2])
    assert unversioned(stages.notes()) == two, "the earlier change of the same note stands"
    await stages.say(NOTHING[1])
    assert unversioned(stages.notes()) == alone


async def test_a_retracted_neighbour_leaves_no_link(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="link"), store, LinkingLLM())
    await stages.say(CAT, ILL, NOTHING[0])
    (left,) = stages.notes().values()
    assert (left.id, left.links) == (note_id("ann", ILL), None)


async def test_a_rebuild_asks_neither_store_nor_model(settings: Settings, store: MemoryStore) -> None:
    llm = LinkingLLM()
    stages = LinkedStages(settings, schema(decide="link"), store, llm)
    await stages.say(CAT, ILL, VET, NOTHING[1], ILL)
    before = {name: each.to_json() for name, each in stages.notes().items()}
    rows, asked, log = states(stages), llm.asked, len(stages.log["extractions"])
    await stages.rebuild()
    assert {name: each.to_json() for name, each in stages.notes().items()} == before
    assert states(stages) == rows
    assert (llm.asked, stages.log["merges"]) == (asked, [])
    assert len(stages.log["extractions"]) == log, "no change is sent a second time"


async def test_a_repeated_evolution_changes_nothing(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="link"), store, LinkingLLM())
    await stages.say(CAT, ILL)
    before, rows = stages.notes(), dict(stages.events.rows.rows)
    evolution = next(each for each in stages.log["extractions"] if (KIND, EVOLUTION) in each.headers)
    for repeated in (evolution, *stages.log["extractions"]):
        stages.append((await stages.events.process([repeated])).outputs)
        while await stages.step():
            pass
    assert stages.notes() == before
    assert stages.events.rows.rows == rows


async def test_an_evolution_of_other_words_is_void(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="link"), store, LinkingLLM())
    await stages.say(CAT, ILL)
    late = next(each for each in stages.log["extractions"] if (KIND, EVOLUTION) in each.headers)
    await stages.say(remarks("ann", 0, "I have a dog."))
    before = stages.notes()
    assert before[note_id("ann", CAT)].links is None
    stages.append((await stages.events.process([late])).outputs)
    while await stages.step():
        pass
    assert stages.notes() == before


async def test_a_lookup_finds_only_own_notes(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="link"), store, LinkingLLM())
    await stages.say(CAT, remarks("ben", 0, "I have a cat."))
    assert links(stages) == set()


async def test_a_request_waits_for_the_store(settings: Settings, store: MemoryStore, edge: EdgeOwnerProcess) -> None:
    stages = LinkedStages(settings, schema(decide="reconcile"), store)
    await stages.say(CAT)
    (request,) = stages.log["merges"]
    edge.stop(signal.SIGTERM)
    with pytest.raises(TransientError) as raised:
        await stages.merging.handle(request)
    assert raised.value.dependency == "store"
    now_erased(stages.tenants, TENANT, "ann", {"merges": {0: request.offset + 1}})
    assert await stages.merging.handle(request) == [], "an erased user's memories are not looked up"
    edge.start()


async def test_a_hidden_fact_is_shown_without_its_twin(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="reconcile"), store)
    again = remarks("ann", 1, "I HAVE a cat")
    await stages.say(CAT, again, remarks("ann", 2, "I have a cat."))
    twins = [stages.notes()[note_id("ann", each)] for each in (again, remarks("ann", 2, "x"))]
    assert [each.properties["hidden_by"] for each in twins] == [CAT.events[0].id] * 2, "a hidden fact is no neighbour"
    assert [each.expires_at == each.event_time for each in twins] == [True, True]
    await stages.say(NOTHING[0])
    assert [each.expires_at for each in stages.notes().values()] == [None, None]


async def test_a_burst_is_linked_like_single_notes(settings: Settings, tmp_path: Path) -> None:
    shown: list[dict[str, object]] = []
    for number, at_once in enumerate((False, True)):
        with EdgeOwnerProcess(tmp_path / f"edge-{number}") as own:
            store = build_store(plain_settings(tmp_path, store=StoreSettings(socket=own.socket)))
            stages = LinkedStages(settings, schema(decide="link"), store, LinkingLLM())
            together = remarks("ann", 3, "I have a second cat.", "The second cat is ill, too.")
            await (stages.say_at_once if at_once else stages.say)(CAT, ILL, VET, together)
            await store.close()
            shown.append({name: (each.content, {link.id for link in each.links or ()}) for name, each in stages.notes().items()})
    assert shown[0] == shown[1]
    assert len(shown[0]) == 5


async def test_equal_facts_of_a_burst_keep_one(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="reconcile"), store)
    again = [remarks("ann", 1, "I HAVE a cat"), remarks("ann", 2, "I have a cat.", "I have a cat.")]
    await stages.say_at_once(CAT, *again)
    assert [name for name, each in stages.notes().items() if each.expires_at is None] == [note_id("ann", CAT)]


async def test_many_later_notes_hide_no_earlier_one(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="reconcile"), store)
    await stages.say_at_once(CAT, *(remarks("ann", window, *["I have a cat."] * 20) for window in (1, 2, 3)))
    assert [name for name, each in stages.notes().items() if each.expires_at is None] == [note_id("ann", CAT)]


class StandingIndex:
    """The offsets of a log whose last record no group handles."""

    async def end_offsets(self, topics: Sequence[str]) -> dict[TopicPartition, int]:
        return {TopicPartition(topic, 0): 1 for topic in topics}

    async def committed_offsets(self, group: str, topics: Sequence[str]) -> dict[TopicPartition, int]:
        return {}


async def test_a_lookup_waits_no_longer_than_its_limit(settings: Settings, store: MemoryStore) -> None:
    limited = settings.model_copy(update={"merging": MergingSettings(lookup_wait_s=0.05)})
    log = IndexedLog(settings=limited, offsets=cast(KafkaOffsets, StandingIndex()))
    stages = LinkedStages(limited, schema(decide="reconcile"), store, indexed_log=log)
    await stages.say(CAT, ILL)
    assert stages.metrics.registry.get_sample_value("varve_records_total", {"stage": "merging", "outcome": "looked_up_early"}) == 2
    assert [each.properties["decided_by"] for each in stages.notes().values()] == ["rule", "rule"]
    await log.close()


async def test_an_erasure_takes_notes_updates_and_outcomes(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(decide="link"), store, LinkingLLM())
    other = remarks("ben", 0, "I have a cat.")
    await stages.say(other)
    before = stages.notes()
    await stages.say(CAT, ILL)
    windows = [ErasedWindow(window_id=each.window_id, memory_ids=[event.id for event in each.events]) for each in (CAT, ILL)]
    command = ErasureCommand(tenant=TENANT, user="ann", windows=windows, entities=[])
    stages.append([OutgoingRecord("varve.extractions", encode_key(TENANT, "ann"), command.to_json(), headers=((KIND, ERASURE),))])
    while await stages.step():
        pass
    assert stages.notes() == before
    assert [key for key in stages.entities.rows.rows if b"ann" in key] == []
    newest = {each.key: each.value for each in stages.log["merged"]}
    assert {value is None for key, value in newest.items() if b"ann" in (key or b"")} == {True}
