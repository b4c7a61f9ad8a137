"""The query service, as the command line calls it."""

import asyncio
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Self
from urllib.parse import quote, urlencode

import httpx

from runtime.retry_after import retry_after_seconds
from runtime.settings import Settings
from varve.errors import ServiceError

BATCH_SIZE: Final = 200
MAX_ATTEMPTS: Final = 5
MAX_WAIT_S: Final = 120.0
"""A longer wait is the caller's to decide on."""

_RETRIED: Final = frozenset({httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE})
_PLAIN_WAIT_S: Final = 1.0
"""Where the answer does not say how long, or not so that it can be read."""


class ServiceClient:
    """Calls the query service for one tenant. Use it as an async context manager.

    Args:
        url: The service's address.
        api_key: The tenant's key.
        timeout_s: Time-out of one request, in seconds.
    """

    def __init__(self, *, url: str, api_key: str, timeout_s: float = 30.0) -> None:
        self._url = url
        self._http = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {api_key}"}, timeout=timeout_s)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """A client for the service that the settings name.

        Raises:
            ServiceError: If there is no API key.
        """
        client, service = settings.client, settings.service
        if client.api_key is None:
            raise ServiceError(
                "no API key: start `varve dev` on this data folder, or set VARVE_CLIENT__API_KEY (`varve tenants add` makes one)"
            )
        url = client.url or f"http://{service.host}:{service.port}"
        return cls(url=url, api_key=client.api_key.get_secret_value(), timeout_s=client.timeout_s)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def send(self, messages: Sequence[dict[str, Any]], *, progress: Callable[[int], None] = lambda sent: None) -> int:
        """Sends messages in order, in batches, each durable before the next.

        Args:
            messages: The fields of each but the tenant.
            progress: Called with each batch's number of messages, once that is durable.

        Returns:
            How many were accepted.

        Raises:
            ServiceError: If one was refused, or the service stays unavailable.
        """
        for batch in _batches(messages):
            # After a 503 the first try may still arrive: under one key its messages are the same ones, also those without an id.
            response = await self._post("/v1/messages", list(batch), _new_key())
            refused = [item for item in response["items"] if item["status"] != httpx.codes.OK]
            if refused:
                problem = refused[0]["problem"]
                raise ServiceError(
                    f"{self._url} refused {len(refused)} of {len(batch)} messages, first {refused[0].get('id') or refused[0]['index']}: "
                    f"{problem.get('detail') or problem.get('title')}"
                )
            progress(len(batch))
        return len(messages)

    async def flush(self, session: str | None = None) -> None:
        """Closes the open windows of a session, or of all the tenant's.

        Raises:
            ServiceError: If the service refuses the request or stays unavailable.
        """
        await self._post("/v1/flush", {} if session is None else {"session": session})

    async def recall(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """Recalls memories.

        Args:
            query: The question.
            **options: Further fields of the request, such as ``user`` or ``limit``; those that are None are left out.

        Returns:
            The results, best first, each with ``id``, ``type``, ``content``, ``score`` and ``evidence``.

        Raises:
            ServiceError: If the service refuses the request or stays unavailable.
        """
        results: list[dict[str, Any]] = (await self.recall_answer(query, **options))["results"]
        return results

    async def recall_with_entities(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """As :meth:`recall`, and behind the results what holds about the user: entities, without a score.

        An entity takes the place of the events that say the same, so with a ``user`` the results alone are not all that was found.
        """
        answer = await self.recall_answer(query, **options)
        return [*answer["results"], *answer["entities"]]

    async def recall_answer(self, query: str, **options: Any) -> dict[str, Any]:
        """As :meth:`recall`, and returns the whole answer: what is ``degraded`` in it, too.

        Args:
            query: The question.
            **options: See :meth:`recall`.

        Raises:
            ServiceError: If the service refuses the request or stays unavailable.
        """
        fields = {name: value for name, value in options.items() if value is not None}
        answer: dict[str, Any] = await self._post("/v1/recall", {"query": query, **fields})
        return answer

    async def context(self, query: str, **options: Any) -> dict[str, Any]:
        """Asks for a block of text for a prompt.

        Args:
            query: The question.
            **options: Further fields of the request, such as ``user``, ``session`` or ``tokens``; those that are None are left out.

        Returns:
            The answer, with ``context``, ``tokens`` and ``citations``.

        Raises:
            ServiceError: If the service refuses the request or stays unavailable.
        """
        fields = {name: value for name, value in options.items() if value is not None}
        answer: dict[str, Any] = await self._post("/v1/context", {"query": query, **fields})
        return answer

    async def memory(self, method: str, memory_id: str, action: str = "", body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Looks at one memory, or corrects it.

        Args:
            method: ``GET``, ``PATCH`` or ``POST``.
            memory_id: Its id.
            action: ``/invalidate`` or ``/revert``; nothing for the memory itself.
            body: What holds instead, or why.

        Raises:
            ServiceError: If the service refuses the request or stays unavailable.
        """
        # Sent again after an answer that was lost, a correction is made once.
        path = f"/v1/memories/{quote(memory_id, safe='')}{action}"
        answer: dict[str, Any] = await self._request(method, path, body, _new_key())
        return answer

    async def entity(
        self, entity_type: str, key: Sequence[str], *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> dict[str, Any]:
        """One entity, now or at another moment.

        Args:
            entity_type: Its type.
            key: The parts of its key, in the order of the schema's ``Keys``.
            as_of: As it was then, by the times of events; None: now.
            known_at: As it was known then; None: now.

        Raises:
            ServiceError: If there is none, or the service refuses the request or stays unavailable.
        """
        answer: dict[str, Any] = await self._get(_entity_path(entity_type, key), as_of=as_of, known_at=known_at)
        return answer

    async def entity_history(
        self,
        entity_type: str,
        key: Sequence[str],
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> dict[str, Any]:
        """A page of the steps that an entity has come by, the oldest first.

        Args:
            entity_type: Its type.
            key: As :meth:`entity` takes it.
            as_of: Without what happened later; None: all.
            known_at: Without what became known later; None: all.
            after: The ``next`` of the page before; None: the first page.
            limit: Most steps of the page, up to 200.

        Returns:
            The answer, with ``steps``, ``next``, ``total`` and ``complete``.

        Raises:
            ServiceError: If there is none, or the service refuses the request or stays unavailable.
        """
        path = f"{_entity_path(entity_type, key)}/history"
        answer: dict[str, Any] = await self._get(path, as_of=as_of, known_at=known_at, after=after, limit=limit)
        return answer

    async def _get(self, path: str, **parameters: Any) -> Any:
        texts = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in parameters.items()}
        given = {name: value for name, value in texts.items() if value is not None}
        return await self._request("GET", f"{path}?{urlencode(given)}" if given else path, None)

    async def _post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> Any:
        return await self._request("POST", path, body, headers)

    async def _request(self, method: str, path: str, body: Any, headers: dict[str, str] | None = None) -> Any:
        """Asks; asks again while the service refuses for now, after the time it says. Every request is idempotent."""
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                answer = await self._http.request(method, path, json=body, headers=headers)
            except httpx.TransportError as error:
                raise ServiceError(
                    f"{self._url} cannot be reached ({error or type(error).__name__}): is `varve dev` or `varve serve` up?"
                ) from error
            if answer.is_success:
                return answer.json()
            wait_s = _wait_s(answer)
            if not _is_for_now(answer) or attempt == MAX_ATTEMPTS or wait_s > MAX_WAIT_S:
                raise ServiceError(f"{self._url}{path} answered {answer.status_code}: {_problem(answer)}")
            await asyncio.sleep(wait_s)
        raise AssertionError("unreachable")


def _batches(messages: Sequence[dict[str, Any]]) -> Iterator[Sequence[dict[str, Any]]]:
    for start in range(0, len(messages), BATCH_SIZE):
        yield messages[start : start + BATCH_SIZE]


def _new_key() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid.uuid4())}


def _is_for_now(answer: httpx.Response) -> bool:
    """Whether to ask again: of a 409, where the try before is still in work, and not where the change does not fit."""
    return answer.status_code in _RETRIED or (answer.status_code == httpx.codes.CONFLICT and "Retry-After" in answer.headers)


def _wait_s(answer: httpx.Response) -> float:
    wait_s = retry_after_seconds(answer.headers.get("Retry-After"), now=datetime.now(UTC))
    return _PLAIN_WAIT_S if wait_s is None else wait_s


def _entity_path(entity_type: str, key: Sequence[str]) -> str:
    return "/".join(["/v1/entities", *(quote(part, safe="") for part in (entity_type, *key))])


def _problem(answer: httpx.Response) -> str:
    try:
        problem = answer.json()
        return str(problem.get("detail") or problem.get("title"))
    except (ValueError, AttributeError):
        return answer.text[:200] or answer.reason_phrase
