"""Produces a run's messages, and records those acknowledged in a ledger."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from memory.records import Message
from runtime.kafka import client_options
from tests.chaos.cluster import Cluster
from tests.chaos.messages import MessageGenerator, key_of
from tests.chaos.methods_schema import BLOCK, VALUE
from tests.chaos.utterances import EIGHTHS

_BATCH = 10
_THROUGH_SERVICE = 0.3
_FLUSHES = 0.03
_RECALLED = 3
_RETRY_INTERVAL_S = 0.5
_PASSING = (httpx.codes.ACCEPTED, httpx.codes.CONFLICT, httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS)
"""Answers to an edit after which it is sent again. 409: the first request with its key is still in progress."""
EDITS = 0.15
"""Share of the batches of a run with memory methods after which an agent edits a block."""


@dataclass(slots=True)
class Ledger:
    """The messages that Kafka acknowledged, to the run's own producer or to the query service."""

    acknowledged: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Message id to partition and offset."""
    attempts: int = 0
    """Batches sent, including failed ones and retries."""
    recalls: int = 0
    """Recalls that were answered."""
    edits: dict[str, list[str]] = field(default_factory=dict)
    """The lines that agents added to users' blocks, by user."""
    erased: set[str] = field(default_factory=set)
    """Erased users: none of their data is left, and all other users' data is."""
    aborted: set[str] = field(default_factory=set)
    """Ids of messages that were written only in aborted transactions."""
    _recalled: asyncio.Event = field(default_factory=asyncio.Event)

    def count_recall(self) -> None:
        """Counts an answered recall."""
        self.recalls += 1
        self._recalled.set()

    async def recalls_reach(self, wanted: int) -> None:
        """Waits until so many recalls were answered."""
        while self.recalls < wanted:
            self._recalled.clear()
            await self._recalled.wait()


