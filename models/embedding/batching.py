"""Gathering what many tasks ask at once into few calls of the model."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from models.embedding.errors import UnusableVectorError
from models.embedding.port import Embedding
from models.errors import InputRefusedError, ModelError

_BATCHES_SORTED_TOGETHER = 8
"""How many batches' worth of waiting texts are sorted by length at once: more would let a short text wait long."""


class MicroBatcher:
    """Runs a few batches at a time; while they run, what is asked meanwhile gathers for the next.

    There is no waiting for a batch to fill: an idle model takes a single text at once, a busy one takes what has gathered.
    A batch is halved until the text is alone that the model refuses or has no usable vector for. After any other error of the model
    what waits behind the batch fails with it, unsent: it would most likely fail too, and only delay the pause that the model wants.
    Belongs to one event loop at a time.
    """

    def __init__(
        self,
        *,
        run: Callable[[Sequence[str]], Awaitable[list[Embedding]]],
        batch_size: int,
        at_once: int = 1,
        keep: Callable[[str, Embedding], None] | None = None,
    ) -> None:
        """Makes an idle batcher.

        Args:
            run: Embeds at most ``batch_size`` texts, one embedding for each.
            batch_size: Texts in one batch, at least 1.
            at_once: Batches that may run at the same time, at least 1.
            keep: Is given every embedding as it comes, whatever becomes of the other texts that were asked for with it.

        Raises:
            ValueError: If ``batch_size`` or ``at_once`` is below 1.
        """
        if batch_size < 1:
            raise ValueError(f"a batch holds at least one text, got {batch_size}")
        if at_once < 1:
            raise ValueError(f"at least one batch runs at a time, got {at_once}")
        self._run = run
        self._batch_size = batch_size
        self._at_once = at_once
        self._keep = keep
        self._askers: dict[str, list[asyncio.Future[Embedding]]] = {}
        self._waiting: dict[str, None] = {}
        self._sorted: deque[list[str]] = deque()
        self._lanes: list[asyncio.Task[None]] = []

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds texts, each once however often it is asked for until its embedding is there.

        Raises:
            models.errors.InputRefusedError: The model refuses one of the texts.
            models.errors.ModelError: What else the model raised for the batch that one of the texts was in, or waited behind.
        """
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[Embedding]] = []
        for text in texts:
            answer: asyncio.Future[Embedding] = loop.create_future()
            if text not in self._askers:
                self._askers[text] = []
                self._waiting[text] = None
            self._askers[text].append(answer)
            answers.append(answer)
        self._open_lanes(loop)
        return await asyncio.gather(*answers)

    async def close(self) -> None:
        """Stops; whoever still waits is cancelled."""
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            lane.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)
        self._waiting.clear()
        self._sorted.clear()
        self._settle(list(self._askers), _cancel)

    def _open_lanes(self, loop: asyncio.AbstractEventLoop) -> None:
        self._lanes = [lane for lane in self._lanes if not lane.done()]
        needed = -(-len(self._waiting) // self._batch_size)
        for _ in range(min(needed, self._at_once - len(self._lanes))):
            self._lanes.append(loop.create_task(self._work()))

    async def _work(self) -> None:
        while texts := self._next_batch():
            try:
                fault = await self._answer(texts)
            finally:
                self._settle(texts, _cancel)
            if fault is not None:
                self._fail_what_waits(fault)

    def _next_batch(self) -> list[str]:
        if not self._sorted:
            oldest = list(self._waiting)[: self._batch_size * _BATCHES_SORTED_TOGETHER]
            oldest.sort(key=len)
            self._sorted.extend(oldest[start : start + self._batch_size] for start in range(0, len(oldest), self._batch_size))
        texts = self._sorted.popleft() if self._sorted else []
        for text in texts:
            del self._waiting[text]
        return texts

    async def _answer(self, texts: list[str]) -> ModelError | None:
        """Answers those who asked for the texts; gives the error back that speaks against sending any more."""
        try:
            embedded = list(zip(texts, await self._run(texts), strict=True))
        except (InputRefusedError, UnusableVectorError) as error:
            if len(texts) > 1:
                # For one text's sake; the others may be another tenant's.
                return await self._answer_halves(texts)
            self._fail(texts, error)
            return None
        except Exception as error:
            self._fail(texts, error)
            return error if isinstance(error, ModelError) else None
        for text, embedding in embedded:
            if self._keep is not None:
                self._keep(text, embedding)
            self._settle([text], partial(_give, embedding))
        return None

    async def _answer_halves(self, texts: list[str]) -> ModelError | None:
        middle = len(texts) // 2
        fault = await self._answer(texts[:middle])
        if fault is None:
            return await self._answer(texts[middle:])
        self._fail(texts[middle:], fault)
        return fault

    def _fail_what_waits(self, fault: ModelError) -> None:
        waiting = list(self._waiting)
        self._waiting.clear()
        self._sorted.clear()
        self._fail(waiting, fault)

    def _fail(self, texts: Iterable[str], fault: Exception) -> None:
        self._settle(texts, lambda answer: answer.set_exception(fault))

    def _settle(self, texts: Iterable[str], settle: Callable[[asyncio.Future[Embedding]], object]) -> None:
        for text in texts:
            for answer in self._askers.pop(text, ()):
                if not answer.done():
                    settle(answer)


def _give(embedding: Embedding, answer: asyncio.Future[Embedding]) -> None:
    answer.set_result(embedding)


def _cancel(answer: asyncio.Future[Embedding]) -> None:
    answer.cancel()
