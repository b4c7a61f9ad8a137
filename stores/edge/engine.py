"""The engine that a shard's folder holds: its configuration and its indexes."""

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import orjson
import qdrant_edge as edge

from stores.collection import BM25, DATETIME_FIELDS, DENSE, FEED_OFFSET, FEED_PARTITION, KEYWORD_FIELDS, LATE, TENANT
from stores.edge.durable_file import write_durably

_EXACT_SEARCH: Final = edge.HnswIndexConfig(m=0, ef_construct=16, full_scan_threshold=1_000_000_000)
"""No graph: filtered HNSW lost up to three quarters of a tenant's best matches, and an exact scan of one tenant is as fast."""
_NEVER_INDEX_KB: Final = 1_000_000_000
_DENSE_DATATYPE: Final = edge.VectorStorageDatatype.Turbo8
"""One byte a number, and a vector's length beside them. Nothing is kept twice: these are the vectors. Scores are within .001 of exact."""
_LATE_DATATYPE: Final = edge.VectorStorageDatatype.Turbo4  # type: ignore[attr-defined]  # the engine's stubs lack it
"""Half a byte a number. A token's score is off by .007, which many tokens even out; the score of a dense vector stands alone."""
_ENGINE_CONFIGURATION: Final = "edge_config.json"
_LOG_SEGMENTS: Final = {"segment_capacity": 1 << 19, "segment_queue_len": 0, "retain_closed": 1}
"""Bytes of a segment of the write-ahead log; a larger write gets a larger one. The engine keeps one or two beyond the last flush, of 32 MiB
each if nothing else is said: more than ten thousand memories take."""
_SEARCH_THREADS: Final = 1
"""A search runs in the thread that asks. The engine searches segments side by side, and a shard has one: all that further threads do is to
wake for each call and look for work, which took a busy machine as long as the search itself."""
_OPTIONS: Final = {"wal_options": _LOG_SEGMENTS, "max_search_threads": _SEARCH_THREADS}


def index_operations(*, present: Collection[str] = ()) -> list[edge.UpdateOperation]:
    """What creates the payload indexes, one after another.

    Args:
        present: Fields that have one.
    """
    indexes: dict[str, Any] = {TENANT: edge.KeywordIndexParams(is_tenant=True)}
    indexes |= dict.fromkeys(KEYWORD_FIELDS, edge.PayloadSchemaType.Keyword)
    indexes |= dict.fromkeys(DATETIME_FIELDS, edge.PayloadSchemaType.Datetime)
    indexes[FEED_PARTITION] = edge.IntegerIndexParams(lookup=True, range=False)
    indexes[FEED_OFFSET] = edge.IntegerIndexParams(lookup=False, range=True)
    return [edge.UpdateOperation.create_field_index(field, schema) for field, schema in indexes.items() if field not in present]


def create_indexes(engine: edge.EdgeShard, *, present: Collection[str] = ()) -> None:
    """Creates the payload indexes.

    Args:
        engine: A shard.
        present: Fields that have one.
    """
    for each in index_operations(present=present):
        engine.update(each)


def created_engine(folder: Path, dimension: int, late_dimension: int | None) -> edge.EdgeShard:
    """Creates a shard whose write-ahead log has small segments.

    Args:
        folder: An empty folder.
        dimension: Length of dense vectors.
        late_dimension: Length of token vectors; None: it keeps none.
    """
    # The engine reads their size from the configuration that it keeps in the folder, and its Python class has no name for it. So it
    # writes its configuration once, and starts again from it with the size added, before it holds anything.
    edge.EdgeShard.create(str(folder), _configuration(dimension, late_dimension)).close()
    written = (folder / _ENGINE_CONFIGURATION).read_bytes()
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / _ENGINE_CONFIGURATION).write_bytes(written)
    return loaded_engine(folder)


def loaded_engine(folder: Path) -> edge.EdgeShard:
    """Loads the shard of a folder, with the options of this version.

    Args:
        folder: It holds a shard, or the configuration of one that is to hold nothing yet.
    """
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
