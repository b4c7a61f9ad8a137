"""What goes wrong: each fault by name."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence

from aiokafka import AIOKafkaProducer

from runtime.kafka import client_options
from streams.stages import STAGES
from tests.chaos.full_disk import disk_full
from tests.chaos.kept_process import KeptProcess
from tests.chaos.logs import POISON
from tests.chaos.poison import Poison, poison, too_large, wall_clock
from tests.chaos.run import Break, Fault, Scene
from tests.chaos.script import Habits
from tests.chaos.zombies import zombie, zombie_alone

PickProcess = Callable[[Scene], KeptProcess]

_LARGEST_REQUEST = 4_000_000
_AWAY_S = 60.0
_JOINED_S = 4.0


def broker(scene: Scene) -> KeptProcess:
    """Kafka."""
    return scene.cluster.broker


def redis(scene: Scene) -> KeptProcess:
    """Redis."""
    return scene.cluster.redis


def edge(scene: Scene) -> KeptProcess:
    """The owner of the Qdrant shard."""
    return scene.cluster.edge


def service(scene: Scene) -> KeptProcess:
    """The query service."""
    return scene.cluster.service


def worker(stage: str) -> PickProcess:
    """A stage's first worker."""
    return lambda scene: scene.cluster.workers[stage][0]


def killed(*picks: PickProcess, times: int = 3, within_s: float = 8.0) -> Break:
    """Kill -9, several times, each after a random while: also while the process still recovers. Of several, each in turn, shuffled."""

    async def breaks(scene: Scene) -> None:
        victims = [picks[number % len(picks)] for number in range(times)]
        scene.rng.shuffle(victims)
        for pick in victims:
            await asyncio.sleep(scene.rng.uniform(0.5, within_s))
            pick(scene).send(signal.SIGKILL)

    return breaks


def away(pick: PickProcess, *, seconds: float) -> Break:
    """The process is gone for a while."""

    async def breaks(scene: Scene) -> None:
        async with pick(scene).away():
            await asyncio.sleep(seconds)

    return breaks


def hanging(pick: PickProcess, *, seconds: float) -> Break:
    """The process answers nobody for a while, without being gone."""

    async def breaks(scene: Scene) -> None:
        async with pick(scene).frozen():
            await asyncio.sleep(seconds)

    return breaks


def together(*parts: Break) -> Break:
    """Several at once."""

    async def breaks(scene: Scene) -> None:
        async with asyncio.TaskGroup() as work:
            for part in parts:
                work.create_task(_awaited(part(scene)))

    return breaks


def in_turn(*parts: Break) -> Break:
    """One after the other."""

    async def breaks(scene: Scene) -> None:
        for part in parts:
            await part(scene)

    return breaks


def joined_and_left(stages: Sequence[str]) -> Break:
    """A second worker joins each stage, works for a while, and leaves."""

    async def breaks(scene: Scene) -> None:
        for stage in stages:
            async with scene.cluster.second_worker(stage) as second:
                await asyncio.sleep(_JOINED_S)
            scene.expect(second.exits == [0], f"{second.name} left with {second.exits}")

    return breaks


def rolling_restart(stages: Sequence[str]) -> Break:
    """Each stage's two workers are restarted politely, one after the other."""

    async def breaks(scene: Scene) -> None:
        for stage in stages:
            async with scene.cluster.second_worker(stage) as second:
                for each in (scene.cluster.workers[stage][0], second):
                    before = len(each.exits)
                    async with each.away(signal.SIGTERM):
                        pass
                    scene.expect(each.exits[before] == 0, f"{each.name} ended with {each.exits[before]} when asked to end")

    return breaks


async def poisoned(scene: Scene) -> None:
    """Every kind of poison, twice, at two moments of the load."""
    for number in range(2):
        await asyncio.sleep(scene.rng.uniform(0.5, 3.0))
        await _produce(scene, list(poison(scene.tenant, number=number, now=wall_clock())))


