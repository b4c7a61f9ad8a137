"""A process that is started again whenever it ends, unless it is told to stay away."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from memory.errors import VarveError
from varve.supervisor.process import ManagedProcess, ProcessSpec

_AGAIN_S = 0.3


class KeptProcess:
    """Keeps one process alive, as an orchestrator would, and lets a fault end it, freeze it or keep it away.

    Args:
        name: For what is told of it.
        prepare: Gives the process to run; called before every start.
    """

    def __init__(self, name: str, prepare: Callable[[], ProcessSpec]) -> None:
        self.name = name
        self.exits: list[int] = []
        """How each run ended, in order."""
        self._prepare = prepare
        self._process: ManagedProcess | None = None
        self._wanted = asyncio.Event()
        self._ready = asyncio.Event()
        self._exited = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it is there, ready or not."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Starts the process, waits until it is ready, and keeps it from now on."""
        self._wanted.set()
        self._keeper = asyncio.create_task(self._keep(), name=f"keep {self.name}")
        await self.ready()

    async def ready(self) -> None:
        """Returns when the process runs and has said that it is ready."""
        waiting = asyncio.create_task(self._ready.wait())
        keeper = self._keeper
        assert keeper is not None, f"{self.name} was never started"
        await asyncio.wait({waiting, keeper}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            keeper.result()
            raise RuntimeError(f"{self.name} is not kept any more")

    async def stop(self) -> None:
        """Stops it for good, politely."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        self._ready.clear()
        if self._process is not None:
            ran = self.pid is not None
            self.send(signal.SIGCONT)
            await self._process.stop()
            if ran:
                self._note_exit(self._process)

    def send(self, number: signal.Signals) -> None:
        """Sends a signal, where there is a process to take it."""
        if number is signal.SIGKILL:
            self._ready.clear()
        if self._process is not None:
            self._process.signal(number)

    @asynccontextmanager
    async def away(self, number: signal.Signals = signal.SIGKILL) -> AsyncIterator[None]:
        """Ends it, and keeps it from starting for the length of a block; on leaving the block it is ready again."""
        self._wanted.clear()
        self._ready.clear()
        self.send(number)
        try:
            await self.wait_ended()
            yield
        finally:
            self._wanted.set()
        await self.ready()

    @asynccontextmanager
    async def not_again(self) -> AsyncIterator[None]:
        """Should it end within a block, it is not started again before the block does."""
        self._wanted.clear()
        try:
            yield
        finally:
            self._wanted.set()
        await self.ready()

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[None]:
        """Freezes it for the length of a block."""
        self.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send(signal.SIGCONT)

    async def wait_ended(self) -> None:
        """Returns when the process does not run."""
        if self._process is not None:
            await self._process.wait_ended()

    async def exited_since(self, before: int) -> int:
        """Returns how the run ended that came behind the first ``before`` ones, once it has."""
        while len(self.exits) <= before:
            self._exited.clear()
            await self._exited.wait()
        return self.exits[before]

    def _note_exit(self, process: ManagedProcess) -> None:
        self.exits.append(process.exit_code or 0)
        self._exited.set()

    async def _keep(self) -> None:
        while True:
            await self._wanted.wait()
            self._process = ManagedProcess(self._prepare())
            with suppress(VarveError):  # it was killed while it started: the next turn starts it again
                await self._process.start()
                self._ready.set()
                await self._process.wait_ended()
            self._ready.clear()
            await self._process.stop()
            self._note_exit(self._process)
            await asyncio.sleep(_AGAIN_S)
