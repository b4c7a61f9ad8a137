"""The servers of a data folder's stack without its stages: for what needs these stopped."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from runtime.settings import Settings
from varve.embedded.stack import EmbeddedStack
from varve.supervisor.lock import sole_use
from varve.supervisor.supervisor import Supervisor


@asynccontextmanager
async def running_servers(settings: Settings, *, notice: Callable[[str], None]) -> AsyncIterator[Settings]:
    """Starts Kafka, Redis and Qdrant Edge on the data folder, as far as the settings do not place them elsewhere.

    Args:
        settings: As for ``varve dev``.
        notice: Told in one line what happens.

    Yields:
        The settings with the servers' addresses.

    Raises:
        FolderInUseError: If a stack runs on the folder.
        VarveError: If a server cannot be started; in one sentence.
    """
    stack = EmbeddedStack(settings=settings)
    with sole_use(stack.settings.data):
        supervisor = Supervisor(stack.server_levels(), notice=notice)
        await supervisor.start()
        try:
            yield stack.settings
        finally:
            await supervisor.stop()
