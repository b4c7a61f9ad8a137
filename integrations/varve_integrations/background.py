"""A thread that sends the turns of conversations to the service, so that no caller waits for it."""

import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from varve_client import MessagesRefusedError, ServiceProblemError, ServiceUnreachableError, VarveClient, VarveClientError

logger = logging.getLogger("varve_integrations")

Turn = Sequence[Mapping[str, Any]]
"""Messages that are sent together, in order. Each has an id, so that a repeated attempt does not duplicate it."""

_FIRST_WAIT_S: Final = 0.5
_LONGEST_WAIT_S: Final = 30.0
_CLOSING_WAIT_S: Final = 0.2
"""Wait between two attempts while ``close`` waits."""
_TEMPORARY: Final = frozenset({409, 429, 500, 502, 503, 504})


def call_in_forks(method: Callable[[], None]) -> None:
    """Calls a method in each process that is forked from this one, before any other code: threads and locks do not survive a fork.

    Args:
        method: A method; it is not called after the end of its object.
    """
    of_living = weakref.WeakMethod(method)

    def call() -> None:
        living = of_living()
        if living is not None:
            living()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


class BackgroundSender:
    """Sends turns in order, and repeats each while the service is unreachable or refuses it temporarily.

    After a fork, each process sends its own turns: those that waited are sent by the first one.

    A turn is lost only if the queue is full, if the service refuses it permanently, or if it is not sent when ``close`` ends. Each loss is
    logged as a warning and counted in ``lost``.

    Args:
        client: The client to send with. It should not repeat requests itself: the thread does.
        capacity: Most turns in the queue.
    """

    def __init__(self, client: VarveClient, *, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"the queue needs a capacity of at least 1 turn, got {capacity}")
        self._client = client
        self._capacity = capacity
        self._closed = False
        self._begin()
        call_in_forks(self._begin)

    def _begin(self) -> None:
        self.lost = 0
        """Number of turns that were not sent."""
        self._turns: deque[Turn] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, turn: Turn) -> None:
        """Queues a turn and returns at once."""
        with self._changed:
            if self._closed or len(self._turns) >= self._capacity:
                self._lose(1, "the memory is closed" if self._closed else f"{self._capacity} turns are waiting already")
                return
            self._turns.append(turn)
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="varve-sender", daemon=True)
                self._thread.start()

    def close(self, timeout_s: float) -> None:
        """Waits until all turns are sent.

        Args:
            timeout_s: Longest wait, in seconds. Turns that are not sent by then are lost.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout_s)
        with self._changed:
            if self._turns:
                self._lose(len(self._turns), f"the memory was closed, and they were not sent within {timeout_s:g} s")
                self._turns.clear()

    def _run(self) -> None:
        wait_s = _FIRST_WAIT_S
        while (turn := self._next()) is not None:
            if self._is_settled(turn):
                wait_s = _FIRST_WAIT_S
                with self._changed:
                    # Closing may have emptied the queue meanwhile.
                    if self._turns and self._turns[0] is turn:
                        self._turns.popleft()
                continue
            if self._closed:
                time.sleep(_CLOSING_WAIT_S)
            else:
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, timeout=wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def _next(self) -> Turn | None:
        """The oldest turn. None: the sender is closed, and no turn is left."""
        with self._changed:
            self._changed.wait_for(lambda: self._turns or self._closed)
            return self._turns[0] if self._turns else None

    def _is_settled(self, turn: Turn) -> bool:
        """Whether the turn was sent, or can never be sent."""
        try:
            self._client.send(turn)
        except VarveClientError as error:
            if _is_temporary(error):
                return False
            self._lose(1, str(error))
        except Exception as error:  # The thread must survive: later turns depend on it.
            self._lose(1, f"{type(error).__name__}: {error}")
        return True

    def _lose(self, count: int, reason: str) -> None:
        with self._changed:
            self.lost += count
        logger.warning("%d turn(s) of a conversation were not remembered: %s", count, reason)


def _is_temporary(error: VarveClientError) -> bool:
    match error:
        case ServiceUnreachableError():
            return True
        case MessagesRefusedError():
            return all(each["status"] in _TEMPORARY for each in error.refused)
        case ServiceProblemError():
            return error.status in _TEMPORARY
    return False
