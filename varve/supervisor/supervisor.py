"""Keeps programs running, level by level: a level starts once the previous one is ready, and stops before it."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from memory.errors import VarveError
from runtime.background import Background
from runtime.resilience import RestartPolicy
from varve.supervisor.process import ManagedProcess, ProcessSpec, describe_exit, resident_bytes

Phase = Literal["waiting", "starting", "ready", "restarting", "stopping", "stopped"]
Notice = Callable[[str], None]
_STOP_MARGIN_S: Final = 10.0
"""Seconds added to the programs' deadlines, for a running start and for killing late processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A process to keep alive. ``prepare`` is called before every start and may block."""

    name: str
    prepare: Callable[[], ProcessSpec]
    deaths_while_starting: int = 0
    """Number of ends that the first start tolerates, by a signal or because the process has to be restarted: a record may kill the process,
    and it is deferred after some crashes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneShot:
    """Work that is done once when its level starts."""

    name: str
    run: Callable[[], Awaitable[object]]


Level = Sequence[Program | OneShot]


@dataclass(slots=True, kw_only=True)
class ProgramState:
    """State of a program, for display."""

    name: str
    phase: Phase = "waiting"
    restarts: int = 0
    problem: str | None = None
    """Reason for its last end or failed start."""
    process: ManagedProcess | None = field(default=None, repr=False)

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self.process.pid if self.process is not None else None

    @property
    def memory_bytes(self) -> int | None:
        """Its resident set size while it runs."""
        return None if self.pid is None else resident_bytes(self.pid)


class Supervisor:
    """Starts the levels in order, restarts what crashes or hangs, and stops all in reverse.

    Args:
        levels: The levels. Members of one level start and stop together.
        notice: Called with a message for each change.
        restart_policy: Waiting times before a crashed program is restarted.
    """

    def __init__(self, levels: Sequence[Level], *, notice: Notice, restart_policy: RestartPolicy | None = None) -> None:
        names = [member.name for level in levels for member in level]
        if len(set(names)) != len(names):
            raise ValueError(f"every program and one-shot needs its own name, got {names}")
        self._levels = [tuple(level) for level in levels]
        self._notice = notice
        self._restart_policy = restart_policy or RestartPolicy()
        self._states = {member.name: ProgramState(name=member.name) for level in levels for member in level if isinstance(member, Program)}
        self._watchers: list[asyncio.Task[None]] = []

    @property
    def programs(self) -> list[ProgramState]:
        """Every program's state, in the order of the levels."""
        return list(self._states.values())

    async def start(self) -> None:
        """Starts everything; returns when all programs are ready.

        Raises:
            VarveError: If a program cannot be started; those started before it are stopped again.
        """
        try:
            for level in self._levels:
                await self._start_level(level)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stops everything in reverse order, each program within its deadline. May be called repeatedly."""
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        self._watchers.clear()
        for level in reversed(self._levels):
            await asyncio.gather(*(self._stop_program(self._states[member.name]) for member in level if isinstance(member, Program)))

    @property
    def stop_deadline_s(self) -> float:
        """Maximum duration of :meth:`stop` for the running programs, in seconds."""
        running = {state.name: state.process.spec.stop_deadline_s for state in self.programs if state.process is not None}
        return _STOP_MARGIN_S + sum(max((running.get(member.name, 0.0) for member in level), default=0.0) for level in self._levels)

    def kill(self) -> None:
        """Sends SIGKILL to every process: for a second Ctrl-C during :meth:`stop`."""
        for state in self.programs:
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

    async def _start_member(self, member: Program | OneShot) -> None:
        if isinstance(member, OneShot):
            await member.run()
            self._notice(f"{member.name}: done")
            return
        state = self._states[member.name]
        await self._start_first(member, state)
        self._notice(f"{member.name}: ready")
        watch = Background(f"watch {member.name}", lambda: self._watch(member, state), restarts=self._restart_policy, most_failures=None)
        self._watchers.append(asyncio.create_task(watch.run(), name=watch.name))

    async def _start_first(self, program: Program, state: ProgramState) -> None:
        """Starts a program, repeatedly if a record may kill it, or the machine may be too slow for it at first."""
        for deaths in range(1, program.deaths_while_starting + 1):
            try:
                await self._start_program(program, state)
            except VarveError as error:
                if state.process is None or not state.process.may_start_again:
                    raise
                interval = self._restart_policy.backoff.interval_s(deaths)
                self._notice(f"{error}; starting again in {interval:g} s")
                await asyncio.sleep(interval)
            else:
                return
        await self._start_program(program, state)

    async def _start_program(self, program: Program, state: ProgramState) -> None:
        state.phase = "starting"
        state.process = ManagedProcess(await asyncio.to_thread(program.prepare))
        await state.process.start()
        state.phase = "ready"

    async def _watch(self, program: Program, state: ProgramState) -> None:
        """Waits for the program to end, then starts it again, for as long as the supervisor runs."""
        crashes = 0
        started = time.monotonic()
        while True:
            process = state.process
            assert process is not None
            checking = asyncio.create_task(process.kill_if_hung())
            try:
                await process.wait_ended()
            finally:
                checking.cancel()
            if process.was_hung:
                state.problem = f"it did not answer its health check and was killed (log: {process.spec.log})"
            elif state.phase == "ready":
                state.problem = str(process.failure(f"{program.name} ended with {describe_exit(process.exit_code or 0)}"))
            await process.stop()
            state.phase = "restarting"
            state.restarts += 1
            crashes = self._restart_policy.crashes_in_a_row(crashes, ran_s=time.monotonic() - started)
            interval = self._restart_policy.backoff.interval_s(crashes)
            self._notice(f"{program.name}: {state.problem}; starting again in {interval:g} s")
            await asyncio.sleep(interval)
            started = time.monotonic()
            try:
                await self._start_program(program, state)
            except Exception as error:
                # Every error is retried: otherwise the program would stay down for as long as the stack runs.
                state.problem = str(error) if isinstance(error, VarveError | OSError) else repr(error)
            else:
                self._notice(f"{program.name}: ready again")

    async def _stop_program(self, state: ProgramState) -> None:
        if state.process is None:
            return
        state.phase = "stopping"
        with suppress(ProcessLookupError):
            if not await state.process.stop():
                self._notice(f"{state.name}: did not stop within {state.process.spec.stop_deadline_s:g} s and was killed")
        state.phase = "stopped"
