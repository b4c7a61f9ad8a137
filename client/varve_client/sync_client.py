"""The synchronous client, made of the asynchronous one by ``make generated``."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Self, TypeVar

import httpx

from varve_client import _calls as calls
from varve_client._connections import Connections, address_of, authorization_of, require_timeout
from varve_client._results import result_of, sent_of
from varve_client._retries import MAX_ATTEMPTS, RETRY_FOR_S, Retries
from varve_client.models import (
    BegunErasure,
    Block,
    ChangedMessage,
    Context,
    Correction,
    EditedBlock,
    Erasure,
    FoundEvents,
    HistoryEntry,
    HistoryPage,
    KeyStatus,
    Memory,
    MemoryPage,
    RecallResult,
    SentMessage,
    Session,
)

T = TypeVar("T")


class VarveClient:
    """Calls the service for one tenant. Use it as a context manager.

    Every method raises ``ServiceUnreachableError`` if the service cannot be reached, and ``ServiceProblemError`` if it refuses the request.
    It may be used in several threads and, after a fork, in both processes: each has its own connections.
    Requests are repeated while connections fail and while the service refuses them temporarily. One that has timed out is not repeated.

    Args:
        url: The address of the service, such as ``http://127.0.0.1:8080``.
        api_key: The tenant's key.
        timeout_s: Timeout of one attempt, in seconds.
        max_attempts: Most attempts of a request. 1: it is never repeated.
        retry_for_s: No attempt of a request begins later than this many seconds after its first.
        http: The HTTP client to use, for proxies, certificates or tests. The caller closes it. Default: a new one.

    Raises:
        InvalidArgumentError: If the address, the key or a limit is not valid, or the environment names a proxy that cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str,
        timeout_s: float = 30.0,
        max_attempts: int = MAX_ATTEMPTS,
        retry_for_s: float = RETRY_FOR_S,
        http: httpx.Client | None = None,
    ) -> None:
        self._url = address_of(url)
        self._headers = {"Authorization": authorization_of(api_key)}
        require_timeout(timeout_s)
        self._retries = Retries(max_attempts=max_attempts, retry_for_s=retry_for_s)
        self._connections = Connections(http, lambda: httpx.Client(timeout=timeout_s))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        http = self._connections.close(self)
        if http is not None:
            http.close()

    def send(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        on_batch: Callable[[int], None] = lambda count: None,
        idempotency_key: str | None = None,
    ) -> list[SentMessage]:
        """Sends messages in order, in batches; each batch is durable before the next is sent.

        Args:
            messages: Each has at least ``user``, ``session`` and ``text``; also ``id``, ``role``, ``speaker``, ``event_time``,
                ``time_zone``, ``metadata``, ``tool_call``, ``automated``. Messages of OpenAI's and Anthropic's APIs are accepted as they
                are, with ``user`` and ``session``. A message with the id of an earlier one of the same session is not stored again,
                also with another text: then its result says ``changed``.
            on_batch: Called with the number of messages of each batch, once those that were not refused are durable.
            idempotency_key: Marks repetitions of this call: all with one key and the same arguments have an effect once.
                Default: a new key for the attempts of this call.

        Returns:
            The id and position of each message.

        Raises:
            MessagesRefusedError: If the service refused some of them. The others, of all batches, are durable.
        """
        outcomes: list[calls.Outcome] = []
        for call in calls.send_calls(messages, key=idempotency_key):
            batch = self._request(call)
            on_batch(len(batch))
            outcomes += batch
        return sent_of(outcomes)

    def edit_message(
        self, session: str, message_id: str, text: str, *, user: str | None = None, idempotency_key: str | None = None
    ) -> ChangedMessage:
        """Replaces the text of a message. Everything that is based on the old text is retracted, and the new text is extracted.

        Args:
            session: The session of the message.
            message_id: The id of the message.
            text: The new text, not blank.
            user: The user of the message. Default: the user to whom the key is bound.
            idempotency_key: As for :meth:`send`.

        Raises:
            ServiceProblemError: With status 404 if the user has no such message in the session.
        """
        return self._request(calls.edit_call(session, message_id, text, user=user, key=idempotency_key))

    def delete_message(
        self, session: str, message_id: str, *, user: str | None = None, idempotency_key: str | None = None
    ) -> ChangedMessage:
        """Deletes a message and everything that is based on it.

        Args:
            session: The session of the message.
            message_id: The id of the message.
            user: The user of the message. Default: the user to whom the key is bound.
            idempotency_key: As for :meth:`send`.

        Raises:
            ServiceProblemError: With status 404 if the user has no such message in the session.
        """
        return self._request(calls.delete_call(session, message_id, user=user, key=idempotency_key))

    def flush(self, session: str | None = None, *, idempotency_key: str | None = None) -> None:
        """Closes the open window of a session, or of all sessions of the tenant, so that its messages are extracted now.

        Args:
            session: The session. Default: all sessions of the tenant.
            idempotency_key: As for :meth:`send`.
        """
        self._request(calls.flush_call(session, key=idempotency_key))

    def recall(self, query: str, **options: Any) -> RecallResult:
        """Finds memories. Read ``results`` and ``entities`` together: results leave out events that an entity repeats word by word.

        Args:
            query: The question.
            **options: Further fields of the request, such as ``user``, ``session``, ``limit``, ``as_of``, ``min_confidence`` or ``mode``.
                Those that are None are left out.
        """
        return self._request(calls.recall_call(query, options))

    def context(self, query: str, **options: Any) -> Context:
        """Returns what the memory knows as a block of text for the user part of a prompt.

        Args:
            query: The question.
            **options: Further fields of the request, such as ``user``, ``session`` or ``tokens``. Those that are None are left out.
        """
        return self._request(calls.context_call(query, options))

    def feedback(self, recall_id: str, *, useful: Sequence[str] = (), useless: Sequence[str] = (), user: str | None = None) -> None:
        """Reports which memories of a recall or context helped. The newest feedback on a recall counts.

        Args:
            recall_id: The id in its result.
            useful: Ids of memories that helped.
            useless: Ids of memories that did not.
            user: The user of the recall. Default: it named none.
        """
        self._request(calls.feedback_call(recall_id, useful, useless, user))

    def memory(self, memory_id: str) -> Memory:
        """Returns one memory."""
        return self._request(calls.memory_call(memory_id))

    def session(self, session: str) -> Session:
        """Returns the newest messages of a session; none for a session that is unknown or long idle."""
        return self._request(calls.session_call(session))

    def memories(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        kinds: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        order: Literal["id", "newest", "oldest"] | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> MemoryPage:
        """Returns a page of the memories, without invalidated and expired ones.

        Args:
            user: Only this user's memories. Default: all users that the key may access.
            session: Only memories of this session. Default: any.
            kinds: Only memories of these kinds: ``event``, ``entity``, ``summary``, ``segment``. Default: any.
            types: Only memories of these event or entity types. Default: any.
            since: Only memories that may have happened at this time or later. Default: no limit.
            until: Only memories that may have happened before this time. Default: no limit.
            order: By id, or by the time of the event: the newest or the oldest first. Default: by id.
            after: The ``next`` of the previous page. Default: the first page.
            limit: Number of memories per page, up to 200.
        """
        filters = {"user": user, "session": session, "kinds": kinds, "types": types, "since": since, "until": until, "order": order}
        return self._request(calls.memories_call(filters, after=after, limit=limit))

    def all_memories(
        self,
        *,
        user: str | None = None,
        session: str | None = None,
        kinds: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        order: Literal["id", "newest", "oldest"] | None = None,
    ) -> Iterator[Memory]:
        """Iterates over all memories that pass the filters of :meth:`memories`. Requests a page whenever the one before is used up."""
        after: str | None = None
        while True:
            page = self.memories(
                user=user,
                session=session,
                kinds=kinds,
                types=types,
                since=since,
                until=until,
                order=order,
                after=after,
                limit=calls.PAGE_SIZE,
            )
            for memory in page.memories:
                yield memory
            after = page.next
            if after is None:
                return

    def delete_memory(self, memory_id: str, *, reason: str = "", idempotency_key: str | None = None) -> Correction:
        """Deletes an event permanently. ``remaining`` of the result lists what still has its content.

        Args:
            memory_id: The id of an event.
            reason: The reason, for the log.
            idempotency_key: As for :meth:`send`.

        Raises:
            ServiceProblemError: With status 404 if there is no such memory, and 422 if it is not an event.
        """
        return self._request(calls.delete_memory_call(memory_id, reason=reason, key=idempotency_key))

    def erase_user(self, user: str, *, reason: str = "") -> BegunErasure:
        """Starts the permanent erasure of a user. The key needs the scope ``erase``.

        Args:
            user: The user.
            reason: Reason for the audit log, which is kept forever: do not name the user in it.
        """
        return self._request(calls.erase_call(user, reason=reason))

    def erasure(self, subject: str) -> Erasure:
        """Returns an erasure; it is finished once ``finished_at`` is set.

        Args:
            subject: The ``subject`` of the result of ``erase_user``.
        """
        return self._request(calls.erasure_call(subject))

    def status(self) -> KeyStatus:
        """Returns the tenant, the user and the scopes of the key."""
        return self._request(calls.status_call())

    def correct(self, memory_id: str, *, idempotency_key: str | None = None, **changes: Any) -> Correction:
        """Replaces parts of a memory.

        Args:
            memory_id: The id of an event or of an entity.
            idempotency_key: As for :meth:`send`.
            **changes: ``content``, ``properties``, ``date`` and ``reason``.
        """
        return self._request(calls.correction_call("PATCH", memory_id, "", changes, key=idempotency_key))

    def invalidate(self, memory_id: str, *, reason: str = "", idempotency_key: str | None = None) -> Correction:
        """Marks an event as false: recalls no longer return it, and entities are computed without it.

        Args:
            memory_id: The id of an event.
            reason: The reason, for the log.
            idempotency_key: As for :meth:`send`.
        """
        return self._request(calls.correction_call("POST", memory_id, "/invalidate", {"reason": reason}, key=idempotency_key))

    def revert(self, memory_id: str, *, reason: str = "", idempotency_key: str | None = None) -> Correction:
        """Reverts the newest correction of a memory. Refused with 409 ``nothing-to-revert`` if none is in force.

        Args:
            memory_id: The id of an event or of an entity.
            reason: The reason, for the log.
            idempotency_key: As for :meth:`send`.
        """
        return self._request(calls.correction_call("POST", memory_id, "/revert", {"reason": reason}, key=idempotency_key))

    def blocks(self, user: str | None = None) -> list[Block]:
        """Returns a user's blocks of text that agents edit.

        Args:
            user: The user. Default: the user to whom the key is bound.
        """
        return self._request(calls.blocks_call(user))

    def block(self, entity_type: str, property_name: str, *, user: str | None = None) -> Block:
        """Returns one block.

        Args:
            entity_type: Its entity type.
            property_name: Its property.
            user: The user. Default: the user to whom the key is bound.
        """
        return self._request(calls.block_call(entity_type, property_name, user))

    def edit_block(
        self, entity_type: str, property_name: str, tool: str, *, idempotency_key: str | None = None, **arguments: Any
    ) -> EditedBlock:
        """Edits a block. ``ServiceProblemError`` of the kind ``edit-conflict``: the edit does not fit the block as it is now.

        Args:
            entity_type: Its entity type.
            property_name: Its property.
            tool: ``append``, ``replace`` or ``insert``.
            idempotency_key: As for :meth:`send`.
            **arguments: ``user``, ``text``, ``old`` (the text to replace), ``line`` (before which to insert), ``version`` and ``reason``.
        """
        return self._request(calls.edit_block_call(entity_type, property_name, {"tool": tool, **arguments}, key=idempotency_key))

    def undo_edit(
        self,
        entity_type: str,
        property_name: str,
        edit: str,
        *,
        user: str | None = None,
        reason: str = "",
        idempotency_key: str | None = None,
    ) -> EditedBlock:
        """Undoes one of a block's newest edits.

        Args:
            entity_type: The block's entity type.
            property_name: The block's property.
            edit: The id of the edit.
            user: The user. Default: the user to whom the key is bound.
            reason: The reason, for the log.
            idempotency_key: As for :meth:`send`.
        """
        return self._request(calls.undo_edit_call(entity_type, property_name, edit, {"user": user, "reason": reason}, key=idempotency_key))

    def search_events(self, query: str, *, user: str | None = None, page: int = 0) -> FoundEvents:
        """Returns a page of the user's events nearest to a text, five to a page.

        Args:
            query: The text.
            user: The user. Default: the user to whom the key is bound.
            page: The page; the first page is 0.
        """
        return self._request(calls.search_events_call(query, user, page))

    def entity(self, entity_type: str, key: Sequence[str], *, as_of: datetime | None = None, known_at: datetime | None = None) -> Memory:
        """Returns one entity.

        Args:
            entity_type: Its type.
            key: The parts of its key, in the order of the schema's ``Keys``.
            as_of: Its state at that time, by the times of the events. Default: now.
            known_at: Its state as far as it was known at that time. Default: now.
        """
        return self._request(calls.entity_call(entity_type, key, as_of=as_of, known_at=known_at))

    def entity_history(
        self,
        entity_type: str,
        key: Sequence[str],
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> HistoryPage:
        """Returns a page of the changes of an entity, oldest first.

        Args:
            entity_type: Its type.
            key: The parts of its key, in the order of the schema's ``Keys``.
            as_of: Leaves out what happened later. Default: no limit.
            known_at: Leaves out what became known later. Default: no limit.
            after: The ``next`` of the previous page. Default: the first page.
            limit: Number of entries per page, up to 200.
        """
        return self._request(calls.history_call(entity_type, key, as_of=as_of, known_at=known_at, after=after, limit=limit))

    def whole_entity_history(
        self, entity_type: str, key: Sequence[str], *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Iterator[HistoryEntry]:
        """Iterates over all changes of an entity, oldest first, with the limits of :meth:`entity_history`."""
        after: str | None = None
        while True:
            page = self.entity_history(entity_type, key, as_of=as_of, known_at=known_at, after=after, limit=calls.PAGE_SIZE)
            for step in page.steps:
                yield step
            after = page.next
            if after is None:
                return

    def _request(self, call: calls.Call[T]) -> T:
        http = self._connections.of(self)
        content, headers = calls.content_of(call)
        began = time.monotonic()
        for attempt in itertools.count(1):
            outcome: httpx.Response | httpx.RequestError
            try:
                outcome = http.request(call.method, self._url + call.path, content=content, headers={**self._headers, **headers})
            except httpx.RequestError as error:
                outcome = error
            wait_s = self._retries.wait_s(outcome, attempt=attempt, elapsed_s=time.monotonic() - began)
            if wait_s is None:
                return result_of(call, outcome, url=self._url)
            time.sleep(wait_s)
        raise AssertionError("the loop has no end")
