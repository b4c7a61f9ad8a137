"""A generation that lacks windows of the live one is not switched to by mistake, whatever its worker has committed."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiokafka.structs import OffsetAndMetadata

from control import Draft, read_control
from control.erasure_changes import begin_erasure, extend_erasure
from control.errors import ChangeRefusedError, GenerationIncompleteError
from control.generations.dropping import drop, retract
from control.generations.switching import require_complete, set_start, switch, tenants_to_write, windows_left_by
from control.tenant_changes import add_generation
from memory.ids import window_id
from memory.keys import encode_key
from memory.records import Extraction, Message, Usage, Window
from runtime.kafka import ConsumerGroups, KafkaOffsets, OutgoingRecord, Producer, read_topic
from runtime.kafka.parked_note import ParkedNote
from runtime.settings import ControlSettings, Settings
from streams.run import serve_stage
from streams.stages.catalog import STAGES
from tests.control_log import add_tenant, write
from tests.made_records import made_window
from tests.streams.agent_extractions import START, extraction
from tests.streams.flow import DEADLINE_S, POLL_S, TENANT, caught_up, followed, send_sample, serving

pytestmark = pytest.mark.integration

NEW = "v2"
OTHER = "globex"
BY = "a test"
UP_TO_EXTRACTION = ("sessions", "extraction")
LATER_THAN_ALL = timedelta(hours=1)


@pytest.fixture
def flow(flow: Settings) -> Settings:
    """The flow, in which a switch holds everywhere sooner."""
    return flow.model_copy(update={"control": ControlSettings(lease_s=3.0)})


async def test_skipped_windows_prevent_the_switch(flow: Settings) -> None:
    await send_sample(flow, session="s-1")
    async with serving(flow, UP_TO_EXTRACTION):
        await caught_up(flow, UP_TO_EXTRACTION)
    skipped = await _extracted(flow, "")
    assert skipped
    await write(flow, lambda draft: add_generation(draft, TENANT, NEW))
    await set_start(flow, NEW, since=datetime.now(UTC) + LATER_THAN_ALL)
    await send_sample(flow, session="s-2")
    async with serving(flow, UP_TO_EXTRACTION):
        await _catch_up(flow)
    both = await _extracted(flow, NEW)
    assert both
    assert both == await _extracted(flow, "") - skipped
    with pytest.raises(
        GenerationIncompleteError, match=rf"^only the live generation has {len(skipped)} windows of tenant {TENANT}.*--incomplete"
    ):
        await switch(flow, TENANT, NEW, by=BY)
    with pytest.raises(ChangeRefusedError, match=f"tenant {TENANT} has no generation v9"):
        await switch(flow, TENANT, "v9", by=BY)
    assert await _live(flow) == ""

    await switch(flow, TENANT, NEW, incomplete=True, by=BY)
    assert await _live(flow) == NEW

    await switch(flow, TENANT, "", incomplete=True, by=BY)
    await set_start(flow, NEW, since=START)
    async with serving(flow, UP_TO_EXTRACTION):
        await _catch_up(flow)
    await switch(flow, TENANT, NEW, by=BY)
    assert await _live(flow) == NEW
    assert await _extracted(flow, NEW) == skipped | both


async def test_the_way_back_touches_no_other_tenant(flow: Settings) -> None:
    await add_tenant(flow, OTHER, schema="companion")
    for tenant in (TENANT, OTHER):
        await send_sample(flow, session="s-1", tenant=tenant)
    async with serving(flow, UP_TO_EXTRACTION):
        await caught_up(flow, UP_TO_EXTRACTION)
    before = len(await _extractions(flow, OTHER))
    await switch(flow, OTHER, "", by=BY)  # it is live already, and no second worker has built it
    await write(flow, lambda draft: add_generation(draft, TENANT, NEW))
    await switch(flow, TENANT, NEW, by=BY, incomplete=True)
    made = len(await _extractions(flow, TENANT))
    # As `varve replay extraction --generation -` does.
    whose = tenants_to_write(Draft(await read_control(flow)), "")
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as running:
        running.create_task(serve_stage("extraction", flow, stop, generation="", only=frozenset(whose)))
        try:
            await followed(flow, "-")
        finally:
            stop.set()
    assert len(await _extractions(flow, TENANT)) > made
    assert len(await _extractions(flow, OTHER)) == before, "its first generation is live, and its live workers make it"


async def test_the_last_extraction_of_a_window_counts(flow: Settings) -> None:
    await write(flow, lambda draft: add_generation(draft, TENANT, NEW))
    calls = [("search", 0)]
    usage = Usage(tenant=TENANT, stage="extraction", model="m", time=START)
    in_both, only_old, nothing_in_old, nothing_in_new, less_in_new, retracted_in_old, still_to_come, in_progress = range(8)
    await _send(
        flow,
        *[extraction(window, calls) for window in (in_both, only_old, nothing_in_new, less_in_new, retracted_in_old, still_to_come)],
        extraction(nothing_in_old, []),
        extraction(retracted_in_old, []),
        extraction(in_both, calls, generation=NEW),
        extraction(nothing_in_new, [], generation=NEW),
        extraction(less_in_new, calls, generation=NEW),
        extraction(less_in_new, [], generation=NEW).model_copy(update={"usage": [usage]}),
        extraction(only_old, calls, tenant="another", generation=NEW),
    )
    await _send(flow, _window(in_progress))
    await set_start(flow, NEW, since=datetime.now(UTC) + LATER_THAN_ALL)
    await _send(flow, _window(still_to_come))
    with pytest.raises(GenerationIncompleteError, match=r"has 2 windows of"):
        await switch(flow, TENANT, NEW, by=BY)

    await _send(flow, *[extraction(window, calls, generation=NEW) for window in (only_old, in_progress)])
    # The same for `less_in_new`: after an empty extraction, fields that the schema no longer has may stay.
    assert await drop(flow, TENANT, NEW, by=BY) == 4
    with pytest.raises(GenerationIncompleteError, match=r"has 3 windows of"):
        await switch(flow, TENANT, NEW, by=BY)

    begun_before_the_drop = [extraction(window, calls, generation=NEW) for window in (in_both, only_old, in_progress)]
    await _send(flow, *begun_before_the_drop)
    with pytest.raises(GenerationIncompleteError, match=r"has 3 windows of"):
        await switch(flow, TENANT, NEW, by=BY)

    await _send(flow, *[each.model_copy(update={"drops": 1}) for each in begun_before_the_drop])
    with pytest.raises(GenerationIncompleteError, match=r"^1 window may still lack"):
        await switch(flow, TENANT, NEW, by=BY)
    assert await _live(flow) == NEW


async def test_a_switch_over_two_data_folders_misses_no_window(flow: Settings, tmp_path: Path) -> None:
    other_machine = flow.model_copy(update={"data": tmp_path / "another"})
    await write(flow, lambda draft: add_generation(draft, TENANT, NEW))
    switched = asyncio.Event()

    async def send_until_switched() -> None:
        number = 0
        while not switched.is_set():
            await send_sample(flow, session=f"s-{number}")
            await caught_up(flow, UP_TO_EXTRACTION)
            number += 1

    async def switch_once_it_has_caught_up() -> None:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                try:
                    return await switch(flow, TENANT, NEW, by=BY)
                except GenerationIncompleteError:
                    await asyncio.sleep(POLL_S)

    stops = [asyncio.Event() for _ in range(4)]
    async with asyncio.TaskGroup() as running:
        running.create_task(serve_stage("sessions", flow, stops[0]))
        running.create_task(serve_stage("extraction", flow, stops[1]))
        running.create_task(serve_stage("extraction", other_machine, stops[2]))
        second = running.create_task(serve_stage("extraction", other_machine, stops[3], generation=NEW))
        try:
            await send_sample(flow, session="before the switch")
            await caught_up(flow, UP_TO_EXTRACTION)
            sending = running.create_task(send_until_switched())
            await switch_once_it_has_caught_up()
            # From now on the live workers, on whatever machine, make the new generation alone.
            stops[3].set()
            await second
            await send_sample(flow, session="behind the second worker")
            switched.set()
            await sending
            await caught_up(flow, UP_TO_EXTRACTION)
        finally:
            switched.set()
            for stop in stops:
                stop.set()
    windows = {Window.from_json(each.value or b"").id async for each in read_topic(flow.topic("windows"), flow.kafka)}
    made = [Extraction.from_json(each.value or b"") async for each in read_topic(flow.topic("extractions"), flow.kafka)]
    assert {each.window_id for each in made if each.generation == NEW} == windows
    assert any(not each.generation for each in made), "some were made before the switch"


async def test_parked_windows_are_named_at_the_switch(flow: Settings) -> None:
    await write(flow, lambda draft: add_generation(draft, TENANT, NEW))
    calls = [("search", 0)]
    await _send(flow, _window(0), extraction(0, calls))
    extraction_stage = STAGES["extraction"]
    live, second = (extraction_stage.group(flow.kafka.topic_prefix, suffix=suffix) for suffix in ("", NEW))
    async with KafkaOffsets(kafka=flow.kafka) as offsets:
        ends = await offsets.end_offsets([flow.topic("windows")])
    groups = ConsumerGroups(kafka=flow.kafka)
    await groups.commit(live, ends)
    await groups.commit(second, {each: OffsetAndMetadata(end, ParkedNote(3, {"another": 3}).text) for each, end in ends.items()})
    with pytest.raises(GenerationIncompleteError, match="skipped or parked"):
        await switch(flow, TENANT, NEW, by=BY)
    assert await windows_left_by(flow, ["", NEW]) == {NEW: 6}, "no worker extracts the first one in addition to the live workers"

    await _send(flow, extraction(0, calls, generation=NEW))
    notices: list[str] = []
    await switch(flow, TENANT, NEW, by=BY, notice=notices.append)
    assert await _live(flow) == NEW
    assert notices[-1].startswith("the second worker has 6 windows parked, most of another: let it run")


async def test_erased_windows_are_not_missed(flow: Settings) -> None:
    await send_sample(flow, session="s-1")
    async with serving(flow, UP_TO_EXTRACTION):
        await caught_up(flow, UP_TO_EXTRACTION)
    await write(flow, lambda draft: add_generation(draft, TENANT, NEW))
    await set_start(flow, NEW, since=datetime.now(UTC) + LATER_THAN_ALL)
    with pytest.raises(GenerationIncompleteError, match="only the live generation has"):
        await require_complete(flow, TENANT, NEW)
    async with KafkaOffsets(kafka=flow.kafka) as offsets:
        ends = {
            name: {each.partition: end for each, end in (await offsets.end_offsets([flow.topic(name)])).items()}
            for name in ("windows", "extractions")
        }

    def erase(draft: Draft) -> None:
        extend_erasure(draft, begin_erasure(draft, TENANT, "ada", at=datetime.now(UTC)).subject, ends)

    await write(flow, erase)
    assert await require_complete(flow, TENANT, NEW) == 0
    assert await retract(flow, TENANT, "", drops=1) == 0, "erased results are retracted already"


async def _catch_up(settings: Settings) -> None:
    """Runs a second worker until it and the live ones have done all windows."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as running:
        running.create_task(serve_stage("extraction", settings, stop, generation=NEW))
        try:
            await caught_up(settings, UP_TO_EXTRACTION)
            await followed(settings, NEW)
        finally:
            stop.set()


