"""A second embedding model replaces the first one under load, and is replaced by it again: docs/operate/grow.md, step by step."""

import asyncio
import re
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final

from runtime.settings import EmbeddingSettings, Settings
from stores.build import open_store
from streams.operations.rebuild import digest
from streams.operations.reindex import read_reindex
from tests.chaos.cluster import Cluster
from tests.chaos.lost_store_nodes import prove, recalled, store_is_whole
from tests.chaos.restarted_process import RestartedProcess
from tests.chaos.run import FaultContext, Injection
from tests.chaos.simulated_embeddings import DIMENSION, MODEL
from tests.chaos.waiting import until
from varve.embedded.ports import HOST, free_port, listens

_NAME: Final = "second"
_SWITCHED: Final = ("index", "extraction", "merging")
"""The stages that embed, in the order of the documentation; the query service follows."""
_BEFORE_S: Final = 15.0
"""Load before the second store is filled: it has something to read."""
_KILLS: Final = 1
"""After two deaths, a worker handles the records of its batch one by one, which takes minutes."""
_SERVED_S: Final = 20.0
"""How long the second store serves."""
_NODE_DOWN_S: Final = 8.0
_NAMED: Final = re.compile(r"varve replay index --partition (\d+) --from-offset (\d+)")


class SecondModel:
    """The fault in two parts: the first under load, the second once no stage has any lag."""

    def __init__(self) -> None:
        self._resources = AsyncExitStack()
        self._settings: Settings | None = None

    async def inject(self, context: FaultContext) -> None:
        """Fills a second store while it is killed and a node is lost, switches to it, and goes back."""
        cluster = context.cluster
        first = cluster.settings
        second = await self._second(cluster)
        filling = cluster.python_process(f"reindex-{_NAME}", ("-m", "varve", "reindex", _NAME), settings=second)
        await store_is_whole(context)
        async with recalled(context, "before"):
            await asyncio.sleep(_BEFORE_S)
        async with recalled(context, "while the second store is filled"):
            await filling.start()
            self._resources.push_async_callback(filling.stop)
            for _ in range(_KILLS):
                # A record at which a worker dies three times in a row would become a dead letter.
                await _has_read_more(second)
                await asyncio.sleep(context.rng.uniform(0.0, 1.0))
                filling.send_signal(signal.SIGKILL)
            async with cluster.stores[1].held_down():
                await asyncio.sleep(_NODE_DOWN_S)
            await filling.ready()
            await until(lambda: _is_filled(second), "the second store is as new as the first")
        async with recalled(context, "while processes change to the second store", restarts=True):
            await self._switch(cluster, second, filling)
        async with recalled(context, "with the second store"):
            await asyncio.sleep(_SERVED_S)
        async with recalled(context, "while processes go back to the first store", restarts=True):
            await self._go_back(context, first, second)
        async with recalled(context, "with the first store again"):
            await filling.start()

    async def afterwards(self, context: FaultContext) -> None:
        """Compares both stores: the second one has followed again."""
        second = await self._second(context.cluster)
        await until(lambda: _is_filled(second), "the second store is as new as the first")
        async with open_store(context.cluster.settings) as first_store, open_store(second) as second_store:
            digests = [await digest(each, context.tenant) for each in (first_store, second_store)]
        context.expect(digests[0] == digests[1], "the second store has other memories than the first")
        await self._resources.aclose()
        await prove(context)

    async def _second(self, cluster: Cluster) -> Settings:
        if self._settings is None:
            port = free_port()
            model = cluster.python_process(
                "embeddings", ("-m", "tests.chaos.simulated_embeddings", str(port)), ready=lambda: _listens(port)
            )
            await model.start()
            self._resources.push_async_callback(model.stop)
            embedding = EmbeddingSettings(kind="openai", base_url=f"http://{HOST}:{port}/v1", model=MODEL, dimension=DIMENSION)
            store = cluster.settings.store.model_copy(update={"collection": f"varve-{_NAME}"})
            self._settings = cluster.settings.model_copy(update={"embedding": embedding, "store": store})
        return self._settings

    async def _switch(self, cluster: Cluster, settings: Settings, filling: RestartedProcess) -> None:
        async with cluster.workers["index"][0].held_down(signal.SIGTERM):
            await until(lambda: _is_filled(settings), "the second store has what the first has")
            await filling.stop()
            cluster.settings = settings
        await _restart(cluster, _SWITCHED[1:])

    async def _go_back(self, context: FaultContext, first: Settings, second: Settings) -> None:
        cluster = context.cluster
        index = cluster.workers["index"][0]
        async with asyncio.TaskGroup() as work:
            lags = asyncio.Event()
            partitions: set[int] = set()

            async def start_with_first() -> None:
                async with index.held_down(signal.SIGTERM):
                    cluster.settings = first
                    partitions.update(await _behind(first, second))
                    lags.set()

            work.create_task(start_with_first())
            await lags.wait()
            context.expect(bool(partitions), "the first store lacks nothing: the second one served too shortly")
            await until(lambda: _names(cluster, partitions), "the index stage names what the first store lacks")
            async with index.held_down(signal.SIGTERM):
                for partition, offset in _replays(cluster).items():
                    options = ("--partition", str(partition), "--from-offset", str(offset))
                    code, output = await cluster.command("replay", "index", *options)
                    context.expect(code == 0, f"partition {partition} of the index was not set back: {output}")
        await _restart(cluster, _SWITCHED[1:])


def promote_second_model() -> tuple[Injection, Injection]:
    """The two parts of the fault: under load, and afterwards."""
    fault = SecondModel()
    return fault.inject, fault.afterwards


async def _restart(cluster: Cluster, stages: Sequence[str]) -> None:
    for each in (*(cluster.workers[stage][0] for stage in stages), cluster.service):
        async with each.held_down(signal.SIGTERM):
            pass


async def _is_filled(settings: Settings) -> bool:
    return (await read_reindex(settings, _NAME)).is_complete


async def _has_read_more(settings: Settings) -> None:
    before = (await read_reindex(settings, _NAME, patience_s=0.0)).read

    async def has() -> bool:
        return (await read_reindex(settings, _NAME, patience_s=0.0)).read > before

    await until(has, "the second store's workers read on")


async def _behind(first: Settings, second: Settings) -> set[int]:
    """The partitions of the feed of which the second store has more."""
    async with open_store(first) as first_store, open_store(second) as second_store:
        checkpoints = {
            each: (await first_store.checkpoint_of(each), await second_store.checkpoint_of(each)) for each in range(first.kafka.partitions)
        }
    return {each for each, (old, new) in checkpoints.items() if new is not None and (old is None or old.offset < new.offset)}


async def _names(cluster: Cluster, partitions: set[int]) -> bool:
    return partitions <= _replays(cluster).keys()


def _replays(cluster: Cluster) -> dict[int, int]:
    """The commands that the index stage has named since its last start: partition to offset."""
    newest = max(cluster.logs.glob("index-0.*.log"), key=lambda each: each.stat().st_mtime)
    return {int(partition): int(offset) for partition, offset in _NAMED.findall(newest.read_text())}


async def _listens(port: int) -> bool:
    return listens(port)
