"""The faults by name."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from aiokafka import AIOKafkaProducer

from runtime.kafka import client_options
from streams.stages.catalog import STAGES
from tests.chaos.budget import flood_without_budget
from tests.chaos.compaction import compaction_under
from tests.chaos.erasure import check_erased, erasure_amid
from tests.chaos.full_disk import fill_disk
from tests.chaos.kill_at_failpoint import FAILPOINTS, kill_at
from tests.chaos.killed_commands import replay_killed_at_each_step
from tests.chaos.log_loss import log_cut, retention_passes
from tests.chaos.lost_brokers import kill_leader, lose_each_broker, lose_min_insync
from tests.chaos.lost_store_nodes import hang_each_store_node, lose_each_store_node, prove
from tests.chaos.many_workers import kill_workers, rebalance_often, roll_all_workers
from tests.chaos.messages import TrafficProfile
from tests.chaos.network import network_delay, silent_coordinator
from tests.chaos.poison import Poison, poison, too_large, wall_clock
from tests.chaos.producers import foreign_producers
from tests.chaos.reassignment import drain_each_broker
from tests.chaos.replays import redrive_then_replay
from tests.chaos.restarted_process import RestartedProcess
from tests.chaos.run import Fault, FaultContext, Injection
from tests.chaos.second_model import promote_second_model
from tests.chaos.shape import (
    LARGE,
    MANY_WORKERS,
    REPLICATED,
    SHORT_SESSIONS,
    THREE_STORE_NODES,
    THREE_STORE_NODES_BY_TENANT,
)
from tests.chaos.topic_log import POISON
from tests.chaos.zombies import zombie, zombie_alone

PickProcess = Callable[[FaultContext], RestartedProcess]

_LARGEST_REQUEST = 4_000_000
_DOWN_S = 60.0
_CALM_RECALLS = 3
_CALM_DEADLINE_S = 60.0
_SECOND_WORKER_S = 4.0
_METHOD_RECALLS = 0.6
"""Share of the batches of messages after which something is recalled: recalls heat and strengthen memories."""
_SLOW_PAUSE_S = 0.6
"""For faults that last long: the load must not end before them."""
_SLOWEST_PAUSE_S = 1.5
"""For faults of several minutes."""


def broker(context: FaultContext) -> RestartedProcess:
    """Kafka."""
    return context.cluster.broker


def redis(context: FaultContext) -> RestartedProcess:
    """Redis."""
    return context.cluster.redis


def edge(context: FaultContext) -> RestartedProcess:
    """The owner of the Qdrant shard."""
    return context.cluster.edge


def service(context: FaultContext) -> RestartedProcess:
    """The query service."""
    return context.cluster.service


def worker(stage: str) -> PickProcess:
    """A stage's first worker."""
    return lambda context: context.cluster.workers[stage][0]


def kill(*picks: PickProcess, times: int = 3, within_s: float = 8.0) -> Injection:
    """SIGKILL, several times, each after a random wait: also while the process still recovers. Several processes take turns, shuffled."""

    async def inject(context: FaultContext) -> None:
        victims = [picks[number % len(picks)] for number in range(times)]
        context.rng.shuffle(victims)
        for pick in victims:
            await asyncio.sleep(context.rng.uniform(0.5, within_s))
            pick(context).send_signal(signal.SIGKILL)

    return inject


def take_down(pick: PickProcess, *, seconds: float) -> Injection:
    """Takes the process down for a while."""

    async def inject(context: FaultContext) -> None:
        async with pick(context).held_down():
            await asyncio.sleep(seconds)

    return inject


def freeze(pick: PickProcess, *, seconds: float) -> Injection:
    """Freezes the process for a while: its connections stay open."""

    async def inject(context: FaultContext) -> None:
        async with pick(context).frozen():
            await asyncio.sleep(seconds)

    return inject


