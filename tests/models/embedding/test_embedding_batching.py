import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from models.embedding.batching import MicroBatcher
from models.embedding.embedder import BatchedEmbedder
from models.embedding.port import Embedding
from models.errors import FailedInputError, InputRefusedError, ModelConfigurationError, ModelError, TransientModelError, UnusableVectorError
from tests.models.embedding.limited_backend import LimitedBackend


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


async def test_texts_queued_during_a_batch_are_sorted_by_length() -> None:
    model = GatedModel()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=3)
    first = asyncio.create_task(batcher.embed(["x"]))
    await asyncio.wait_for(model.begun.wait(), 5)
    others = [asyncio.create_task(batcher.embed([text])) for text in ("ccc", "a", "dddd", "bb")]
    await asyncio.sleep(0)
    model.gate.set()

    answers = await asyncio.gather(first, *others)

    assert model.batches == [["x"], ["a", "bb", "ccc"], ["dddd"]]
    assert [int(answer[0].dense[0]) for answer in answers] == [1, 3, 1, 4, 2]


async def test_a_text_queued_twice_is_embedded_once() -> None:
    model = GatedModel()
    model.gate.set()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=8)

    one, two = await asyncio.gather(batcher.embed(["same", "same"]), batcher.embed(["same"]))

    assert model.batches == [["same"]]
    assert one[0] is one[1] is two[0]


async def test_a_failed_batch_fails_only_its_callers() -> None:
    model = GatedModel()
    model.gate.set()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=1)
    model.failure = TransientModelError("busy")
    with pytest.raises(TransientModelError, match="busy"):
        await batcher.embed(["a", "b"])
    model.failure = None

    assert int((await batcher.embed(["abc"]))[0].dense[0]) == 3


async def test_a_refused_text_fails_no_other_text() -> None:
    model = GatedModel()
    model.gate.set()

    async def run(texts: Sequence[str]) -> list[Embedding]:
        answers = await model.run(texts)
        if "bad" in texts:
            raise InputRefusedError("too long")
        return answers

    batcher = MicroBatcher(embed_batch=run, batch_size=8)
    texts = ["a", "bb", "bad", "cccc", "ddddd"]
    outcomes = await asyncio.gather(*(batcher.embed([text]) for text in texts), return_exceptions=True)

    assert [type(each) for each in outcomes] == [list, list, InputRefusedError, list, list]
    assert [int(each[0].dense[0]) for each in outcomes if isinstance(each, list)] == [1, 2, 4, 5]
    assert len(model.batches) <= 7


async def test_a_cancelled_caller_does_not_stop_the_others() -> None:
    model = GatedModel()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=8)
    patient = asyncio.create_task(batcher.embed(["text"]))
    hasty = asyncio.create_task(batcher.embed(["text"]))
    await asyncio.wait_for(model.begun.wait(), 5)
    hasty.cancel()
    model.gate.set()

    assert int((await patient)[0].dense[0]) == 4


async def test_a_text_without_a_waiting_caller_is_not_embedded() -> None:
    model = GatedModel()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=1)
    running = asyncio.create_task(batcher.embed(["running"]))
    await asyncio.wait_for(model.begun.wait(), 5)
    gone = [asyncio.create_task(batcher.embed([f"gone {number}", "shared"])) for number in range(3)]
    waiting = asyncio.create_task(batcher.embed(["shared"]))
    await asyncio.sleep(0)
    for each in gone:
        each.cancel()
    await asyncio.gather(*gone, return_exceptions=True)
    again = asyncio.create_task(batcher.embed(["gone 1"]))
    await asyncio.sleep(0)
    model.gate.set()

    await asyncio.gather(running, waiting, again)
    assert model.batches == [["running"], ["shared"], ["gone 1"]]


async def test_a_batch_whose_callers_left_is_skipped() -> None:
    model = GatedModel()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=1)
    callers = [asyncio.create_task(batcher.embed([text])) for text in ("a", "bb", "ccc", "dddd")]
    await asyncio.wait_for(model.begun.wait(), 5)
    for each in callers[1:3]:
        each.cancel()
    await asyncio.gather(*callers[1:3], return_exceptions=True)
    model.gate.set()

    await asyncio.gather(callers[0], callers[3])
    assert model.batches == [["a"], ["dddd"]]


async def test_closing_cancels_waiting_callers() -> None:
    model = GatedModel()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=1)
    waiting = asyncio.create_task(batcher.embed(["a", "b"]))
    await asyncio.wait_for(model.begun.wait(), 5)

    await batcher.close()

    with pytest.raises(asyncio.CancelledError):
        await waiting


@pytest.mark.parametrize("fault", [TransientModelError("busy"), ModelConfigurationError("wrong key")])
async def test_texts_queued_during_an_outage_fail_unsent(fault: ModelError) -> None:
    model = GatedModel()
    model.failure = fault
    batcher = MicroBatcher(embed_batch=model.run, batch_size=2)
    askers = [asyncio.create_task(batcher.embed([f"{asker}{text}" for text in "abc"])) for asker in range(3)]
    await asyncio.wait_for(model.begun.wait(), 5)
    model.gate.set()

    outcomes = await asyncio.gather(*askers, return_exceptions=True)

    assert outcomes == [fault] * 3
    assert model.batches == [["0a", "0b"]]


async def test_an_unusable_vector_fails_no_other_text() -> None:
    async def run(texts: Sequence[str]) -> list[Embedding]:
        if "bad" in texts:
            raise UnusableVectorError("NaN") if len(texts) > 1 else InputRefusedError("NaN")
        return [Embedding(dense=np.array([len(text)], dtype=np.float32), late=None) for text in texts]

    batcher = MicroBatcher(embed_batch=run, batch_size=8)
    outcomes = await asyncio.gather(*(batcher.embed([text]) for text in ("a", "bb", "bad", "cccc")), return_exceptions=True)

    assert [type(each) for each in outcomes] == [list, list, InputRefusedError, list]


