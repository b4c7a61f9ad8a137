"""An engine that is to take the place of another one: all of its points in a new folder, while it is read and written.

An engine frees nothing of what it has replaced or removed. Texts stay in its files, until other points happen to be written over them, and
vectors for good. Its own optimizer would write a segment anew, and holds the GIL all the while: nobody is answered for seconds.
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
"""Copied in one step, of two to three milliseconds."""
_POINTS_BETWEEN_FLUSHES: Final = 2000
"""A flush holds everybody up, as those do that writes bring. So many points make 60 MB of write-ahead log."""
_FIRST: Final = UUID(int=0)


class CompactionCopy:
    """The new engine. Vectors come out as they went in, to the last bit: they are quantised already.

    Args:
        folder: An empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._engine: edge.EdgeShard | None = None
        self._uncopied: UUID | None = _FIRST
        """The first point that is not copied yet; None: all are."""
        self._failure: Exception | None = None

    def copying(self, source: edge.EdgeShard, *, dimension: int, late_dimension: int | None) -> Iterator[None]:
        """Copies all points, in steps. Between them the source may be written to, and :meth:`follow` is told of it.

        Args:
            source: The engine that is in use.
            dimension: Length of dense vectors.
            late_dimension: Length of token vectors; None: it keeps none.

        Yields:
            Behind each step. Behind the last the disk has all of them.
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
            found, behind = source.scroll(request)
            assert behind is None or isinstance(behind, UUID)
            _upsert(engine, [edge.Point(each.id, each.vector or {}, each.payload or {}) for each in found])
            self._uncopied = behind
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
        """Writes points that have been written to the source; those that are still to be copied come with the others."""
        self._follow(lambda engine: _upsert(engine, [each for each in points if self._uncopied is None or id_of(each) < self._uncopied]))

    def follow_removal(self, points_filter: edge.Filter) -> None:
        """Removes points that have been removed from the source."""
        self._follow(lambda engine: engine.update(edge.UpdateOperation.delete_points_by_filter(points_filter)))

    def _follow(self, write: Callable[[edge.EdgeShard], None]) -> None:
        # The source has what was written, and its writer has to hear of no other engine: this one is given up.
        if self._engine is not None and self._failure is None:
            try:
                write(self._engine)
            except Exception as error:
                self._failure = error

    def require_whole(self) -> None:
        """Raises what a write failed by that the source has and this one lacks."""
        if self._failure is not None:
            raise self._failure

    def taken(self) -> edge.EdgeShard:
        """The engine, for the caller from now on."""
        assert self._engine is not None
        engine, self._engine = self._engine, None
        return engine

    def close(self) -> None:
        """Closes the engine, unless it was taken."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()


def _upsert(engine: edge.EdgeShard, points: list[edge.Point]) -> None:
    if points:
        engine.update(edge.UpdateOperation.upsert_points(points))
