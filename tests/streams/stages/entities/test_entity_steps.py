"""The steps that the entities stage publishes: equal after a replay, bounded, and with the time at which they became known."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from memory.ids import entity_id
from memory.keys import encode_key
from memory.records import HistoryEntry, MemoryChange
from runtime.clocks import SystemClock
from runtime.metrics import Metrics
from runtime.settings import HistorySettings, KafkaSettings
from streams.engine.records import ConsumedRecord
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from tests.control_log import known_tenants
from tests.streams.agent_extractions import SCHEMA, TENANT, Call, extraction
from tests.streams.harness import APPENDED_AT, InMemoryRows, PartitionHarness, delivered, plain_settings
from tests.streams.stages.events.corrections import correction, correction_record

GREP = entity_id(TENANT, "tool_experience", "grep")


class Agents:
    """The log of agents' extractions, and what the events and entities stages publish of steps."""

    def __init__(self, **groups: object) -> None:
        self.settings = plain_settings(Path("nowhere"), **groups)
        self.tenants = known_tenants({TENANT: SCHEMA})
        self.log: list[ConsumedRecord] = []

    def extract(self, window: int, calls: list[Call]) -> None:
        """A window is extracted, a minute after the previous one."""
        key, what = encode_key(TENANT, "agent"), extraction(window, calls).to_json()
        appended_at = APPENDED_AT + timedelta(minutes=len(self.log))
        self.log.append(delivered("extractions", len(self.log), key, what, appended_at=appended_at))

    async def contributions(self) -> list[ConsumedRecord]:
        """The events stage's output for the log from its beginning."""
        handler = EventsHandler(partition=0, settings=self.settings, tenants=self.tenants, metrics=Metrics())
        outputs = (await PartitionHarness(handler, LedgerCodec()).process(self.log)).outputs
        made = [each for each in outputs if each.topic == "varve.contributions"]
        return [delivered("contributions", index, each.key, each.value) for index, each in enumerate(made)]

    def entities(self, rows: InMemoryRows | None = None) -> PartitionHarness:
        """A worker of the entities stage."""
        handler = EntitiesHandler(partition=0, settings=self.settings, tenants=self.tenants, metrics=Metrics(), clock=SystemClock())
        return PartitionHarness(handler, EntityCodec(), rows)


async def feed_of(stage: PartitionHarness, batches: Sequence[Sequence[ConsumedRecord]]) -> dict[bytes, bytes]:
    """By key the newest step that the feed has."""
    feed: dict[bytes, bytes] = {}
    for batch in batches:
        for output in (await stage.process(list(batch))).outputs:
            if output.value is not None and MemoryChange.from_json(output.value).op == "step":
                feed[output.key or b""] = output.value
    return feed


def steps_of(feed: dict[bytes, bytes], entity: str = GREP) -> list[HistoryEntry]:
    """The steps of an entity, the oldest first."""
    found = [MemoryChange.from_json(each).step for each in feed.values()]
    return sorted((each for each in found if each is not None and each.entity == entity), key=lambda each: each.number)


WINDOWS = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.tuples(st.sampled_from(["grep", "curl"]), st.integers(0, 1)), max_size=3)), max_size=10
)


@examples(max_examples=60, deadline=None)
@given(windows=WINDOWS, size=st.integers(1, 5), crash_at=st.integers(0, 30))
async def test_a_rebuild_gives_the_same_steps(windows: list[tuple[int, list[Call]]], size: int, crash_at: int) -> None:
    agents = Agents()
    for window, calls in windows:
        agents.extract(window, calls)
    made = await agents.contributions()
    live = agents.entities()
    before = await feed_of(live, [[each] for each in made[:crash_at]])
    successor = agents.entities(InMemoryRows(live.rows.rows))
    repeated_feed = await feed_of(successor, [made[max(0, crash_at - 3) :]])
    again = await agents.contributions()
    rebuilt = await feed_of(agents.entities(), [again[start : start + size] for start in range(0, len(again), size)])
    assert {**before, **repeated_feed} == rebuilt


async def test_a_step_knows_when_it_was_recorded() -> None:
    agents = Agents()
    agents.extract(0, [("grep", 0)])
    agents.extract(1, [("grep", 1)])
    steps = steps_of(await feed_of(agents.entities(), [await agents.contributions()]))
    assert [each.contribution.recorded_at for each in steps] == [APPENDED_AT, APPENDED_AT + timedelta(minutes=1)]
    assert [each.number for each in steps] == [1, 2]


async def test_later_steps_take_the_places_of_earlier_ones() -> None:
    agents = Agents(history=HistorySettings(steps=8))
    for window in range(30):
        agents.extract(window, [("grep", 0)])
    steps = steps_of(await feed_of(agents.entities(), [await agents.contributions()]))
    assert [each.number for each in steps] == [*range(23, 31)]
    assert [each.number for each in steps if each.before is not None] == [23, 25, 27, 29]


async def test_none_are_kept_where_none_are_wanted() -> None:
    agents = Agents(history=HistorySettings(steps=0))
    agents.extract(0, [("grep", 0)])
    assert await feed_of(agents.entities(), [await agents.contributions()]) == {}


async def test_only_the_step_too_large_is_dropped() -> None:
    agents = Agents(kafka=KafkaSettings(max_record_bytes=1024))
    agents.extract(0, [("grep", 0)] * 40)
    stage = agents.entities()
    batch = await stage.process(await agents.contributions())
    kinds = [MemoryChange.from_json(each.value).op for each in batch.outputs if each.value]
    assert "upsert" in kinds
    assert "step" not in kinds
    assert not batch.rejections


@pytest.mark.parametrize("action", ["invalidate", "correct"])
async def test_a_correction_is_named_as_one(action: str) -> None:
    agents = Agents()
    agents.extract(0, [("grep", 1), ("grep", 0)])
    event = extraction(0, [("grep", 1), ("grep", 0)]).events[0]
    properties = {"tool_name": "curl"} if action == "correct" else None
    agents.log.append(correction_record(correction(event, 1, action, properties=properties), 1))
    first, second = steps_of(await feed_of(agents.entities(), [await agents.contributions()]))
    assert (first.contribution.cause, second.contribution.cause) == ("extraction", "correction")
    assert {each.op for each in second.contribution.changes} == {"retract"}
