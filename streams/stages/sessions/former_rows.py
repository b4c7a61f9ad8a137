"""Upgrades tables without marks (:mod:`streams.stages.sessions.marks`): read whole, rewritten with the batches that follow."""

from collections import deque
from typing import Any, Final

from streams.engine.state.partition_state import PartitionState
from streams.stages.sessions.id_pages import IdPages
from streams.stages.sessions.known_ids import DedupPage
from streams.stages.sessions.marks import PAGES
from streams.stages.sessions.open_windows import OpenWindows
from streams.stages.sessions.windows import SessionState

_A_BATCH: Final = 500
"""Rows that are brought up with a batch: a table may have a hundred thousand, and a transaction should not."""


class FormerRows:
    """Rows that a take-over would not find yet, by their marks and keys: open windows to be marked, pages to be moved."""

    def __init__(self) -> None:
        self._left: deque[bytes] = deque()
        self._of_last_batch: list[bytes] = []

    @property
    def are_all_brought_up(self) -> bool:
        """Whether none is left."""
        return not self._left

    def recover(self, key: bytes, row: object) -> None:
        """Takes note of a row of a table that is read whole."""
        if (isinstance(row, SessionState) and row.is_open) or (isinstance(row, DedupPage) and not key.startswith(PAGES)):
            self._left.append(key)

    def begin(self, *, has_failed: bool) -> None:
        """Begins a batch; where the last one has failed, what that brought up is still to be done."""
        if has_failed:
            self._left.extendleft(self._of_last_batch)
        self._of_last_batch = []

    def bring_up(self, states: PartitionState[Any], windows: OpenWindows, pages: IdPages, *, offset: int) -> None:
        """Brings up a few rows.

        Args:
            states: The partition's state.
            windows: Mark those that are still open.
            pages: Move those that are still there.
            offset: Of the batch's last record.
        """
        while self._left and len(self._of_last_batch) < _A_BATCH:
            key = self._left.popleft()
            self._of_last_batch.append(key)
            if b"#" in key:
                pages.move(states, key, offset=offset)
            else:
                windows.mark(states, key, offset=offset)
