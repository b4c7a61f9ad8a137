"""One Qdrant Edge shard in a folder, with the metadata of its points' model. No threads, no sockets."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import orjson
import qdrant_edge as edge

from stores.collection import (
    BM25,
    DELETED_AT,
    DENSE,
    LATE,
    TENANT,
    check_metadata,
    metadata_of,
)
from stores.edge.folder import bytes_on_disk, write_durably
from stores.edge.live_engine import LiveEngine, Waste
from stores.edge.records import RecordCache, id_of, record_of
from stores.edge.requests import (
    POSITION_ONLY,
    filter_of,
    ids_request,
    scroll_request,
    time_request,
)
from stores.edge.search import ScoredRecord, search
from stores.edge.term_statistics import Document, TermWeights
from stores.errors import StoreRejectedError, StoreUnavailableError
from stores.filters import MemoryFilter, TombstoneFilter
from stores.lexical_analysis import Terms
from stores.position import FeedPosition, checkpoint_id
from stores.query_plan import QueryPlan
from stores.time_order import TimeOrder

_NO_DOCUMENTS: Final[Mapping[UUID, Document]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EncodedPoint:
    """A point in the form in which the owner reads it from a frame."""

    id: str
    payload: dict[str, Any]
    dense: Sequence[float]
    late: Sequence[Sequence[float]]
    """The token vectors; may be empty."""
    terms: Terms


class Shard:
    """The shard in a folder, which no other process may use. If the folder has no shard, :meth:`prepare` creates it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model_file = folder / "model.json"
        self._live_engine = LiveEngine(folder)
        self._model: dict[str, Any] = {}
        self._records = RecordCache()
        self._weights = TermWeights()
        if self._model_file.exists():
            self._model = orjson.loads(self._model_file.read_bytes())
            self._weights.load(self._live_engine.load())

    @property
    def _engine(self) -> edge.EdgeShard | None:
        return self._live_engine.engine

    def prepare(self, model: str, dimension: int, late_dimension: int | None) -> None:
        """Creates the shard if it is missing.

        Args:
            model: The embedding model.
            dimension: Length of its dense vectors.
            late_dimension: Length of its token vectors. None: the model has none.

        Raises:
            ModelMismatchError: If its points are from another model, dimension, vector format or lexical analyzer.
        """
        requested = metadata_of(model, dimension, late_dimension)
        if self._engine is None:
            self._live_engine.create(dimension, late_dimension)
            write_durably(self._model_file, orjson.dumps(requested))
            self._model = requested
        else:
            check_metadata(self._model, requested, collection=f"the shard in {self._folder}")

    def upsert(self, points: Sequence[EncodedPoint]) -> None:
        """Writes points, except those whose stored point has a newer position. On return they are in the write-ahead log.

        The check and the write are atomic, since the owner makes one call at a time.

        Raises:
            StoreUnavailableError: If the shard was not prepared, or was dropped since.
            StoreRejectedError: If a vector has another dimension than the shard.
        """
        self._require_engine()
        for point in points:
            self._check_dimensions(point.dense, point.late)
        stored = self._stored([each.id for each in points])
        written = [each for each in points if not _is_late(each.payload, stored.get(each.id))]
        documents = {UUID(each.id): Document(each.payload[TENANT], each.terms.indices) for each in written}
        self._replace(stored, [_engine_point(each) for each in written], documents)

    def put_steps(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Writes history steps by id, except those whose stored step has a newer position.

        Raises:
            StoreUnavailableError: If the shard was not prepared, or was dropped since.
        """
        self._require_engine()
        stored = self._stored([*payloads])
        written = [edge.Point(each, {}, payload) for each, payload in payloads.items() if not _is_late(payload, stored.get(each))]
        self._replace(stored, written)

    def delete(self, memory_filter: MemoryFilter, tombstones: Mapping[str, dict[str, Any]]) -> None:
        """Writes tombstones by id, except those whose stored point does not pass the filter or has a newer position."""
        if self._engine is None:
            return
        stored = self._stored([*tombstones])
        found, _ = self._engine.scroll(ids_request(memory_filter.within(tombstones), limit=len(tombstones)))
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
            self._live_engine.remove(filter_of(tombstone_filter))

    def set_checkpoint(self, position: FeedPosition) -> None:
        """Writes the checkpoint of the position's partition, unless the stored one is newer.

        Raises:
            StoreUnavailableError: If the shard was not prepared, or was dropped since.
        """
        self._require_engine()
        if not position.is_older_than(self.checkpoint_of(position.partition)):
            self._live_engine.upsert([edge.Point(position.checkpoint_id, {}, position.payload())])

    def checkpoint_of(self, partition: int) -> FeedPosition | None:
        """The checkpoint of a partition; None if there is none."""
        if self._engine is None:
            return None
        return FeedPosition.from_payload(self._stored([checkpoint_id(partition)]).get(checkpoint_id(partition)))

    def recall(self, plan: QueryPlan, *, explain: bool) -> Iterator[list[ScoredRecord]]:
        """Yields the pieces of :func:`search`; nothing if there is no shard.

        Raises:
            StoreRejectedError: If a vector has another dimension than the shard.
        """
        if self._engine is not None:
            self._check_dimensions(plan.dense, plan.late)
            yield from search(plan, engine=lambda: self._engine, records=self._records, weights=self._weights, explain=explain)

    def read_on(self) -> None:
        """Reads one page of term statistics, which makes later recalls of the tenant faster. It takes a millisecond."""
        if self._engine is not None:
            self._weights.read_on(self._engine)

    def scroll(self, memory_filter: MemoryFilter, *, start: str | None, limit: int) -> dict[str, str]:
        """Records by id, ordered by id.

        Args:
            memory_filter: The condition that the records fulfil.
            start: The first id, inclusive. None: the smallest.
            limit: Most records.
        """
        if self._engine is None:
            return {}
        records, _ = self._engine.scroll(scroll_request(memory_filter, start=start, limit=limit))
        return {str(each.id): record_of(each) for each in records}

    def by_time(self, memory_filter: MemoryFilter, order: TimeOrder, *, start: str | None, limit: int) -> list[tuple[str, str]]:
        """Ids and records by event time. A point with several times may be in the result once for each of them.

        Args:
            memory_filter: The condition that the records fulfil.
            order: Which come first.
            start: The first time, inclusive. None: the newest or the oldest.
            limit: Most records.
        """
        if self._engine is None:
            return []
        records, _ = self._engine.scroll(time_request(memory_filter, order, start=start, limit=limit))
        return [(str(each.id), record_of(each)) for each in records]

    def count(self, memory_filter: MemoryFilter) -> int:
        """The exact number of points that pass the filter."""
        return 0 if self._engine is None else self._engine.count(edge.CountRequest(exact=True, filter=filter_of(memory_filter)))

    @property
    def points(self) -> int:
        """The number of points, including tombstones and checkpoints."""
        return 0 if self._engine is None else self._engine.info().points_count

    @property
    def on_disk_bytes(self) -> int:
        """The size of its files, including the write-ahead log."""
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
        self._live_engine.remove_all()

    def close(self) -> None:
        """Flushes and closes the engine."""
        self._live_engine.close()

    @property
    def waste(self) -> Waste:
        """Deleted or replaced data in its files."""
        return self._live_engine.waste

    def compaction(self) -> Generator[None, None, None]:
        """Rewrites the files without deleted and replaced data, in steps of a few milliseconds. Other calls may run between the steps.

        Raises:
            StoreUnavailableError: If the disk has too little free space. On any error the shard is unchanged.
        """
        yield from self._live_engine.compaction(dimension=self._model["dimension"], late_dimension=self._model["late_dimension"])

    def _require_engine(self) -> None:
        if self._engine is None:
            raise StoreUnavailableError(f"{self._folder} holds no shard yet: prepare() creates it")

    def _stored(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """The positions of stored points by id, with the deletion time of tombstones."""
        assert self._engine is not None
        return {str(each.id): each.payload or {} for each in self._engine.retrieve([*ids], POSITION_ONLY, False)}

    def _replace(self, stored: Mapping[str, object], points: list[edge.Point], documents: Mapping[UUID, Document] = _NO_DOCUMENTS) -> None:
        assert self._engine is not None
        if points:
            self._records.forget(points)
            with self._weights.following(self._engine, {*map(id_of, points)}, documents):
                self._live_engine.upsert(points)
            if stored:
                self._live_engine.note_waste()

    def _check_dimensions(self, dense: Sequence[float], late: Sequence[Sequence[float]]) -> None:
        # The engine checks this too, but raises a bare Exception, possibly after it wrote a part of the batch.
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
