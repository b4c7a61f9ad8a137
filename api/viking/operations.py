"""VikingDB's operations as calls of Varve's own API with the caller's key: its scopes, quotas, isolation and erasure apply."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from varve_client import AsyncVarveClient, Memory, ServiceProblemError

from api.facades import delete_listed, list_memories
from api.viking.errors import CollectionError, NotFoundError, VikingError
from api.viking.filters import (
    ALL_FIELDS,
    DELETE_FIELDS,
    PROFILE_FIELDS,
    SEARCH_FIELDS,
    SearchFilter,
    parse_filter,
)
from api.viking.owners import MessageHandle
from api.viking.translation import (
    messages_of,
    optional_text,
    optional_time,
    owner_of,
    result_of,
    session_fields,
    weights_of,
)

_DEFAULT_LIMIT: Final = 10
_MAX_LIMIT: Final = 5000
_MAX_RECALLED: Final = 1000
"""Most results of one recall."""
_CHECKED: Final = 256
"""Results to recall if :meth:`SearchFilter.accepts` may reject some of them."""
_FORBIDDEN: Final = 403
_EVENTS_OF_MESSAGES: Final = "Varve makes events of messages: send the text as memory_info.summary, or the conversation with add_session"
_PROFILES_OF_EVENTS: Final = (
    "Varve computes profiles from events: send what was said with add_session, or set single fields with update_profile"
)
_KEPT_PROFILES: Final = (
    "Varve computes profiles from events, so that a deleted one would come back: delete the events that are wrong, or erase the user with "
    "DELETE /v1/users/{user}"
)


class VikingOperations:
    """The operations of one request.

    Args:
        varve: A client with the caller's key.
        now: The time.
    """

    def __init__(self, varve: AsyncVarveClient, *, now: datetime) -> None:
        self._varve = varve
        self._now = now

    async def check_collection(self, body: Mapping[str, Any]) -> str:
        """The name of the tenant's collection: its schema.

        Args:
            body: ``resource_id``, or ``collection_name`` and ``project_name``.

        Raises:
            CollectionError: If the request names another one.
        """
        named = {name: optional_text(body, name) for name in ("resource_id", "collection_name", "project_name")}
        asked = named["resource_id"] or named["collection_name"]
        if asked is None:
            raise VikingError("collection_name or resource_id is required")
        try:
            status = await self._varve.status()
        except ServiceProblemError as error:
            # A key that may only send messages cannot read its schema; its own call decides what it may do.
            if error.status == _FORBIDDEN:
                return asked
            raise
        schema = str((status.model_extra or {}).get("schema", ""))
        if asked not in (schema, schema.partition("@")[0]):
            raise CollectionError(
                f"there is no collection {asked}; the collection of this API key is the schema {schema.partition('@')[0]}"
            )
        if named["resource_id"] is None and named["project_name"] not in (None, "default", status.tenant):
            raise CollectionError(f"there is no project {named['project_name']}; the project of this API key is default")
        return asked

    async def add_session(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sends messages, and closes the session's window, since VikingDB's users expect the memories within seconds."""
        session = optional_text(body, "session_id") or f"session_{uuid.uuid4().hex}"
        await self._send(messages_of(body, session=session, now=self._now), session)
        return {"session_id": session}

    async def session_info(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The newest messages of a session, and its events."""
        name = _required(body, "session_id")
        session = await self._varve.session(name)
        memories = await list_memories(self._varve, session=name)
        if not session.messages and not memories:
            raise NotFoundError(f"there is no session {name}")
        return session_fields(session, memories)

    async def search(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Searches events and profiles."""
        return await self._search(body, kinds=("event", "entity"), allowed=ALL_FIELDS)

    async def search_events(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Searches events. Their scores combine relevance, age and importance."""
        return await self._search(body, kinds=("event",), allowed=SEARCH_FIELDS)

    async def search_profiles(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Searches profiles: the entities of Varve."""
        return await self._search(body, kinds=("entity",), allowed=PROFILE_FIELDS)

    async def add_event(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sends the text of an event as its own message. Its ``event_id`` names the message."""
        event_type, info, owner = _required(body, "event_type"), _info(body), owner_of(body)
        if list(info) != ["summary"] or not isinstance(info["summary"], str) or not info["summary"].strip():
            raise VikingError(f"memory_info: {_EVENTS_OF_MESSAGES}; the schema decides which properties are extracted from it")
        session = f"event_{uuid.uuid4().hex}"
        message = {
            "id": owner.message_id("event"),
            "user": owner.user,
            "session": session,
            "role": "user",
            "text": info["summary"],
            "event_time": (optional_time(body, "time") or self._now).isoformat(),
        }
        await self._send([message], session)
        event_id = str(MessageHandle(owner.user, session, message["id"]))
        return {"event_id": event_id, "event_type": event_type, "memory_info": info}

    async def update_event(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Corrects an event, or edits the message of an added one."""
        event_id, info = _required(body, "event_id"), _info(body)
        content = info.pop("summary", None)
        if content is not None and (not isinstance(content, str) or not content.strip()):
            raise VikingError("memory_info.summary: expected a text that is not blank")
        handle = MessageHandle.of(event_id)
        if handle is not None:
            if content is None or info:
                raise VikingError(f"memory_info: {_EVENTS_OF_MESSAGES}")
            await self._varve.edit_message(handle.session, handle.message_id, content, user=handle.user)
            return {}
        memory = await self._varve.memory(event_id)
        if memory.kind != "event":
            raise VikingError(f"event_id: {event_id} is not an event; use update_profile for a profile")
        if owner_of(body).user_id not in (None, memory.user):
            raise VikingError("user_id: an event stays with the user of its messages")
        changes: dict[str, Any] = {name: value for name, value in (("content", content), ("properties", info)) if value}
        await self._varve.correct(event_id, **changes, reason="VikingDB update_event")
        return {}

    async def delete_event(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Deletes an event, or the message of an added one with everything that is based on it."""
        event_id = _required(body, "event_id")
        handle = MessageHandle.of(event_id)
        if handle is not None:
            await self._varve.delete_message(handle.session, handle.message_id, user=handle.user)
        else:
            await self._varve.delete_memory(event_id, reason="VikingDB delete_event")
        return {}

    async def batch_delete_events(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Deletes the events that a filter accepts, one by one."""
        if body.get("delete_type") not in (None, "full"):
            raise VikingError("delete_type: expected full")
        chosen = parse_filter(body.get("filter"), allowed=DELETE_FIELDS)
        found = await self._chosen(chosen, ("event",))
        await delete_listed(self._varve, (each.id for each in found), reason="VikingDB batch_delete_event")
        return {}

    async def add_profile(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sets fields of an existing profile. Varve computes profiles, so no other one can be added."""
        profile_type, user, info = _required(body, "profile_type"), _required(body, "user_id"), _info(body)
        found = await self._chosen(parse_filter({"user_id": user, "memory_type": profile_type}, allowed=PROFILE_FIELDS), ("entity",))
        if not found:
            raise VikingError(f"add_profile: {user} has no profile {profile_type} yet. {_PROFILES_OF_EVENTS}")
        if len(found) > 1:
            raise VikingError(f"add_profile: {user} has {len(found)} profiles {profile_type}; use update_profile with the id of one")
        profile = found[0]
        if not body.get("is_upsert"):
            raise VikingError(f"add_profile: {user} has the profile {profile.id} already; set is_upsert, or use update_profile")
        await self._set_properties(profile, info)
        return {"profile_id": profile.id, "profile_type": profile.type, "memory_info": info, "entity_key": profile.entity_key}

    async def update_profile(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Corrects properties of a profile."""
        profile = await self._varve.memory(_required(body, "profile_id"))
        if profile.kind != "entity":
            raise VikingError(f"profile_id: {profile.id} is not a profile; use update_event")
        await self._set_properties(profile, _info(body))
        return {}

    async def delete_profile(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Always an error: a profile follows from its events."""
        raise VikingError(f"profile/delete is not available. {_KEPT_PROFILES}")

    async def trigger_update(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing to do: Varve updates profiles with each event, within seconds."""
        filters = body.get("filters")
        if filters is not None and not isinstance(filters, dict):
            raise VikingError("filters: expected an object")
        return {}

    async def ping(self) -> dict[str, Any]:
        """The reach of the key."""
        return {"tenant": (await self._varve.status()).tenant}

    async def _send(self, messages: Sequence[Mapping[str, Any]], session: str) -> None:
        await self._varve.send(messages)
        try:
            await self._varve.flush(session)
        except ServiceProblemError as error:
            # A key that is bound to a user cannot close a window; it closes by itself later.
            if error.status != _FORBIDDEN:
                raise

    async def _search(self, body: Mapping[str, Any], *, kinds: tuple[str, ...], allowed: Sequence[str]) -> dict[str, Any]:
        limit = body.get("limit")
        limit = _DEFAULT_LIMIT if limit is None else limit
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MAX_LIMIT:
            raise VikingError(f"limit: expected a whole number from 1 to {_MAX_LIMIT}")
        query, chosen, weights = optional_text(body, "query"), parse_filter(body.get("filter"), allowed=allowed), weights_of(body)
        degraded: list[str] = []
        if query is None:
            # Without a query VikingDB sorts by time, and ignores the weights.
            found = sorted(await self._chosen(chosen, kinds), key=lambda each: (each.event_time, each.id), reverse=True)
        else:
            found, degraded = await self._recalled(query, chosen, kinds, limit=limit, weights=weights)
        results = [result_of(each) for each in found[:limit]]
        data = {"collection_name": body.get("collection_name") or body.get("resource_id"), "count": len(results), "result_list": results}
        return {**data, "degraded": degraded} if degraded else data

    async def _recalled(
        self, query: str, chosen: SearchFilter, kinds: tuple[str, ...], *, limit: int, weights: Mapping[str, float]
    ) -> tuple[list[Memory], list[str]]:
        """The best memories, and the parts that are missing because they were late or failed."""
        wanted = min(_MAX_RECALLED, max(limit, _CHECKED) if chosen.checks_results else limit)
        found: dict[str, Any] = {}
        degraded: dict[str, None] = {}
        for user in chosen.asked_users:
            for selection in chosen.selections(kinds):
                response = await self._varve.recall(
                    query,
                    user=user,
                    limit=wanted,
                    kinds=[*selection.kinds],
                    types=[*selection.types] or None,
                    sessions=[*chosen.sessions] or None,
                    since=chosen.since,
                    until=chosen.until,
                    explain=True,
                    **weights,
                )
                degraded |= dict.fromkeys(response.degraded)
                found |= {each.id: each for each in response.results if chosen.accepts(each)}
        return sorted(found.values(), key=lambda each: (-each.score, each.id)), [*degraded]

    async def _chosen(self, chosen: SearchFilter, kinds: tuple[str, ...]) -> list[Memory]:
        """All memories that a filter accepts."""
        found: dict[str, Memory] = {}
        for user in chosen.asked_users:
            for selection in chosen.selections(kinds):
                listed = await list_memories(
                    self._varve,
                    user=user,
                    kinds=[*selection.kinds],
                    types=[*selection.types] or None,
                    since=chosen.since,
                    until=chosen.until,
                )
                found |= {each.id: each for each in listed if chosen.accepts(each)}
        return [*found.values()]

    async def _set_properties(self, profile: Memory, info: Mapping[str, Any]) -> None:
        if "user_profile" in info:
            fields = ", ".join(sorted(profile.properties))
            raise VikingError(f"memory_info.user_profile: Varve makes this text of the properties of the profile; set them: {fields}")
        changed = {name: value for name, value in info.items() if profile.properties.get(name) != value}
        if changed:
            await self._varve.correct(profile.id, properties=changed, reason="VikingDB update_profile")


def _required(body: Mapping[str, Any], name: str) -> str:
    value = optional_text(body, name)
    if value is None:
        raise VikingError(f"{name} is required")
    return value


def _info(body: Mapping[str, Any]) -> dict[str, Any]:
    info = body.get("memory_info")
    if not isinstance(info, dict) or not info:
        raise VikingError("memory_info: expected an object with at least one field")
    return dict(info)
