"""Kills a command after one of its durable steps: each call that changes Kafka, a store, Redis or the disk counts as one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from control import ControlWriter
from runtime.kafka import ConsumerGroups, Producer
from runtime.redis.client import GuardedRedis

_STEPS: Final[tuple[tuple[type, str], ...]] = (
    (AIOKafkaAdminClient, "create_topics"),
    (AIOKafkaProducer, "commit_transaction"),
    (ConsumerGroups, "commit"),
    (ControlWriter, "settle"),
    (GuardedRedis, "drop_keys"),
    (Producer, "send_many"),
)


class Killed(BaseException):
    """The process ends here: none of its code catches this."""


async def killed(*_: object) -> None:
    """Takes the place of a step at which the process dies."""
    raise Killed


@contextmanager
def killed_after(step: int | str | None, *further: tuple[Any, str]) -> Iterator[list[str]]:
    """Ends whatever runs in the block once it has taken so many durable steps.

    Args:
        step: How many, or the name of the step; None: it runs to its end.
        further: More methods that count as a step, each with its owner.

    Yields:
        The steps that it has taken.
    """
    taken: list[str] = []

    def note(name: str) -> None:
        taken.append(name)
        if step in (len(taken), name):
            raise Killed(name)

    def counted(owner: Any, name: str) -> Any:
        method = getattr(owner, name)

        async def call(*arguments: Any, **named: Any) -> Any:
            result = await method(*arguments, **named)
            note(name)
            return result

        return call

    def remove(*arguments: Any, **named: Any) -> None:
        rmtree(*arguments, **named)
        note("rmtree")

    rmtree = shutil.rmtree
    with pytest.MonkeyPatch.context() as patches:
        for owner, name in (*_STEPS, *further):
            patches.setattr(owner, name, counted(owner, name))
        patches.setattr(shutil, "rmtree", remove)
        yield taken
