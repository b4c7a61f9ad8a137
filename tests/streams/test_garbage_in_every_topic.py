"""Records that no part of Varve wrote, in every partition of every topic: no reader stalls, and stages report each record."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest
from aiokafka import AIOKafkaProducer

from memory.headers import COMMAND, CORRECTION, ERASURE, KIND, ORIGIN, PLACE, RETENTION
from memory.keys import encode_key
from memory.records import Message, SessionCommand
from memory.topics import ALL, MESSAGES, TopicSpec
from runtime.dead_letters import read_metadata
from runtime.kafka import OutgoingRecord, Producer, client_options
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings, SigningSettings, WebhookSettings
from stores.port import MemoryStore
from streams.operations.erasure.remnants import remnants
from streams.stages.catalog import STAGES
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.api.webhooks.receiver import receiving
from tests.api.webhooks.webhook_flow import delivering, hook
from tests.control_log import add_key, add_operator
from tests.streams.flow import TENANT, caught_up, serving
from tests.streams.harness import until
from tests.streams.message_ledger import records_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

QUICK: Final = WebhookSettings(allow_private=True, first_retry_s=0.05, longest_retry_s=0.2)
Headers = tuple[tuple[str, bytes], ...]
KEY: Final = encode_key(TENANT, "ada")


@dataclass(frozen=True)
class Garbage:
    name: str
    value: bytes | None = b"{}"
    key: bytes | None = KEY
    headers: Headers = ()


def fields(**others: Any) -> bytes:
    return json.dumps({"schema_version": "1.0", "tenant": TENANT, "user": "ada", **others}).encode()


GARBAGE: Final = (
    Garbage("empty", b""),
    Garbage("no value", None),
    Garbage("no value and a binary key", None, b"acme/wh_1#\xff"),
    Garbage("binary", b"\xff\xfe\x00"),
    Garbage("text", b"not json"),
    Garbage("cut off", b'{"tenant": "acme"'),
    Garbage("null", b"null"),
    Garbage("list", b"[]"),
    Garbage("not a number", b"NaN"),
    Garbage("no fields", b"{}"),
    Garbage("other fields", fields(colour="red")),
    Garbage("other types", b'{"schema_version":"1.0","tenant":["acme"],"user":{"a":1},"op":"upsert","memory_id":7}'),
    Garbage("other version", b'{"schema_version":"99.1","tenant":"acme","user":"ada"}'),
    Garbage("no text", b'{"schema_version":"1.0","tenant":"acme","user":"\\ud800"}'),
    Garbage("numbers without end", b'{"schema_version":"1.0","time":1e999,"position":-1,"offset":' + b"9" * 5_000 + b"}"),
    Garbage("deep", b'{"a":' * 20_000 + b"1" + b"}" * 20_000),
    Garbage("huge", fields(text="y" * 900_000)),
    Garbage("no key", key=None),
    Garbage("empty key", key=b""),
    Garbage("binary key", key=b"\x00\xff"),
    Garbage("key of another tenant", key=encode_key("nobody", "ada")),
    Garbage("key with an invalid escape", key=b"acme/%zz"),
    Garbage("key with an invalid mark", key=b"acme/ada#\xff"),
    Garbage("long key", key=b"a" * 10_000),
    Garbage("unknown kind", headers=((KIND, b"no such kind"),)),
    *(Garbage(f"kind {kind.decode()}", headers=((KIND, kind),)) for kind in (COMMAND, CORRECTION, ERASURE, RETENTION)),
    Garbage("binary kind", headers=((KIND, b"\xff"),)),
    Garbage("invalid origin", headers=((ORIGIN, b"messages/999999999999999999999/-1"),)),
    Garbage("invalid place", headers=((PLACE, b"extractions/0/\xff"),)),
    Garbage("invalid dead letter", headers=(("varve-dlq-topic", b"\xff"), ("varve-dlq-offset", b"many"), ("varve-settles", b"0/none"))),
    Garbage("invalid trace", headers=(("traceparent", b"\xff" * 3_000), ("varve-produced-at", b"yesterday"))),
)

DELETIONS: Final = ("no value", "no value and a binary key")
DELETING: Final = ("windows", "extractions", "memories")
"""Topics in which a record without a value deletes the one with its key."""

Position = tuple[str, int, int]


def accepted_by(spec: TopicSpec) -> Iterator[Garbage]:
    """Records that the broker accepts in a topic: a compacted one needs keys."""
    for each in GARBAGE:
        if each.key is not None or (spec.cleanup != "compact" and each.value is not None):
            yield each


async def pour(settings: Settings) -> dict[Position, str]:
    """Appends everything to every partition of every topic; returns the name of what stands at each position."""
    found: dict[Position, str] = {}
    producer = AIOKafkaProducer(**client_options(settings.kafka), max_request_size=4_000_000, linger_ms=20)
    await producer.start()
    try:
        for spec in ALL:
            topic = settings.topic(spec.name)
            for partition in range(spec.partitions or settings.kafka.partitions):
                sent = [
                    (each.name, await producer.send(topic, key=each.key, value=each.value, headers=[*each.headers], partition=partition))
                    for each in accepted_by(spec)
                ]
                for name, pending in sent:
                    found[spec.name, partition, (await pending).offset] = name
    finally:
        await producer.stop()
    return found


async def say(settings: Settings, word: str) -> None:
    """Ada talks in a session for each partition."""
    at, topic = datetime.now(UTC) - timedelta(minutes=1), settings.topic(MESSAGES.name)
    async with Producer(kafka=settings.kafka) as producer:
        for partition in range(settings.kafka.partitions):
            session = f"s-{word}-{partition}"
            said: dict[str, Any] = {"session": session, "id": f"m-{session}", "text": f"I moved to {word} in May.", "event_time": at}
            message = Message(tenant=TENANT, user=f"ada-{partition}", **said)
            key, flush = encode_key(TENANT, session), SessionCommand(command="flush", tenant=TENANT, session=session)
            await producer.send_many([OutgoingRecord(topic, key, message.to_json(), partition=partition)])
            await producer.send_many([OutgoingRecord(topic, key, flush.to_json(), ((KIND, COMMAND),), partition=partition)])


async def letters(settings: Settings) -> dict[Position, tuple[str, str]]:
    """The stage and the reason of each dead letter, by the position of its record."""
    found: dict[Position, tuple[str, str]] = {}
    for record in await records_of(settings, "dead-letters"):
        metadata = read_metadata(record.headers)
        if metadata is not None and metadata.detail:
            place = metadata.topic.removeprefix(settings.kafka.topic_prefix), metadata.partition, metadata.offset
            found[place] = metadata.stage, metadata.reason
    return found


READS: Final = (
    "/v1/memories?user=ada-0",
    "/v1/sessions",
    "/v1/usage",
    "/v1/overview",
    "/v1/dead-letters?state=open",
    "/v1/erasures",
    "/v1/entities/user_profile/ada-0",
    "/v1/entities/user_profile/ada-0/history",
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
    "/v1/admin/reads?tenant=acme&user=ada-0",
    "/v1/admin/reextractions?tenant=acme",
)


async def defects(http: httpx.AsyncClient, paths: tuple[str, ...], key: str) -> dict[str, str]:
    """The answers of the service that are its own fault, by path."""
    found = {path: await http.get(path, headers=bearer(key)) for path in paths}
    return {path: f"{each.status_code} {each.text[:300]}" for path, each in found.items() if each.status_code >= 500}


async def test_no_reader_stops_at_garbage(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    key, operator = await add_key(leased, TENANT), await add_operator(leased)
    signed = leased.model_copy(update={"signing": SigningSettings(secret="a master secret of the tests only"), "webhooks": QUICK})
    async with serving(leased), service_of(leased) as http, receiving() as receiver, delivering(signed):
        await hook(signed, TENANT, receiver.url)
        await say(leased, "Oslo")
        await caught_up(leased)
        await until(lambda: any("Oslo" in each for each in receiver.contents))
        poured = await pour(leased)
        await say(leased, "Turku")
        await caught_up(leased, deadline_s=60)
        found = await letters(leased)
        sources = {spec.source.name: stage for stage, spec in STAGES.items()}
        lacking = {(place[0], name) for place, name in poured.items() if place[0] in sources and place not in found}
        assert lacking == {(topic, name) for topic in DELETING for name in DELETIONS}, "only deletions become no dead letter"
        reasons = {(sources[place[0]], *found[place]) for place in poured if place in found}
        assert {(reader, stage) for reader, stage, _ in reasons} == {(each, each) for each in STAGES}
        assert {reason for _, _, reason in reasons} <= {"malformed", "unsupported_version", "too_large"}
        assert not await defects(http, READS, key) | await defects(http, ADMIN, operator)
        for partition in range(leased.kafka.partitions):
            asked = {"query": "Where did Ada move?", "user": f"ada-{partition}"}
            answer = await http.post("/v1/recall", json=asked, headers=bearer(key))
            assert "Turku" in answer.text
        await until(lambda: any("Turku" in each for each in receiver.contents))
        await remnants(leased, TENANT, "ada-0", store=store, redis=redis)
