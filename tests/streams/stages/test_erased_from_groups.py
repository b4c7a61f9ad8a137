"""A user of shared windows is erased: the stages keep no word, even of results that were based on messages of several users."""

from typing import Literal

import pytest

from memory.headers import COMMAND, CORRECTION, KIND, RETRACTION
from memory.keys import distinct_key, marked_key, unmarked_key
from memory.records import Contribution, Correction, Event, EventFields, EventSeen, Extraction, MessageRetraction, SessionCommand
from streams.engine.records import ConsumedRecord
from streams.stages.events.ledger import amended_key, corrected_window, published_key
from streams.stages.events.ledger_entries import AmendedWindow
from tests.streams.harness import delivered
from tests.streams.stages.message_flow import START, TENANT, Flow

SECRET = "Lisbon"


async def shared_window(flow: Flow) -> None:
    """A closed window of two users."""
    await flow.say("m1", "I moved away.", user="ann")
    await flow.say("m2", f"You mean {SECRET}.", user="bo")
    await flow.close()


def quoting(flow: Flow, *, message_ids: list[str]) -> ConsumedRecord:
    """Ann's extraction of the window: her event repeats what Bo said."""
    (record,) = [each for each in flow.extractions if b'"ann"' in (each.value or b"")]
    made = Extraction.from_json(record.value or b"")
    events = [made.events[0].model_copy(update={"content": f"Ann moved to {SECRET}.", "message_ids": message_ids})]
    patches = [made.patches[0].model_copy(update={"replace": f"moved to {SECRET}", "message_ids": message_ids})]
    changed = made.model_copy(update={"events": events, "patches": patches})
    return delivered("extractions", record.offset, record.key, changed.to_json())


def correction(event: Event, offset: int, *, action: Literal["correct", "invalidate"] = "invalidate") -> ConsumedRecord:
    what = Correction(
        id="c1",
        tenant=TENANT,
        user=event.user,
        action=action,
        memory_id=event.id,
        event=EventSeen(window_id=event.window_id, type=event.type, content=event.content, message_ids=event.message_ids),
        fields=EventFields(importance=0.9),
        by="support",
        time=START,
    )
    return delivered("extractions", offset, distinct_key(TENANT, event.user), what.to_json(), headers=((KIND, CORRECTION),))


def retraction_of(flow: Flow) -> ConsumedRecord:
    (record,) = [each for each in flow.extractions if (KIND, RETRACTION) in each.headers]
    return record


def rows(flow: Flow) -> bytes:
    """All rows of the events stage, as text."""
    return b"".join(repr(row.entry()).encode() for _, row in flow.events.state.scan())


async def test_erasing_the_last_user_removes_a_shared_window(message_flow: Flow) -> None:
    """Its key names the session, so the erasure of a user finds no record to remove: the sessions stage removes it."""
    await shared_window(message_flow)
    key = message_flow.keys[0]
    emitted = []
    for user in ("bo", "ann"):
        batch = await message_flow.sessions.process([_erase(message_flow, user)])
        emitted.append([(each.key, each.value) for each in batch.outputs if each.topic == "varve.windows"])
    (again,), gone = emitted
    assert again[0] == key == marked_key(unmarked_key(key), message_flow.windows[0].id)
    assert SECRET.encode() not in (again[1] or b"")
    assert gone == [(key, None)]


def _erase(flow: Flow, user: str) -> ConsumedRecord:
    flow.offset += 1
    value = SessionCommand(command="erase", tenant=TENANT, user=user).to_json()
    return delivered("messages", flow.offset, distinct_key(TENANT, user), value, headers=((KIND, COMMAND),))


async def test_other_stages_learn_which_messages_were_erased(message_flow: Flow) -> None:
    await shared_window(message_flow)
    await message_flow.erase("bo")
    retraction = MessageRetraction.from_json(retraction_of(message_flow).value or b"")
    assert (retraction.user, retraction.revision, retraction.message_ids, retraction.is_erasure) == ("ann", 1, ["m2"], True)


