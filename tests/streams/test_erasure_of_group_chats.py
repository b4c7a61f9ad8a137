"""An erasure of one user of a group chat removes all words of this user, also from what others' memories quoted, and nothing else."""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from unittest.mock import patch

import httpx
import pytest

from control.erasure import Erasure
from extraction.offline.extractor import OfflineExtractor
from extraction.port import ExtractionContext
from memory.keys import entity_key
from memory.records import EntityPatch, Extraction, Window
from memory.schema.model import MemorySchema
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore, StepPoint, TenantScope
from streams.errors import ReplayRefusedError
from streams.operations.erasure.erase import erase
from streams.operations.erasure.remnants import STORE
from streams.operations.erasure.run import ErasureRun
from streams.operations.rebuild import rebuild
from streams.operations.replay import ReplayStart, replay
from streams.stages.events.erasing import Eraser
from tests.api.running_service import bearer
from tests.api.running_service import serving as service_of
from tests.control_log import add_key
from tests.stores.factories import at, step
from tests.streams.durable_steps import Killed, killed
from tests.streams.flow import TENANT, caught_up, serving
from tests.streams.harness import until
from tests.streams.standing_words import places_naming, redis_contents, standing_records, stored_contents, table_contents, words_in

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

LEAVING, STAYING = "ada", ("bob", "cara")
EVERYONE: Final = (LEAVING, *STAYING)
_WORD: Final = re.compile(rb"[ABC]W[0-9]{3}X")
"""The first letter says whose word it is."""
ENTITIES: Final = ("user_profile", "life_story", "recent_mood")


class Chat:
    """Users who talk over HTTP. Every message has its own word, which begins with the first letter of its user.

    Args:
        http: A client of the service.
        key: The tenant's key.
    """

    def __init__(self, http: httpx.AsyncClient, key: str) -> None:
        self._http = http
        self._headers = bearer(key)
        self.words: dict[str, set[bytes]] = {}
        self.sessions: set[str] = set()
        self._number = 0

    def word(self, user: str) -> str:
        self._number += 1
        return f"{user[0].upper()}W{self._number:03}X"

    async def say(self, user: str, text: str, *, session: str) -> tuple[str, str]:
        """Says a text in which ``WORD`` stands for a new word; returns the message's id and the word."""
        word = self.word(user)
        message = {
            "user": user,
            "session": session,
            "id": f"m-{self._number}",
            "text": text.replace("WORD", word),
            "event_time": (datetime.now(UTC) - timedelta(minutes=1)).isoformat(),
        }
        await self.ask("POST", "/v1/messages", json=message)
        self.sessions.add(session)
        self.words.setdefault(user, set()).add(word.encode())
        return message["id"], word

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        response = await self._http.request(method, path, headers=self._headers, **request)
        assert response.status_code < 300 or (method == "GET" and response.status_code == 404), (path, response.text)
        return response

    async def answers(self, users: Iterable[str]) -> dict[str, list[bytes]]:
        """All that the service says about users and sessions."""
        found: dict[str, list[bytes]] = {}
        for user in users:
            for path in ("recall", "context"):
                asked = {"query": "Where did somebody move, and what happened?", "user": user}
                found[f"{path} {user}"] = [(await self.ask("POST", f"/v1/{path}", json=asked)).content]
            for entity in ENTITIES:
                for part in ("", "/history"):
                    found[f"{entity}{part} {user}"] = [(await self.ask("GET", f"/v1/entities/{entity}/{user}{part}")).content]
        for session in sorted(self.sessions):
            found[f"session {session}"] = [(await self.ask("GET", f"/v1/sessions/{session}")).content]
        return found


