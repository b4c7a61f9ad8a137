"""State machine of a partition task."""

from enum import Enum
from typing import Final

from streams.errors import StreamError


class TaskState(Enum):
    """State of a partition task within one assignment. Pure: :meth:`change_to` checks each transition."""

    CREATED = "created"
    """The partition is assigned; nothing has started."""
    RESTORING = "restoring"
    """The task fences the previous writer, reads the committed offset and restores the table; it waits here while Kafka fails."""
    RUNNING = "running"
    """The state is restored, and the task handles records."""
    DRAINING = "draining"
    """The task finishes the current batch and starts no other."""
    CLOSED = "closed"
    """The task has stopped and writes nothing more."""
    FENCED = "fenced"
    """Another worker has taken the partition over: the broker rejects this task's writes."""

    @property
    def is_ending(self) -> bool:
        """Whether the task starts nothing new."""
        return self in _ENDING

    def change_to(self, new: "TaskState") -> "TaskState":
        """Returns the new state.

        Raises:
            StreamError: This state does not allow the transition.
        """
        if new not in _ALLOWED[self]:
            raise StreamError(f"a partition task cannot change from {self.value} to {new.value}")
        return new


_ENDING: Final = frozenset({TaskState.DRAINING, TaskState.CLOSED, TaskState.FENCED})

_ALLOWED: Final = {
    TaskState.CREATED: frozenset({TaskState.RESTORING, TaskState.DRAINING, TaskState.CLOSED}),
    # A failure while restoring restores again; a failure while running restores, because only the log knows which commits succeeded.
    TaskState.RESTORING: frozenset(TaskState) - {TaskState.CREATED},
    TaskState.RUNNING: frozenset(TaskState) - {TaskState.CREATED, TaskState.RUNNING},
    TaskState.DRAINING: frozenset({TaskState.DRAINING, TaskState.CLOSED, TaskState.FENCED}),
    TaskState.FENCED: frozenset({TaskState.CLOSED}),
    TaskState.CLOSED: frozenset({TaskState.CLOSED}),
}
