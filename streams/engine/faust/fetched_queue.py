"""Faust's queue of fetched records, with their size in bytes: Faust itself limits only their number."""

from typing import Any

from mode.utils.queues import ThrowableQueue


class FetchedQueue(ThrowableQueue[Any]):
    """Records fetched and not yet taken in. Faust empties it at each rebalance, and before it seeks."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.size_bytes = 0
        """Size of the records' keys, values and headers."""

    def clear(self) -> None:
        """Drops all queued records."""
        super().clear()
        self.size_bytes = 0

    def _put(self, item: Any) -> None:
        super()._put(item)
        self.size_bytes += _size(item)

    def _get(self) -> Any:
        item = super()._get()
        self.size_bytes -= _size(item)
        return item


def _size(event: Any) -> int:
    """Size of one of Faust's events, in bytes."""
    message = event.message
    headers = message.headers or ()
    pairs = headers.items() if isinstance(headers, dict) else headers
    return len(message.key or b"") + len(message.value or b"") + sum(len(value or b"") for _, value in pairs)
