"""The entities stage: every contribution counts once, even if it is repeated, skipped or redriven."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from memory.headers import ORIGIN
from memory.keys import encode_key
from memory.records import Change, Contribution, Memory, MemoryChange
from memory.schema import scenario
from runtime.clocks import SystemClock
from runtime.kafka import OutgoingRecord
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from tests.control_log import known_tenants, now_known
from tests.growth import RESPONSIVE, turns_during
from tests.streams.agent_extractions import SCHEMA, TENANT, Call, extraction, extraction_record
from tests.streams.harness import APPENDED_AT, InMemoryRows, PartitionHarness, delivered, plain_settings


class EventsAndEntities:
    """The events stage and the entities stage, with one partition each."""

    def __init__(self, settings: Settings, tenants: TenantDirectory) -> None:
        self.settings = settings
        self.tenants = tenants
        self.events = PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics()), LedgerCodec())
        self.contributions: list[ConsumedRecord] = []

    def entities(self, rows: InMemoryRows | None = None) -> PartitionHarness:
        return PartitionHarness(
            EntitiesHandler(partition=0, settings=self.settings, tenants=self.tenants, metrics=Metrics(), clock=SystemClock()),
            EntityCodec(),
            rows,
        )

    async def contribute(self, window: int, calls: list[Call], offset: int) -> list[ConsumedRecord]:
        """Adds the contributions of an extraction to the log."""
        batch = await self.events.process([extraction_record(extraction(window, calls), offset)])
        new = self.as_log([each for each in batch.outputs if each.topic == "varve.contributions"])
        self.contributions += new
        return new

    def as_log(self, outputs: list[OutgoingRecord]) -> list[ConsumedRecord]:
        start = len(self.contributions)
        return [delivered("contributions", start + index, each.key, each.value) for index, each in enumerate(outputs)]


@pytest.fixture(scope="module")
def environment() -> Iterator[tuple[Settings, TenantDirectory]]:
    with tempfile.TemporaryDirectory() as folder:
        settings = plain_settings(Path(folder))
        yield settings, known_tenants({TENANT: SCHEMA})


@pytest.fixture
def stages(environment: tuple[Settings, TenantDirectory]) -> EventsAndEntities:
    return EventsAndEntities(*environment)


class CurrentMemories:
    """The memories that the change feed leaves."""

    def __init__(self) -> None:
        self.by_key: dict[bytes, Memory] = {}

    def apply(self, batch: Batch) -> None:
        for output in batch.outputs:
            assert output.topic == "varve.memories"
            assert output.key is not None
            if output.value is None:
                self.by_key.pop(output.key, None)
            else:
                change = MemoryChange.from_json(output.value)
                if change.op == "step":
                    continue
                assert change.memory is not None
                self.by_key[output.key] = change.memory

    def tools(self) -> dict[str, tuple[int, int]]:
        """By tool: calls and failures."""
        return {
            str(memory.properties["tool_name"]): (int(str(memory.properties["calls"])), int(str(memory.properties.get("failures", 0))))
            for memory in self.by_key.values()
            if memory.type == "tool_experience"
        }


def without_steps(outputs: list[OutgoingRecord]) -> list[OutgoingRecord]:
    return [each for each in outputs if each.value is None or MemoryChange.from_json(each.value).op != "step"]


WINDOWS = st.tuples(st.integers(0, 3), st.lists(st.tuples(st.sampled_from(["grep", "curl", "make"]), st.integers(0, 1)), max_size=4))


@examples(max_examples=120)
@given(windows=st.lists(WINDOWS, max_size=10), batch=st.integers(1, 6), crash_at=st.integers(0, 80), back=st.integers(0, 80))
async def test_entities_equal_the_newest_extraction_of_each_window(
    environment: tuple[Settings, TenantDirectory], windows: list[tuple[int, list[Call]]], batch: int, crash_at: int, back: int
) -> None:
    stages, feed = EventsAndEntities(*environment), CurrentMemories()
    for offset, (window, calls) in enumerate(windows):
        await stages.contribute(window, calls, offset)
    log = stages.contributions
    crash_at = min(crash_at, len(log))
    before = stages.entities()
    for start in range(0, crash_at, batch):
        feed.apply(await before.process(log[start : min(start + batch, crash_at)]))
    # The state was written, the offset was not committed; and a record that was produced twice is twice in the log.
    after = stages.entities(InMemoryRows(before.rows.rows))
    for record in log[max(0, crash_at - back) :] + log[-3:]:
        feed.apply(await after.process([record]))
    newest = dict(windows)
    calls = [call for window in newest.values() for call in window]
    count, failed = Counter(tool for tool, _ in calls), Counter(tool for tool, failure in calls if failure)
    assert feed.tools() == {tool: (count[tool], failed[tool]) for tool in count}


async def test_a_redelivery_republishes_without_changing_rows(stages: EventsAndEntities) -> None:
    log = await stages.contribute(0, [("grep", 0), ("grep", 1)], 0)
    stage = stages.entities()
    first = await stage.process(log)
    rows = dict(stage.rows.rows)
    assert (await stage.process(log)).outputs == without_steps(first.outputs), "steps are in the feed, and are not repeated"
    assert stage.rows.rows == rows


async def test_an_entity_is_published_once_a_batch(stages: EventsAndEntities) -> None:
    for offset in range(6):
        await stages.contribute(offset, [("grep", 0)], offset)
    feed = CurrentMemories()
    batch = await stages.entities().process(stages.contributions)
    feed.apply(batch)
    assert len(batch.outputs) == len({output.key for output in batch.outputs})
    assert feed.tools() == {"grep": (6, 0)}


async def test_an_entity_retracted_whole_leaves_a_tombstone(stages: EventsAndEntities) -> None:
    await stages.contribute(0, [("grep", 0)], 0)
    await stages.contribute(0, [], 1)
    feed = CurrentMemories()
    stage = stages.entities()
    for record in stages.contributions:
        feed.apply(await stage.process([record]))
    assert feed.by_key == {}


async def test_a_redrive_after_an_unknown_type_counts_once(tmp_path: Path) -> None:
    schema = scenario("agent_tools")
    tenants = known_tenants({TENANT: schema})
    stages = EventsAndEntities(plain_settings(tmp_path), tenants)
    refused = [each for each in await stages.contribute(0, [("grep", 0)], 0) if b'"tool_experience"' in (each.value or b"")]
    later = [each for each in await stages.contribute(1, [("grep", 1)], 1) if b'"tool_experience"' in (each.value or b"")]

    without = replace(schema, entity_types=tuple(each for each in schema.entity_types if each.name != "tool_experience"))
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=without))
    stage = stages.entities()
    batch = await stage.process(refused)
    assert [(each.record, each.reason) for each in batch.rejections] == [(refused[0], "unknown_entity_type")]
    assert batch.outputs == []

    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=schema))
    feed = CurrentMemories()
    feed.apply(await stage.process(later))
    assert feed.tools() == {"grep": (1, 1)}
    driven = delivered("contributions", 50, refused[0].key, refused[0].value, headers=((ORIGIN, b"varve.contributions/0/0"),))
    for _ in range(2):
        feed.apply(await stage.process([driven]))
        assert feed.tools() == {"grep": (2, 1)}


async def test_a_redrive_after_a_dead_letter_counts_once(stages: EventsAndEntities) -> None:
    broken = [each for each in await stages.contribute(0, [("grep", 0)], 0) if b'"tool_experience"' in (each.value or b"")]
    later = [each for each in await stages.contribute(1, [("grep", 1)], 1) if b'"tool_experience"' in (each.value or b"")]
    stage = stages.entities()
    stage.handler.on_dead_lettered(stage.state, broken[0])
    stage.commit()
    feed = CurrentMemories()
    feed.apply(await stage.process(later))
    assert feed.tools() == {"grep": (1, 1)}
    for _ in range(2):
        feed.apply(await stage.process(broken))
        assert feed.tools() == {"grep": (2, 1)}


async def test_only_the_unreadable_record_is_refused(stages: EventsAndEntities) -> None:
    good = await stages.contribute(0, [("grep", 0)], 0)
    foreign = delivered("contributions", 91, b"k", (good[0].value or b"").replace(b'"acme"', b'"nobody"'))
    broken = [delivered("contributions", 90, encode_key("a"), b"{"), foreign, delivered("contributions", 92, b"k", None)]
    feed = CurrentMemories()
    batch = await stages.entities().process([*good, *broken])
    feed.apply(batch)
    assert [(each.record.offset, each.reason) for each in batch.rejections] == [
        (90, "malformed"),
        (91, "unknown_tenant"),
        (92, "malformed"),
    ]
    assert feed.tools() == {"grep": (1, 0)}


async def test_many_patches_are_applied_off_the_loop(settings: Settings) -> None:
    patches = [
        Change(
            op="apply",
            property="avoids",
            value={"search": "", "replace": f"statement number {number} {'word ' * 20}"},
            event_time=APPENDED_AT + timedelta(hours=number),
            source_id=f"e{number}",
        )
        for number in range(600)
    ]
    contribution = Contribution(
        tenant="shop",
        user="ann",
        entity_type="taste_profile",
        entity_key="ann",
        source="extractions/0",
        position=0,
        changes=patches,
        time=APPENDED_AT,
    )
    tenants = known_tenants({"shop": "search_recommendation"})
    handler = EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics(), clock=SystemClock())
    record = delivered("contributions", 0, encode_key("shop", "taste_profile", "ann"), contribution.to_json())
    batch, turns = await turns_during(PartitionHarness(handler, EntityCodec()).process([record]))

    assert any(each.topic == "varve.memories" for each in batch.outputs)
    assert turns > RESPONSIVE
