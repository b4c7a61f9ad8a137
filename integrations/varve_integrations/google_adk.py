"""Google's Agent Development Kit: a service for the long-term memory of agents."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai.types import Content, Part
from varve_client import AsyncVarveClient, Memory, ServiceProblemError

from varve_integrations.recalled import recalled_memories

_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_LONGEST_NAME: Final = 256
_RECALLS: Final = frozenset({"load_memory", "preload_memory"})
"""Tools whose results are recalled text, which is never stored again."""


def varve_user(app_name: str, user_id: str) -> str:
    """The user in Varve for a user of an application: two applications do not see each other's memories.

    ``client.erase_user(varve_user(app_name, user_id))`` erases all that is known about the user in the application.
    """
    return _name(app_name, user_id)


class VarveMemoryService(BaseMemoryService):  # type: ignore[misc]
    """Implements ``google.adk.memory.BaseMemoryService``.

    Events are sent as messages: words, function calls and their results. Thoughts, files, partial events and the results of ADK's own
    memory tools are not. An event is recognized by its id: for a day by the service, later by the memories that name it.

    Differences from ``InMemoryMemoryService``: a search finds memories by meaning, and its entries are memories, not events: the content
    is what the person said, ``id`` is the memory's, and ``custom_metadata`` names the source messages in ``evidence``. Memories can be
    found about a second after ``add_session_to_memory`` and ``add_memory`` (later with a model), and after ``add_events_to_memory`` once
    the conversation pauses: it is called for each turn, and a window has several.

    Args:
        client: The client to read and write with. ``delete_memory`` needs a key with the scope ``correct``.
        k: Most entries of a search.
        options: Further fields of the recall request, such as ``kinds`` or ``min_confidence``.
        user_of: The user in Varve for the ids of an application and of its user. ``lambda app_name, user_id: user_id`` shares memories
            between applications, and with other clients of the tenant.
    """

    def __init__(
        self,
        client: AsyncVarveClient,
        *,
        k: int = 10,
        options: Mapping[str, Any] | None = None,
        user_of: Callable[[str, str], str] = varve_user,
    ) -> None:
        self._client, self._k, self._options, self._user_of = client, k, dict(options or {}), user_of

    async def add_session_to_memory(self, session: Session) -> None:
        """Adds the events of a session that were not added before, and closes its window."""
        user, name = self._user_of(session.app_name, session.user_id), session_name(session.app_name, session.user_id, session.id)
        known = await self._known(user, name)
        sent = [each for each in _messages_of(session.events, user, name, {}) if each["id"] not in known]
        if sent:
            await self._client.send(sent)
        await self._flush(name)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Adds events.

        Args:
            app_name: The application.
            user_id: Its user.
            events: The events.
            session_id: Their session. Default: one for all events without a session.
            custom_metadata: Stored with the messages.
        """
        user, name = self._user_of(app_name, user_id), session_name(app_name, user_id, session_id or "-")
        sent = _messages_of(events, user, name, dict(custom_metadata or {}))
        if sent:
            await self._client.send(sent)

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[MemoryEntry], custom_metadata: Mapping[str, object] | None = None
    ) -> None:
        """Sends the texts of entries as messages, from which memories are extracted: Varve stores nothing that no message says.

        Args:
            app_name: The application.
            user_id: Its user.
            memories: Entries with a text; ``author`` is the speaker (default: the user) and ``timestamp`` the time (default: now).
            custom_metadata: Stored with the messages, together with that of each entry.
        """
        session, sent = session_name(app_name, user_id, f"memories/{uuid4().hex}"), []
        for memory in memories:
            text = _text_of(memory.content)
            if not text:
                raise ValueError("memories: an entry has no text")
            time = datetime.fromisoformat(memory.timestamp) if memory.timestamp else datetime.now(UTC)
            fields = _author_fields(memory.author or "user")
            metadata = {**dict(custom_metadata or {}), **memory.custom_metadata}
            sent.append(
                {
                    "id": memory.id or uuid4().hex,
                    "user": self._user_of(app_name, user_id),
                    "session": session,
                    "text": text,
                    "event_time": (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat(),
                    **fields,
                    **({"metadata": metadata} if metadata else {}),
                }
            )
        if sent:
            await self._client.send(sent)
            await self._flush(session)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Returns the memories of the user that fit a query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        options = {"user": self._user_of(app_name, user_id), "limit": self._k, **self._options}
        found = await self._client.recall(query, **options)
        return SearchMemoryResponse(memories=[_entry(each) for each in recalled_memories(found, int(options["limit"]))])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Deletes a memory of the user. Does nothing if the user has no such memory.

        Raises:
            ServiceProblemError: With status 422 if it is an entity or a summary: these follow from events.
        """
        if not memory_id:
            return
        try:
            if (await self._client.memory(memory_id)).user == self._user_of(app_name, user_id):
                await self._client.delete_memory(memory_id)
        except ServiceProblemError as error:
            if error.status != _NOT_FOUND:
                raise

    async def _known(self, user: str, session: str) -> set[str]:
        """Ids of messages that the session has. The service recognizes a repeated id for a day only."""
        known = {str(each["message"].get("id")) for each in (await self._client.session(session)).messages}
        async for memory in self._client.all_memories(user=user, session=session):
            known |= set(memory.evidence)
        return known

    async def _flush(self, session: str) -> None:
        try:
            await self._client.flush(session)
        except ServiceProblemError as error:
            # A key that is bound to a user cannot close a window; it closes by itself later.
            if error.status != _FORBIDDEN:
                raise


def session_name(app_name: str, user_id: str, session_id: str) -> str:
    """The session in Varve for a session of ADK, whose ids are unique only for one user of one application.

    It has a digest of the user's id, since names of sessions outlive the erasure of a user.
    """
    return _name(app_name, hashlib.sha256(user_id.encode()).hexdigest()[:16], session_id)


def _name(*parts: str) -> str:
    name = "/".join(quote(part, safe="") for part in ("adk", *parts))
    if len(name) <= _LONGEST_NAME:
        return name
    return f"adk/{hashlib.sha256(name.encode()).hexdigest()}"


def _messages_of(events: Sequence[Event], user: str, session: str, metadata: Mapping[str, object]) -> list[dict[str, Any]]:
    common = {"user": user, "session": session, **({"metadata": dict(metadata)} if metadata else {})}
    return [{**message, **common} for event in events for message in _messages_of_event(event)]


def _messages_of_event(event: Event) -> list[dict[str, Any]]:
    """An event as messages: one with its words and calls, and one for each result."""
    if event.partial or event.content is None:
        return []
    time = {"event_time": datetime.fromtimestamp(event.timestamp, UTC).isoformat()}
    parts = event.content.parts or []
    calls = [each.function_call for each in parts if each.function_call is not None and each.function_call.name not in _RECALLS]
    text = _text_of(event.content)
    messages: list[dict[str, Any]] = []
    if text or calls:
        tool_calls = [_given(id=each.id, name=each.name or "function", arguments=dict(each.args or {})) for each in calls]
        messages.append({"id": event.id, "text": text, **_author_fields(event.author), **_given(tool_calls=tool_calls), **time})
    for index, each in enumerate(parts):
        response = each.function_response
        if response is not None and response.name not in _RECALLS:
            result = _given(call_id=response.id, name=response.name, content=response.response)
            messages.append({"id": f"{event.id}/{index}", "role": "tool", "tool_results": [result], **time})
    return messages


def _text_of(content: Content) -> str:
    return "\n".join(each.text for each in content.parts or () if each.text and not each.thought)


def _author_fields(author: str) -> dict[str, str]:
    return {"role": "user"} if author in ("", "user") else {"role": "assistant", "speaker": author}


def _given(**fields: Any) -> dict[str, Any]:
    """The fields that are set."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def _entry(memory: Memory) -> MemoryEntry:
    fields = memory.model_dump(mode="json", include=_METADATA, exclude_none=True)
    time = memory.said_at or memory.event_time
    return MemoryEntry(
        id=memory.id,
        content=Content(role="user", parts=[Part(text=memory.content)]),
        author=memory.speaker,
        timestamp=time.isoformat(),
        custom_metadata=fields,
    )


_METADATA: Final = {"kind", "type", "score", "date", "evidence", "session", "superseded_by"}
