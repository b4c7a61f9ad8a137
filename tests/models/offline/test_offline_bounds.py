"""Windows of any size: the event loop turns meanwhile, and the work and what comes out of it are bounded."""

import asyncio
import threading

import pytest

from memory.schema import scenario
from models.extraction.port import ExtractionContext
from models.offline import drafting, extractor, turns
from models.offline.dates import DateMention, resolve_dates
from models.offline.extractor import OfflineExtractor
from tests.models.offline.offline_windows import CountingEmbedder, window_of


@pytest.mark.parametrize("step", ["read_window", "draft_of"])
async def test_the_loop_turns_while_a_window_is_read(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    turned = threading.Event()
    genuine = getattr(drafting, step)

    def waiting(*args: object, **named: object) -> object:
        asyncio_loop.call_soon_threadsafe(turned.set)
        assert turned.wait(timeout=20), "the event loop stands still"
        return genuine(*args, **named)

    asyncio_loop = asyncio.get_running_loop()
    monkeypatch.setattr(extractor, step, waiting)

    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(
        window_of("My brother bakes bread in Oslo."), scenario("companion"), ExtractionContext()
    )

    assert len(extraction.events) == 1


async def test_dates_are_resolved_once_for_each_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[str] = []

    def noting(text: str, said_on: object) -> list[DateMention]:
        resolved.append(text)
        return resolve_dates(text, said_on)  # type: ignore[arg-type]

    monkeypatch.setattr(turns, "resolve_dates", noting)
    texts = ["Yesterday my brother baked bread in Oslo.", "On Friday my sister paints a boat."]

    await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(*texts), scenario("companion"), ExtractionContext())

    assert resolved == texts


@pytest.mark.parametrize("text", ['{"on":"2023-05-08"},' * 10_000, "2023-05-08 " * 20_000, "on Friday we swim in the lake " * 8_000])
async def test_a_line_without_an_end_is_extracted(text: str) -> None:
    extraction = await OfflineExtractor(embedder=CountingEmbedder()).extract(window_of(text), scenario("companion"), ExtractionContext())

    assert extraction.events
