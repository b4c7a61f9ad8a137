"""Gathers all that a recall answers with: its paths beside each other, each to the recall's deadline."""

import asyncio
import uuid
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from api.dependencies import Dependencies
from api.entities_as_of import as_they_were
from api.step_timing import timed
from memory.positions import LogPosition
from memory.records import Memory, RankedCandidate, Ranking, RecalledEvent, RecallRecord
from memory.schema.model import MemorySchema
from memory.text import content_hash
from memory.topics import MESSAGES
from retrieval.features import FEATURES
from retrieval.keyword_graph import MAX_MEMORIES, with_linked
from retrieval.paths import PathName, Unavailable
from retrieval.request import RecallRequest, RecallResponse
from retrieval.selection import Ranked, selected
from retrieval.session_ranking.llm_session_ranker import Sifted
from runtime.logs import logger
from runtime.metrics import Metrics
from runtime.pieces import map_in_pieces
from runtime.session_tail import SessionView
from runtime.settings import Settings
from runtime.tracing import SpanContext, record_headers
from stores.port import NON_ENTITY_KINDS

T = TypeVar("T")

_log = logger(__name__)

NO_TAIL: Final = SessionView()


@dataclass(frozen=True, slots=True, kw_only=True)
class TailRequest:
    """The session whose tail stands beside the memories."""

    session: str
    user: str | None
    """Only what this user said; None: all."""


