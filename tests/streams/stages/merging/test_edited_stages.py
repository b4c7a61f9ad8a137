"""Edits of a block by outside agents, through the stages: with a model that writes the same block, repeated, and rebuilt."""

from datetime import UTC, datetime
from typing import Any

from memory.headers import CORRECTION, ERASURE, KIND
from memory.ids import entity_id
from memory.keys import distinct_key, encode_key, entity_key
from memory.records import Change, Correction, EntityCorrection, ErasedEntity, ErasureCommand, Memory
from operators.agent.edits import UNDO, change_value
from operators.entities.correction import BY_HAND
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from stores.port import MemoryStore
from tests.streams.agent_remarks import BLOCK, editing_answer, schema
from tests.streams.linked_remarks import remarks
from tests.streams.merged_remarks import TENANT
from tests.streams.stages.merging.agent_blocks import BERGEN, CAT, OSLO, asking, block_of, rows, text_of
from tests.streams.stages.merging.linked_stages import LinkedStages, LinkingLLM

AT = datetime(2026, 11, 27, 12, tzinfo=UTC)


def edit(number: int, tool: str, *, user: str = "ann", tenant: str = TENANT, **arguments: Any) -> OutgoingRecord:
    """The record of an edit."""
    name = f"edit-{number}"
    change = Change(
        op="apply",
        property=BLOCK,
        source_id=name,
        value=change_value(tool, by="planner (k1)", time=AT.isoformat(), **arguments),
        event_time=AT,
        extractor=BY_HAND,
        is_update=True if tool == UNDO else None,
    )
    made = Correction(
        id=name,
        tenant=tenant,
        user=user,
        action="edit",
        memory_id=entity_id(tenant, "core_memory", entity_key(user)),
        entity=EntityCorrection(
            entity_type="core_memory", entity_key=entity_key(user), changes=[change], schema_name="remarks", schema_revision=1
        ),
        by="planner (k1)",
        time=AT,
    )
    return OutgoingRecord("varve.extractions", distinct_key(tenant, user), made.to_json(), headers=((KIND, CORRECTION),))


async def settle(stages: LinkedStages) -> None:
    while await stages.step():
        pass


async def send(stages: LinkedStages, *records: OutgoingRecord) -> None:
    """Brings edits through all stages, one after the other."""
    for record in records:
        stages.append([record])
        await settle(stages)


def edits_of(stages: LinkedStages, user: str = "ann") -> dict[str, str]:
    """The result of each edit."""
    written = (block_of(stages, user).written or {})[BLOCK]
    return {each.id: each.status for each in written.edits or ()}


async def same_after_rebuild(stages: LinkedStages, llm: LinkingLLM) -> None:
    before, states, asked = {name: each.to_json() for name, each in stages.notes().items()}, rows(stages), llm.asked
    await stages.rebuild()
    assert {name: each.to_json() for name, each in stages.notes().items()} == before
    assert (rows(stages), llm.asked) == (states, asked)


async def test_a_model_and_an_agent_write_one_block(settings: Settings, store: MemoryStore) -> None:
    llm = LinkingLLM(editing_answer)
    stages = LinkedStages(asking(settings), schema(), store, llm)
    await stages.say(OSLO)
    await send(stages, edit(1, "append", text="Prefers tea."))
    await stages.say(CAT, BERGEN)
    assert text_of(stages) == "Lives in Bergen\nPrefers tea.\nHas a cat"
    await send(
        stages, edit(2, "replace", old="Bergen", text="Rome"), edit(3, "replace", old="Bergen", text="Pisa"), edit(4, UNDO, edit="edit-1")
    )
    assert text_of(stages) == "Lives in Rome\nHas a cat"
    assert edits_of(stages) == {"edit-3": "conflict", "edit-2": "applied", "edit-1": "undone"}
    await same_after_rebuild(stages, llm)


async def test_an_edit_during_a_question_is_kept(settings: Settings, store: MemoryStore) -> None:
    llm = LinkingLLM(editing_answer)
    stages = LinkedStages(asking(settings), schema(), store, llm)
    stages.append([edit(1, "append", text="Prefers tea.")])
    await settle(stages)
    answered: list[Any] = []
    handle = stages.merging.handle

    async def late(record: Any) -> list[OutgoingRecord]:
        """The model's first answer arrives after another edit."""
        outputs = await handle(record)
        if not answered:
            answered.append(record)
            for stage, given in ((stages.events, edit(2, "append", text="Reads at night.")),):
                stages.append([given])
                for each in stages.unread("extractions"):
                    stages.append((await stage.process([each])).outputs)
                for each in stages.unread("contributions"):
                    stages.append((await stages.entities.process([each])).outputs)
        return outputs

    stages.merging.handle = late  # type: ignore[method-assign]
    await stages.say(OSLO)
    assert text_of(stages) == "Prefers tea.\nReads at night.\nLives in Oslo"
    assert len(answered) == 1
    assert edits_of(stages) == {"edit-1": "applied", "edit-2": "applied"}
    await same_after_rebuild(stages, llm)


async def test_a_repeated_edit_counts_once(settings: Settings, store: MemoryStore) -> None:
    llm = LinkingLLM(editing_answer)
    stages = LinkedStages(settings, schema(), store, llm)
    twice = edit(1, "append", text="Prefers tea.")
    await send(stages, twice, twice, edit(2, "append", text="Has a cat."), twice)
    assert text_of(stages) == "Prefers tea.\nHas a cat."
    await same_after_rebuild(stages, llm)
    # A replay of the stage for a repair delivers each record again.
    replayed = [await stages.events.process([each]) for each in stages.log["extractions"]]
    assert sum(len(each.outputs) for each in replayed) == 2, "the second request with an id is no edit"
    for each in replayed:
        stages.append(each.outputs)
    await settle(stages)
    assert text_of(stages) == "Prefers tea.\nHas a cat."


async def test_retractions_keep_edits(settings: Settings, store: MemoryStore) -> None:
    llm = LinkingLLM(editing_answer)
    stages = LinkedStages(asking(settings), schema(), store, llm)
    await stages.say(OSLO, CAT)
    await send(stages, edit(1, "append", text="Prefers tea."))
    await stages.say(remarks("ann", 1))
    assert text_of(stages) == "Prefers tea.\nLives in Oslo"
    await stages.say(remarks("ann", 0))
    assert text_of(stages) == "Prefers tea."
    await same_after_rebuild(stages, llm)


async def test_an_erasure_takes_edits_and_their_outcomes(settings: Settings, store: MemoryStore) -> None:
    stages = LinkedStages(settings, schema(), store)
    await send(stages, edit(1, "append", text="Lives in Rome.", user="ben"))
    before = stages.notes()
    await send(stages, edit(2, "append", text="Lives in Oslo."))
    mine: Memory = block_of(stages)
    erased = ErasedEntity(entity_type="core_memory", entity_key=entity_key("ann"), memory_ids=[mine.id], own=True)
    command = ErasureCommand(tenant=TENANT, user="ann", windows=[], entities=[erased])
    await send(stages, OutgoingRecord("varve.extractions", encode_key(TENANT, "ann"), command.to_json(), headers=((KIND, ERASURE),)))
    assert stages.notes() == before
    for rows_of in (stages.entities.rows.rows, stages.events.rows.rows):
        assert [row for row in rows_of.items() if b"Oslo" in row[1] or b"core_memory/ann" in row[0]] == []
    newest = {each.key: each.value for each in stages.log["merged"]}
    assert [value for value in newest.values() if value is not None and b"Oslo" in value] == []
