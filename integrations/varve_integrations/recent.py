"""The newest messages of a session as one writer sees them. Pure."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any


class RecentMessages:
    """Adds a writer's own messages to those that the service shows, until it shows them too.

    Args:
        user: The user of the conversation. A session may have messages of several users, and the tenant's key shows them all.
    """

    def __init__(self, user: str) -> None:
        self._user = user
        self._unseen: deque[Mapping[str, Any]] = deque()
        """Own messages that the service has not shown yet, oldest first."""
        self._deleted: set[str] = set()

    def sent(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Adds messages that are durable."""
        self._unseen += messages

    def deleted(self, message_id: str) -> None:
        """Hides a message whose deletion is durable."""
        self._deleted.add(message_id)

    def of(self, tail: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The messages of the user, oldest first.

        Args:
            tail: The ``messages`` of the service's answer.
        """
        shown = [each["message"] for each in tail if each["message"].get("user") == self._user]
        ids = {each["id"] for each in shown}
        newest_seen = max((index + 1 for index, each in enumerate(self._unseen) if each["id"] in ids), default=0)
        for _ in range(newest_seen):
            self._unseen.popleft()
        return [each for each in (*shown, *self._unseen) if each["id"] not in self._deleted]
