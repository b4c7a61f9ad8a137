"""An event that a session repeats is extracted once."""

from dataclasses import replace
from datetime import datetime, timedelta

from extraction.bounds import MAX_ITEMS
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.dates.calendar import day_in_words
from memory.records import Extraction, NotedEvent
from memory.records.wording import indexed_text
from memory.schema import scenario
from tests.extraction.embedders import CountingEmbedder
from tests.extraction.offline.windows import window_of

DAY = timedelta(days=1)
BREAD = "My brother Jonas bakes bread in Oslo."


async def extract(*texts: str, embedder: CountingEmbedder | None = None, noted: tuple[NotedEvent, ...] = ()) -> Extraction:
    return await OfflineExtractor(embedder=embedder or CountingEmbedder()).extract(
        window_of(*texts), scenario("companion"), ExtractionContext(session_events=noted)
    )


def noted(extraction: Extraction) -> tuple[NotedEvent, ...]:
    return tuple(NotedEvent(each.type, indexed_text(each), each.properties, each.event_time) for each in extraction.events)


def dropped(extraction: Extraction) -> dict[tuple[str, str], int]:
    return {(each.what, each.reason): each.count for each in extraction.dropped}


async def test_the_same_sentence_twice_is_one_event() -> None:
    extraction = await extract(BREAD, BREAD)

    assert [event.message_ids for event in extraction.events] == [["m0", "m1"]]
    assert dropped(extraction)["event", "duplicate"] == 1


async def test_an_event_of_an_earlier_window_is_dropped() -> None:
    first = await extract(BREAD)

    second = await extract(BREAD, "My sister Lene paints a boat in Bergen.", noted=noted(first))

    assert len(first.events) == 1
    assert [event.message_ids for event in second.events] == [["m1"]]
    assert dropped(second)["event", "stored_before"] == 1


async def test_events_that_differ_in_a_fact_stay() -> None:
    extraction = await extract("Jonas bought 3 boats in Oslo.", "Jonas bought 4 boats in Oslo.", "Jonas bought 4 boats in Bergen.")

    assert len(extraction.events) == 3


async def test_contents_are_embedded_only_if_words_repeat() -> None:
    different, repeated = CountingEmbedder(), CountingEmbedder()

    await extract(BREAD, "My sister Lene paints a boat in Bergen.", embedder=different)
    await extract(BREAD, BREAD, embedder=repeated)

    assert different.embedded == 3, "two texts and their opening"
    assert repeated.embedded == 4, "one text and its opening, then the contents of both"


async def test_keywords_of_joined_events_stay_bounded() -> None:
    extraction = await extract(*[BREAD] * 3 * MAX_ITEMS)

    assert len(extraction.events) < MAX_ITEMS
    assert all(len(event.keywords) <= 12 for event in extraction.events)


async def test_repetitions_within_a_message_are_embedded_once() -> None:
    embedder = CountingEmbedder()
    line = f"I wrote {' '.join(f'word{index}' for index in range(60))}."

    extraction = await extract(" ".join([line] * 500), embedder=embedder)

    assert len(extraction.events) == 1
    assert embedder.embedded == 2
    assert dropped(extraction)["event", "duplicate"] == 499


ROUTINE = "Look into the shared folder of my garden club every day and tell me about anything that is new."


async def test_a_routine_of_an_earlier_day_is_dropped() -> None:
    first = await extract(ROUTINE)
    day_before = tuple(
        replace(
            each,
            content=each.content.replace(day_in_words(each.event_time), day_in_words(each.event_time - DAY)),
            event_time=each.event_time - DAY,
        )
        for each in noted(first)
    )

    assert day_before[0].content != noted(first)[0].content
    assert len(first.events) == 1
    assert (await extract(ROUTINE, noted=day_before)).events == []
    assert len((await extract(ROUTINE.replace("garden", "book"), noted=day_before)).events) == 1


async def test_a_routine_about_another_day_is_kept() -> None:
    text = "Remind me in the morning of the meeting with the garden club that takes place tomorrow at the lake."
    first = await extract(text)
    day_before = tuple(
        replace(each, content=without_days(each.content, each.event_time), event_time=each.event_time - DAY) for each in noted(first)
    )

    assert len((await extract(text, noted=day_before)).events) == len(first.events) == 1


def without_days(text: str, said_at: datetime) -> str:
    """The text as it is worded a day earlier."""
    for shift in (0, 1):
        text = text.replace(day_in_words(said_at + shift * DAY), day_in_words(said_at + (shift - 1) * DAY))
    return text
