"""The model: what a rate of messages and a number of users take. Pure; all that was measured comes in as :class:`Costs`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from streams.stages.catalog import STAGES

UTILISATION: Final = 0.6
"""Planned load of a core: the rest is for peaks, restarts, and the share of a worker that is down."""
SERVERS: Final = ("service", "edge", "kafka", "redis")
"""Processes other than the stages. A stage's worker uses one core: a stage has a worker per core, and at least as many partitions."""
_YEAR_DAYS: Final = 365.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Measured costs; ``docs/operate/sizing.md`` gives the source of each figure."""

    cpu_ms: Mapping[str, float]
    """Computing time for a message, by process, with the offline extractor."""
    memories_per_message: float
    prompt_tokens: float
    """For a message, of the one call that extracts its window."""
    completion_tokens: float
    messages_per_window: float
    call_s: float
    """How long a call of the model takes."""
    memory_bytes: float
    """Bytes of a memory on the store's disk; its vectors are read at random, so they should fit into memory."""
    session_row_bytes: float
    """Bytes of a closed session in the sessions stage's table and changelog. It is kept forever."""
    tail_bytes: float
    """Bytes of a session in Redis, for a week."""
    log_bytes: float
    """Bytes of a message in Kafka, over all topics that are kept forever, before replication."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a model, in dollars per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Resources for a number of messages per second."""

    messages: float
    cores: Mapping[str, float]
    """Cores of each process, before :data:`UTILISATION`."""
    workers: Mapping[str, int]
    """Workers of each stage."""
    partitions: int
    calls_in_flight: float
    dollars_per_million: float
    """Messages, for the model alone."""

    @property
    def machines_cores(self) -> float:
        """All cores, with the reserve of :data:`UTILISATION`."""
        return sum(self.cores.values()) / UTILISATION


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """Stored data of a number of users after a year."""

    users: int
    memories: float
    store_bytes: float
    session_rows_bytes: float
    redis_bytes: float
    log_bytes: float


def rate_of(messages: float, costs: Costs, prices: Prices) -> Rate:
    """The resources for a rate.

    Args:
        messages: A second.
        costs: Costs of a message.
        prices: Prices of the model.
    """
    cores = {name: messages * each / 1000 for name, each in costs.cpu_ms.items()}
    workers = {name: max(1, math.ceil(cores.get(name, 0.0) / UTILISATION)) for name in STAGES}
    tokens = costs.prompt_tokens * prices.prompt + costs.completion_tokens * prices.completion
    return Rate(
        messages=messages,
        cores=cores,
        workers=workers,
        partitions=max(workers.values()),
        calls_in_flight=messages / costs.messages_per_window * costs.call_s,
        dollars_per_million=tokens,
    )


def population_of(users: int, costs: Costs, *, messages_a_day: float, sessions_a_day: float) -> Population:
    """The stored data of users after a year, without any deletion.

    Args:
        users: How many.
        costs: Costs of a message.
        messages_a_day: Messages per day of each user.
        sessions_a_day: Sessions per day of each user.
    """
    messages, sessions = (users * each * _YEAR_DAYS for each in (messages_a_day, sessions_a_day))
    memories = messages * costs.memories_per_message
    return Population(
        users=users,
        memories=memories,
        store_bytes=memories * costs.memory_bytes,
        session_rows_bytes=sessions * costs.session_row_bytes,
        redis_bytes=users * sessions_a_day * 7 * costs.tail_bytes,
        log_bytes=messages * costs.log_bytes,
    )


def limits(costs: Costs, *, partitions: int) -> list[tuple[float, str]]:
    """The limits that a growing rate reaches: messages per second, and the resource that is exhausted there; lowest first.

    Args:
        costs: Costs of a message.
        partitions: Partitions of the topics. A partition has one worker.
    """
    found = [
        (UTILISATION * partitions / (ms / 1000), f"the stage {name} has a worker for each of {partitions} partitions")
        for name, ms in costs.cpu_ms.items()
        if name in STAGES and ms > 0
    ]
    if edge := costs.cpu_ms.get("edge", 0.0):
        found.append((UTILISATION / (edge / 1000), "Edge is one process: a Qdrant server takes its place"))
    if redis := costs.cpu_ms.get("redis", 0.0):
        found.append((UTILISATION / (redis / 1000), "Redis computes on one core: split tenants among several"))
    if kafka := costs.cpu_ms.get("kafka", 0.0):
        found.append((UTILISATION * 8 / (kafka / 1000), "a broker of eight cores: add brokers"))
    return sorted(found)
