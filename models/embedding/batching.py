"""Gathers the texts of many concurrent callers into few calls of the model."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from models.embedding.port import Embedding
from models.errors import FailedInputError, InputRefusedError, ModelError, UnusableVectorError
from runtime.background import run_in_background

_BATCHES_SORTED_TOGETHER: Final = 8
"""How many batches' worth of queued texts are sorted by length at once: with more, a long text could wait long."""
_FAILED_IN_AN_OUTAGE: Final = 3
"""Texts that failed alone, with no success since the first: then the endpoint fails with every text, and no batch is bisected."""


class MicroBatcher:
    """Runs a few batches at a time; the texts that arrive meanwhile form the next ones.

    It does not wait for a batch to fill: an idle model takes a single text at once, a busy one takes what has queued up.
    A batch that the model refuses, fails with, or has an unusable vector for, is bisected until the text at fault is alone. After any other
    error of the model, and in an outage, the queued texts fail with it, unsent: they would most likely fail too, and delay the pause that
    the model needs.
    A text leaves the queue with the last caller that waits for it: callers have deadlines, and a busy model would embed more and more texts
    for nobody before those that are still wanted.
    Belongs to one event loop at a time.

    Args:
        embed_batch: Embeds at most ``batch_size`` texts, one embedding for each.
        batch_size: Texts in one batch, at least 1.
        concurrency: Batches that may run at the same time, at least 1.
        on_embedding: Is given every embedding as it arrives, even if the other texts of the same call fail.

    Raises:
        ValueError: If ``batch_size`` or ``concurrency`` is below 1.
    """

    def __init__(
        self,
        *,
        embed_batch: Callable[[Sequence[str]], Awaitable[list[Embedding]]],
        batch_size: int,
        concurrency: int = 1,
        on_embedding: Callable[[str, Embedding], None] | None = None,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"a batch holds at least one text, got {batch_size}")
        if concurrency < 1:
            raise ValueError(f"at least one batch runs at a time, got {concurrency}")
        self._embed_batch = embed_batch
        self._batch_size = batch_size
        self._concurrency = concurrency
        self._on_embedding = on_embedding
        self._waiters: dict[str, list[asyncio.Future[Embedding]]] = {}
        self._queued: dict[str, None] = {}
        self._batches: deque[list[str]] = deque()
        self._workers: list[asyncio.Task[None]] = []
        self._failed_alone = 0
        """Texts that failed alone since the last success."""

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds texts. A text that is already queued or running is not sent again."""
        loop = asyncio.get_running_loop()
        embeddings: list[asyncio.Future[Embedding]] = []
        for text in texts:
            embedding: asyncio.Future[Embedding] = loop.create_future()
            if text not in self._waiters:
                self._waiters[text] = []
                self._queued[text] = None
            self._waiters[text].append(embedding)
            embeddings.append(embedding)
        self._start_workers()
        try:
            return await asyncio.gather(*embeddings)
        except asyncio.CancelledError:
            self._forget_unwaited(texts)
            raise

    async def close(self) -> None:
        """Stops; callers that still wait are cancelled."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        self._queued.clear()
        self._batches.clear()
        self._cancel(list(self._waiters))

    def _start_workers(self) -> None:
        self._workers = [worker for worker in self._workers if not worker.done()]
        batches = -(-len(self._queued) // self._batch_size)
        for _ in range(min(batches, self._concurrency - len(self._workers))):
            self._workers.append(run_in_background("embedding-batches", self._work()))

    async def _work(self) -> None:
        while texts := self._next_batch():
            try:
                error = await self._run(texts)
            finally:
                self._cancel(texts)
            if error is not None:
                self._fail_queued(error)

    def _next_batch(self) -> list[str]:
        texts: list[str] = []
        while self._queued and not texts:
            if not self._batches:
                oldest = list(self._queued)[: self._batch_size * _BATCHES_SORTED_TOGETHER]
                oldest.sort(key=len)
                self._batches.extend(oldest[start : start + self._batch_size] for start in range(0, len(oldest), self._batch_size))
            texts = [each for each in self._batches.popleft() if each in self._queued]
        for text in texts:
            del self._queued[text]
        return texts

    def _forget_unwaited(self, texts: Iterable[str]) -> None:
        for text in texts:
            if text in self._queued and all(waiter.done() for waiter in self._waiters[text]):
                del self._queued[text], self._waiters[text]

    async def _run(self, texts: list[str]) -> ModelError | None:
        """Runs a batch and resolves its callers; returns the error after which nothing more should be sent."""
        try:
            embedded = list(zip(texts, await self._embed_batch(texts), strict=True))
        except (InputRefusedError, UnusableVectorError) as error:
            if len(texts) > 1:
                # One text caused it; the others may be another tenant's.
                return await self._bisect(texts)
            self._fail(texts, error)
            return None
        except FailedInputError as error:
            if len(texts) > 1 and not self._is_outage:
                return await self._bisect(texts)
            self._fail(texts, error)
            self._failed_alone += len(texts) == 1
            return error if self._is_outage else None
        except Exception as error:
            self._fail(texts, error)
            return error if isinstance(error, ModelError) else None
        self._failed_alone = 0
        for text, embedding in embedded:
            if self._on_embedding is not None:
                self._on_embedding(text, embedding)
            for waiter in self._pop_waiters([text]):
                waiter.set_result(embedding)
        return None

    @property
    def _is_outage(self) -> bool:
        return self._failed_alone >= _FAILED_IN_AN_OUTAGE

    async def _bisect(self, texts: list[str]) -> ModelError | None:
        middle = len(texts) // 2
        error = await self._run(texts[:middle])
        if error is None:
            return await self._run(texts[middle:])
        self._fail(texts[middle:], error)
        return error

    def _fail_queued(self, error: ModelError) -> None:
        queued = list(self._queued)
        self._queued.clear()
        self._batches.clear()
        self._fail(queued, error)

    def _fail(self, texts: Iterable[str], error: Exception) -> None:
        for waiter in self._pop_waiters(texts):
            waiter.set_exception(error)

    def _cancel(self, texts: Iterable[str]) -> None:
        for waiter in self._pop_waiters(texts):
            waiter.cancel()

    def _pop_waiters(self, texts: Iterable[str]) -> list[asyncio.Future[Embedding]]:
        return [waiter for text in texts for waiter in self._waiters.pop(text, ()) if not waiter.done()]
