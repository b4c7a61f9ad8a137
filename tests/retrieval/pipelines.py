"""A recall pipeline over any store."""

from typing import cast

from retrieval.pipeline import RecallPipeline
from retrieval.retrievers.session_tail import ReadTail
from runtime.clocks import ManualClock
from runtime.redis.session_tail import SessionView, TailWindow
from runtime.settings import RecallSettings
from stores.port import MemoryStore
from tests.stores.factories import NOON, BagOfWordsEmbedder


class Tails:
    """A session with one message, or an unavailable Redis."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def read(self, tenant: str, session: str) -> SessionView:
        if self.error is not None:
            raise self.error
        return SessionView(open=TailWindow(0, (b'{"id": "m9", "user": "ann"}', b'{"id": "m10", "user": "bob"}')))


def pipeline_over(store: object, *, read_tail: ReadTail | None = None) -> RecallPipeline:
    return RecallPipeline(
        store=cast(MemoryStore, store),
        embedder=BagOfWordsEmbedder(),
        settings=RecallSettings(),
        clock=ManualClock(NOON),
        read_tail=read_tail,
    )
