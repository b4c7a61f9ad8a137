"""Copies all points of an engine into a new one, while the source is read and written. The copy then replaces the source.

An engine does not free the space of replaced or removed points: texts stay in its files until other points overwrite them, and vectors stay
forever. Its own optimizer would rewrite a segment, but holds the GIL meanwhile, so that no request is served for seconds.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

import qdrant_edge as edge

from stores.edge.durable_file import write_entries
from stores.edge.engine import created_engine, index_operations
from stores.edge.records import id_of

POINTS_IN_STEP: Final = 4
"""Points copied in one step, which takes two to three milliseconds."""
_POINTS_BETWEEN_FLUSHES: Final = 2000
"""A flush blocks all requests, as the flush of a write does. This many points make 60 MB of write-ahead log."""
_FIRST: Final = UUID(int=0)


class CompactionCopy:
    """The new engine. The copied vectors are identical to the last bit, since the stored ones are quantised already.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._engine: edge.EdgeShard | None = None
        self._uncopied: UUID | None = _FIRST
        """The first point that is not copied yet. None: all are copied."""
        self._failure: Exception | None = None

    def copying(self, source: edge.EdgeShard, *, dimension: int, late_dimension: int | None) -> Iterator[None]:
        """Copies all points, in steps. The caller may write to the source between steps, and calls :meth:`follow` with these points.

        Yields:
            After each step. After the last one all points are on disk.
        """
        engine = self._engine = created_engine(self.folder, dimension, late_dimension)
        for operation in index_operations():
            yield
            engine.update(operation)
        unflushed = 0
        while self._uncopied is not None:
            yield
            self.require_whole()
            request = edge.ScrollRequest(offset=self._uncopied, limit=POINTS_IN_STEP, with_payload=True, with_vector=True)
            found, next_id = source.scroll(request)
            assert next_id is None or isinstance(next_id, UUID)
            _upsert(engine, [edge.Point(each.id, each.vector or {}, each.payload or {}) for each in found])
            self._uncopied = next_id
            unflushed += len(found)
            if unflushed >= _POINTS_BETWEEN_FLUSHES:
                yield
                engine.flush()
                unflushed = 0
        yield
        engine.flush()
        for root, _, _ in os.walk(self.folder):
            yield
            write_entries(Path(root))

    def follow(self, points: Sequence[edge.Point]) -> None:
        """Writes points that were written to the source, except those that will be copied later."""
        self._follow(lambda engine: _upsert(engine, [each for each in points if self._uncopied is None or id_of(each) < self._uncopied]))

    def follow_removal(self, points_filter: edge.Filter) -> None:
        """Removes points that were removed from the source."""
        self._follow(lambda engine: engine.update(edge.UpdateOperation.delete_points_by_filter(points_filter)))

    def _follow(self, write: Callable[[edge.EdgeShard], None]) -> None:
        # The write to the source succeeded, so its caller must not see an error of the copy. The copy is abandoned later.
        if self._engine is not None and self._failure is None:
            try:
                write(self._engine)
            except Exception as error:
                self._failure = error

    def require_whole(self) -> None:
        """Raises the error of a write that the source has and this engine lacks, if there was one."""
        if self._failure is not None:
            raise self._failure

    def detach(self) -> edge.EdgeShard:
        """Hands the engine to the caller, who closes it."""
        assert self._engine is not None
        engine, self._engine = self._engine, None
        return engine

    def close(self) -> None:
        """Closes the engine, unless it was detached."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


def _upsert(engine: edge.EdgeShard, points: list[edge.Point]) -> None:
    if points:
        engine.update(edge.UpdateOperation.upsert_points(points))
