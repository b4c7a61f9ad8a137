"""Timelines with more events than their limit: repeated extraction, invalidation and rebuild count each event once."""

from pathlib import Path

import pytest

from operators.timeline import timeline as timeline_module
from tests.control_log import known_tenants
from tests.operators.timeline.diaries import diary_schema
from tests.streams.harness import plain_settings
from tests.streams.stages.events.corrections import correction, correction_record
from tests.streams.timelines_flow import TENANT, Timelines

ROOM = 4


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Timelines:
    monkeypatch.setattr(timeline_module, "MAX_WHOLE", ROOM)
    return Timelines(plain_settings(tmp_path), known_tenants({TENANT: diary_schema()}))


def event_counts(flow: Timelines) -> dict[str, int]:
    """The number of events in each summary."""
    return {str(each.properties["period"]): int(str(each.properties["event_count"])) for each in flow.kinds("summary").values()}


async def test_a_repeated_extraction_is_summarised_once(flow: Timelines) -> None:
    days = [*range(7), *range(8, 14), -40]
    windows = [await flow.extract(number, on, [f"Thing {number} happened."]) for number, on in enumerate(days)]
    extracted = list(flow.extractions)
    await flow.recall(windows[-2], 14, 0)
    assert event_counts(flow) == {"2025-11": 1, "2026-W02": 7, "2026-W03": 6}, "no week is over, and all but four events have left"
    await flow.pass_time(120)
    for each in extracted:
        await flow.deliver_again(each)
    await flow.pass_time(120)
    assert sum(event_counts(flow).values()) == 14
    (entity,) = flow.kinds("entity").values()
    assert entity.properties["count"] == 14
    assert (await flow.rebuilt()).memories == flow.memories


async def test_events_dropped_from_a_timeline_can_be_invalidated(flow: Timelines) -> None:
    windows = [await flow.extract(number, number / 2, [f"Thing {number} happened."]) for number in range(9)]
    await flow.pass_time(30)
    assert event_counts(flow) == {"2026-W02": 9}
    for number, place in enumerate((0, 8)):
        await flow.deliver_again(correction_record(correction(windows[place].events[0], number, "invalidate"), 0))
    assert event_counts(flow) == {"2026-W02": 7}
    await flow.pass_time(60)
    kept = {f"Thing {number} happened." for number in (0, 1, 2, 3, 4, 8)}
    assert set(flow.kinds("event")) == kept, "what had left stays a memory, and so does what is invalid"
    assert (await flow.rebuilt()).memories == flow.memories