@asynccontextmanager
async def quoting_extractor() -> AsyncIterator[None]:
    """Puts an extractor into all workers that repeats the window in events and profile, as a model may, without naming messages."""
    extract = OfflineExtractor.extract

    async def quoting(extractor: OfflineExtractor, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        found = await extract(extractor, window, schema, context)
        heard = " ".join(each.text for each in window.messages)
        own: dict[str, Any] = {"type": "life_event", "speaker": None, "properties": {}}
        events = [each.model_copy(update={**own, "content": f"{each.content} Heard: {heard}"}) for each in found.events]
        patches = [
            EntityPatch(
                id=f"quoting-{index}",
                entity_type="user_profile",
                entity_key=entity_key(window.user),
                field="preferences",
                replace=f"Heard in {window.session}: {heard}",
                event_time=each.event_time,
                message_ids=each.message_ids[:1],
            )
            for index, each in enumerate(events)
        ]
        return found.model_copy(update={"events": events, "patches": [*found.patches, *patches]})

    with patch.object(OfflineExtractor, "extract", quoting):
        yield


async def talk(chat: Chat, settings: Settings, store: MemoryStore) -> None:
    """Closed and open windows of several users, a private window, an edited and a deleted message, and invalidated memories."""
    await chat.say("bob", "I moved to WORD in May with my brother.", session="s-group")
    place, _ = await chat.say("ada", "Which friend did you meet in WORD?", session="s-group")
    await chat.say("bob", "My old friend WORD.", session="s-group")
    edited, _ = await chat.say("ada", "I moved to WORD in June, and I love living there.", session="s-group")
    deleted, _ = await chat.say("ada", "I am sad since my cat WORD died.", session="s-group")
    await chat.say("cara", "I bought a house in WORD last week, I am so happy.", session="s-group")
    await chat.say("ada", "I moved to WORD in July to live alone.", session="s-private")
    await chat.say("bob", "I married WORD in March.", session="s-others")
    await chat.say("cara", "I visited WORD for the wedding.", session="s-others")
    await chat.ask("POST", "/v1/flush", json={})
    await caught_up(settings)
    await chat.ask("PUT", f"/v1/messages/s-group/{edited}", json={"user": "ada", "text": f"I moved to {chat.word('ada')} after all."})
    await chat.ask("DELETE", f"/v1/messages/s-group/{deleted}?user=ada")
    await caught_up(settings)
    for user in ("ada", "bob"):
        found = [each for each in await store.scroll(TenantScope(TENANT, user), limit=50) if each.kind == "event"]
        event = next((each for each in found if place in each.message_ids and user == "bob"), found[0])
        await chat.ask("POST", f"/v1/memories/{event.id}/invalidate", json={"reason": "a joke"})
    await chat.say("cara", "I painted my house in WORD today.", session="s-open")
    await chat.say("ada", "I carry the WORD mutation, that makes me sad.", session="s-open")
    await chat.say("bob", "I moved to WORD in August.", session="s-next")
    await chat.say("ada", "I flew to WORD with Bob in August.", session="s-next")
    await chat.ask("POST", "/v1/flush", json={"session": "s-next"})
    await caught_up(settings)


async def standing(settings: Settings, store: MemoryStore, chat: Chat, letters: bytes) -> dict[str, set[bytes]]:
    """The words that begin with one of some letters, by the place where they stand."""
    places = await chat.answers(EVERYONE) | await standing_records(settings) | await redis_contents(settings)
    places["store"] = await stored_contents(store, TENANT)
    found = {place: {each for each in words_in(contents, _WORD) if each[:1] in letters} for place, contents in places.items()}
    return {place: words for place, words in found.items() if words}


def words_in_tables(settings: Settings, letters: bytes) -> set[bytes]:
    return {each for each in words_in(table_contents(settings), _WORD) if each[:1] in letters}


async def erased(settings: Settings, users: list[str], *, store: MemoryStore, redis: GuardedRedis) -> list[Erasure]:
    receipts = await erase(settings, TENANT, users, by="test", store=store, redis=redis)
    assert all(each.finished_at is not None for each in receipts)
    assert [each.remains for each in receipts] == [() for _ in users]
    return receipts


def without_commands() -> AbstractContextManager[Any]:
    """Puts stages into all workers that do not find the erasure's commands: compaction has removed them, and no other record yet."""
    return patch.object(Eraser, "erase", lambda *_: None)


@pytest.mark.parametrize("has_commands", [True, False])
async def test_words_of_an_erased_user_are_removed_from_groups(
    leased: Settings, store: MemoryStore, redis: GuardedRedis, *, has_commands: bool
) -> None:
    key = await add_key(leased, TENANT)
    async with quoting_extractor(), service_of(leased) as http:
        chat = Chat(http, key)
        async with serving(leased):
            await talk(chat, leased, store)
            before = await standing(leased, store, chat, b"A")
            assert before.keys() >= {
                "recall bob",
                "life_story bob",
                "life_story/history bob",
                "user_profile bob",
                "session s-open",
                "store",
            }, before.keys()
            others = words_in(await stored_contents(store, TENANT), _WORD)

            (receipt,) = await erased(leased, [LEAVING], store=store, redis=redis)

            assert await standing(leased, store, chat, b"A") == {}
            await until(lambda: not words_in_tables(leased, b"A"), deadline_s=60)
            assert await places_naming(leased, TENANT, LEAVING, store=store, redis=redis) == {}
            assert receipt.found["windows"] == 3, "one private window, and two that others shared"
            kept = {each for each in others if each[:1] in b"BC"}
            assert words_in(await stored_contents(store, TENANT), _WORD) == kept

            await chat.ask("POST", "/v1/flush", json={})
            await caught_up(leased)
        with pytest.raises(ReplayRefusedError, match="no longer begins at offset 0"):
            await replay(leased, "sessions", ReplayStart())
        await rebuild(leased, store=store, redis=redis)
        stages: AbstractContextManager[Any] = nullcontext() if has_commands else without_commands()
        with stages:
            async with serving(leased):
                await caught_up(leased)
            for stage in ("extraction", "events", "index"):
                await replay(leased, stage, ReplayStart())
            async with serving(leased):
                await caught_up(leased)
        async with serving(leased):
            assert await standing(leased, store, chat, b"A") == {}
            assert words_in(await stored_contents(store, TENANT), _WORD) >= kept
            assert await places_naming(leased, TENANT, LEAVING, store=store, redis=redis) == {}
            assert words_in_tables(leased, b"A") == set()


async def test_erasing_the_last_users_removes_the_windows(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """The users of one chat are erased one after the other, those of another at once."""
    key = await add_key(leased, TENANT)
    async with quoting_extractor(), service_of(leased) as http, serving(leased):
        chat = Chat(http, key)
        for session, users in (("s-one", ("ada", "bob")), ("s-two", ("carl", "cara"))):
            for user in users * 2:
                await chat.say(user, "I moved to WORD in May, and I love living there.", session=session)
        await chat.ask("POST", "/v1/flush", json={})
        await caught_up(leased)
        await erased(leased, ["ada"], store=store, redis=redis)
        assert await standing(leased, store, chat, b"A") == {}
        assert words_in(await stored_contents(store, TENANT), _WORD) >= chat.words["bob"]
        receipts = await erased(leased, ["bob", "carl", "cara"], store=store, redis=redis)
        assert [each.found["windows"] for each in receipts] == [1, 1, 1]
        assert await standing(leased, store, chat, b"ABC") == {}
        await until(lambda: not words_in_tables(leased, b"ABC"), deadline_s=60)
        for user in ("ada", "bob", "carl", "cara"):
            assert await places_naming(leased, TENANT, user, store=store, redis=redis) == {}
        windows = leased.topic("windows")
        assert (await standing_records(leased))[windows] == []
        made = step(1).contribution.model_copy(update={"user": "bob"})
        await store.put_steps([StepPoint(step(1).model_copy(update={"contribution": made}), at(0))])
        assert await places_naming(leased, TENANT, "bob", store=store, redis=redis) == {STORE: 1}, (
            "the check looks into the history as well"
        )


async def test_a_receipt_is_true_while_another_user_is_leaving(leased: Settings, store: MemoryStore, redis: GuardedRedis) -> None:
    """The other user's windows are not extracted again, and the unfinished erasure has not retracted what quotes the first user."""
    key = await add_key(leased, TENANT)
    async with quoting_extractor(), service_of(leased) as http, serving(leased):
        chat = Chat(http, key)
        for user in ("ada", "bob", "cara") * 2:
            await chat.say(user, "I moved to WORD in May, and I love living there.", session="s-one")
        await chat.ask("POST", "/v1/flush", json={})
        await caught_up(leased)
        with patch.object(ErasureRun, "_retract", killed), pytest.raises(Killed):
            await erase(leased, TENANT, ["ada"], by="test", store=store, redis=redis)
        await caught_up(leased)
        assert b"B" in {each[:1] for each in words_in((await standing_records(leased))[leased.topic("extractions")], _WORD)}
        await erased(leased, ["bob"], store=store, redis=redis)
        assert await standing(leased, store, chat, b"B") == {}
        assert await places_naming(leased, TENANT, "bob", store=store, redis=redis) == {}
        await erased(leased, ["ada"], store=store, redis=redis)
        assert await standing(leased, store, chat, b"AB") == {}
        assert words_in(await stored_contents(store, TENANT), _WORD) == chat.words["cara"]
        assert await places_naming(leased, TENANT, "ada", store=store, redis=redis) == {}
