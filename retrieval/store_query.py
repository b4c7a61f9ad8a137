"""What a recall asks of the store: the request's conditions, with a text and its vectors."""

from datetime import UTC, datetime, timedelta
from typing import Final

from models.embedding.port import Embedding
from retrieval.request import RecallRequest
from stores.port import NON_ENTITY_KINDS, RecallQuery

_LATEST: Final = datetime.max.replace(tzinfo=UTC)


def store_query(
    request: RecallRequest,
    text: str,
    embedding: Embedding,
    *,
    kinds: tuple[str, ...],
    limit: int,
    prefetch: int,
    not_expired_at: datetime,
    explain: bool = False,
) -> RecallQuery:
    """The query.

    Args:
        request: Its conditions hold.
        text: Searched by its words; empty: by none.
        embedding: Of the text.
        kinds: As :func:`kinds_of`, or some of them.
        limit: Most memories.
        prefetch: Candidates of each of dense and BM25.
        not_expired_at: Without what has expired by then.
        explain: Whether the parts of each score are asked for.
    """
    return RecallQuery(
        scope=request.scope,
        text=text,
        embedding=embedding,
        limit=limit,
        prefetch=prefetch,
        kinds=kinds,
        types=request.types,
        sessions=request.sessions,
        keys=request.keys,
        since=request.since,
        until=_until(request),
        at=request.at,
        generation=request.generation,
        not_expired_at=not_expired_at,
        explain=explain,
    )


def kinds_of(request: RecallRequest) -> tuple[str, ...]:
    """The kinds of memories that are searched; empty: all, or none where the request names some."""
    return request.kinds if request.as_of is None else kinds_but_entities(request)


def kinds_but_entities(request: RecallRequest) -> tuple[str, ...]:
    """The kinds that the request asks for, without entities; empty: it asks for entities alone."""
    return tuple(each for each in request.kinds or NON_ENTITY_KINDS if each != "entity")


def _until(request: RecallRequest) -> datetime | None:
    """The end of the time searched, which lies behind it: what happened at ``as_of`` itself had happened by then."""
    if request.as_of is None:
        return request.until
    behind = request.as_of + min(timedelta.resolution, _LATEST - request.as_of)
    return behind if request.until is None else min(request.until, behind)
