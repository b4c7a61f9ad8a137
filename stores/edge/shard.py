"""One Qdrant Edge shard in a folder, with the model that its points were made by. No threads, no sockets."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import orjson
import qdrant_edge as edge

from runtime.disk_usage import bytes_on_disk
from stores.collection import (
    BM25,
    DELETED_AT,
    DENSE,
    LATE,
    TENANT,
    analyzer_of,
    check_metadata,
    metadata_of,
)
from stores.edge.durable_file import write_durably
from stores.edge.live_engine import LiveEngine, Waste
from stores.edge.records import KeptRecords, id_of, record_of
from stores.edge.requests import (
    POSITION_ONLY,
    filter_of,
    ids_request,
    scroll_request,
)
from stores.edge.search import ScoredRecord, search
from stores.edge.term_statistics import Document
from stores.edge.term_weights import TermWeights
from stores.errors import StoreRejectedError, StoreUnavailableError
from stores.filters import TenantFilter, TombstoneFilter
from stores.lexical_analysis import Terms
from stores.position import FeedPosition, mark_id
from stores.query_plan import QueryPlan

_NO_DOCUMENTS: Final[Mapping[UUID, Document]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EncodedPoint:
    """A point as the owner reads it from a frame."""

    id: str
    payload: dict[str, Any]
    dense: Sequence[float]
    late: Sequence[Sequence[float]]
    """Empty: none."""
    terms: Terms


class Shard:
    """The shard in a folder, which no other process may use. Opens the shard if the folder holds one, else :meth:`prepare` creates it.

    Args:
        folder: The data folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model_file = folder / "model.json"
        self._in_use = LiveEngine(folder)
        self._model: dict[str, Any] = {}
        self._records = KeptRecords()
        self._weights = TermWeights()
        if self._model_file.exists():
            self._model = orjson.loads(self._model_file.read_bytes())
            self._weights.load(self._in_use.load())

    @property
    def _engine(self) -> edge.EdgeShard | None:
        return self._in_use.engine

    def prepare(self, model: str, dimension: int, late_dimension: int | None) -> int:
        """Creates the shard if it is missing. Gives the version of the lexical analyzer that it began with.

        Args:
            model: The embedding model.
            dimension: Length of its dense vectors.
            late_dimension: Length of its token vectors; None: it gives none.

        Raises:
            ModelMismatchError: If its points are of another model, dimension, way of vectors or lexical analyzer.
        """
        requested = metadata_of(model, dimension, late_dimension)
        if self._engine is None:
            self._in_use.create(dimension, late_dimension)
            write_durably(self._model_file, orjson.dumps(requested))
            self._model = requested
        else:
            check_metadata(self._model, requested, collection=f"the shard in {self._folder}")
        return analyzer_of(self._model)

    def upsert(self, points: Sequence[EncodedPoint]) -> None:
        """Writes the points that no stored one of a newer position forbids. On return they are in the write-ahead log.

        Nothing comes between the check and the write, since the owner makes one call at a time.

        Raises:
            StoreUnavailableError: If the shard was not prepared, or was dropped since.
            StoreRejectedError: If a vector has another dimension than the shard.
        """
        self._require_engine()
        for each in points:
            self._check_dimensions(each.dense, each.late)
        stored = self._stored([each.id for each in points])
        written = [each for each in points if not _is_late(each.payload, stored.get(each.id))]
        documents = {UUID(each.id): Document(each.payload[TENANT], each.terms.indices) for each in written}
        self._replace(stored, [_engine_point(each) for each in written], documents)

    def put_steps(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Writes steps of entities' histories, unless a stored one is of a newer position.

        Args:
            payloads: Their payloads by their ids.

        Raises:
            StoreUnavailableError: If the shard was not prepared, or was dropped since.
        """
        self._require_engine()
        stored = self._stored([*payloads])
        written = [edge.Point(each, {}, payload) for each, payload in payloads.items() if not _is_late(payload, stored.get(each))]
        self._replace(stored, written)

    def delete(self, tenant_filter: TenantFilter, tombstones: Mapping[str, dict[str, Any]]) -> None:
        """Writes tombstones.

        Args:
            tenant_filter: A point that does not pass it is not replaced, nor is one of a newer position.
            tombstones: Their payloads by their ids.
        """
        if self._engine is None:
            return
        stored = self._stored([*tombstones])
        found, _ = self._engine.scroll(ids_request(tenant_filter.within(tombstones), limit=len(tombstones)))
        in_scope = {str(each.id) for each in found}
        written = [
            edge.Point(each, {}, payload)
            for each, payload in tombstones.items()
            if (each in in_scope or each not in stored or DELETED_AT in stored[each]) and not _is_late(payload, stored.get(each))
        ]
        self._replace(stored, written)

    def purge(self, tombstone_filter: TombstoneFilter) -> None:
        """Removes all tombstones that pass the filter."""
        if self._engine is not None:
            self._in_use.remove(filter_of(tombstone_filter))

    def set_checkpoint(self, position: FeedPosition) -> None:
        """Writes the mark of the position's partition, unless it is of a newer position.

        Raises:
            StoreUnavailableError: If the shard was not prepared, or was dropped since.
        """
        self._require_engine()
        if not position.is_older_than(self.mark_of(position.partition)):
            self._in_use.upsert([edge.Point(position.mark_id, {}, position.payload())])

    def mark_of(self, partition: int) -> FeedPosition | None:
        """The mark of a partition; None where there is none."""
        if self._engine is None:
            return None
        return FeedPosition.from_payload(self._stored([mark_id(partition)]).get(mark_id(partition)))

    def recall(self, plan: QueryPlan, *, explain: bool) -> Iterator[list[ScoredRecord]]:
        """The matches, in pieces: between two of them calls for others can come in.

        Args:
            plan: The query.
            explain: Asks for the parts of the scores.

        Yields:
            What :func:`search` does; nothing where there is no shard.

        Raises:
            StoreRejectedError: If a vector has another dimension than the shard.
        """
        if self._engine is not None:
            self._check_dimensions(plan.dense, plan.late)
            yield from search(plan, engine=lambda: self._engine, records=self._records, weights=self._weights, explain=explain)

    def read_on(self) -> None:
        """Does some of the work that makes later recalls of the same tenants faster, if there is any. It takes a millisecond."""
        if self._engine is not None:
            self._weights.read_on(self._engine)

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
        return {str(each.id): record_of(each) for each in records}

    def count(self, tenant_filter: TenantFilter) -> int:
        """The exact number of points that pass the filter."""
        return 0 if self._engine is None else self._engine.count(edge.CountRequest(exact=True, filter=filter_of(tenant_filter)))

    @property
    def points(self) -> int:
        """How many points it holds, tombstones and marks included."""
        return 0 if self._engine is None else self._engine.info().points_count

    @property
    def on_disk_bytes(self) -> int:
        """What its files take up; the write-ahead log among them."""
        return bytes_on_disk(self._folder)

    def flush(self) -> None:
        """Writes all segments to disk, so that a restart need not replay the write-ahead log."""
        if self._engine is not None:
            self._engine.flush()

    def drop(self) -> None:
        """Removes the shard's data."""
        self._model_file.unlink(missing_ok=True)
        self._records.clear()
        self._weights.clear()
        self._in_use.remove_all()

    def close(self) -> None:
        """Flushes and closes the engine."""
        self._in_use.close()

    @property
    def waste(self) -> Waste:
        """What its files may hold that nothing finds any more."""
        return self._in_use.waste

    def compaction(self) -> Generator[None, None, None]:
        """Writes the shard anew, in steps, so that its files hold nothing but what can be found. Other calls may come in between them.

        Yields:
            Behind each step, of some milliseconds.

        Raises:
            StoreUnavailableError: If the disk has too little room for it. The shard stays as it was, as with each other error.
        """
        yield from self._in_use.compaction(dimension=self._model["dimension"], late_dimension=self._model["late_dimension"])

    def _require_engine(self) -> None:
        if self._engine is None:
            raise StoreUnavailableError(f"{self._folder} holds no shard yet: prepare() creates it")

    def _stored(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """The positions of stored points, and when the tombstones among them were written, by their ids."""
        assert self._engine is not None
        return {str(each.id): each.payload or {} for each in self._engine.retrieve([*ids], POSITION_ONLY, False)}

    def _replace(self, stored: Mapping[str, object], points: list[edge.Point], documents: Mapping[UUID, Document] = _NO_DOCUMENTS) -> None:
        assert self._engine is not None
        if points:
            self._records.forget(points)
            with self._weights.following(self._engine, {*map(id_of, points)}, documents):
                self._in_use.upsert(points)
            if stored:
                self._in_use.note_waste()

    def _check_dimensions(self, dense: Sequence[float], late: Sequence[Sequence[float]]) -> None:
        # The engine checks this too, but raises a bare Exception, perhaps half-way through a batch.
        if len(dense) != self._model["dimension"]:
            raise StoreRejectedError(
                f"a dense vector has {len(dense)} dimensions, the points in {self._folder} have {self._model['dimension']}"
            )
        if late and len(late[0]) != self._model["late_dimension"]:
            raise StoreRejectedError(
                f"a token vector has {len(late[0])} dimensions, those of the points in {self._folder} have {self._model['late_dimension']}"
            )


def _engine_point(point: EncodedPoint) -> edge.Point:
    vectors: dict[str, Any] = {DENSE: point.dense}
    if point.late:
        vectors[LATE] = point.late
    if point.terms.indices:
        vectors[BM25] = edge.SparseVector(point.terms.indices, point.terms.values)
    return edge.Point(point.id, vectors, point.payload)


def _is_late(payload: dict[str, Any], stored: dict[str, Any] | None) -> bool:
    position = FeedPosition.from_payload(payload)
    return position is not None and position.is_older_than(FeedPosition.from_payload(stored))