@dataclass(frozen=True, slots=True)
class SiftedAt:
    """What a proxy model has ranked, and the positions that it rests on."""

    sifted: Sifted
    positions: tuple[LogPosition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What the paths gave."""

    memories: RecallResponse
    entities: Sequence[Memory]
    tail: SessionView
    tail_session: str | None
    """The session whose tail it is; None: none was asked for."""
    positions: tuple[LogPosition, ...]
    """Of the change feed: the memories were searched in a store that held all up to them."""
    degraded: tuple[PathName, ...]
    """The paths that were left out: late, or away."""

    def basis(self, settings: Settings) -> dict[str, Any]:
        """What the answer rests on, as plain values: ``degraded`` and ``positions``.

        Args:
            settings: For the names of topics.
        """
        place = self.tail.place
        session = None if place is None else LogPosition(settings.topic(MESSAGES.name), place.partition, place.offset)
        return {"degraded": self.degraded, "positions": {"memories": self.positions, "session": session}}


async def run_recall(
    dependencies: Dependencies,
    request: RecallRequest,
    schema: MemorySchema,
    *,
    tail: TailRequest | None,
    until: float,
    sifted: SiftedAt | None = None,
    left_out: Sequence[PathName] = (),
) -> Gathered:
    """Runs the paths that a recall takes.

    Args:
        dependencies: The clients and stores.
        request: The recall. The path to the entities is taken where it names a user.
        schema: The tenant's.
        tail: The session's tail; None: that path is not taken.
        until: The deadline, in seconds of the event loop's clock.
        sifted: The memories, where a proxy model has ranked them.
        left_out: What was to be done before, and was not.

    Raises:
        VarveError: If every path was left out, and that to the memories was not late but away, refused or failed. And what a path raises
            that is a defect.
    """
    tenant, user = request.scope.tenant, request.scope.user
    if user is not None and not request.filter.kinds:
        # The user's entities have a path of their own, and are told once.
        request = replace(request, filter=replace(request.filter, kinds=NON_ENTITY_KINDS))

    def taking(name: PathName, path: Awaitable[T]) -> Awaitable[T | Unavailable]:
        return timed(path, name=name, until=until, metrics=dependencies.metrics)

    types = [entity_type.name for entity_type in schema.entity_types]
    quota = dependencies.recall.keyword_quota(request)
    memories, linked, entities, view = await asyncio.gather(
        taking(
            "memories",
            _memories(dependencies, request) if sifted is None else _ready(sifted.sifted.memories, sifted.positions),
        ),
        taking("keywords", dependencies.recall.linked(request)) if quota else _none(),
        _none() if user is None else taking("entities", _entities(dependencies, request, types)),
        _none() if tail is None else taking("session_tail", dependencies.tail.read(tenant, tail.session)),
    )
    asked: dict[PathName, object] = {"session_tail": view, "memories": memories, "keywords": linked, "entities": entities}
    taken = {name: found for name, found in asked.items() if found is not None}
    left = {name: found for name, found in taken.items() if isinstance(found, Unavailable)}
    _tell_outcomes(taken, dependencies.metrics)
    answers_by_itself = taken.keys() - left.keys() - {"keywords"}
    if isinstance(memories, Unavailable) and not answers_by_itself and memories.outcome != "late":
        raise memories.as_the_answer()
    degraded: tuple[PathName, ...] = tuple(left)
    nearest, all_kept = _or_else(entities, ([], True))
    if not all_kept:
        degraded = (*degraded, "entity_history")
    ranked, positions = _or_else(memories, (None, ()))
    response = RecallResponse(hits=())
    if ranked is not None:
        response = await selected(with_linked(ranked, _or_else(linked, []), quota=quota), beside=nearest)
    told = {hit.memory.id for hit in response.hits}
    return Gathered(
        memories=response,
        positions=positions,
        entities=[each for each in nearest if each.id not in told],
        tail_session=None if tail is None else tail.session,
        tail=_or_else(view, NO_TAIL).of(None if tail is None else tail.user),
        degraded=(*degraded, *left_out),
    )


def _tell_outcomes(taken: Mapping[PathName, object], metrics: Metrics) -> None:
    """Counts what the paths gave, and logs what an operator has to look at."""
    for name, found in taken.items():
        if not isinstance(found, Unavailable):
            metrics.recall_paths.labels(path=name, outcome="answered").inc()
            continue
        metrics.recall_paths.labels(path=name, outcome=found.outcome).inc()
        if found.outcome == "failed":
            _log.error("recall_path_left_out", path=name, outcome=found.outcome, error=str(found.error))
        elif name == "memories":
            _log.warning("recall_path_left_out", path=name, outcome=found.outcome, error=str(found.error))


async def _memories(dependencies: Dependencies, request: RecallRequest) -> tuple[Ranked, tuple[LogPosition, ...]]:
    # Read before the search, they are what it rests on at least.
    positions = await dependencies.store_positions.read(request.filter.at)
    return await dependencies.recall.rank(request), positions


async def _entities(dependencies: Dependencies, request: RecallRequest, types: Sequence[str]) -> tuple[list[Memory], bool]:
    """The nearest, and whether what they were at the request's moment is kept of all."""
    nearest = await dependencies.recall.nearest_entities(
        request.scope,
        [request.query],
        types,
        keys=request.filter.keys,
        at=request.filter.at,
        generation=request.filter.generation,
    )
    return (nearest, True) if request.filter.as_of is None else await as_they_were(dependencies, request, nearest)


async def _ready(memories: Ranked, positions: tuple[LogPosition, ...]) -> tuple[Ranked, tuple[LogPosition, ...]]:
    return memories, positions


async def record_recall(
    dependencies: Dependencies,
    request: RecallRequest,
    schema: MemorySchema,
    returned: Iterable[Memory],
    texts: Iterable[str],
    trace: SpanContext,
    *,
    ranking: Sequence[RankedCandidate] = (),
) -> str:
    """Tells the stream what was returned: the record is written behind the answer's back.

    Args:
        dependencies: The clients and stores.
        request: The recall.
        schema: The tenant's.
        returned: The memories returned, best first.
        texts: What may come back in the conversation as an echo.
        trace: Of the request.
        ranking: How the candidates were ranked, where that is kept.

    Returns:
        The recall's id.
    """
    dependencies.metrics.count_recall(request.scope.tenant)
    of_timelines = schema.timeline_event_types()
    profile = request.profile or dependencies.settings.recall.profile
    memories = {each.id: each for each in returned}
    record = RecallRecord(
        id=str(uuid.uuid4()),
        tenant=request.scope.tenant,
        user=request.scope.user,
        generation=request.filter.generation or "",
        memory_ids=list(memories),
        events=[
            RecalledEvent(id=each.id, user=each.user, window_id=each.window_id)
            for each in memories.values()
            if each.kind == "event" and each.type in of_timelines and each.user is not None and each.window_id is not None
        ],
        content_hashes=list(dict.fromkeys(await map_in_pieces(content_hash, texts))),
        time=dependencies.clock.now(),
        ranking=Ranking(query=request.query, profile=profile, features=[*FEATURES], candidates=[*ranking]) if ranking else None,
    )
    counts = dependencies.profiles[profile].base == "memx"
    dependencies.recall_log.append(record, record_headers(trace, record.time), counts=counts)
    return record.id


def texts_of(memories: Iterable[Memory]) -> Iterator[str]:
    """The texts of memories that were returned, any of which may come back in the conversation as an echo."""
    for each in memories:
        yield each.content
        if each.said is not None:
            yield each.said


def results_read(dependencies: Dependencies, request: RecallRequest) -> int:
    """How many results a recall has the store give, for its turn among the reads.

    Args:
        dependencies: For the settings.
        request: The recall.
    """
    limit = request.limit or dependencies.settings.recall.limit
    return limit + (MAX_MEMORIES if dependencies.recall.keyword_quota(request) else 0)


def deadline_of(dependencies: Dependencies, deadline_ms: int | None) -> float:
    """The deadline of a request that has just come in, in seconds of the event loop's clock.

    Args:
        dependencies: For the setting.
        deadline_ms: The request's own; None: the setting's.
    """
    seconds = dependencies.settings.recall.deadline_s if deadline_ms is None else deadline_ms / 1000
    return asyncio.get_running_loop().time() + seconds


def _or_else(found: T | Unavailable | None, default: T) -> T:
    return default if found is None or isinstance(found, Unavailable) else found


async def _none() -> None:
    return None
