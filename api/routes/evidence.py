"""``GET /v1/memories/{id}/evidence``: the original messages of a memory, from the session's tail or from the log of windows."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response

from api.auth.authentication import RecallCaller
from api.auth.caller import Caller
from api.dependencies import AppDependencies, Dependencies
from api.http.json_http import JsonResponse
from api.http.openapi import refusals
from api.limits.admission import TOPIC_RESULTS
from api.response_models.console import EVIDENCE
from api.routes.memories import MemoryId, seen_memory
from memory.errors import RecordError
from memory.headers import place_of
from memory.keys import encode_key, partition_of, unmarked_key
from memory.records import Memory, Message, Window
from memory.topics import WINDOWS
from runtime.errors import RedisUnavailableError
from runtime.kafka import KafkaOffsets, TopicPartition, read_topic

router = APIRouter(tags=["read"])

MOST_RECORDS: Final = 20_000
"""Most records of the log of windows that one request reads."""
_LONGEST_S: Final = 10.0
_PIECE: Final = 200
"""Records between two turns of other requests."""
_EARLIER: Final = timedelta(days=1)
"""A window is written after its messages were said; a wrong clock may differ by this."""
_MOST_EVENTS: Final = 100
"""Most messages of an entity or summary, and most events, that are looked for."""
_SHOWN: Final = {"id", "session", "user", "role", "speaker", "text", "event_time"}


@router.get("/v1/memories/{memory_id}/evidence", responses=EVIDENCE | refusals(404))
async def get_evidence(memory_id: MemoryId, request: Request, caller: RecallCaller, dependencies: AppDependencies) -> Response:
    """The original messages of a memory, oldest first, and the ids in `missing` of those that were not found.

    Recent messages come from the session's tail, others from the log of windows, of which at most 20,000 records are read: messages may be
    missing although Varve keeps them. A deleted message is missing, an edited one has its newest text.
    """
    not_found = f"there is no memory {memory_id}"
    async with dependencies.admission.turn(request, caller.tenant, results=TOPIC_RESULTS):
        memory = await seen_memory(dependencies, caller, memory_id, not_found)
        dependencies.read_audit.note(caller, "evidence", [memory])
        sources = await _sources(dependencies, caller, memory)
        found = await _recent(dependencies, caller, sources)
        wanted = set(memory.message_ids) - {each.id for each in found}
        if wanted:
            found += await _logged(dependencies, caller, memory, sources, wanted)
    found.sort(key=lambda each: each.event_time)
    shown = [each.model_dump(mode="json", include=_SHOWN) for each in found]
    missing = sorted(set(memory.message_ids) - {each.id for each in found})
    return JsonResponse({"messages": shown, "missing": missing})


async def _sources(dependencies: Dependencies, caller: Caller, memory: Memory) -> list[Memory]:
    """The memories that name session and window of the evidence: the event itself, or the events of an entity or summary."""
    if memory.session is not None:
        return [memory]
    found = await dependencies.store.by_evidence(
        caller.scope, memory.message_ids[:_MOST_EVENTS], generation=caller.tenant.generation, limit=_MOST_EVENTS
    )
    return [each for each in found if each.session is not None and memory.user in (None, each.user)]


async def _recent(dependencies: Dependencies, caller: Caller, sources: Iterable[Memory]) -> list[Message]:
    """The messages in the tails of the sessions."""
    wanted: dict[str, set[str]] = {}
    for source in sources:
        wanted.setdefault(source.session or "", set()).update(source.message_ids)
    found: list[Message] = []
    for session, ids in wanted.items():
        try:
            view = (await dependencies.tail.read(caller.tenant.id, session)).of(caller.key.user)
        except RedisUnavailableError:
            break  # The log has the messages, too.
        messages = (orjson.loads(each) for each in view.messages)
        found += [Message.model_validate(each) for each in messages if each.get("id") in ids]
    return found


async def _logged(dependencies: Dependencies, caller: Caller, memory: Memory, sources: Iterable[Memory], wanted: set[str]) -> list[Message]:
    """The messages in the newest revisions of their windows, read within limits."""
    windows = {each.window_id for each in sources if wanted.intersection(each.message_ids)}
    times = [each.said_at or each.event_time for each in sources]
    if memory.user is None or not windows or not times:
        return []
    newest: dict[str, Window] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST_S):
            async for window in _windows_of(dependencies, caller.tenant.id, memory.user, since=min(times) - _EARLIER):
                if window.id in windows and (window.id not in newest or window.revision >= newest[window.id].revision):
                    newest[window.id] = window
    messages = (message for window in newest.values() for message in window.messages)
    return [each for each in messages if each.id in wanted and each.user == memory.user]


async def _windows_of(dependencies: Dependencies, tenant: str, user: str, *, since: datetime) -> AsyncIterator[Window]:
    """A user's windows that were written since a time, in the first :data:`MOST_RECORDS` records of their partition since then."""
    settings, key = dependencies.settings, encode_key(tenant, user)
    topic = settings.topic(WINDOWS.name)
    async with KafkaOffsets(kafka=settings.kafka) as offsets:
        starts = await offsets.offsets_since([topic], since)
    partition = TopicPartition(topic, partition_of(key, len(starts)))
    read = 0
    async for record in read_topic(topic, settings.kafka, start={partition: starts[partition]}):
        read += 1
        if read > MOST_RECORDS:
            return
        if read % _PIECE == 0:
            await asyncio.sleep(0)
        if record.value is None or unmarked_key(record.key or b"") != key:
            continue
        place = place_of(record.headers) or record
        if dependencies.tenants.is_erased(tenant, user, WINDOWS.name, place.partition, place.offset):
            continue
        try:
            window = Window.from_json(record.value)
        except RecordError:
            continue
        yield window