async def oversized(scene: Scene) -> None:
    """Messages of 1.5 MB, among good ones of the same session, at three moments of the load."""
    for number in range(3):
        await asyncio.sleep(scene.rng.uniform(0.5, 2.0))
        await _produce(scene, [too_large(scene.tenant, number=number, now=wall_clock())])


async def _produce(scene: Scene, records: Sequence[Poison]) -> None:
    settings = scene.cluster.settings
    async with AIOKafkaProducer(
        **client_options(settings.kafka), acks="all", enable_idempotence=True, max_request_size=_LARGEST_REQUEST
    ) as producer:
        for each in records:
            headers = [*each.headers, (POISON, each.reason.encode())]
            partition = scene.cluster.partition(each.key or b"")
            await producer.send_and_wait(settings.topic(each.topic), each.value, key=each.key, partition=partition, headers=headers)


async def _awaited(work: Awaitable[None]) -> None:
    await work


_ALL_STAGES = tuple(STAGES)
_EVERY_WORKER = tuple(worker(stage) for stage in STAGES)

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        *(Fault(name=f"kill-{stage}", breaks=killed(worker(stage))) for stage in STAGES),
        Fault(name="kill-service", breaks=killed(service)),
        Fault(name="kill-broker", breaks=killed(broker, within_s=12.0)),
        Fault(name="kill-redis", breaks=killed(redis)),
        Fault(name="kill-edge", breaks=killed(edge)),
        *(Fault(name=f"zombie-{stage}", breaks=zombie(stage)) for stage in STAGES),
        Fault(name="zombie-alone", breaks=in_turn(*(zombie_alone(stage) for stage in STAGES if STAGES[stage].has_table))),
        Fault(name="rolling-restart", breaks=rolling_restart(_ALL_STAGES)),
        Fault(name="second-worker", breaks=joined_and_left(_ALL_STAGES)),
        Fault(name="poison", breaks=together(poisoned, killed(*_EVERY_WORKER, times=2))),
        Fault(name="large-record", breaks=together(oversized, killed(worker("sessions"), times=1))),
        Fault(name="hot-key", breaks=killed(*_EVERY_WORKER), habits=Habits(hot_share=0.5)),
        Fault(
            name="clock-jumps",
            breaks=killed(worker("sessions"), worker("entities"), times=2),
            habits=Habits(jumps=0.05, strangers=0.02),
        ),
        Fault(name="foreign-partitioner", breaks=killed(worker("sessions"), times=2), habits=Habits(astray=0.2)),
        Fault(name="edge-away", breaks=away(edge, seconds=_AWAY_S)),
        Fault(name="redis-away", breaks=away(redis, seconds=_AWAY_S)),
        Fault(name="redis-and-edge-away", breaks=together(away(redis, seconds=_AWAY_S), away(edge, seconds=_AWAY_S))),
        Fault(name="edge-and-redis-hang", breaks=in_turn(hanging(edge, seconds=20.0), hanging(redis, seconds=20.0))),
        Fault(name="disk-full-sessions", breaks=disk_full("sessions", seconds=40.0), messages=800, pause_s=0.15),
        Fault(name="disk-full-entities", breaks=disk_full("entities", seconds=40.0), messages=800, pause_s=0.15),
        Fault(name="everything", breaks=killed(*_EVERY_WORKER, service, broker, redis, edge, times=18, within_s=4.0)),
    )
}

SELECTION = (
    Fault(
        name="selection",
        breaks=in_turn(
            together(poisoned, oversized, killed(*_EVERY_WORKER, times=len(_EVERY_WORKER), within_s=3.0)),
            killed(service, broker, redis, edge, times=4, within_s=3.0),
            zombie("index"),
        ),
        habits=Habits(hot_share=0.2, jumps=0.02, strangers=0.01, astray=0.05),
        messages=300,
    ),
)
"""What ``make test`` runs: the shortest way past every kind of fault."""