class FailingModel:
    """Fails with some texts, as an endpoint that answers 500."""

    def __init__(self, *bad: str) -> None:
        self.bad = set(bad)
        self.batches: list[list[str]] = []

    async def run(self, texts: Sequence[str]) -> list[Embedding]:
        self.batches.append(list(texts))
        if self.bad & set(texts):
            raise FailedInputError("500")
        return [Embedding(dense=np.array([len(text)], dtype=np.float32), late=None) for text in texts]


@pytest.mark.parametrize("place", [0, 13, 31])
async def test_only_the_text_that_gets_a_500_fails(place: int) -> None:
    texts = [f"{number:02}" for number in range(32)]
    model = FailingModel(texts[place])
    batcher = MicroBatcher(embed_batch=model.run, batch_size=32)

    outcomes = await asyncio.gather(*(batcher.embed([text]) for text in texts), return_exceptions=True)

    assert [index for index, each in enumerate(outcomes) if isinstance(each, FailedInputError)] == [place]
    assert sum(isinstance(each, list) for each in outcomes) == 31
    assert len(model.batches) == 11


async def test_an_outage_of_500s_costs_few_requests() -> None:
    texts = [f"{number:02}" for number in range(96)]
    model = FailingModel(*texts)
    batcher = MicroBatcher(embed_batch=model.run, batch_size=32)

    outcomes = await asyncio.gather(*(batcher.embed([text]) for text in texts), return_exceptions=True)
    assert all(isinstance(each, FailedInputError) for each in outcomes)
    assert len(model.batches) == 9
    await asyncio.gather(batcher.embed(texts), return_exceptions=True)
    assert len(model.batches) == 10, "while nothing passes, a batch is not bisected again"

    model.bad = {"05"}
    await batcher.embed(["11"])
    outcomes = await asyncio.gather(*(batcher.embed([text]) for text in texts[:32]), return_exceptions=True)
    assert [index for index, each in enumerate(outcomes) if isinstance(each, FailedInputError)] == [5]


async def test_bisection_stops_at_an_outage() -> None:
    batches: list[list[str]] = []

    async def run(texts: Sequence[str]) -> list[Embedding]:
        batches.append(list(texts))
        raise InputRefusedError("one of them") if len(texts) > 2 else TransientModelError("away")

    with pytest.raises(TransientModelError, match="away"):
        await MicroBatcher(embed_batch=run, batch_size=4).embed(["a", "b", "c", "d"])

    assert batches == [["a", "b", "c", "d"], ["a", "b"]]


@pytest.mark.parametrize("concurrency", [1, 2])
async def test_a_rate_limited_call_resumes_where_it_stopped(concurrency: int) -> None:
    backend = LimitedBackend(calls=3)
    embedder = BatchedEmbedder(backend=backend, batch_size=4, cache_entries=100, document_concurrency=concurrency)
    texts = [f"text {number}" for number in range(28)]
    for _ in range(2):
        with pytest.raises(TransientModelError):
            await embedder.embed_documents(texts)
        backend.next_window()

    embeddings = await embedder.embed_documents(texts)
    await embedder.close()

    assert sorted(backend.texts) == sorted(texts)
    assert [int(each.dense[0]) for each in embeddings] == [len(text) for text in texts]


async def test_a_hanging_batch_blocks_no_concurrent_batch() -> None:
    hanging = asyncio.Event()
    never = asyncio.Event()

    async def run(texts: Sequence[str]) -> list[Embedding]:
        if "hangs" in texts:
            hanging.set()
            await never.wait()
        return [Embedding(dense=np.array([len(text)], dtype=np.float32), late=None) for text in texts]

    batcher = MicroBatcher(embed_batch=run, batch_size=8, concurrency=2)
    stuck = asyncio.create_task(batcher.embed(["hangs"]))
    await asyncio.wait_for(hanging.wait(), 5)

    assert int((await asyncio.wait_for(batcher.embed(["quick"]), 5))[0].dense[0]) == 5

    await batcher.close()
    with pytest.raises(asyncio.CancelledError):
        await stuck


async def test_batches_keep_the_concurrency_limit() -> None:
    model = GatedModel()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=1, concurrency=2)
    embedding = asyncio.create_task(batcher.embed(["a", "b", "c", "d"]))
    await asyncio.wait_for(model.begun.wait(), 5)
    for _ in range(10):
        await asyncio.sleep(0)

    assert model.batches == [["a"], ["b"]]

    model.gate.set()
    assert len(await embedding) == 4


async def test_a_text_requested_while_running_is_embedded_once() -> None:
    model = GatedModel()
    batcher = MicroBatcher(embed_batch=model.run, batch_size=8, concurrency=4)
    first = asyncio.create_task(batcher.embed(["same"]))
    await asyncio.wait_for(model.begun.wait(), 5)
    second = asyncio.create_task(batcher.embed(["same"]))
    await asyncio.sleep(0)
    model.gate.set()

    assert (await first)[0] is (await second)[0]
    assert model.batches == [["same"]]


@pytest.mark.parametrize(("batch_size", "concurrency"), [(0, 1), (1, 0)])
def test_a_batch_size_or_concurrency_below_one_is_refused(batch_size: int, concurrency: int) -> None:
    async def run(texts: Sequence[str]) -> list[Embedding]:
        raise AssertionError(texts)

    with pytest.raises(ValueError, match="at least one"):
        MicroBatcher(embed_batch=run, batch_size=batch_size, concurrency=concurrency)
