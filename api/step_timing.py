"""What is seen of a recall's path from outside: how long it took, what became of it, and a span of its own."""

from collections.abc import Awaitable
from contextlib import nullcontext
from typing import TypeVar

from retrieval.paths import PathName, Unavailable, attempt
from runtime import tracing
from runtime.metrics import Metrics

T = TypeVar("T")


async def timed(path: Awaitable[T], *, name: PathName, until: float, metrics: Metrics) -> T | Unavailable:
    """What a path answers, unless it is left out; timed, and with a span where spans are recorded.

    Args:
        path: The path. It is cancelled at the deadline.
        name: Its name.
        until: The deadline, in seconds of the event loop's clock.
        metrics: Where its time goes.

    Raises:
        VarveError: What the path raises that is a defect.
    """
    span = tracing.start_span(f"recall {name}")
    with metrics.recall_path_seconds.labels(name).time(), tracing.current(span) if span.is_recording() else nullcontext():
        found = await attempt(path, name=name, until=until)
        if isinstance(found, Unavailable):
            tracing.fail(span, found.outcome)
    return found
