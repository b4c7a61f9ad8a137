"""Consistency of recalls: waits until a recall can see a message, or until the index has reached a position."""

import asyncio
from dataclasses import dataclass
from typing import Final, Literal

import orjson
from starlette.requests import ClientDisconnect, Request

from api.auth.caller import Caller
from api.dependencies import Dependencies
from api.problems import ProblemError
from api.reads.recall_body import At, Written
from memory.positions import LogPosition
from memory.topics import MEMORIES, MESSAGES
from retrieval.paths import Unavailable, attempt
from retrieval.request import TailRequest
from runtime.redis.session_tail import SessionView, TailPlace
from stores.port import TenantScope
from stores.position import FeedPosition

_SHARE: Final = 0.75
"""Share of the time to the deadline; the recall itself needs the rest."""
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.25


class PollBackoff:
    """The pauses between polls, each longer than the previous one.

    Args:
        until: The recall's deadline, in seconds of the event loop's clock.
    """

    def __init__(self, until: float) -> None:
        self._clock = asyncio.get_running_loop().time
        self._last_look = self._clock() + (until - self._clock()) * _SHARE
        self._pause_s = _FIRST_PAUSE_S

    @property
    def is_over(self) -> bool:
        """Whether the next poll would be too late."""
        return self._clock() + self._pause_s > self._last_look

    async def pause(self, request: Request) -> None:
        """Waits until the next poll."""
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 1.5, _LONGEST_PAUSE_S)
        if await request.is_disconnected():
            raise ClientDisconnect


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The result of waiting for a message."""

    id: str
    found_in: Literal["tail", "index"] | None
    """None: not found before the recall had to begin."""
    reached: bool
    """Whether the sessions stage has processed it. If it has and the message is not found, its window is being extracted, or nothing was
    extracted from it."""


async def wait_for(
    written: Written | None,
    *,
    dependencies: Dependencies,
    request: Request,
    caller: Caller,
    scope: TenantScope,
    tail: TailRequest | None,
    until: float,
) -> Seen | None:
    """Polls for a message. Each poll is admitted as its own read, so that a waiting request blocks no other.

    Args:
        written: The message. None: returns at once.
        dependencies: The clients and stores.
        request: The waiting HTTP request.
        caller: The caller.
        scope: The memories that the recall may return.
        tail: The session of the message; required with a message.
        until: The recall's deadline, in seconds of the event loop's clock.

    Raises:
        ProblemError: 422 if the position is in another topic; 429 like any read.
    """
    if written is None or tail is None:
        return None
    topic = dependencies.settings.topic(MESSAGES.name)
    if written.position.topic != topic:
        raise ProblemError(
            422,
            "invalid",
            f"after.position.topic: the topic of messages is {topic}; send the position from the response of `POST /v1/messages`",
        )
    backoff = PollBackoff(until)
    while True:
        async with dependencies.admission.turn(request, caller.tenant, until=until):
            seen = await _look(written, dependencies, scope, caller.tenant.generation, tail, until)
        if seen.found_in is not None or backoff.is_over:
            return seen
        await backoff.pause(request)


async def _look(written: Written, dependencies: Dependencies, scope: TenantScope, generation: str, tail: TailRequest, until: float) -> Seen:
    view, resting = await asyncio.gather(
        attempt(dependencies.tail.read(scope.tenant, tail.session), name="session_tail", until=until),
        attempt(
            dependencies.store.by_evidence(scope, [written.id], sessions=[tail.session], generation=generation, limit=1),
            name="memories",
            until=until,
        ),
    )
    view = SessionView() if isinstance(view, Unavailable) else view.of(tail.user)
    wanted = TailPlace(written.position.partition, written.position.offset)
    reached = view.place is not None and view.place.partition == wanted.partition and view.place >= wanted
    # Two users of one session may send messages with the same id.
    if any(orjson.loads(each).get("id") == written.id for each in view.of(scope.user).messages):
        return Seen(id=written.id, found_in="tail", reached=True)
    if resting and not isinstance(resting, Unavailable):
        return Seen(id=written.id, found_in="index", reached=True)
    return Seen(id=written.id, found_in=None, reached=reached)


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
    """Polls the store's position. Each poll is admitted as its own read, so that a waiting request blocks no other.

    Args:
        at: The positions. None: returns at once.
        dependencies: The clients and stores.
        request: The waiting HTTP request.
        caller: The caller.
        scope: The memories that the recall may return.
        until: The recall's deadline, in seconds of the event loop's clock.

    Raises:
        ProblemError: 422 if a position is not in the store's feed; 429 like any read.
    """
    if at is None:
        return None
    _check_feed(at, dependencies)
    backoff = PollBackoff(until)
    while True:
        async with dependencies.admission.turn(request, caller.tenant, until=until):
            held = await attempt(dependencies.store_positions.newest(), name="memories", until=until)
            reached = not isinstance(held, Unavailable) and _holds(held, at.positions)
            if reached or backoff.is_over:
                return Reached(reached=reached, written_since=await _written_since(dependencies, scope, at.positions, until))
        await backoff.pause(request)


def _check_feed(at: At, dependencies: Dependencies) -> None:
    topic, partitions = dependencies.settings.topic(MEMORIES.name), dependencies.settings.kafka.partitions
    for number, each in enumerate(at.memories):
        if each.topic != topic:
            raise ProblemError(
                422, "invalid", f"at.memories.{number}.topic: the topic of the feed is {topic}; send the positions of a response unchanged"
            )
        if each.partition >= partitions:
            raise ProblemError(422, "invalid", f"at.memories.{number}.partition: {topic} has {partitions} partitions, numbered from 0")


def _holds(held: tuple[LogPosition, ...], wanted: tuple[FeedPosition, ...]) -> bool:
    offsets = {each.partition: each.offset for each in held}
    return all(offsets.get(each.partition, -1) >= each.offset for each in wanted)


async def _written_since(dependencies: Dependencies, scope: TenantScope, at: tuple[FeedPosition, ...], until: float) -> int | None:
    counts = await attempt(
        asyncio.gather(dependencies.store.count(scope), dependencies.store.count(scope, at=at)), name="memories", until=until
    )
    return None if isinstance(counts, Unavailable) else max(0, counts[0] - counts[1])