def amid_recalls(part: Injection) -> Injection:
    """With answered recalls before and after it: without the store nobody touches or corrects anything."""

    async def inject(context: FaultContext) -> None:
        await _recalls_answered(context)
        await part(context)
        await _recalls_answered(context)

    return inject


async def _recalls_answered(context: FaultContext) -> None:
    wanted = context.ledger.recalls + _CALM_RECALLS
    with suppress(TimeoutError):
        async with asyncio.timeout(_CALM_DEADLINE_S):
            await context.ledger.recalls_reach(wanted)
    context.expect(context.ledger.recalls >= wanted, "the load recalled nothing while the stores were there")


def in_parallel(*parts: Injection) -> Injection:
    """All at the same time."""

    async def inject(context: FaultContext) -> None:
        async with asyncio.TaskGroup() as work:
            for part in parts:
                work.create_task(_as_coroutine(part(context)))

    return inject


def in_sequence(*parts: Injection) -> Injection:
    """One after the other."""

    async def inject(context: FaultContext) -> None:
        for part in parts:
            await part(context)

    return inject


def join_and_leave(stages: Sequence[str]) -> Injection:
    """A second worker joins each stage, works for a while, and leaves."""

    async def inject(context: FaultContext) -> None:
        for stage in stages:
            async with context.cluster.second_worker(stage) as second:
                await asyncio.sleep(_SECOND_WORKER_S)
            context.expect(second.exits == [0], f"{second.name} left with {second.exits}")

    return inject


def rolling_restart(stages: Sequence[str]) -> Injection:
    """Each stage's two workers are restarted with SIGTERM, one after the other."""

    async def inject(context: FaultContext) -> None:
        for stage in stages:
            async with context.cluster.second_worker(stage) as second:
                for each in (context.cluster.workers[stage][0], second):
                    before = len(each.exits)
                    async with each.held_down(signal.SIGTERM):
                        pass
                    context.expect(each.exits[before] == 0, f"{each.name} ended with {each.exits[before]} on SIGTERM")

    return inject


async def send_poison(context: FaultContext) -> None:
    """Every kind of poison, twice, at two times during the load."""
    for number in range(2):
        await asyncio.sleep(context.rng.uniform(0.5, 3.0))
        await _produce(context, list(poison(context.tenant, number=number, now=wall_clock())))


async def send_too_large(context: FaultContext) -> None:
    """Messages of 1.5 MB, among good ones of the same session, at three times during the load."""
    for number in range(3):
        await asyncio.sleep(context.rng.uniform(0.5, 2.0))
        await _produce(context, [too_large(context.tenant, number=number, now=wall_clock())])


async def _produce(context: FaultContext, records: Sequence[Poison]) -> None:
    settings = context.cluster.settings
    async with AIOKafkaProducer(
        **client_options(settings.kafka), acks="all", enable_idempotence=True, max_request_size=_LARGEST_REQUEST
    ) as producer:
        for record in records:
            headers = [*record.headers, (POISON, record.reason.encode())]
            partition = context.cluster.partition(record.key or b"")
            await producer.send_and_wait(settings.topic(record.topic), record.value, key=record.key, partition=partition, headers=headers)


async def _as_coroutine(awaitable: Awaitable[None]) -> None:
    await awaitable


def with_methods(fault: Fault, *, messages: int | None = None) -> Fault:
    """The fault with tenants that have the operators of the memory methods."""
    return replace(
        fault,
        name=f"methods-{fault.name}",
        traffic=replace(fault.traffic, methods=True),
        messages=messages or fault.messages,
        recalls=_METHOD_RECALLS,
    )


_ALL_STAGES = tuple(STAGES)
_FIRST_WORKERS = tuple(worker(stage) for stage in STAGES)

