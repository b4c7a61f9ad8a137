"""The time and the candidates of each step of a recall, for callers that explain it. Not recorded otherwise."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a recall. Steps of different retrievers run concurrently."""

    name: str
    """A step of the pipeline (:mod:`retrieval.pipeline`), or a further retriever."""
    began_ms: float
    """When it began, in milliseconds since the recording began."""
    ms: float
    given: int | None
    """Number of candidates before the step; None: it has none."""
    found: int | None
    """Number after it; None: unknown, or it has none."""


class _Recording:
    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.steps: list[Step] = []


_recording: ContextVar[_Recording | None] = ContextVar("recall_steps", default=None)


@contextmanager
def recorded_steps(*, wanted: bool = True) -> Iterator[list[Step]]:
    """Records the steps of the recalls in this block, in the order in which they end.

    Args:
        wanted: Whether to record them; otherwise the list stays empty.
    """
    if not wanted:
        yield []
        return
    recording = _Recording()
    token = _recording.set(recording)
    try:
        yield recording.steps
    finally:
        _recording.reset(token)


def note_step(name: str, began: float, *, given: int | None = None, found: int | None = None) -> float:
    """Records a step that ends now, if the caller asked for it.

    Args:
        name: Its name.
        began: When it began, by ``time.perf_counter``.
        given: Number of candidates before it.
        found: Number after it.

    Returns:
        The time now: the next step begins.
    """
    now = time.perf_counter()
    recording = _recording.get()
    if recording is not None:
        began_ms, ms = (began - recording.began) * 1000, (now - began) * 1000
        recording.steps.append(Step(name=name, began_ms=round(began_ms, 3), ms=round(ms, 3), given=given, found=found))
    return now
