"""Records that nobody of Varve wrote, in every topic at once: the flow, the service, an erasure and a rebuild go on."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest
from aiokafka import AIOKafkaProducer

from memory import headers as kinds
from memory.headers import COMMAND, KIND, ORIGIN
from memory.keys import encode_key
from memory.records import Message, SessionCommand
from memory.topics import ALL, MESSAGES
from runtime.kafka import OutgoingRecord, Producer, client_options
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.operations.erasure.erase import erase
from streams.operations.rebuild import rebuild, snapshot
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, add_operator
from tests.streams.flow import TENANT, caught_up, serving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

DEEP: Final = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
WIDE: Final = json.dumps({"schema_version": "1.0", "tenant": TENANT, "user": "ada", "x": "y" * 800_000}).encode()
VALUES: Final = (
    b"",
    b"\xff\xfe\x00",
    b"null",
    b"[]",
    b"NaN",
    b"{}",
    DEEP,
    WIDE,
    b'{"schema_version":"1.0","tenant":"acme","user":"ada","time":1e999}',
    b'{"schema_version":"99.1","tenant":"acme","user":"ada"}',
    b'{"schema_version":"1.0","tenant":"acme","user":"\\ud800"}',
    b'{"schema_version":"1.0","tenant":["acme"],"user":{"a":1},"op":"upsert","memory_id":7}',
    b'{"schema_version":"1.0","tenant":"acme","user":"ada","position":-1,"offset":' + b"9" * 5_000 + b"}",
)
KEYS: Final = (None, b"", b"\x00", b"acme", b"acme/ada", b"acme/ada#", b"acme/ada#\xff", b"//", b"acme/%zz", b"a" * 10_000)
KINDS: Final = [getattr(kinds, name) for name in dir(kinds) if name.isupper() and isinstance(getattr(kinds, name), bytes)]
HEADERS: Final[tuple[list[tuple[str, bytes]], ...]] = (
    [],
    *([(KIND, each)] for each in KINDS),
    [(KIND, b"\xff")],
    [(KIND, b"no such kind")],
    [(ORIGIN, b"no/position")],
    [(ORIGIN, b"messages/999999999999999999999/-1")],
    [("varve-place", b"extractions/0/\xff")],
    [("varve-dlq-topic", b"\xff"), ("varve-dlq-offset", b"many")],
    [("varve-settles", b"0/none"), ("varve-settled", b"redriven")],
    [("traceparent", b"\xff" * 3000), ("varve-produced-at", b"yesterday")],
)


def garbage() -> Iterator[tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]]:
    """Keys, values and headers: each value, each key and each header at least once, and tombstones."""
    for number in range(len(HEADERS) * 3):
        yield KEYS[number % len(KEYS)], VALUES[number % len(VALUES)], HEADERS[number % len(HEADERS)]
    for key in KEYS:
        yield key, None, []


async def pour(settings: Settings) -> int:
    """Appends everything to every partition of every topic."""
    producer = AIOKafkaProducer(**client_options(settings.kafka), max_request_size=4_000_000, linger_ms=20)
    await producer.start()
    count = 0
    try:
        for spec in ALL:
            partitions = range(spec.partitions or settings.kafka.partitions)
            for partition in partitions:
                for key, value, headers in garbage():
                    if key is None and (value is None or spec.cleanup == "compact"):
                        continue  # client or broker refuse it
                    await producer.send(settings.topic(spec.name), key=key, value=value, headers=headers, partition=partition)
                    count += 1
        await producer.flush()
    finally:
        await producer.stop()
    return count


async def say(settings: Settings, user: str, word: str) -> None:
    session = f"s-{user}-{word}"
    key, topic = encode_key(TENANT, session), settings.topic(MESSAGES.name)
    at = datetime.now(UTC) - timedelta(minutes=1)
    message = Message(tenant=TENANT, user=user, session=session, id=f"m-{word}", text=f"I moved to {word} in May.", event_time=at)
    flush = SessionCommand(command="flush", tenant=TENANT, session=session).to_json()
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(topic, key, message.to_json()), OutgoingRecord(topic, key, flush, ((KIND, COMMAND),))])


READS: Final = (
    "/v1/memories?user=ada",
    "/v1/sessions",
    "/v1/usage",
    "/v1/overview",
    "/v1/dead-letters?state=open",
    "/v1/erasures",
    "/v1/entities/user_profile/ada",
    "/v1/entities/user_profile/ada/history",
    "/v1/links?memory=none",
)
ADMIN: Final = (
    "/v1/admin/dead-letters",
    "/v1/admin/usage",
    "/v1/admin/overview",
    "/v1/admin/export",
    "/v1/admin/audit",
    "/v1/admin/audit/verify",
    "/v1/admin/control",
    "/v1/admin/erasures?tenant=acme",
    "/v1/admin/tenants",
    "/v1/admin/reads?tenant=acme&user=ada",
    "/v1/admin/reextractions?tenant=acme",
)


async def statuses(http: httpx.AsyncClient, paths: tuple[str, ...], key: str) -> dict[str, Any]:
    found = {path: await http.get(path, headers={"Authorization": f"Bearer {key}"}) for path in paths}
    return {path: (each.status_code, each.text[:300]) for path, each in found.items() if each.status_code >= 500}


async def test_nothing_stops_for_records_of_nobody(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    key, operator = await add_key(leased, TENANT), await add_operator(leased)
    await say(leased, "ada", "Oslo")
    await say(leased, "bob", "Bergen")
    async with serving(leased), service_of(leased) as http:
        await caught_up(leased)
        poured = await pour(leased)
        await say(leased, "ada", "Turku")
        await caught_up(leased)
        print("poured", poured)
        defects = await statuses(http, READS, key) | await statuses(http, ADMIN, operator)
        print("defects", defects)
        recalled = await http.post("/v1/recall", json={"query": "Where?", "user": "ada"}, headers={"Authorization": f"Bearer {key}"})
        print(recalled.status_code, recalled.text[:1500])
        letters = (await http.get("/v1/admin/dead-letters?limit=200", headers={"Authorization": f"Bearer {operator}"})).json()
        from collections import Counter

        print(Counter((each["topic"], each["stage"], each["reason"]) for each in letters["dead_letters"]))
        print([each for each in letters["dead_letters"] if each["reason"] == "unexpected"][:5])
        lines = [line async for line in snapshot(store, TENANT)]
        assert not defects
        (receipt,) = await erase(leased, TENANT, ["bob"], by="test", store=store, redis=redis)
        print(receipt)
        await caught_up(leased)
        left = [line async for line in snapshot(store, TENANT)]
    await rebuild(leased, store=store, redis=redis)
    async with serving(leased):
        await caught_up(leased)
        assert [line async for line in snapshot(store, TENANT)] == left
    assert len(left) < len(lines)