class Load:
    """Sends messages until an event is set. A message that is not acknowledged is retried with the same id.

    Args:
        cluster: The receiver.
        tenant: The sender.
        messages: Makes the messages.
        rng: Draws the route of each batch.
        pause_s: Between two batches.
        through_service: Share of the batches that go through ``POST /v1/messages``.
        flushes: Share of the batches after which all of the tenant's windows are closed.
        recalls: Share of the batches after which something is recalled, so that it lives on, and maybe corrected.
        edits: Share of the batches after which an agent adds a line to a user's block.
    """

    def __init__(
        self,
        *,
        cluster: Cluster,
        tenant: str,
        messages: MessageGenerator,
        rng: Random,
        pause_s: float = 0.25,
        through_service: float = _THROUGH_SERVICE,
        flushes: float = _FLUSHES,
        recalls: float,
        edits: float = 0.0,
    ) -> None:
        self.ledger = Ledger()
        self._cluster = cluster
        self._tenant = tenant
        self._messages = messages
        self._rng = rng
        self._pause_s = pause_s
        self._through_service = through_service
        self._flushes = flushes
        self._recalls = recalls
        self._edits = edits
        self._producer: AIOKafkaProducer | None = None

    async def run(self, *, minimum: int, maximum: int, until: asyncio.Event) -> None:
        """Sends at least ``minimum`` messages, and up to ``maximum`` until the event is set."""
        async with self._cluster.client(self._tenant) as http:
            try:
                while len(self.ledger.acknowledged) < (maximum if not until.is_set() else minimum):
                    batch = [self._messages.next() for _ in range(_BATCH)]
                    if self._rng.random() < self._through_service:
                        await self._post(http, batch)
                    else:
                        await self._produce(batch)
                    if self._rng.random() < self._flushes:
                        await self._flush(http)
                    if self._rng.random() < self._recalls:
                        await self._recall(http, batch[0].text)
                    if self._edits and self._rng.random() < self._edits:
                        await self._edit(http, batch[0])
                    await asyncio.sleep(self._pause_s)
            finally:
                await self._disconnect()

    async def _post(self, http: httpx.AsyncClient, batch: Sequence[Message]) -> None:
        left = list(batch)
        while left:
            self.ledger.attempts += 1
            bodies = [message.model_dump(mode="json", exclude_none=True, exclude={"tenant"}) for message in left]
            with suppress(httpx.TransportError):
                answer = await http.post("/v1/messages", json=bodies)
                if answer.status_code in (httpx.codes.OK, httpx.codes.MULTI_STATUS):
                    for item in answer.json()["items"]:
                        if item["status"] == httpx.codes.OK:
                            self.ledger.acknowledged[item["id"]] = (item["position"]["partition"], item["position"]["offset"])
                elif answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    raise RuntimeError(f"POST /v1/messages answered {answer.status_code}: {answer.text[:500]}")
            left = [message for message in left if message.id not in self.ledger.acknowledged]
            if left:
                await asyncio.sleep(_RETRY_INTERVAL_S)

    async def _flush(self, http: httpx.AsyncClient) -> None:
        with suppress(httpx.TransportError):  # not retried: a window may close later as well
            await http.post("/v1/flush", json={})

    async def _recall(self, http: httpx.AsyncClient, query: str) -> None:
        with suppress(httpx.TransportError):  # not retried: what is in use is recalled again
            answer = await http.post("/v1/recall", json={"query": query, "limit": _RECALLED})
            if answer.status_code == httpx.codes.OK:
                self.ledger.count_recall()
                events = [each for each in answer.json()["results"] if each["kind"] == "event"]
                await self._correct(http, self._rng.choice(events) if events else None)

    async def _correct(self, http: httpx.AsyncClient, event: dict[str, Any] | None) -> None:
        """Says of a recalled event that its score was another, that it was never so, or that the last who said so was wrong."""
        action = self._rng.choices(("correct", "invalidate", "revert"), (4, 1, 2))[0]
        if event is None or (action == "correct" and event["type"] != "exercise"):
            return
        path = f"/v1/memories/{event['id']}"
        if action == "correct":
            answer = await http.patch(path, json={"properties": {"score": self._rng.randint(0, EIGHTHS) / EIGHTHS}})
        else:
            answer = await http.post(f"{path}/{action}", json={})
        has_nothing_to_revert = action == "revert" and answer.status_code == httpx.codes.CONFLICT
        if answer.is_client_error and answer.status_code != httpx.codes.NOT_FOUND and not has_nothing_to_revert:
            raise RuntimeError(f"{action} answered {answer.status_code}: {answer.text[:500]}")

    async def _edit(self, http: httpx.AsyncClient, message: Message) -> None:
        """Adds a line to the block of a message's user. Repeats the request, under one idempotency key, until the block has it."""
        line = f"agent edit {message.id}"
        body = {"user": message.user, "tool": "append", "text": line}
        while True:
            with suppress(httpx.TransportError):
                headers = {"Idempotency-Key": f"edit-{message.id}"}
                answer = await http.post(f"/v1/blocks/{BLOCK}/{VALUE}/edits", json=body, headers=headers)
                if answer.status_code == httpx.codes.OK:
                    self.ledger.edits.setdefault(message.user, []).append(line)
                    return
                if answer.status_code not in _PASSING:
                    raise RuntimeError(f"an edit of a block answered {answer.status_code}: {answer.text[:500]}")
            await asyncio.sleep(_RETRY_INTERVAL_S)

    async def _produce(self, batch: Sequence[Message]) -> None:
        left = list(batch)
        while left:
            self.ledger.attempts += 1
            try:
                producer = await self._connected()
                sent = [await self._send(producer, message) for message in left]
                for message, outcome in zip(left, await asyncio.gather(*sent, return_exceptions=True), strict=True):
                    if isinstance(outcome, BaseException):
                        if not isinstance(outcome, KafkaError):
                            raise outcome
                    elif message.id is not None:
                        self.ledger.acknowledged[message.id] = (outcome.partition, outcome.offset)
            except (KafkaError, OSError):
                pass
            left = [message for message in left if message.id not in self.ledger.acknowledged]
            if left:
                await self._disconnect()
                await asyncio.sleep(_RETRY_INTERVAL_S)

    async def _send(self, producer: AIOKafkaProducer, message: Message) -> "asyncio.Future[Any]":
        key = key_of(message)
        partition = self._cluster.partition(key)
        if self._messages.is_misrouted(message):
            partition = (partition + 1) % self._cluster.settings.kafka.partitions
        future: asyncio.Future[Any] = await producer.send(
            self._cluster.settings.topic("messages"), message.to_json(), key=key, partition=partition
        )
        return future

    async def _connected(self) -> AIOKafkaProducer:
        if self._producer is None:
            producer = AIOKafkaProducer(**client_options(self._cluster.settings.kafka), acks="all", enable_idempotence=True, linger_ms=2)
            try:
                await producer.start()
            except BaseException:
                await producer.stop()
                raise
            self._producer = producer
        return self._producer

    async def _disconnect(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with suppress(KafkaError, TimeoutError):
                async with asyncio.timeout(5.0):
                    await producer.stop()
