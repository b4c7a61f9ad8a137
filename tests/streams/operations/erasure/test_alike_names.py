"""Users whose names contain other names, separators, marks and wildcards: erasing one leaves the others' data unchanged."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

import httpx
import pytest

from memory.headers import COMMAND, KIND
from memory.keys import encode_key
from memory.records import Message, SessionCommand
from runtime.kafka import OutgoingRecord, Producer
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.operations.erasure.erase import erase
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_key, add_tenant
from tests.streams.flow import TENANT, caught_up, serving
from tests.streams.standing_words import redis_contents, standing_records, stored_contents, words_in

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

ALIKE: Final = (
    "ann",
    "user",
    "an",
    "ann/1",
    "ann%2F1",
    "ann#1",
    "ann:",
    "ann*",
    "*",
    "ANN",
    "a?n",
    "[ann]",
    "ann\\*",
    "änn",
    "ann ann",
    "{ann}",
    "-",
)
OTHER_TENANT: Final = "acme-2"
WORD: Final = re.compile(rb"w[0-9]{3}w", re.IGNORECASE)


class Sayings:
    """Messages of each user of each tenant: in one closed window and one that is open, in sessions of equal names in both tenants."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.words: dict[tuple[str, str], set[bytes]] = {}

    async def say(self, tenant: str, users: tuple[str, ...]) -> None:
        records = []
        for number, user in enumerate(users):
            for place in ("closed", "open"):
                word = f"w{len(self.words):02}{int(place == 'open')}w"
                session = f"{place}/{number}" if number % 2 else f"{place}-{user}"
                key, topic = encode_key(tenant, session), self.settings.topic("messages")
                text = f"I like {word} tea."
                at = datetime.now(UTC) - timedelta(minutes=1)
                message = Message(tenant=tenant, user=user, session=session, id="m-1", text=text, event_time=at)
                records.append(OutgoingRecord(topic, key, message.to_json()))
                self.words.setdefault((tenant, user), set()).add(word.encode())
                if place == "closed":
                    flush = SessionCommand(command="flush", tenant=tenant, session=session).to_json()
                    records.append(OutgoingRecord(topic, key, flush, ((KIND, COMMAND),)))
        async with Producer(kafka=self.settings.kafka) as producer:
            await producer.send_many(records)


async def recall(http: httpx.AsyncClient, key: str, user: str) -> bytes:
    headers = bearer(key)
    found = await http.post("/v1/recall", json={"query": "What tea do I like?", "user": user}, headers=headers)
    profile = await http.get(f"/v1/entities/user_profile/{quote(user, safe='')}", headers=headers)
    assert found.status_code == 200, found.text
    return found.content + (profile.content if profile.status_code == 200 else b"")


async def test_an_erasure_is_of_one_name(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    keys = {TENANT: await add_key(leased, TENANT), OTHER_TENANT: await add_tenant(leased, OTHER_TENANT, schema="companion")}
    said = Sayings(leased)
    await said.say(TENANT, ALIKE)
    await said.say(OTHER_TENANT, ("ann", "*"))
    async with serving(leased), service_of(leased) as http:
        await caught_up(leased)
        for (tenant, user), words in said.words.items():
            found = words_in([await recall(http, keys[tenant], user)], WORD)
            assert {each.lower() for each in found} <= words, (tenant, user)
        await caught_up(leased)

        async def places() -> dict[str, set[bytes]]:
            found = await standing_records(leased) | await redis_contents(leased)
            found["store"] = await stored_contents(store, TENANT) + await stored_contents(store, OTHER_TENANT)
            return {place: {each.lower() for each in words_in(contents, WORD)} for place, contents in found.items()}

        before = await places()
        gone: set[bytes] = set()
        for users in (("ann",), ("*", "ann*"), ("user", "ann#1", "ann/1", "{ann}")):
            receipts = await erase(leased, TENANT, users, by="test", store=store, redis=redis)
            assert all(each.finished_at is not None for each in receipts)
            gone |= {word for user in users for word in said.words.pop((TENANT, user))}
            after = await places()
            lost = {place: words - after.get(place, set()) - gone for place, words in before.items()}
            lost = {place: words for place, words in lost.items() if words}
            left = {place: words & gone for place, words in after.items() if words & gone}
            assert not left
            assert {place for place in lost if place != leased.topic("messages")} <= {"redis closed"}
        for (tenant, user), words in said.words.items():
            assert {each.lower() for each in words_in([await recall(http, keys[tenant], user)], WORD)} & words, (tenant, user)
