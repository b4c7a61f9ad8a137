"""The extraction that both extractors make from a draft."""

from datetime import timedelta

from extraction.assemble import build_extraction
from extraction.drafts import Draft, EventDraft
from memory.dates.event_date import EventDate
from memory.records import Extraction
from memory.schema import MemorySchema
from tests.extraction.windows import window_of


def test_an_event_has_the_precision_of_its_date(schema: MemorySchema) -> None:
    window = window_of("I moved last month.")
    said_at = window.messages[0].event_time
    dates = [None, EventDate.parse("2023-04"), EventDate.parse("unknown")]
    events = [
        EventDraft(
            type="life_event",
            content="Ann moved.",
            properties={},
            importance=0.5,
            keywords=(),
            segment=None,
            messages=(0,),
            event_time=said_at - timedelta(days=number),
            said_at=said_at,
            date=date,
        )
        for number, date in enumerate(dates)
    ]
    made = build_extraction(Draft(events=tuple(events)), window=window, schema=schema, extractor="offline", generation="", usage=())
    read = Extraction.from_json(made.to_json())
    assert [each.date for each in read.events] == [None, "2023-04", "unknown"]
    assert [each.event_time for each in read.events] == [each.event_time for each in events]
