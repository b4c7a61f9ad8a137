"""What the processes of a stack have in memory while it is loaded: what never ends to grow shows in a long run."""

import asyncio
from typing import Self

from varve.supervisor.supervisor import ProgramState, Supervisor


class MemoryWatch:
    """Looks every now and then, within the block.

    Args:
        supervisor: Of the processes.
        every_s: From one look to the next.
    """

    def __init__(self, supervisor: Supervisor, *, every_s: float) -> None:
        self.megabytes: dict[str, list[float]] = {}
        """By process: its resident set, at each look."""
        self._supervisor = supervisor
        self._every_s = every_s
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _look(self) -> None:
        while True:
            for program in self._supervisor.programs:
                size = await asyncio.to_thread(_size_of, program)
                if size is not None:
                    self.megabytes.setdefault(program.name, []).append(round(size / 1e6, 1))
            await asyncio.sleep(self._every_s)


def _size_of(program: ProgramState) -> int | None:
    return program.memory_bytes
