"""Context managers that run an embedded stack, or only its servers."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from runtime.settings import ClientSettings, Settings
from varve.embedded.ports import release_preferred_port
from varve.embedded.stack import EmbeddedStack
from varve.embedded.stack_file import StackFile
from varve.embedded.tenants import DeveloperTenant, key_path
from varve.supervisor.lock import exclusive_lock, is_locked
from varve.supervisor.supervisor import Supervisor

STOP_PATIENCE_S: Final = 90.0
"""How long a stopping stack is waited for: its workers finish what they have begun."""
_POLL_S: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStack:
    """A stack that is ready."""

    settings: Settings
    """The settings with the stack's addresses."""
    file: StackFile
    supervisor: Supervisor


@asynccontextmanager
async def running_stack(stack: EmbeddedStack, supervisor: Supervisor) -> AsyncIterator[RunningStack]:
    """Starts a stack, writes its file, and stops the stack at the end of the block.

    Args:
        stack: The stack, with a developer's tenant.
        supervisor: The supervisor of the stack's levels.

    Raises:
        VarveError: If the stack cannot be started; a single sentence.
    """
    settings, tenant = stack.settings, stack.tenant
    assert tenant is not None
    with exclusive_lock(settings.data):
        async with AsyncExitStack() as ending:
            # Before the lock: the next stack, which waits for the lock, gets the same port.
            ending.callback(release_preferred_port, settings.service.port)
            if stack.fork_server is not None:
                stack.fork_server.start()
                ending.callback(stack.fork_server.stop)
            await supervisor.start()
            ending.push_async_callback(supervisor.stop)
            ending.callback(StackFile.remove, settings.data)
            file = StackFile.of(stack, tenant=tenant.id, api_key=key_path(settings, tenant.id).read_text())
            file.write(settings.data)
            running = settings.model_copy(update={"client": _client(settings, file)})
            yield RunningStack(settings=running, file=file, supervisor=supervisor)


@asynccontextmanager
async def temporary_stack(data: Path, *, tenant: str = "dev") -> AsyncIterator[RunningStack]:
    """Runs a whole temporary stack during a block, for benchmarks and tests. It prints nothing.

    Args:
        data: An empty folder for all data, or one with a tenants' file.
        tenant: The developer's tenant, with the schema ``companion``.

    Raises:
        VarveError: If the stack cannot be started; a single sentence.
    """
    stack = EmbeddedStack(settings=Settings(data=data), throwaway=True, tenant=DeveloperTenant(tenant, "companion"))
    async with running_stack(stack, Supervisor(stack.levels(), notice=lambda _: None)) as running:
        yield running


@asynccontextmanager
async def running_servers(settings: Settings, *, notice: Callable[[str], None]) -> AsyncIterator[Settings]:
    """Starts the servers of a data folder's stack without its stages, for commands that need the stages stopped.

    Args:
        settings: The settings of ``varve dev``.
        notice: Called with a message for each change.

    Yields:
        The settings with the servers' addresses.

    Raises:
        FolderInUseError: If a stack runs on the folder. A stack that is stopping, or another such command, is waited for.
        VarveError: If a server cannot be started; a single sentence.
    """
    stack = EmbeddedStack(settings=settings)
    # No service is started: the stack that waits for this command gets its usual port.
    release_preferred_port(stack.settings.service.port)
    await until_stopped(stack.settings.data, notice)
    with exclusive_lock(stack.settings.data):
        supervisor = Supervisor(stack.server_levels(), notice=notice)
        await supervisor.start()
        try:
            yield stack.settings
        finally:
            await supervisor.stop()


async def until_stopped(data: Path, notice: Callable[[str], None]) -> None:
    """Waits while a stack starts or stops on a data folder, at most :data:`STOP_PATIENCE_S`. A stack removes its file before it stops.

    ``varve dev`` waits before it builds its stack: the service's port may be that of the stack that stops.

    Args:
        data: The data folder.
        notice: Called with a message if there is something to wait for.
    """
    deadline, is_noticed = time.monotonic() + STOP_PATIENCE_S, False
    while is_locked(data) and StackFile.find(data) is None and time.monotonic() < deadline:
        if not is_noticed:
            notice(f"another stack on {data} is starting or stopping, or a command uses its servers; waiting for it")
        is_noticed = True
        await asyncio.sleep(_POLL_S)


def _client(settings: Settings, file: StackFile) -> ClientSettings:
    """Settings of a client for the stack's own service."""
    return settings.client.model_copy(update={"url": file.service_url, "api_key": SecretStr(file.api_key)})
