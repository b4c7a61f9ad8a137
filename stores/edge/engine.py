"""Creates and loads the engine in a shard's folder, and copies all points of an engine into a new one while it is read and written.

An engine does not free the space of replaced or removed points: texts stay in its files until other points overwrite them, and vectors stay
forever. Its own optimizer would rewrite a segment, but holds the GIL meanwhile, so that no request is served for seconds.
"""

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson
import qdrant_edge as edge

from stores.collection import BM25, DATETIME_FIELDS, DENSE, FEED_OFFSET, FEED_PARTITION, KEYWORD_FIELDS, LATE, TENANT
from stores.edge.folder import write_durably, write_entries
from stores.edge.records import id_of

_EXACT_SEARCH: Final = edge.HnswIndexConfig(m=0, ef_construct=16, full_scan_threshold=1_000_000_000)
"""No HNSW graph: filtered HNSW lost up to three quarters of a tenant's best matches, and an exact scan of one tenant is as fast."""
_NEVER_INDEX_KB: Final = 1_000_000_000
_DENSE_DATATYPE: Final = edge.VectorStorageDatatype.Turbo8
"""One byte per number, plus the vector's length. Scores are within 0.001 of exact."""
_SCANNED_COPY: Final = edge.TurboQuantQuantizationConfig(bits=edge.TurboQuantBitSize.Bits4)
"""A second copy of the dense vectors, with half a byte per number. A search scans it in less time, and scores the best points exactly: see
:data:`stores.edge.requests.OVERSAMPLING`."""
_LATE_DATATYPE: Final = edge.VectorStorageDatatype.Turbo4  # type: ignore[attr-defined]  # the engine's stubs lack it
"""Half a byte per number. A token's score is off by 0.007, which averages out over many tokens; a dense vector's score does not."""
_ENGINE_CONFIGURATION: Final = "edge_config.json"
_LOG_SEGMENTS: Final = {"segment_capacity": 1 << 19, "segment_queue_len": 0, "retain_closed": 1}
"""Segments of the write-ahead log: the capacity is in bytes, and a larger write gets a larger segment. The engine keeps one or two segments
after a flush; with its default of 32 MiB each they would be larger than ten thousand memories."""
_SEARCH_THREADS: Final = 1
"""A search runs in the calling thread. The engine searches segments in parallel, but a shard has only one. Further threads would only wake
up for each call and find no work, which took as long as the search itself on a busy machine."""
_OPTIONS: Final = {"wal_options": _LOG_SEGMENTS, "max_search_threads": _SEARCH_THREADS}

POINTS_IN_STEP: Final = 4
"""Points copied in one step, which takes two to three milliseconds."""
_POINTS_BETWEEN_FLUSHES: Final = 2000
"""A flush blocks all requests, as the flush of a write does. This many points make 60 MB of write-ahead log."""
_FIRST: Final = UUID(int=0)


def index_operations(*, present: Collection[str] = ()) -> list[edge.UpdateOperation]:
    """The operations that create the payload indexes, except those of the fields in ``present``."""
    indexes: dict[str, Any] = {TENANT: edge.KeywordIndexParams(is_tenant=True)}
    indexes |= dict.fromkeys(KEYWORD_FIELDS, edge.PayloadSchemaType.Keyword)
    indexes |= dict.fromkeys(DATETIME_FIELDS, edge.PayloadSchemaType.Datetime)
    indexes[FEED_PARTITION] = edge.IntegerIndexParams(lookup=True, range=False)
    indexes[FEED_OFFSET] = edge.IntegerIndexParams(lookup=False, range=True)
    return [edge.UpdateOperation.create_field_index(field, schema) for field, schema in indexes.items() if field not in present]


def create_indexes(engine: edge.EdgeShard, *, present: Collection[str] = ()) -> None:
    """Creates the payload indexes, except those of the fields in ``present``."""
    for each in index_operations(present=present):
        engine.update(each)


def created_engine(folder: Path, dimension: int, late_dimension: int | None) -> edge.EdgeShard:
    """Creates a shard whose write-ahead log has small segments.

    Args:
        folder: An empty folder.
        dimension: Length of dense vectors.
        late_dimension: Length of token vectors. None: it stores none.
    """
    # The engine reads the segment size from the configuration file in its folder, and its Python class has no parameter for it. So this
    # creates an empty engine, keeps only its configuration file, and loads the engine again with the size added.
    edge.EdgeShard.create(str(folder), _configuration(dimension, late_dimension)).close()
    written = (folder / _ENGINE_CONFIGURATION).read_bytes()
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / _ENGINE_CONFIGURATION).write_bytes(written)
    return loaded_engine(folder)


def loaded_engine(folder: Path) -> edge.EdgeShard:
    """Loads the shard of a folder, with the options of this version. A folder with only a configuration file becomes an empty shard."""
    file = folder / _ENGINE_CONFIGURATION
    configuration = orjson.loads(file.read_bytes())
    if configuration != (wanted := configuration | _OPTIONS):
        write_durably(file, orjson.dumps(wanted))
    return edge.EdgeShard.load(str(folder))


def _configuration(dimension: int, late_dimension: int | None) -> edge.EdgeConfig:
    dense = edge.EdgeVectorParams(
        size=dimension, distance=edge.Distance.Cosine, datatype=_DENSE_DATATYPE, quantization_config=_SCANNED_COPY
    )
    vectors = {DENSE: dense}
    if late_dimension is not None:
        vectors[LATE] = edge.EdgeVectorParams(
            size=late_dimension,
            distance=edge.Distance.Cosine,
            multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
            datatype=_LATE_DATATYPE,
        )
    return edge.EdgeConfig(
        vectors=vectors,
        sparse_vectors={BM25: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=_EXACT_SEARCH,
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_NEVER_INDEX_KB),
        wal_enabled=True,
    )


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
