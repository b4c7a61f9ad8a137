"""A process that is restarted whenever it ends, unless a fault holds it down."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from memory.errors import VarveError
from varve.supervisor.process import ManagedProcess, ProcessSpec

_RESTART_INTERVAL_S = 0.3


class RestartedProcess:
    """Restarts one process, as an orchestrator would, and lets a fault kill it, freeze it or hold it down.

    Args:
        name: For errors and logs.
        prepare: Makes the process's specification; called before every start.
    """

    def __init__(self, name: str, prepare: Callable[[], ProcessSpec]) -> None:
        self.name = name
        self.exits: list[int] = []
        """The exit code of each run, in order."""
        self._prepare = prepare
        self._process: ManagedProcess | None = None
        self._may_run = asyncio.Event()
        self._ready = asyncio.Event()
        self._exited = asyncio.Event()
        self._restart_loop: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it is there, ready or not."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Starts the process, waits until it is ready, and restarts it from now on."""
        self._may_run.set()
        self._restart_loop = asyncio.create_task(self._restart(), name=f"restart {self.name}")
        await self.ready()

    async def ready(self) -> None:
        """Waits until the process is ready."""
        waiting = asyncio.create_task(self._ready.wait())
        loop = self._restart_loop
        assert loop is not None, f"{self.name} was never started"
        await asyncio.wait({waiting, loop}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            loop.result()
            raise RuntimeError(f"{self.name} is not restarted any more")

    async def stop(self) -> None:
        """Stops it with SIGTERM, without a restart."""
        if self._restart_loop is not None:
            self._restart_loop.cancel()
            await asyncio.gather(self._restart_loop, return_exceptions=True)
            self._restart_loop = None
        self._ready.clear()
        if self._process is not None:
            ran = self.pid is not None
            self.send_signal(signal.SIGCONT)
            await self._process.stop()
            if ran:
                self._record_exit(self._process)

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal; does nothing when the process has ended."""
        if number is signal.SIGKILL:
            self._ready.clear()
        if self._process is not None:
            self._process.signal(number)

    @asynccontextmanager
    async def held_down(self, number: signal.Signals = signal.SIGKILL) -> AsyncIterator[None]:
        """Ends it, and keeps it from starting for the length of a block; waits until it is ready again."""
        self._may_run.clear()
        self._ready.clear()
        self.send_signal(number)
        try:
            await self.wait_ended()
            yield
        finally:
            self._may_run.set()
        await self.ready()

    @asynccontextmanager
    async def no_restart(self) -> AsyncIterator[None]:
        """Keeps it from being restarted for the length of a block, should it end."""
        self._may_run.clear()
        try:
            yield
        finally:
            self._may_run.set()
        await self.ready()

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[None]:
        """Freezes it for the length of a block."""
        self.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send_signal(signal.SIGCONT)

    async def wait_ended(self) -> None:
        """Waits until the process does not run."""
        if self._process is not None:
            await self._process.wait_ended()

    async def exited_since(self, before: int) -> int:
        """Waits for the end of the run after the first ``before`` ones; gives its exit code."""
        while len(self.exits) <= before:
            self._exited.clear()
            await self._exited.wait()
        return self.exits[before]

    def _record_exit(self, process: ManagedProcess) -> None:
        self.exits.append(process.exit_code or 0)
        self._exited.set()

    async def _restart(self) -> None:
        while True:
            await self._may_run.wait()
            self._process = ManagedProcess(self._prepare())
            with suppress(VarveError):  # it was killed while it started: the next iteration starts it again
                await self._process.start()
                self._ready.set()
                await self._process.wait_ended()
            self._ready.clear()
            await self._process.stop()
            self._record_exit(self._process)
            await asyncio.sleep(_RESTART_INTERVAL_S)
