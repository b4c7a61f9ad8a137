"""A store that records its requests: they show equal work, which a clock could not."""

import re
from collections.abc import Awaitable, Callable, Sized
from typing import Any, Final, cast

from stores.port import MemoryStore

_OWN: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|datetime\.datetime\([^)]*\)")


class NotedStore:
    """Passes every call on. ``asked`` has the operation, its arguments, and how much came back, in order."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.asked: list[tuple[str, str, int]] = []

    def __getattr__(self, operation: str) -> Callable[..., Awaitable[Any]]:
        async def noted(*arguments: Any, **named: Any) -> Any:
            answer = await getattr(self._store, operation)(*arguments, **named)
            self.asked.append((operation, f"{arguments} {named}", len(answer) if isinstance(answer, Sized) else 0))
            return answer

        return noted

    @property
    def port(self) -> MemoryStore:
        """The same as a port, whose methods :meth:`__getattr__` has."""
        return cast(MemoryStore, self)

    def work(self, *, of: str) -> list[tuple[str, str, int]]:
        """The requests since the last call, without the parts that differ by request: a name, ids, and the time of day.

        Args:
            of: The name.
        """
        asked, self.asked = self.asked, []
        return [(operation, _OWN.sub("<own>", arguments.replace(of, "<own>")), answers) for operation, arguments, answers in asked]
