"""Recalls at given positions: wait until the store has reached them, and leave out what was written after them."""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request

from api.authentication import Caller
from api.dependencies import Dependencies
from api.poll_backoff import PollBackoff
from api.problems import ProblemError
from api.recall_body import At
from memory.positions import LogPosition
from memory.topics import MEMORIES
from retrieval.paths import Unavailable, attempt
from stores.port import TenantScope
from stores.position import FeedPosition


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """Whether the store reached the positions of a recall."""

    reached: bool
    """Whether the store has reached all of them."""
    written_since: int | None
    """Number of memories in the recall's scope, of all generations, that were added or changed after them; None: the store did not
    report it."""


async def wait_until_reached(
    at: At | None, *, dependencies: Dependencies, request: Request, caller: Caller, scope: TenantScope, until: float
) -> Reached | None:
    """Polls how far the store has come. Each poll is admitted as its own read, so that a waiting request blocks no other.

    Args:
        at: The positions; None: none are asked for.
        dependencies: The clients and stores.
        request: What waits.
        caller: Who asks.
        scope: Whose memories are recalled.
        until: The recall's deadline, in seconds of the event loop's clock.

    Raises:
        ProblemError: 422 if a position lies elsewhere than in the store's feed; 429 as any read.
        ClientDisconnect: If the client has hung up.
    """
    if at is None:
        return None
    _check_feed(at, dependencies)
    patience = PollBackoff(until)
    while True:
        async with dependencies.admission.turn(request, caller.tenant, until=until):
            held = await attempt(dependencies.store_positions.newest(), name="memories", until=until)
            reached = not isinstance(held, Unavailable) and _holds(held, at.positions)
            if reached or patience.is_over:
                return Reached(reached=reached, written_since=await _written_since(dependencies, scope, at.positions, until))
        await patience.pause(request)


def _check_feed(at: At, dependencies: Dependencies) -> None:
    topic, partitions = dependencies.settings.topic(MEMORIES.name), dependencies.settings.kafka.partitions
    for number, each in enumerate(at.memories):
        if each.topic != topic:
            raise ProblemError(422, "invalid", f"at.memories.{number}.topic: the feed is {topic}; send what an answer's positions say")
        if each.partition >= partitions:
            raise ProblemError(422, "invalid", f"at.memories.{number}.partition: {topic} has {partitions} partitions, from 0 on")


def _holds(held: tuple[LogPosition, ...], wanted: tuple[FeedPosition, ...]) -> bool:
    offsets = {each.partition: each.offset for each in held}
    return all(offsets.get(each.partition, -1) >= each.offset for each in wanted)


async def _written_since(dependencies: Dependencies, scope: TenantScope, at: tuple[FeedPosition, ...], until: float) -> int | None:
    counts = await attempt(
        asyncio.gather(dependencies.store.count(scope), dependencies.store.count(scope, at=at)), name="memories", until=until
    )
    return None if isinstance(counts, Unavailable) else max(0, counts[0] - counts[1])
