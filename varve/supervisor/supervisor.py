"""Keeps a set of child processes alive, level by level: a level starts when the one before it is ready, and stops before it does."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from memory.errors import VarveError
from varve.supervisor.backoff import RestartBackoff
from varve.supervisor.process import ManagedProcess, ProcessSpec, describe_exit
from varve.supervisor.resident import resident_bytes

Phase = Literal["waiting", "starting", "ready", "restarting", "stopping", "stopped"]
Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A process to keep alive. ``prepare`` is called before every start and may take its time."""

    name: str
    prepare: Callable[[], ProcessSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something to be done once, between two levels of processes."""

    name: str
    run: Callable[[], Awaitable[object]]


Level = Sequence[Part | Step]


@dataclass(slots=True, kw_only=True)
class PartState:
    """How a part is doing, for those who watch."""

    name: str
    phase: Phase = "waiting"
    restarts: int = 0
    problem: str | None = None
    """Why it last ended, or could not be started."""
    process: ManagedProcess | None = field(default=None, repr=False)

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self.process.pid if self.process is not None else None

    @property
    def memory_bytes(self) -> int | None:
        """Its resident set while it runs."""
        return None if self.pid is None else resident_bytes(self.pid)


class Supervisor:
    """Starts the levels in order, restarts what crashes, and stops all in reverse.

    Args:
        levels: What runs. The members of one level start and stop together.
        notice: Told in one line of each change that a person may want to know.
        new_backoff: Makes each part's wait between crashes.
    """

    def __init__(self, levels: Sequence[Level], *, notice: Notice, new_backoff: Callable[[], RestartBackoff] = RestartBackoff) -> None:
        names = [member.name for level in levels for member in level]
        if len(set(names)) != len(names):
            raise ValueError(f"every part and step needs a name of its own, got {names}")
        self._levels = [tuple(level) for level in levels]
        self._notice = notice
        self._new_backoff = new_backoff
        self._states = {member.name: PartState(name=member.name) for level in levels for member in level if isinstance(member, Part)}
        self._keepers: list[asyncio.Task[None]] = []

    @property
    def parts(self) -> list[PartState]:
        """Every part's state, in the order of the levels."""
        return list(self._states.values())

    async def start(self) -> None:
        """Starts everything and returns when all of it is ready.

        Raises:
            VarveError: If a part cannot be started; what had been started is stopped again.
        """
        try:
            for level in self._levels:
                await self._start_level(level)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stops everything in reverse, each part within its deadline; harmless when repeated."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        self._keepers.clear()
        for level in reversed(self._levels):
            await asyncio.gather(*(self._stop_part(self._states[member.name]) for member in level if isinstance(member, Part)))

    def kill(self) -> None:
        """Ends every process at once, for someone who will not wait for :meth:`stop`."""
        for state in self.parts:
            if state.process is not None:
                state.process.signal(signal.SIGKILL)

    async def _start_level(self, level: Level) -> None:
        starting = [asyncio.create_task(self._start_member(member)) for member in level]
        try:
            await asyncio.gather(*starting)
        except BaseException:
            for task in starting:
                task.cancel()
            await asyncio.gather(*starting, return_exceptions=True)
            raise

    async def _start_member(self, member: Part | Step) -> None:
        if isinstance(member, Step):
            await member.run()
            self._notice(f"{member.name}: done")
            return
        state = self._states[member.name]
        await self._start_part(member, state)
        self._notice(f"{member.name}: ready")
        self._keepers.append(asyncio.create_task(self._keep(member, state), name=f"keep {member.name}"))

    async def _start_part(self, part: Part, state: PartState) -> None:
        state.phase = "starting"
        state.process = ManagedProcess(await asyncio.to_thread(part.prepare))
        await state.process.start()
        state.phase = "ready"

    async def _keep(self, part: Part, state: PartState) -> None:
        """Waits for the part to end, then starts it again, for as long as the supervisor runs."""
        backoff = self._new_backoff()
        started = time.monotonic()
        while True:
            process = state.process
            assert process is not None
            await process.ended()
            if state.phase == "ready":
                state.problem = str(process.fault(f"{part.name} ended with {describe_exit(process.exit_code or 0)}"))
            await process.stop()
            state.phase = "restarting"
            state.restarts += 1
            wait = backoff.after_crash(ran_s=time.monotonic() - started)
            self._notice(f"{part.name}: {state.problem}; starting again in {wait:g} s")
            await asyncio.sleep(wait)
            started = time.monotonic()
            try:
                await self._start_part(part, state)
            except (VarveError, OSError) as error:
                state.problem = str(error)
            else:
                self._notice(f"{part.name}: ready again")

    async def _stop_part(self, state: PartState) -> None:
        if state.process is None:
            return
        state.phase = "stopping"
        with suppress(ProcessLookupError):
            if not await state.process.stop():
                self._notice(f"{state.name}: did not stop within {state.process.spec.stop_deadline_s:g} s and was killed")
        state.phase = "stopped"
