"""A re-extraction next to all live stages: cancelled without a trace, interrupted by an erasure, rehearsed, switched, rolled back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from control import ControlWriter, Draft, read_control
from control.errors import ChangeRefusedError, GenerationIncompleteError
from control.generations.dropping import drop
from control.generations.reading import workers_of
from control.generations.reextraction_changes import cancel_reextraction
from control.generations.switching import switch
from control.reextraction import RunBudget
from control.tenant_changes import set_generation
from memory.headers import GENERATION_DROP, KIND
from models.embedding.build import build_embedder
from retrieval.pipeline import RecallPipeline
from runtime.clocks import SystemClock
from runtime.kafka import KafkaOffsets, read_topic
from runtime.kafka.topics import topic_partitions
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.engine.state.folders import tables_folder
from streams.engine.state.partition_state import changelog_topic
from streams.operations.erasure.erase import erase
from streams.operations.rebuild import snapshot
from streams.operations.reextraction.cancelling import remove_results
from streams.operations.reextraction.start import resume
from streams.operations.reextraction.worker import work
from streams.operations.rehearsal.questions import Question
from streams.operations.rehearsal.rehearse import rehearse
from tests.control_log import write
from tests.one_broker import records_written
from tests.streams.flow import DEADLINE_S, TENANT, caught_up, send_sample, serving
from tests.streams.operations.reextraction.history import BY, NEW, begin, extracted, progress_of
from tests.waiting import until_async

pytestmark = pytest.mark.integration

LEAVING, STAYING = "ada", "bob"
SLOW = RunBudget(calls_per_minute=1)


async def test_a_cancelled_one_leaves_nothing(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    async with _history(leased):
        before = await _memories(store)
        await begin(leased)
        working = asyncio.create_task(work(leased, NEW))
        await _caught_up(leased)
        await caught_up(leased)
        assert {each["generation"] for each in await _memories(store)} == {"", NEW}
        assert await _keys(redis), "its windows were noted in Redis"

        cancelled = await write(leased, lambda draft: cancel_reextraction(draft, NEW))
        async with asyncio.timeout(DEADLINE_S):
            # The command that cancels it removes the results as well, if the worker takes long.
            await remove_results(leased, cancelled, redis=redis, by=BY)
            assert await working == "cancelled"
        assert Draft(await read_control(leased)).tenant(TENANT).drops_of(NEW) == 1, "one of them has removed them"
        await caught_up(leased)
        assert await _memories(store) == before, "the live generation stays as it was"
        for name in ("extractions", "merged", "memories"):
            assert await _records(leased, name) == []
        assert await _keys(redis) == []
        group = workers_of(leased, NEW)
        async with KafkaOffsets(kafka=leased.kafka) as offsets:
            assert await offsets.committed_offsets(group, [leased.topic("windows")]) == {}
        assert changelog_topic(group) not in await topic_partitions(leased.kafka)
        folders = tables_folder(leased.data, "extraction").iterdir()
        assert group not in {(each / "group").read_text() for each in folders if (each / "group").is_file()}

        await begin(leased)
        stop = asyncio.Event()
        working = asyncio.create_task(work(leased, NEW, stop=stop))
        await _caught_up(leased)
        stop.set()
        assert await working == "running", "the name can be used again"
        assert await _records(leased, "extractions")


async def test_an_erasure_during_a_run_reaches_the_generation(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    async with _history(leased):
        await begin(leased, budget=SLOW)
        working = asyncio.create_task(work(leased, NEW))
        await until_async(lambda: extracted(leased))
        async with asyncio.timeout(DEADLINE_S):
            # At one window a minute, the worker does not reach the end of the user's windows: the erasure does not wait for that.
            (receipt,) = await erase(leased, TENANT, [LEAVING], by=BY, store=store, redis=redis)
        assert receipt.finished_at is not None
        assert not (await progress_of(leased)).is_caught_up
        await resume(leased, NEW, writer=ControlWriter(settings=leased), by=BY, limits={"calls_per_minute": None})
        await _caught_up(leased)
        await caught_up(leased)
        users = {(each["generation"], each["user"]) for each in await _memories(store)}
        assert users == {("", STAYING), (NEW, STAYING)}
        await write(leased, lambda draft: cancel_reextraction(draft, NEW))
        async with asyncio.timeout(DEADLINE_S):
            assert await working == "cancelled"


async def test_it_is_rehearsed_switched_and_rolled_back(leased: Settings, store: MemoryStore) -> None:
    async with _history(leased):
        await begin(leased, budget=SLOW)
        working = asyncio.create_task(work(leased, NEW))
        await until_async(lambda: extracted(leased))
        with pytest.raises(GenerationIncompleteError):
            await switch(leased, TENANT, NEW, by=BY)
        incomplete = await _rehearsed(leased, store)
        assert incomplete.lost_share > 0
        assert incomplete.worst(1)[0].lost

        await resume(leased, NEW, writer=ControlWriter(settings=leased), by=BY, limits={"calls_per_minute": None})
        await _caught_up(leased)
        await caught_up(leased)
        recalls = await records_written(leased, "recalls")
        complete = await _rehearsed(leased, store)
        assert (complete.lost_evidence, complete.overlap, complete.rank_change) == (0, 1.0, 0.0), "the same schema gives the same results"
        assert complete.served_evidence > 0
        assert await records_written(leased, "recalls") == recalls, "nothing is recorded"

        await switch(leased, TENANT, NEW, by=BY)
        async with asyncio.timeout(DEADLINE_S):
            assert await working == "done"
        assert await _live(leased) == NEW
        await send_sample(leased, session="later", user=STAYING)
        await caught_up(leased)
        assert any(each["session"] == "later" for each in await _memories(store) if each["generation"] == NEW)

        await switch(leased, TENANT, "", by=BY, incomplete=True)
        assert await _live(leased) == ""
        assert {each["generation"] for each in await _memories(store)} == {"", NEW}


async def test_it_ends_after_a_switch_there_and_back(leased: Settings) -> None:
    async with _history(leased):
        await begin(leased)
        working = asyncio.create_task(work(leased, NEW))
        await _caught_up(leased)
        await write(leased, lambda draft: set_generation(draft, TENANT, NEW))
        await write(leased, lambda draft: set_generation(draft, TENANT, ""))
        with pytest.raises(ChangeRefusedError, match="`varve generations cancel v2` stops it"):
            await drop(leased, TENANT, NEW, by=BY)
        async with asyncio.timeout(DEADLINE_S):
            assert await working == "done"
        assert await _live(leased) == ""
        assert await drop(leased, TENANT, NEW, by=BY) > 0


@asynccontextmanager
async def _history(settings: Settings) -> AsyncIterator[None]:
    """All stages, after they have handled the talks of two users."""
    async with serving(settings):
        for user in (LEAVING, STAYING):
            for number in range(2):
                await send_sample(settings, session=f"{user}-{number}", user=user)
        await caught_up(settings)
        yield


async def _rehearsed(settings: Settings, store: MemoryStore) -> Any:
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    recall = RecallPipeline(store=store, embedder=embedder, settings=settings.recall, clock=SystemClock())
    questions = [
        Question(id=f"{user} {query}", query=query, user=user)
        for user in (LEAVING, STAYING)
        for query in ("What does she like?", "Where does she live?", "What happened in the evening?")
    ]
    try:
        return await rehearse(settings, TENANT, NEW, questions, recall=recall)
    finally:
        await embedder.close()


async def _caught_up(settings: Settings) -> None:
    await until_async(lambda: progress_of(settings), lambda found: found.is_caught_up, deadline_s=DEADLINE_S)


async def _memories(store: MemoryStore) -> list[dict[str, Any]]:
    return [orjson.loads(line) async for line in snapshot(store, TENANT)]


async def _records(settings: Settings, name: str) -> list[bytes]:
    """The records of the new generation that compaction would keep, without markers of drops."""
    last: dict[tuple[int, bytes], bytes | None] = {}
    async for record in read_topic(settings.topic(name), settings.kafka):
        if (KIND, GENERATION_DROP) not in record.headers:
            last[record.partition, record.key or b""] = record.value
    return [value for value in last.values() if value is not None and b'"generation":"v2"' in value]


async def _keys(redis: GuardedRedis) -> list[str]:
    """The keys in Redis that name the new generation."""

    async def scan(client: Any) -> list[str]:
        return [key.decode() async for key in client.scan_iter(match="*")]

    start = redis._prefix
    return [each for each in await redis.run("looking", scan) if each.startswith(start) and "v2" in each.removeprefix(start)]


async def _live(settings: Settings) -> str:
    return Draft(await read_control(settings)).tenant(TENANT).generation
