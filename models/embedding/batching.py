"""Gathering what many tasks ask at once into few calls of the model."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from models.embedding.port import Embedding
from models.errors import InputRefusedError

_BATCHES_SORTED_TOGETHER = 8
"""How many batches' worth of waiting texts are sorted by length at once: more would let a short text wait long."""


class MicroBatcher:
    """Runs one batch at a time; while it runs, what is asked meanwhile gathers for the next.

    There is no waiting for a batch to fill: an idle model takes a single text at once, a busy one takes what has gathered.
    Belongs to one event loop at a time.
    """

    def __init__(self, *, run: Callable[[Sequence[str]], Awaitable[list[Embedding]]], batch_size: int) -> None:
        """Makes an idle batcher.

        Args:
            run: Embeds at most ``batch_size`` texts, one embedding for each.
            batch_size: Texts in one batch, at least 1.

        Raises:
            ValueError: If ``batch_size`` is below 1.
        """
        if batch_size < 1:
            raise ValueError(f"a batch holds at least one text, got {batch_size}")
        self._run = run
        self._batch_size = batch_size
        self._waiting: dict[str, list[asyncio.Future[Embedding]]] = {}
        self._runner: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embeds texts, each once however often it is asked for while it waits.

        Raises:
            models.errors.InputRefusedError: The model refuses one of the texts.
            models.errors.ModelError: What else the model raised for the batch that one of the texts was in.
        """
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[Embedding]] = []
        for text in texts:
            answer: asyncio.Future[Embedding] = loop.create_future()
            self._waiting.setdefault(text, []).append(answer)
            answers.append(answer)
        if self._runner is None or self._runner.done():
            self._runner = loop.create_task(self._work())
        return await asyncio.gather(*answers)

    async def close(self) -> None:
        """Stops; whoever still waits is cancelled."""
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.cancel()
            await asyncio.gather(runner, return_exceptions=True)
        waiting, self._waiting = self._waiting, {}
        for answer in (each for answers in waiting.values() for each in answers):
            answer.cancel()

    async def _work(self) -> None:
        while self._waiting:
            oldest = list(self._waiting)[: self._batch_size * _BATCHES_SORTED_TOGETHER]
            oldest.sort(key=len)
            for start in range(0, len(oldest), self._batch_size):
                await self._run_batch(oldest[start : start + self._batch_size])

    async def _run_batch(self, texts: list[str]) -> None:
        askers = [self._waiting.pop(text) for text in texts]
        try:
            await self._answer(texts, askers)
        except asyncio.CancelledError:
            _settle(askers, lambda answer, _: answer.cancel())
            raise

    async def _answer(self, texts: list[str], askers: list[list[asyncio.Future[Embedding]]]) -> None:
        try:
            embeddings = await self._run(texts)
        except Exception as error:
            if isinstance(error, InputRefusedError) and len(texts) > 1:
                # For one text's sake; the others may be another tenant's.
                middle = len(texts) // 2
                await self._answer(texts[:middle], askers[:middle])
                await self._answer(texts[middle:], askers[middle:])
                return
            reason = error
            _settle(askers, lambda answer, _: answer.set_exception(reason))
        else:
            _settle(askers, lambda answer, place: answer.set_result(embeddings[place]))


def _settle(askers: list[list[asyncio.Future[Embedding]]], settle: Callable[[asyncio.Future[Embedding], int], object]) -> None:
    for place, answers in enumerate(askers):
        for answer in answers:
            if not answer.done():
                settle(answer, place)
