"""Read your writes: a recall that names a message waits until it can be read, in its session's tail or in the index."""

import asyncio
from dataclasses import dataclass
from typing import Literal

import orjson
from starlette.requests import Request

from api.authentication import Caller
from api.dependencies import Dependencies
from api.poll_backoff import PollBackoff
from api.problems import ProblemError
from api.recall_body import Written
from memory.topics import MESSAGES
from retrieval.paths import Unavailable, attempt
from retrieval.request import TailRequest
from runtime.session_tail import SessionView, TailPlace
from stores.port import TenantScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Whether the message is there."""

    id: str
    found_in: Literal["tail", "index"] | None
    """None: not by the time that the recall had to begin."""
    reached: bool
    """Whether the sessions stage has come to it. If it has and the message is nowhere, its window is being extracted, or held nothing
    worth remembering."""


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
        written: The message; None: none is waited for.
        dependencies: The clients and stores.
        request: What waits.
        caller: Who asks.
        scope: Whose memories are recalled.
        tail: The session that the message was sent in; given wherever a message is.
        until: The recall's deadline, in seconds of the event loop's clock.

    Raises:
        ProblemError: 422 if the position is in another topic; 429 as any read.
        ClientDisconnect: If the client has hung up.
    """
    if written is None or tail is None:
        return None
    topic = dependencies.settings.topic(MESSAGES.name)
    if written.position.topic != topic:
        raise ProblemError(422, "invalid", f"after.position.topic: messages lie in {topic}; send what `POST /v1/messages` answered")
    patience = PollBackoff(until)
    while True:
        async with dependencies.admission.turn(request, caller.tenant, until=until):
            seen = await _look(written, dependencies, scope, caller.tenant.generation, tail, until)
        if seen.found_in is not None or patience.is_over:
            return seen
        await patience.pause(request)


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
