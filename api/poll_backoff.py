"""How long a recall waits for what it names, and how often it looks."""

import asyncio
from typing import Final

from starlette.requests import ClientDisconnect, Request

_SHARE: Final = 0.75
"""Share of the time to the deadline; the recall itself needs the rest."""
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.25


class PollBackoff:
    """The pauses between looks, each longer than the one before.

    Args:
        until: The recall's deadline, in seconds of the event loop's clock.
    """

    def __init__(self, until: float) -> None:
        self._clock = asyncio.get_running_loop().time
        self._last_look = self._clock() + (until - self._clock()) * _SHARE
        self._pause_s = _FIRST_PAUSE_S

    @property
    def is_over(self) -> bool:
        """Whether the next look would come too late."""
        return self._clock() + self._pause_s > self._last_look

    async def pause(self, request: Request) -> None:
        """Waits until the next look.

        Args:
            request: What waits.

        Raises:
            ClientDisconnect: If the client has hung up.
        """
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 1.5, _LONGEST_PAUSE_S)
        if await request.is_disconnected():
            raise ClientDisconnect
