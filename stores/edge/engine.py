"""Creates and loads the engine in a shard's folder, with its configuration and its indexes."""

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import orjson
import qdrant_edge as edge

from stores.collection import BM25, DATETIME_FIELDS, DENSE, FEED_OFFSET, FEED_PARTITION, KEYWORD_FIELDS, LATE, TENANT
from stores.edge.durable_file import write_durably

_EXACT_SEARCH: Final = edge.HnswIndexConfig(m=0, ef_construct=16, full_scan_threshold=1_000_000_000)
"""No HNSW graph: filtered HNSW lost up to three quarters of a tenant's best matches, and an exact scan of one tenant is as fast."""
_NEVER_INDEX_KB: Final = 1_000_000_000
_DENSE_DATATYPE: Final = edge.VectorStorageDatatype.Turbo8
"""One byte per number, plus the vector's length. The engine stores no other copy of the vectors. Scores are within 0.001 of exact."""
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
    vectors = {DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine, datatype=_DENSE_DATATYPE)}
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