async def test_an_edit_is_no_erasure(message_flow: Flow) -> None:
    await shared_window(message_flow)
    await message_flow.change("delete", "m2", user="bo")
    retractions = [each for each in message_flow.extractions if (KIND, RETRACTION) in each.headers]
    assert [MessageRetraction.from_json(each.value or b"").is_erasure for each in retractions] == [False, False]


async def test_the_ledger_forgets_results_of_several_messages(message_flow: Flow) -> None:
    """Entities still get the retractions with their values; the ledger keeps no copy."""
    await shared_window(message_flow)
    made = quoting(message_flow, message_ids=["m1", "m2"])
    event = Extraction.from_json(made.value or b"").events[0]
    await message_flow.erase("bo")
    await message_flow.publish([made, correction(event, 10, action="correct")])
    assert SECRET.encode() in rows(message_flow)
    batch = await message_flow.events.process([_at(retraction_of(message_flow), 11)])
    assert SECRET.encode() not in rows(message_flow)
    assert batch.is_erasing, "the files of the local table are compacted"
    retracted = [Contribution.from_json(each.value or b"") for each in batch.outputs if each.topic == "varve.contributions"]
    assert [change.op for each in retracted for change in each.changes] == ["retract"]
    assert SECRET in str(retracted[0].changes[0].value)


@pytest.mark.parametrize("action", ["correct", "invalidate"])
async def test_the_ledger_forgets_the_wording_of_earlier_revisions(message_flow: Flow, action: Literal["correct", "invalidate"]) -> None:
    """A model had repeated the words without naming the message: the next extraction of the window shows it."""
    await shared_window(message_flow)
    made = quoting(message_flow, message_ids=["m1"])
    event = Extraction.from_json(made.value or b"").events[0]
    await message_flow.erase("bo")
    newest = message_flow.extractions[-1] if not message_flow.extractions[-1].headers else message_flow.extractions[-2]
    assert Extraction.from_json(newest.value or b"").revision == 1
    await message_flow.publish([made, correction(event, 10, action=action), _at(retraction_of(message_flow), 11)])
    assert SECRET.encode() in rows(message_flow)
    await message_flow.publish([_at(newest, 12)])
    assert SECRET.encode() not in rows(message_flow)
    assert message_flow.published() == [("ann", "I moved away.")]


async def test_a_correction_stays_in_the_group_of_its_statement(message_flow: Flow) -> None:
    await shared_window(message_flow)
    (made,) = [each for each in message_flow.extractions if b'"ann"' in (each.value or b"")]
    event = Extraction.from_json(made.value or b"").events[0]
    await message_flow.erase("bo")
    newest = next(each for each in message_flow.extractions[2:] if not each.headers)
    await message_flow.publish([made, correction(event, 10), _at(retraction_of(message_flow), 11), _at(newest, 12)])
    kept = corrected_window(message_flow.events.state, TENANT, event.window_id)
    assert [(each.content, [step.action for step in each.standing]) for each in kept.events] == [("I moved away.", ["invalidate"])]


async def test_a_late_correction_that_quotes_is_skipped(message_flow: Flow) -> None:
    """Its author saw the memory before the erasure."""
    await shared_window(message_flow)
    made = quoting(message_flow, message_ids=["m1", "m2"])
    event = Extraction.from_json(made.value or b"").events[0]
    await message_flow.erase("bo")
    await message_flow.publish([made, _at(retraction_of(message_flow), 11), correction(event, 12)])
    assert SECRET.encode() not in rows(message_flow)
    amended = message_flow.events.state.get(amended_key(TENANT, event.window_id))
    assert amended is not None
    assert amended.entry() == AmendedWindow(revisions={"m2": 1}, erased=["m2"])
    assert message_flow.events.state.get(published_key(event.window_id, "")) is not None


def _at(record: ConsumedRecord, offset: int) -> ConsumedRecord:
    return delivered("extractions", offset, record.key, record.value, headers=record.headers)
