"""Windows of any size: the event loop turns meanwhile, and the work and what comes out of it are bounded."""

import asyncio
import threading

import numpy as np
import pytest

from memory.records import Message, Window
from memory.schema import scenario
from models.embedding.port import Embedding
from models.extraction.port import ExtractionContext
from models.offline import drafting, extractor, turns
from models.offline.dates import DateMention, resolve_dates
from models.offline.extractor import OfflineExtractor


class CountingEmbedder:
    """Gives vectors that depend on the text's letters alone, and remembers how many texts it was given."""

    name = "letters"
    dimension = 26

    def __init__(self) -> None:
        self.embedded = 0

    async def embed_documents(self, texts: list[str]) -> list[Embedding]:
        self.embedded += len(texts)
        return [self._embedding(text) for text in texts]

    async def embed_query(self, text: str) -> Embedding:
        return self._embedding(text)

    async def close(self) -> None:
        """Nothing to free."""

    def _embedding(self, text: str) -> Embedding:
        letters = np.array([1 + text.count(chr(97 + place)) for place in range(26)], dtype=np.float32)
        return Embedding(dense=letters / np.linalg.norm(letters), late=None)


def window_of(*texts: str, **fields: object) -> Window:
    common = {"tenant": "acme", "user": "mara", "session": "s", "event_time": "2023-05-08T13:56:00Z"} | fields
    return Window(
        id="0f0e0d0c-0000-4000-8000-000000000000",
        tenant="acme",
        user="mara",
        session="s",
        sequence=0,
        messages=[Message.model_validate(common | {"id": f"m{place}", "text": text}) for place, text in enumerate(texts)],
        closed_by="flush",
        source_partition=0,
        first_offset=0,
        last_offset=len(texts) - 1,
    )


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