_PLAIN_FAULTS: tuple[Fault, ...] = (
    *(Fault(name=f"kill-{stage}", inject=kill(worker(stage))) for stage in STAGES),
    *(Fault(name=f"kill-at-{failpoint}", inject=kill_at(failpoint), pause_s=0.4) for failpoint in FAILPOINTS),
    Fault(name="kill-service", inject=kill(service)),
    Fault(name="kill-broker", inject=kill(broker, within_s=12.0)),
    Fault(name="kill-redis", inject=kill(redis)),
    Fault(name="kill-edge", inject=kill(edge)),
    Fault(name="kill-each", inject=kill(*_FIRST_WORKERS, service, broker, redis, edge, times=len(_FIRST_WORKERS) + 4, within_s=5.0)),
    *(Fault(name=f"zombie-{stage}", inject=zombie(stage)) for stage in STAGES),
    Fault(
        name="zombie-alone",
        inject=in_sequence(*(zombie_alone(stage) for stage in STAGES if STAGES[stage].has_table)),
        pause_s=_SLOWEST_PAUSE_S,
    ),
    Fault(
        name="silent-coordinator",
        inject=in_sequence(silent_coordinator("entities"), silent_coordinator("sessions")),
        pause_s=_SLOW_PAUSE_S,
    ),
    Fault(name="network-delay", inject=in_sequence(network_delay("entities"), network_delay("extraction")), pause_s=_SLOW_PAUSE_S),
    Fault(
        name="foreign-producers",
        inject=in_parallel(foreign_producers(), kill(worker("sessions"), worker("extraction"), times=4)),
        pause_s=_SLOW_PAUSE_S,
    ),
    Fault(name="flood-without-budget", inject=flood_without_budget(), messages=200, pause_s=_SLOW_PAUSE_S),
    Fault(
        name="redrive-then-replay",
        inject=kill(worker("extraction"), times=1),
        afterwards=redrive_then_replay(tuple(STAGES)),
    ),
    Fault(name="killed-commands", inject=kill(worker("sessions"), times=1), afterwards=replay_killed_at_each_step(), kills_rebuild=True),
    Fault(
        name="compaction",
        inject=compaction_under(kill(*(worker(stage) for stage in ("sessions", "events", "entities", "merging", "index")), times=6)),
        pause_s=_SLOW_PAUSE_S,
    ),
    Fault(
        name="erasure",
        inject=erasure_amid(kill(*(worker(stage) for stage in STAGES), times=8, within_s=8.0)),
        afterwards=check_erased,
        pause_s=_SLOW_PAUSE_S,
    ),
    Fault(name="rolling-restart", inject=rolling_restart(_ALL_STAGES)),
    Fault(name="second-worker", inject=join_and_leave(_ALL_STAGES)),
    Fault(name="poison", inject=in_parallel(send_poison, kill(*_FIRST_WORKERS, times=2))),
    Fault(name="large-record", inject=in_parallel(send_too_large, kill(worker("sessions"), times=1))),
    Fault(name="hot-key", inject=kill(*_FIRST_WORKERS), traffic=TrafficProfile(hot_key_share=0.5)),
    Fault(
        name="clock-jumps",
        inject=kill(worker("sessions"), worker("entities"), times=2),
        traffic=TrafficProfile(clock_jump_share=0.05, user_change_share=0.02),
    ),
    Fault(name="foreign-partitioner", inject=kill(worker("sessions"), times=2), traffic=TrafficProfile(misrouted_share=0.2)),
    Fault(name="edge-away", inject=amid_recalls(take_down(edge, seconds=_DOWN_S)), messages=500, pause_s=_SLOW_PAUSE_S),
    Fault(name="redis-away", inject=take_down(redis, seconds=_DOWN_S)),
    Fault(
        name="redis-and-edge-away",
        inject=amid_recalls(in_parallel(take_down(redis, seconds=_DOWN_S), take_down(edge, seconds=_DOWN_S))),
        messages=500,
        pause_s=_SLOW_PAUSE_S,
    ),
    Fault(
        name="edge-and-redis-hang",
        inject=amid_recalls(in_sequence(freeze(edge, seconds=20.0), freeze(redis, seconds=20.0))),
        messages=500,
        pause_s=_SLOW_PAUSE_S,
    ),
    Fault(name="disk-full-sessions", inject=fill_disk("sessions", seconds=40.0), messages=800, pause_s=0.15),
    Fault(name="disk-full-entities", inject=fill_disk("entities", seconds=40.0), messages=800, pause_s=0.15),
    Fault(
        name="retention",
        inject=retention_passes("sessions"),
        pause_s=_SLOW_PAUSE_S,
        spoils_log=True,
    ),
    Fault(name="truncation", inject=log_cut("extraction", "sessions"), pause_s=_SLOW_PAUSE_S, spoils_log=True),
    Fault(name="kill-leader", inject=kill_leader(), pause_s=_SLOW_PAUSE_S, shape=REPLICATED),
    Fault(name="everything", inject=amid_recalls(kill(*_FIRST_WORKERS, service, broker, redis, edge, times=18, within_s=4.0))),
)