async def _extractions(settings: Settings, tenant: str) -> list[Extraction]:
    """The extractions of a tenant in the log, repetitions included."""
    records = [record async for record in read_topic(settings.topic("extractions"), settings.kafka)]
    return [read for read in (Extraction.from_json(record.value or b"") for record in records) if read.tenant == tenant]


async def _extracted(settings: Settings, generation: str) -> set[str]:
    """The windows that a generation has something of."""
    records = [record async for record in read_topic(settings.topic("extractions"), settings.kafka)]
    read = [Extraction.from_json(record.value or b"") for record in records]
    return {each.window_id for each in read if each.generation == generation and (each.segments or each.events or each.patches)}


async def _live(settings: Settings) -> str:
    return (await read_control(settings)).tenants[TENANT].generation


def _window(number: int) -> Window:
    message = Message(tenant=TENANT, user="agent", session="s1", id=f"m{number}", text="a word", event_time=START)
    return made_window([message], id=window_id(TENANT, "s1", number), sequence=number, first_offset=number, last_offset=number)


async def _send(settings: Settings, *records: Extraction | Window) -> None:
    outgoing = [
        OutgoingRecord(
            topic=settings.topic("windows" if isinstance(record, Window) else "extractions"),
            key=encode_key(record.tenant, record.session if isinstance(record, Window) else record.user),
            value=record.to_json(),
        )
        for record in records
    ]
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many(outgoing)
