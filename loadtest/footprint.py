"""Memory and disk space of a stack under load: unbounded growth shows in a long run."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from stores.edge.folder import bytes_on_disk
from varve.supervisor.supervisor import Supervisor


class FootprintWatch:
    """Takes measurements during the block, periodically."""

    def __init__(self, supervisor: Supervisor, *, data: Path, every_s: float) -> None:
        self.memory_mb: dict[str, list[float]] = {}
        """Resident set of each process, at each measurement."""
        self.disk_mb: dict[str, list[float]] = {}
        """Disk space of each data folder, at each measurement."""
        self._supervisor = supervisor
        self._data = data
        self._every_s = every_s
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def _look(self) -> None:
        while True:
            memory, disk = await asyncio.to_thread(self._taken)
            for series, sizes in ((self.memory_mb, memory), (self.disk_mb, disk)):
                for name, size in sizes.items():
                    series.setdefault(name, []).append(round(size / 1e6, 1))
            await asyncio.sleep(self._every_s)

    def _taken(self) -> tuple[Mapping[str, int], Mapping[str, int]]:
        memory = {each.name: size for each in self._supervisor.programs if (size := each.memory_bytes) is not None}
        return memory, bytes_by_folder(self._data)


def bytes_by_folder(data: Path) -> dict[str, int]:
    """The disk space of each folder in a folder.

    Args:
        data: The parent folder. Its own files are not counted.
    """
    return {each.name: bytes_on_disk(each) for each in sorted(data.iterdir()) if each.is_dir()}
