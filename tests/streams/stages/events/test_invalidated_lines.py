"""Lines of texts that are based on the messages of an invalidated or corrected event."""

from typing import Any

from memory.headers import CORRECTION, KIND
from memory.keys import encode_key
from memory.records import Correction, EventFields, EventSeen, Extraction
from streams.engine.records import ConsumedRecord
from tests.streams.harness import delivered
from tests.streams.stages.message_flow import START, TENANT, Flow

LINES = [("ann", "I am allergic to nuts."), ("ann", "I live in Oslo.")]


async def spoken(message_flow: Flow) -> Extraction:
    await message_flow.say("m1", "I live in Oslo.")
    await message_flow.say("m2", "I am allergic to nuts.")
    await message_flow.close()
    await message_flow.publish()
    assert message_flow.in_force() == LINES
    return Extraction.from_json(message_flow.extractions[0].value or b"")


def correction(what: Extraction, index: int, offset: int, action: str, **fields_set: Any) -> ConsumedRecord:
    event = what.events[index]
    seen = EventSeen(window_id=event.window_id, type=event.type, content=event.content, message_ids=event.message_ids)
    fields = {"id": f"c{offset}", "tenant": TENANT, "user": "ann", "action": action, "memory_id": event.id, "event": seen}
    value = Correction.model_validate({**fields, "fields": EventFields(**fields_set), "by": "k1", "time": START}).to_json()
    return delivered("extractions", offset, encode_key(TENANT, "ann"), value, headers=((KIND, CORRECTION),))


async def test_an_invalidation_retracts_the_lines_of_its_message(message_flow: Flow) -> None:
    what = await spoken(message_flow)
    await message_flow.publish([correction(what, 1, 5, "invalidate")])
    assert message_flow.in_force() == [("ann", "I live in Oslo.")]
    await message_flow.publish([correction(what, 1, 6, "revert")])
    assert message_flow.in_force() == LINES


async def test_a_repeated_extraction_keeps_the_lines_out(message_flow: Flow) -> None:
    what = await spoken(message_flow)
    again = delivered("extractions", 6, encode_key(TENANT, "ann"), what.to_json())
    await message_flow.publish([correction(what, 1, 5, "invalidate"), again])
    assert message_flow.in_force() == [("ann", "I live in Oslo.")]
    await message_flow.publish([correction(what, 1, 7, "revert")])
    assert message_flow.in_force() == LINES


async def test_another_fact_of_the_message_keeps_its_line(message_flow: Flow) -> None:
    what = await spoken(message_flow)
    events = [each.model_copy(update={"message_ids": ["m1"]}) for each in what.events]
    patches = [each.model_copy(update={"message_ids": ["m1"]}) for each in what.patches]
    both = what.model_copy(update={"events": events, "patches": patches})
    await message_flow.publish(
        [delivered("extractions", 4, encode_key(TENANT, "ann"), both.to_json()), correction(both, 1, 5, "invalidate")]
    )
    assert message_flow.in_force() == [("ann", "I live in Oslo.")]


async def test_a_corrected_content_retracts_the_lines_of_its_message(message_flow: Flow) -> None:
    what = await spoken(message_flow)
    await message_flow.publish([correction(what, 1, 5, "correct", content="Ann is allergic to wasps.")])
    assert message_flow.in_force() == [("ann", "I live in Oslo.")]
    again = delivered("extractions", 6, encode_key(TENANT, "ann"), what.to_json())
    await message_flow.publish([again])
    assert message_flow.in_force() == [("ann", "I live in Oslo.")], "extracted again, it stays corrected"
    await message_flow.publish([correction(what, 1, 7, "revert")])
    assert message_flow.in_force() == LINES


async def test_a_corrected_importance_keeps_the_lines(message_flow: Flow) -> None:
    what = await spoken(message_flow)
    await message_flow.publish([correction(what, 1, 5, "correct", importance=0.9), correction(what, 0, 6, "correct", date="2024-04")])
    assert message_flow.in_force() == LINES


async def test_only_a_replaced_value_retracts_lines(message_flow: Flow) -> None:
    what = await spoken(message_flow)
    events = [each.model_copy(update={"properties": {"severity": "mild"}}) if index else each for index, each in enumerate(what.events)]
    stated = what.model_copy(update={"events": events})
    record = delivered("extractions", 4, encode_key(TENANT, "ann"), stated.to_json())
    await message_flow.publish([record, correction(stated, 1, 5, "correct", properties={"cause": "nuts"})])
    assert message_flow.in_force() == LINES, "it adds what the message does not say"
    await message_flow.publish([correction(stated, 1, 6, "correct", properties={"severity": "severe"})])
    assert message_flow.in_force() == [("ann", "I live in Oslo.")]


async def test_a_correction_above_an_invalidation_shows_no_line(message_flow: Flow) -> None:
    what = await spoken(message_flow)
    await message_flow.publish([correction(what, 1, 5, "correct", content="Ann is allergic to wasps.")])
    await message_flow.publish([correction(what, 1, 6, "invalidate"), correction(what, 1, 7, "revert")])
    assert message_flow.in_force() == [("ann", "I live in Oslo.")], "the content is still corrected"
