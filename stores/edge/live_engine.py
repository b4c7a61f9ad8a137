"""The engine that a shard uses, and its replacement by a compacted copy: see :mod:`stores.edge.engine`."""

import shutil
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import qdrant_edge as edge

from stores.edge.engine import CompactionCopy, create_indexes, created_engine, loaded_engine
from stores.edge.folder import EngineFolder, bytes_on_disk, removal
from stores.errors import StoreUnavailableError

_MARGIN_BYTES: Final = 100_000_000
"""Disk space that a compaction needs in addition to the engine's size: for the write-ahead log and for new points."""
_WRITE_RESERVE_BYTES: Final = 64_000_000
"""Free disk space below which nothing is written. The engine writes through memory maps: on a full disk the kernel would kill the process
(SIGBUS), and recalls would fail, too."""
_OPENING_BYTES: Final = 16_000_000
"""Free disk space that opening an engine needs: it replays its write-ahead log. Twice what 8,000 unflushed memories took on ext4."""


@dataclass(frozen=True, slots=True)
class Waste:
    """Deleted or replaced data that may be left in an engine's files."""

    is_there: bool
    age_s: float | None
    """Time since the engine was created or compacted; None: unknown."""


class LiveEngine:
    """The engine of a shard."""

    def __init__(self, data: Path) -> None:
        self.engine: edge.EdgeShard | None = None
        """None before it is created, and after it is dropped."""
        self._data = data
        self._folder = EngineFolder(data)
        self._successor: CompactionCopy | None = None
        self._has_waste = False

    @property
    def waste(self) -> Waste:
        """Deleted or replaced data in the files. After a restart, waste is assumed."""
        return Waste(self._has_waste, self._folder.age_s)

    def load(self) -> edge.EdgeShard:
        """Loads the engine in the folder.

        Raises:
            StoreUnavailableError: If the disk is full.
        """
        for each in self._folder.others():
            shutil.rmtree(each, ignore_errors=True)
        self._require_disk_space(_OPENING_BYTES, "opening the shard")
        self.engine = loaded_engine(self._folder.path)
        # An older version may have created the shard without some of the indexes.
        create_indexes(self.engine, present=self.engine.info().payload_schema)
        self._has_waste = True
        return self.engine

    def create(self, dimension: int, late_dimension: int | None) -> None:
        """Creates an empty engine.

        Args:
            dimension: Length of dense vectors.
            late_dimension: Length of token vectors. None: it stores none.

        Raises:
            StoreUnavailableError: If the disk is almost full.
        """
        self._data.mkdir(parents=True, exist_ok=True)
        self._require_space_for_writes()
        self._folder.remove()
        self._folder.path.mkdir()
        engine = created_engine(self._folder.path, dimension, late_dimension)
        create_indexes(engine)
        engine.flush()
        self._folder.use(self._folder.path)
        self.engine = engine

    def upsert(self, points: Sequence[edge.Point]) -> None:
        """Writes points.

        Raises:
            StoreUnavailableError: If the disk is almost full.
        """
        assert self.engine is not None
        self._require_space_for_writes()
        self.engine.update(edge.UpdateOperation.upsert_points([*points]))
        if self._successor is not None:
            self._successor.follow(points)

    def remove(self, points_filter: edge.Filter) -> None:
        """Removes all points that pass a filter.

        Raises:
            StoreUnavailableError: If the disk is almost full.
        """
        assert self.engine is not None
        self._require_space_for_writes()
        self.engine.update(edge.UpdateOperation.delete_points_by_filter(points_filter))
        if self._successor is not None:
            self._successor.follow_removal(points_filter)

    def note_waste(self) -> None:
        """Records that a point with content was replaced: the files still contain the old content."""
        self._has_waste = True

    def compaction(self, *, dimension: int, late_dimension: int | None) -> Generator[None, None, None]:
        """Copies all points into another folder and switches to it, in steps. Other calls may run between the steps."""
        source = self.engine
        if source is None:
            return
        self._require_disk_space(
            bytes_on_disk(self._folder.path) + _MARGIN_BYTES, "compacting the shard", "deleted texts and vectors stay in its files"
        )
        before, successor = self._folder.path, CompactionCopy(self._folder.spare())
        self._successor = successor
        # Points that are replaced from now on may be in the new folder already.
        self._has_waste = False
        try:
            for _ in successor.copying(source, dimension=dimension, late_dimension=late_dimension):
                yield
                if self._successor is not successor:
                    return  # closed or dropped since
                self._require_space_for_writes()
            successor.require_whole()
            self._folder.use(successor.folder)
        finally:
            if self._folder.path == successor.folder:
                self.engine, self._successor = successor.detach(), None
            else:
                self._give_up(successor)
        yield
        source.close()
        for _ in removal(before):
            yield
            if self._folder.path == before:
                return  # dropped and created again since, in the same place

    def close(self) -> None:
        """Flushes and closes the engine."""
        if self._successor is not None:
            self._give_up(self._successor)
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.flush()
            engine.close()

    def remove_all(self) -> None:
        """Closes the engine, and removes its data."""
        self.close()
        self._folder.remove()

    def _give_up(self, successor: CompactionCopy) -> None:
        if self._successor is successor:
            self._successor = None
            self._has_waste = True
        successor.close()
        shutil.rmtree(successor.folder, ignore_errors=True)

    def _require_space_for_writes(self) -> None:
        self._require_disk_space(_WRITE_RESERVE_BYTES, "writing to the shard", "memories wait in Kafka, and recalls continue")

    def _require_disk_space(self, needed: int, work: str, meanwhile: str = "") -> None:
        free = shutil.disk_usage(self._data).free
        if free < needed:
            problem = f"the disk of {self._data} has {free / 1e6:.0f} MB free, but {work} needs {needed / 1e6:.0f} MB: free some space"
            raise StoreUnavailableError(f"{problem}; until then, {meanwhile}" if meanwhile else problem)