_CLUSTER_FAULTS: tuple[Fault, ...] = tuple(
    Fault(name=f"cluster-{name}", inject=inject, messages=300, pause_s=_SLOW_PAUSE_S, shape=shape)
    for name, inject, shape in (
        ("rolling-restart", roll_all_workers(MANY_WORKERS), LARGE),
        ("kill-workers", kill_workers(MANY_WORKERS, times=2), LARGE),
        ("lost-broker", lose_each_broker(), LARGE),
        ("rebalances", rebalance_often("sessions", rebalances=20), LARGE),
        ("reassignment", drain_each_broker(), LARGE),
        ("lost-min-insync", lose_min_insync(), LARGE),
        ("kill-workers-short-sessions", kill_workers(MANY_WORKERS, times=2), SHORT_SESSIONS),
    )
)
"""Faults of three brokers with three workers of most stages."""

_INJECT_SECOND_MODEL, _CHECK_SECOND_MODEL = promote_second_model()

_STORE_FAULTS: tuple[Fault, ...] = tuple(
    Fault(name=f"store-{name}", inject=inject, afterwards=afterwards, pause_s=_SLOWEST_PAUSE_S, shape=shape)
    for name, inject, afterwards, shape in (
        ("lost-node", lose_each_store_node(), prove, THREE_STORE_NODES),
        ("lost-node-by-tenant", lose_each_store_node(), prove, THREE_STORE_NODES_BY_TENANT),
        ("hanging-node", hang_each_store_node(), prove, THREE_STORE_NODES),
        ("second-model", _INJECT_SECOND_MODEL, _CHECK_SECOND_MODEL, THREE_STORE_NODES),
    )
)
"""Faults of a Qdrant server of three nodes, which needs its program."""

_WITH_METHODS = (
    *(f"kill-{stage}" for stage in ("events", "entities", "merging", "index")),
    "kill-each",
    *(f"zombie-{stage}" for stage in ("entities", "merging")),
    "redrive-then-replay",
    "erasure",
)
"""The faults that also run with the operators of the memory methods."""

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        *_PLAIN_FAULTS,
        *_CLUSTER_FAULTS,
        *_STORE_FAULTS,
        *(with_methods(each) for each in _PLAIN_FAULTS if each.name in _WITH_METHODS),
    )
}

SELECTION = (
    Fault(
        name="selection",
        inject=in_sequence(
            in_parallel(send_poison, send_too_large, kill(*_FIRST_WORKERS, times=len(_FIRST_WORKERS), within_s=3.0)),
            kill(service, broker, redis, edge, times=4, within_s=3.0),
            zombie("index"),
        ),
        traffic=TrafficProfile(hot_key_share=0.2, clock_jump_share=0.02, user_change_share=0.01, misrouted_share=0.05),
        messages=300,
    ),
)
"""The run of ``make test``: a short one with every kind of fault."""
