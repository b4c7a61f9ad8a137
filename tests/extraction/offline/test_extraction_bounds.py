"""Windows of any size: the event loop runs meanwhile, and work and results are bounded."""

import asyncio
import threading
from datetime import date
from functools import partial

import pytest

from extraction import bounds
from extraction.bounds import build_bounded, most_important
from extraction.offline import drafting, extractor, turns
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.dates.mentions import DateMention, resolve_dates
from memory.schema import scenario
from tests.extraction.embedders import CountingEmbedder
from tests.extraction.offline.windows import window_of


@pytest.mark.parametrize("step", ["read_window", "draft_of"])
async def test_the_event_loop_runs_during_extraction(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = threading.Event()
    original = getattr(drafting, step)

    def waiting(*args: object, **named: object) -> object:
        asyncio_loop.call_soon_threadsafe(ran.set)
        assert ran.wait(timeout=20), "the event loop stalls"
        return original(*args, **named)

    asyncio_loop = asyncio.get_running_loop()
    monkeypatch.setattr(extractor, step, waiting)

    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(
        window_of("My brother bakes bread in Oslo."), scenario("companion"), ExtractionContext()
    )

    assert len(extraction.events) == 1


async def test_dates_are_resolved_once_for_each_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[str] = []

    def recording(text: str, message_date: date) -> list[DateMention]:
        resolved.append(text)
        return resolve_dates(text, message_date)

    monkeypatch.setattr(turns, "resolve_dates", recording)
    texts = ["Yesterday my brother baked bread in Oslo.", "On Friday my sister paints a boat."]

    await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(*texts), scenario("companion"), ExtractionContext())

    assert resolved == texts


@pytest.mark.parametrize("text", ['{"on":"2023-05-08"},' * 10_000, "2023-05-08 " * 20_000, "on Friday we swim in the lake " * 4_000])
async def test_a_line_without_an_end_is_extracted(text: str) -> None:
    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(text), scenario("companion"), ExtractionContext())

    assert extraction.events


PROSE = "In the year {n} my brother Ole{n} lost about {n} metres of ice near the village of Fjell and wrote to me about its harbour. "
NEVER_TOO_LARGE = 1_000_000


@pytest.mark.parametrize(
    "texts",
    [
        ("".join(PROSE.format(n=n) for n in range(900)),),
        ("My new login token reads " + "x" * 150_000,),
        ("我对花生过敏而且昨天搬到了奥斯陆，" * 6_000,),
        ("Ann's boat \x01🦖 " * 15_000,),
        tuple(PROSE.format(n=n) for n in range(500)),
        ("".join(f"I live in City{n}. I like plums{n}. " for n in range(1_000)),),
        ("My name is " + "A" * 150_000,),
        ("Where do you live, my friend? " * 9000, "Oslo"),
    ],
    ids=["prose", "token", "chinese", "marks", "messages", "facts", "name", "question"],
)
async def test_any_windows_extraction_fits_into_a_record(texts: tuple[str, ...]) -> None:
    embedder = CountingEmbedder()

    extraction = await OfflineExtractor(embedder=embedder).extract(window_of(*texts), scenario("companion"), ExtractionContext())

    assert len(extraction.to_json()) < NEVER_TOO_LARGE
    assert 0 < len(extraction.events) <= bounds.MAX_ITEMS
    assert len(extraction.patches) <= bounds.MAX_ITEMS
    assert embedder.embedded <= len(texts) + 3 * bounds.MAX_ITEMS
    assert all(len(event.content) <= bounds.LONGEST_CONTENT for event in extraction.events)
    assert all(len(word) <= bounds.LONGEST_KEYWORD for event in extraction.events for word in event.keywords)
    assert all(len(segment.topic) <= bounds.LONGEST_TOPIC for segment in extraction.segments)


async def test_a_large_tool_call_is_one_bounded_event() -> None:
    call = {"name": "web", "arguments": {"q": "x" * 90_000}, "result": "y " * 90_000, "error": "z" * 90_000, "success": False}

    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(
        window_of("w " * 90_000, speaker="s" * 90_000, role="tool", tool_call=call), scenario("agent_tools"), ExtractionContext()
    )

    assert len(extraction.events) == 1
    assert len(extraction.to_json()) < 20_000


async def test_the_most_important_of_too_many_events_stay() -> None:
    texts = [f"The grass{n} grows beside walls{n} of stone{n}." for n in range(300)]
    texts[250] = "Yesterday my brother Jonas and I moved to Oslo with 12 of our boxes."

    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(*texts), scenario("companion"), ExtractionContext())

    assert len(extraction.events) == bounds.MAX_ITEMS
    assert any("Jonas" in event.content for event in extraction.events)
    assert [event.message_ids for event in extraction.events] == sorted(
        (event.message_ids for event in extraction.events), key=lambda ids: int(ids[0][1:])
    )
    assert {(each.what, each.reason): each.count for each in extraction.dropped}["event", "too_many"] == 100


async def test_repetitions_do_not_displace_other_events() -> None:
    texts = ["Yesterday my brother Jonas and I moved to Oslo with 12 of our boxes."] * 300 + ["The grass grows beside the wall."]

    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(*texts), scenario("companion"), ExtractionContext())

    assert any("grass" in event.content for event in extraction.events)


async def test_events_go_until_the_extraction_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractor, "build_bounded", partial(build_bounded, most_bytes=10_000))
    texts = [f"The grass{n} grows beside walls{n} of stone{n}." for n in range(50)]

    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(*texts), scenario("companion"), ExtractionContext())

    assert len(extraction.to_json()) <= 10_000
    assert {(each.what, each.reason): each.count for each in extraction.dropped}["event", "too_many"] == 50 - len(extraction.events)


def test_the_heaviest_stay_in_their_order() -> None:
    assert most_important("abcde", [1, 3, 2, 3, 0], most=3) == ["b", "c", "d"]
