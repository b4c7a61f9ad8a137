"""One Qdrant Edge shard in a folder, with the model that its points were made by. No threads, no sockets."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import qdrant_edge as edge

from retrieval.errors import StoreRejectedError, StoreUnavailableError
from retrieval.stores.collection import BM25, DATETIME_FIELDS, DENSE, KEYWORD_FIELDS, LATE, RECORD, TENANT, check_metadata, metadata_of
from retrieval.stores.edge.requests import filter_of, query_request, score_part_requests, scroll_request
from retrieval.stores.filters import TenantFilter
from retrieval.stores.lexical import Terms
from retrieval.stores.query_plan import QueryPlan

_EXACT_SEARCH: Final = edge.HnswIndexConfig(m=0, ef_construct=16, full_scan_threshold=1_000_000_000)
"""No graph: filtered HNSW lost up to three quarters of a tenant's best matches, and an exact scan of one tenant is as fast."""
_NEVER_INDEX_KB: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class EncodedPoint:
    """A point as the owner reads it from a frame."""

    id: str
    payload: dict[str, Any]
    dense: Sequence[float]
    late: Sequence[Sequence[float]]
    """Empty: none."""
    terms: Terms


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """One result of a query."""

    record: str
    score: float
    parts: dict[str, float]


class Shard:
    """The shard in a folder, which no other process may use. Opens the shard if the folder holds one, else :meth:`prepare` creates it.

    Args:
        folder: The data folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model_file = folder / "model.json"
        self._engine: edge.EdgeShard | None = None
        self._model: dict[str, Any] = {}
        if self._model_file.exists():
            self._model = orjson.loads(self._model_file.read_bytes())
            self._engine = edge.EdgeShard.load(str(self._engine_folder))
            self._engine.optimize()

    @property
    def _engine_folder(self) -> Path:
        return self._folder / "shard"

    def prepare(self, model: str, dimension: int) -> None:
        """Creates the shard if it is missing.

        Raises:
            ModelMismatchError: If its points are of another model, dimension or lexical analyzer.
        """
        requested = metadata_of(model, dimension)
        if self._engine is None:
            self._create(dimension)
            _write_durably(self._model_file, orjson.dumps(requested))
            self._model = requested
        else:
            check_metadata(self._model, requested, collection=f"the shard in {self._folder}")

    def upsert(self, points: Sequence[EncodedPoint]) -> None:
        """Writes points. On return they are in the write-ahead log.

        Raises:
            StoreUnavailableError: If the shard was not prepared, or was dropped since.
            StoreRejectedError: If a vector has another dimension than the shard.
        """
        if self._engine is None:
            raise StoreUnavailableError(f"{self._folder} holds no shard yet: prepare() creates it")
        for each in points:
            self._check_dimension(each.dense)
        self._engine.update(edge.UpdateOperation.upsert_points([_engine_point(each) for each in points]))

    def delete(self, tenant_filter: TenantFilter) -> None:
        """Removes all points that pass the filter."""
        if self._engine is not None:
            self._engine.update(edge.UpdateOperation.delete_points_by_filter(filter_of(tenant_filter)))

    def recall(self, plan: QueryPlan, *, explain: bool) -> list[ScoredRecord]:
        """The best matches, best first; with the parts of their scores if ``explain``."""
        if self._engine is None:
            return []
        self._check_dimension(plan.dense)
        points = self._engine.query(query_request(plan))
        parts: dict[str, dict[str, float]] = {str(point.id): {} for point in points}
        if explain and points:
            for name, request in score_part_requests(plan, list(parts)).items():
                for scored in self._engine.query(request):
                    parts[str(scored.id)][name] = scored.score
        return [ScoredRecord(_record(point), point.score, parts[str(point.id)]) for point in points]

    def scroll(self, tenant_filter: TenantFilter, *, start: str | None, limit: int) -> dict[str, str]:
        """Records by their ids, in the order of the ids.

        Args:
            tenant_filter: Which points.
            start: The first id (inclusive); None: from the beginning.
            limit: Most records.
        """
        if self._engine is None:
            return {}
        records, _ = self._engine.scroll(scroll_request(tenant_filter, start=start, limit=limit))
        return {str(each.id): _record(each) for each in records}

    def count(self, tenant_filter: TenantFilter) -> int:
        """The exact number of points that pass the filter."""
        return 0 if self._engine is None else self._engine.count(edge.CountRequest(exact=True, filter=filter_of(tenant_filter)))

    def flush(self) -> None:
        """Writes all segments to disk, so that a restart need not replay the write-ahead log."""
        if self._engine is not None:
            self._engine.flush()

    def drop(self) -> None:
        """Removes the shard's data."""
        self._model_file.unlink(missing_ok=True)
        self.close()
        shutil.rmtree(self._engine_folder, ignore_errors=True)

    def close(self) -> None:
        """Flushes and closes the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.flush()
            engine.close()

    def _check_dimension(self, dense: Sequence[float]) -> None:
        # The engine checks this too, but raises a bare Exception, perhaps half-way through a batch.
        if len(dense) != self._model["dimension"]:
            raise StoreRejectedError(
                f"a dense vector has {len(dense)} dimensions, the points in {self._folder} have {self._model['dimension']}"
            )

    def _create(self, dimension: int) -> None:
        shutil.rmtree(self._engine_folder, ignore_errors=True)
        self._engine_folder.mkdir(parents=True)
        engine = edge.EdgeShard.create(str(self._engine_folder), _configuration(dimension))
        engine.update(edge.UpdateOperation.create_field_index(TENANT, edge.KeywordIndexParams(is_tenant=True)))
        for field in KEYWORD_FIELDS:
            engine.update(edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Keyword))
        for field in DATETIME_FIELDS:
            engine.update(edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Datetime))
        engine.flush()
        self._engine = engine


def _configuration(dimension: int) -> edge.EdgeConfig:
    token_vectors = edge.EdgeVectorParams(
        size=dimension,
        distance=edge.Distance.Cosine,
        multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
        datatype=edge.VectorStorageDatatype.Float16,
    )
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine), LATE: token_vectors},
        sparse_vectors={BM25: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=_EXACT_SEARCH,
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_NEVER_INDEX_KB),
        wal_enabled=True,
    )


def _engine_point(point: EncodedPoint) -> edge.Point:
    vectors: dict[str, Any] = {DENSE: point.dense}
    if point.late:
        vectors[LATE] = point.late
    if point.terms.indices:
        vectors[BM25] = edge.SparseVector(point.terms.indices, point.terms.values)
    return edge.Point(point.id, vectors, point.payload)


def _record(point: edge.ScoredPoint | edge.Record) -> str:
    payload = point.payload
    if payload is None:
        raise StoreUnavailableError(f"the engine gave point {point.id} without its record")
    return str(payload[RECORD])


def _write_durably(path: Path, content: bytes) -> None:
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
