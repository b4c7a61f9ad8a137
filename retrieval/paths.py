"""The deadline of a recall: its parts run concurrently, and a late or failing part is left out of the response."""

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Literal, TypeVar

from memory.errors import RecordError, VarveError
from memory.schema.method import PATHS as FURTHER_PATHS
from models.errors import InputRefusedError, ModelConfigurationError, TransientModelError
from retrieval.errors import ModelFailure, RecallFailedError, RecallLateError, RecallModelError
from runtime import tracing
from runtime.errors import RedisUnavailableError
from runtime.logs import logger
from runtime.metrics import Metrics
from stores.errors import StoreRejectedError, StoreUnavailableError

T = TypeVar("T")

_log = logger(__name__)

PartName = Literal[
    "memories", "keywords", "links", "tree", "recent", "topics", "entities", "session_tail", "sift", "expansion", "entity_history"
]
"""The parts of a recall, as ``degraded`` names them. ``keywords``: the keyword graph. ``links``, ``tree``, ``recent``, ``topics``: further
retrievers of a memory method (:data:`memory.schema.method.PathName`). ``sift``: the model's ranking of sessions.
``expansion``: the sentences that a model adds to the query. ``entity_history``: the earlier state of some entity is no longer stored."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A part without a result."""

    outcome: Literal["late", "away", "failed"] | ModelFailure
    """``late``: not done by the deadline. ``away``: a dependency does not respond. ``refused``: the embedding model refuses the query.
    ``failed``: a dependency is misconfigured, or holds records that this process cannot read."""
    error: VarveError
    """The reason."""

    def as_the_answer(self) -> VarveError:
        """The error for the caller if no other part has a result."""
        if self.outcome != "failed":
            return self.error
        failed = RecallFailedError(str(self.error))
        failed.__cause__ = self.error
        return failed


async def attempt(path: Awaitable[T], *, name: PartName, until: float) -> T | Unavailable:
    """The result of a part, or the reason why it has none.

    Args:
        path: The part. It is cancelled at the deadline.
        name: Its name.
        until: The deadline, in seconds of the event loop's clock.

    Raises:
        VarveError: If the part raises an error that indicates a defect.
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


async def timed(path: Awaitable[T], *, name: PartName, until: float, metrics: Metrics) -> T | Unavailable:
    """As :func:`attempt`, with a span and the duration as a metric.

    Args:
        path: The part. It is cancelled at the deadline.
        name: Its name.
        until: The deadline, in seconds of the event loop's clock.
        metrics: Records the duration.

    Raises:
        VarveError: If the part raises an error that indicates a defect.
    """
    span = tracing.start_span(f"recall {name}")
    with metrics.recall_path_seconds.labels(name).time(), tracing.current(span) if span.is_recording() else nullcontext():
        found = await attempt(path, name=name, until=until)
        if isinstance(found, Unavailable):
            tracing.fail(span, found.outcome)
    return found


def left_out(parts: Mapping[PartName, object], metrics: Metrics) -> tuple[PartName, ...]:
    """The parts without a result. Counts all outcomes, and logs those that an operator must know.

    Args:
        parts: The result of each part, or an :class:`Unavailable`. None: the recall did not ask for the part.
        metrics: Counts the outcomes.

    Raises:
        VarveError: If all parts are left out, and the memories for another reason than the deadline.
    """
    results = {name: part for name, part in parts.items() if part is not None}
    unavailable = {name: part for name, part in results.items() if isinstance(part, Unavailable)}
    for name in results:
        part = unavailable.get(name)
        metrics.recall_paths.labels(path=name, outcome="answered" if part is None else part.outcome).inc()
        if part is not None and part.outcome == "failed":
            _log.error("recall_path_left_out", path=name, outcome=part.outcome, error=str(part.error))
        elif part is not None and name == "memories":
            _log.warning("recall_path_left_out", path=name, outcome=part.outcome, error=str(part.error))
    # Further retrievers add to the memories, and are no result without them.
    others = results.keys() - unavailable.keys() - set(FURTHER_PATHS)
    memories = unavailable.get("memories")
    if memories is not None and not others and memories.outcome != "late":
        raise memories.as_the_answer()
    return tuple(unavailable)
