"""mem0's operations, each as calls of Varve's own API with the caller's key: quotas, scopes, isolation and erasure are those of the API."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from varve_client import AsyncVarveClient, Memory, ServiceProblemError

from api.facades import MAX_LISTED, delete_listed, list_memories
from api.mem0.filters import MemoryFilters
from api.mem0.options import batch_of, fields_of, filters_of, id_of, number, only
from api.mem0.owners import ID_FIELDS, Owner, entity_of, user_of_entity
from api.mem0.translation import RequestError, history_of, memory_fields, messages_of, page_of
from memory.texts.text import quoted

_VISIBLE_WITHIN_S: Final = 5.0
"""Longest wait until reads show a change. Varve answers when a change is durable; mem0's users read it at once."""
_POLL_S: Final = 0.05
_MAX_RESULTS: Final = 100
"""Results that a search with a filter reads from Varve to find those that the filter accepts."""
_KINDS: Final = ("event", "summary")
"""Entities are state that Varve aggregates; mem0 has only single memories."""


class Mem0Operations:
    """The operations of one request.

    Args:
        varve: A client with the caller's key.
        now: The time.
    """

    def __init__(self, varve: AsyncVarveClient, *, now: datetime) -> None:
        self._varve = varve
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + _VISIBLE_WITHIN_S

    async def add(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sends messages, and closes the session's window, since mem0's users expect the memories within seconds."""
        filters = body.get("filters")
        owner = Owner.of(body, filters if isinstance(filters, dict) else {})
        if owner is None:
            raise RequestError(f"one of {', '.join(ID_FIELDS)} is required")
        sent = await self._varve.send(messages_of(body, owner, now=self._now))
        await self._varve.flush(owner.session)
        return {"message": "Memory processing has been queued for background execution", "status": "PENDING", "event_id": sent[0].id}

    async def search(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Recalls memories for a query, in the order of Varve's ranking."""
        query, filters = body.get("query"), filters_of(body)
        if not isinstance(query, str) or not query.strip():
            raise RequestError("query: expected a text that is not blank")
        limit, threshold, fields = number(body, "top_k", 10, _MAX_RESULTS), body.get("threshold"), fields_of(body)
        if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, int | float)):
            raise RequestError(f"threshold: expected a number, found {quoted(threshold)}")
        wanted = limit if filters.is_empty else _MAX_RESULTS
        found: list[tuple[float, dict[str, Any]]] = []
        for user in [None] if filters.users is None else sorted(filters.users):
            response = await self._varve.recall(query, user=user, limit=wanted, kinds=list(_KINDS), explain=True)
            found += [(each.score, memory_fields(each, confidence=response.confidence)) for each in response.results]
        accepted = [(rank, each) for rank, each in found if filters.accepts(each) and (threshold is None or each["score"] >= threshold)]
        best = sorted(accepted, key=lambda each: -each[0])[:limit]
        return {"results": [only(each, fields) for _, each in best]}

    async def get_all(self, body: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
        """Lists memories, page by page."""
        page, size, fields = number(query, "page", 1, MAX_LISTED), number(query, "page_size", 100, 1000), fields_of(body)
        items = await self.listed(filters_of(body))
        items.sort(key=lambda each: (each["created_at"], each["id"]), reverse=True)
        items = [only(each, fields) for each in items]
        return page_of(items, page=page, size=size, path="/v3/memories/")

    async def get(self, memory_id: str) -> dict[str, Any]:
        """Reads one memory."""
        return memory_fields(await self._varve.memory(id_of(memory_id)))

    async def update(self, memory_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Corrects the text of a memory."""
        fields = await self._correct(id_of(memory_id), body)
        await self._visible(partial(self._is_corrected, memory_id, fields["memory"]))
        return fields

    async def _correct(self, memory_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Corrects the text of a memory. Returns the memory in mem0's form."""
        if body.get("metadata") or body.get("expiration_date") or body.get("timestamp") is not None:
            raise RequestError("metadata, expiration_date, timestamp: not available for a memory; send text")
        text = body.get("text")
        if not isinstance(text, str) or not text.strip():
            raise RequestError("text: expected a text that is not blank")
        memory = await self._varve.memory(memory_id)
        correction = await self._varve.correct(memory_id, content=text, reason="mem0 update")
        fields = {**memory_fields(memory), "memory": text}
        return fields if correction.outcome == "unchanged" else {**fields, "updated_at": self._now.isoformat()}

    async def delete(self, memory_id: str) -> dict[str, Any]:
        """Deletes one memory."""
        await self._delete_named([id_of(memory_id)], reason="mem0 delete")
        return {"message": "Memory deleted successfully!"}

    async def delete_all(self, ids: Mapping[str, Any], filters: Any) -> dict[str, Any]:
        """Deletes the memories of an owner, one by one.

        Args:
            ids: Some of mem0's four ids; ``*`` stands for every value.
            filters: A filter in mem0's grammar. None: there is none.
        """
        named = {name: ids[name] for name in ID_FIELDS if ids.get(name) not in (None, "")}
        if not named and filters in (None, {}):
            raise RequestError(f"name what to delete: filters, or one of {', '.join(ID_FIELDS)} (`*`: every value)")
        # mem0's `*` means "every value", also none.
        exact: dict[str, Any] = {name: value for name, value in named.items() if value != "*"}
        parts = [each for each in (exact, filters) if each not in (None, {})]
        chosen = MemoryFilters({"AND": parts} if parts else None)
        # Summaries follow from their events and cannot be deleted themselves.
        events = [each["id"] for each in await self.listed(chosen) if each["metadata"]["kind"] == "event"]
        await self._delete_listed(events, reason="mem0 delete_all")
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """The history of one memory."""
        return history_of(await self._varve.memory(id_of(memory_id)))

    async def listed(self, filters: MemoryFilters) -> list[dict[str, Any]]:
        """All memories that a filter accepts, in no order.

        Args:
            filters: The filter.

        Raises:
            ProblemError: If there are more than :data:`api.facades.MAX_LISTED` memories.
        """
        found = []
        for user in [None] if filters.users is None else sorted(filters.users):
            found += [fields for each in await self._memories(user) if filters.accepts(fields := memory_fields(each))]
        return found

    async def users(self, query: Mapping[str, str]) -> dict[str, Any]:
        """The owners of memories."""
        entities: dict[tuple[str, str], dict[str, Any]] = {}
        for memory in await self._memories(None):
            if memory.user is None:
                continue
            kind, name = entity_of(memory.user)
            time = (memory.said_at or memory.event_time).isoformat()
            known = entities.setdefault(
                (kind, name),
                {"id": memory.user, "name": name, "type": kind, "created_at": time, "updated_at": time, "total_memories": 0, "owner": ""},
            )
            known["total_memories"] += 1
            known["created_at"], known["updated_at"] = min(known["created_at"], time), max(known["updated_at"], time)
        page, size = number(query, "page", 1, MAX_LISTED), number(query, "page_size", 100, 1000)
        return page_of([entities[key] for key in sorted(entities)], page=page, size=size, path="/v1/entities/")

    async def delete_entity(self, entity_type: str, name: str) -> dict[str, Any]:
        """Erases everything of a user; the response names the receipt."""
        user = user_of_entity(entity_type, name)
        if not name:
            raise RequestError("the path must end with the name of the entity")
        if user is None:
            raise RequestError(f"{entity_type!r} is no type of entity; expected user, agent, app or run")
        begun = await self._varve.erase_user(user, reason="mem0 delete_users")
        return {"message": "Entity deleted successfully!", "erasure": begun.as_dict()}

    async def erase_all(self) -> list[dict[str, Any]]:
        """Erases every user with memories, and deletes the events of no user. Returns the receipts."""
        found = await self._memories(None, kinds=None)
        await self._delete_listed([each.id for each in found if each.user is None and each.kind == "event"], reason="mem0 reset")
        users = sorted({each.user for each in found if each.user is not None})
        return [(await self._varve.erase_user(user, reason="mem0 reset")).as_dict() for user in users]

    async def batch_update(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Corrects the texts of several memories."""
        memories = batch_of(body)
        texts: dict[str, str] = {}
        for memory in memories:
            memory_id = id_of(memory["memory_id"])
            texts[memory_id] = (await self._correct(memory_id, memory))["memory"]
        for memory_id, text in texts.items():
            await self._visible(partial(self._is_corrected, memory_id, text))
        return {"message": f"Successfully updated {len(memories)} memories"}

    async def batch_delete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Deletes several memories."""
        memories = batch_of(body)
        await self._delete_named([id_of(each["memory_id"]) for each in memories], reason="mem0 batch_delete")
        return {"message": f"Successfully deleted {len(memories)} memories"}

    async def ping(self) -> dict[str, Any]:
        """The reach of the key."""
        status = await self._varve.status()
        return {"status": "ok", "org_id": status.tenant, "project_id": status.tenant, "user_email": None}

    async def project(self, organization: str, project: str, fields: Sequence[str]) -> dict[str, Any]:
        """The project of the key: its tenant. Its schema takes the place of mem0's custom instructions and categories.

        Args:
            organization: The id of the organization: the tenant.
            project: The id of the project: the tenant.
            fields: The fields to return. Empty: all.
        """
        tenant = (await self._varve.status()).tenant
        if (organization, project) != (tenant, tenant):
            raise RequestError(f"there is no project {project} in {organization}; the project of this key is {tenant} in {tenant}")
        known = {"id": tenant, "name": tenant, "org_id": tenant, "custom_instructions": None, "custom_categories": None}
        unknown = sorted(set(fields) - known.keys())
        if unknown:
            raise RequestError(f"fields: Varve has no {', '.join(unknown)}; expected some of {', '.join(known)}")
        return {name: value for name, value in known.items() if not fields or name in fields}

    async def _delete_named(self, memory_ids: Sequence[str], *, reason: str) -> None:
        """Deletes memories that the request names: each must exist. Waits until reads do not find them."""
        for memory_id in memory_ids:
            await self._varve.delete_memory(memory_id, reason=reason)
        await self._wait_until_deleted(memory_ids)

    async def _delete_listed(self, memory_ids: Sequence[str], *, reason: str) -> None:
        """See :func:`api.facades.delete_listed`. Waits until reads do not find them."""
        await delete_listed(self._varve, memory_ids, reason=reason)
        await self._wait_until_deleted(memory_ids)

    async def _wait_until_deleted(self, memory_ids: Sequence[str]) -> None:
        for memory_id in memory_ids:
            await self._visible(partial(self._is_deleted, memory_id))

    async def _visible(self, is_shown: Callable[[], Awaitable[bool]]) -> None:
        """Waits until a read shows a durable change, at most five seconds from the beginning of the request."""
        while self._loop.time() < self._end:
            try:
                if await is_shown():
                    return
            except ServiceProblemError:
                # The memory is deleted, or the key may not read: the change is durable in any case.
                return
            await asyncio.sleep(_POLL_S)

    async def _is_corrected(self, memory_id: str, text: str) -> bool:
        return (await self._varve.memory(memory_id)).content == text

    async def _is_deleted(self, memory_id: str) -> bool:
        await self._varve.memory(memory_id)  # 404 once it is.
        return False

    async def _memories(self, user: str | None, *, kinds: Sequence[str] | None = _KINDS) -> list[Memory]:
        return await list_memories(self._varve, user=user, kinds=kinds)
