"""The paths of a recall run beside each other, to one deadline: what is late or away is left out, and the rest is answered with."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal, TypeVar

from memory.errors import VarveError
from models.errors import TransientModelError
from retrieval.errors import RecallLateError, StoreUnavailableError
from retrieval.recall.model_errors import ModelFailure, RecallModelError
from runtime.errors import RedisUnavailableError

T = TypeVar("T")

PathName = Literal["memories", "entities", "session_tail", "sift", "expansion", "entity_history"]
"""What each path answers with, as ``degraded`` names it; ``sift``: the proxy model's ranking; ``expansion``:
the words that a model adds to the query; ``entity_history``: of some entity what it was is not kept any more."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A path that gave nothing."""

    outcome: Literal["late", "away"] | ModelFailure
    error: VarveError
    """Why."""


async def attempt(path: Awaitable[T], *, name: PathName, until: float) -> T | LeftOut:
    """What a path answers, unless it is late or what it needs is away.

    Args:
        path: The path. It is cancelled at the deadline.
        name: Its name.
        until: The deadline, in seconds of the event loop's clock.

    Raises:
        VarveError: What the path raises for any other reason.
    """
    try:
        async with asyncio.timeout_at(until) as deadline:
            return await path
    except TimeoutError:
        if not deadline.expired():
            raise
        return LeftOut("late", RecallLateError(f"the path to {name.replace('_', ' ')} was not done by the recall's deadline"))
    except (StoreUnavailableError, TransientModelError, RedisUnavailableError) as error:
        return LeftOut("away", error)
    except RecallModelError as error:
        return LeftOut(error.failure, error)
