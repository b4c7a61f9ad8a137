"""The paths of a recall run beside each other, to one deadline: what is late or failing is left out, and the rest is answered with."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal, TypeVar

from memory.errors import RecordError, VarveError
from models.errors import InputRefusedError, ModelConfigurationError, TransientModelError
from retrieval.errors import ModelFailure, RecallFailedError, RecallLateError, RecallModelError
from runtime.errors import RedisUnavailableError
from stores.errors import StoreRejectedError, StoreUnavailableError

T = TypeVar("T")

PathName = Literal["memories", "keywords", "entities", "session_tail", "sift", "expansion", "entity_history"]
"""What each path answers with, as ``degraded`` names it; ``keywords``: what the keyword graph leads to; ``sift``: the proxy model's
ranking; ``expansion``: the words that a model adds to the query; ``entity_history``: of some entity what it was is not kept any more."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A path that gave nothing."""

    outcome: Literal["late", "away", "failed"] | ModelFailure
    """``late``: not done by the deadline; ``away``: what it needs does not answer; ``refused``: the embedding model does not take the
    query; ``failed``: what it needs is wrongly set up, or holds what this process cannot read."""
    error: VarveError
    """Why."""

    def as_the_answer(self) -> VarveError:
        """What a caller is told where no other path has answered."""
        if self.outcome != "failed":
            return self.error
        failed = RecallFailedError(str(self.error))
        failed.__cause__ = self.error
        return failed


async def attempt(path: Awaitable[T], *, name: PathName, until: float) -> T | Unavailable:
    """What a path answers, unless it is late, or fails for a reason that is none of this code's.

    Args:
        path: The path. It is cancelled at the deadline.
        name: Its name.
        until: The deadline, in seconds of the event loop's clock.

    Raises:
        VarveError: What the path raises for any other reason: a defect.
    """
    try:
        async with asyncio.timeout_at(until) as deadline:
            return await path
    except TimeoutError:
        if not deadline.expired():
            raise
        return Unavailable("late", RecallLateError(f"the path to {name.replace('_', ' ')} was not done by the recall's deadline"))
    except (StoreUnavailableError, TransientModelError, RedisUnavailableError) as error:
        return Unavailable("away", error)
    except InputRefusedError as error:
        return Unavailable("refused", error)
    except (ModelConfigurationError, StoreRejectedError, RecordError) as error:
        return Unavailable("failed", error)
    except RecallModelError as error:
        return Unavailable(error.failure, error)
