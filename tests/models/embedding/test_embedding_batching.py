import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from models.embedding.batching import MicroBatcher
from models.embedding.port import Embedding
from models.errors import InputRefusedError, TransientModelError


class GatedModel:
    """Embeds a text as its length, and waits before each batch until it is let through."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.failure: Exception | None = None

    async def run(self, texts: Sequence[str]) -> list[Embedding]:
        self.batches.append(list(texts))
        self.begun.set()
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return [Embedding(dense=np.array([len(text)], dtype=np.float32), late=None) for text in texts]


async def test_what_is_asked_while_a_batch_runs_gathers_into_the_next_sorted_by_length() -> None:
    model = GatedModel()
    batcher = MicroBatcher(run=model.run, batch_size=3)
    first = asyncio.create_task(batcher.embed(["x"]))
    await asyncio.wait_for(model.begun.wait(), 5)
    others = [asyncio.create_task(batcher.embed([text])) for text in ("ccc", "a", "dddd", "bb")]
    await asyncio.sleep(0)
    model.gate.set()

    answers = await asyncio.gather(first, *others)

    assert model.batches == [["x"], ["a", "bb", "ccc"], ["dddd"]]
    assert [int(answer[0].dense[0]) for answer in answers] == [1, 3, 1, 4, 2]


async def test_a_text_asked_twice_while_it_waits_is_embedded_once() -> None:
    model = GatedModel()
    model.gate.set()
    batcher = MicroBatcher(run=model.run, batch_size=8)

    one, two = await asyncio.gather(batcher.embed(["same", "same"]), batcher.embed(["same"]))

    assert model.batches == [["same"]]
    assert one[0] is one[1] is two[0]


async def test_a_failed_batch_fails_those_who_asked_for_it_and_no_other() -> None:
    model = GatedModel()
    model.gate.set()
    batcher = MicroBatcher(run=model.run, batch_size=1)
    model.failure = TransientModelError("busy")
    with pytest.raises(TransientModelError, match="busy"):
        await batcher.embed(["a", "b"])
    model.failure = None

    assert int((await batcher.embed(["abc"]))[0].dense[0]) == 3


async def test_a_text_that_is_refused_takes_no_other_with_it() -> None:
    model = GatedModel()
    model.gate.set()

    async def run(texts: Sequence[str]) -> list[Embedding]:
        answers = await model.run(texts)
        if "bad" in texts:
            raise InputRefusedError("too long")
        return answers

    batcher = MicroBatcher(run=run, batch_size=8)
    texts = ["a", "bb", "bad", "cccc", "ddddd"]
    outcomes = await asyncio.gather(*(batcher.embed([text]) for text in texts), return_exceptions=True)

    assert [type(each) for each in outcomes] == [list, list, InputRefusedError, list, list]
    assert [int(each[0].dense[0]) for each in outcomes if isinstance(each, list)] == [1, 2, 4, 5]
    assert len(model.batches) <= 7


async def test_an_asker_who_gives_up_does_not_stop_the_others() -> None:
    model = GatedModel()
    batcher = MicroBatcher(run=model.run, batch_size=8)
    patient = asyncio.create_task(batcher.embed(["text"]))
    hasty = asyncio.create_task(batcher.embed(["text"]))
    await asyncio.wait_for(model.begun.wait(), 5)
    hasty.cancel()
    model.gate.set()

    assert int((await patient)[0].dense[0]) == 4


async def test_closing_cancels_who_still_waits() -> None:
    model = GatedModel()
    batcher = MicroBatcher(run=model.run, batch_size=1)
    waiting = asyncio.create_task(batcher.embed(["a", "b"]))
    await asyncio.wait_for(model.begun.wait(), 5)

    await batcher.close()

    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_an_empty_batch_size_is_refused() -> None:
    async def run(texts: Sequence[str]) -> list[Embedding]:
        raise AssertionError(texts)

    with pytest.raises(ValueError, match="at least one"):
        MicroBatcher(run=run, batch_size=0)
