"""The order in which the pieces of concurrent recalls run: small recalls go first."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from runtime.pieces import let_others_run

MAX_YIELDS: Final = 16
"""So many times a piece lets others go first: a large recall is slow among small ones, and ends all the same."""


class RunningRecall:
    """One recall.

    Args:
        others: All that run, this one too.
        candidates: How many it scores, at most.
    """

    def __init__(self, others: "RunningRecalls", candidates: int) -> None:
        self._others = others
        self.candidates = candidates

    async def let_others_go_first(self) -> None:
        """Waits between two pieces: for whatever else is to do, and further while smaller recalls run."""
        await let_others_run()
        for _ in range(MAX_YIELDS):
            if not self._others.has_smaller(self):
                return
            await asyncio.sleep(0)


class RunningRecalls:
    """The recalls of one owner that have begun and not ended."""

    def __init__(self) -> None:
        self._running: set[RunningRecall] = set()

    @contextmanager
    def running(self, candidates: int) -> Iterator[RunningRecall]:
        """A recall runs for the length of the block.

        Args:
            candidates: How many it scores, at most.
        """
        recall = RunningRecall(self, candidates)
        self._running.add(recall)
        try:
            yield recall
        finally:
            self._running.discard(recall)

    def has_smaller(self, recall: RunningRecall) -> bool:
        """Whether a smaller recall runs."""
        return any(each.candidates < recall.candidates for each in self._running)
