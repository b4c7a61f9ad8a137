"""Every family of keys in Redis that can hold a user's words, or traces of them, has a rule by which an erasure removes it."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Final

import pytest
from redis.asyncio import Redis

from memory.ids import entity_id, window_id, window_part_id
from memory.keys import encode_key
from memory.positions import LogPosition
from memory.records import Correction, Memory
from memory.schema.model import MemorySchema
from models.embedding.handover import VectorHandover
from models.llm.cache import AnswerCache, Lookup, Place
from models.llm.port import LLMAnswer
from runtime.redis.client import GuardedRedis
from runtime.redis.entity_view import EntityAsOf, EntityUpdate, EntityView
from runtime.redis.extraction_notes import KeyScope, KeyValueNotes, PromptEntities
from runtime.redis.idempotency_cache import Begun, IdempotencyCache
from runtime.redis.keys import HOLDS, Holds, KeyFamily
from runtime.redis.recall_history import RecallHistory, Returned
from runtime.redis.recent_patches import RecentPatch, RecentPatchStore, WindowPlace
from runtime.redis.sent_corrections import SentCorrections
from runtime.redis.session_history import SessionHistory
from runtime.redis.session_tail import SessionTail, SessionView, TailUpdate, TailWindow
from runtime.settings import Settings
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.redis_views import RULES, KeptOfUser, forget_in_notes_of_others, forget_views
from tests.control_log import known_tenants
from tests.extraction.embedders import CountingEmbedder
from tests.extraction.topic_stories import extraction_of, stories

TENANT: Final = "acme"
SESSION: Final = "s"
NOW: Final = datetime(2024, 5, 1, tzinfo=UTC)
PARTITIONS: Final = 2
SHARED: Final = stories("topic")
"""A schema whose entities all users share; their keys are matched by meaning."""
GROUP_WINDOW: Final = window_id(TENANT, "group", 0)
NOT_REMOVED: Final = frozenset({Holds.NOTHING, Holds.NAME})


def test_every_key_family_has_a_description() -> None:
    assert HOLDS.keys() == set(KeyFamily)


def test_every_family_with_words_or_traces_has_one_rule() -> None:
    ruled = Counter(chain.from_iterable(RULES.values()))
    assert ruled == Counter(family for family, holds in HOLDS.items() if holds not in NOT_REMOVED), (
        "give the new family a rule in streams/operations/erasure/redis_views.py, or say in HOLDS that it holds nothing of a user"
    )


def test_every_rule_is_tried_here() -> None:
    assert set(chain.from_iterable(WRITTEN.values())) == set(chain.from_iterable(RULES.values()))


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


def window_of(user: str) -> str:
    return window_id(TENANT, f"{SESSION}-{user}", 0)


def entity_of(schema: MemorySchema, user: str) -> str:
    return entity_id(TENANT, schema.entity_types[0].name, f"{user}s-topic", "")


def memory_of(user: str) -> Memory:
    return Memory(
        id=entity_of(SHARED, user), tenant=TENANT, user=user, kind="entity", type="t", content=f"{user}s word", entity_key=user,
        event_time=NOW, message_ids=[],
    )  # fmt: skip


async def write_tail(redis: GuardedRedis, user: str) -> None:
    said = TailWindow(0, (b'{"user":"%s","text":"word"}' % user.encode(),))
    await SessionTail(redis=redis).write(
        [TailUpdate(TENANT, f"{SESSION}-{user}", SessionView(closed=said, open=said), 0, 0, frozenset({user}))]
    )


async def write_history(redis: GuardedRedis, user: str) -> None:
    history = SessionHistory(redis=redis, ttl_s=600)
    gave = {"topic": f"{user}s word"}
    extraction = extraction_of([gave]).model_copy(update={"user": user, "session": f"{SESSION}-{user}", "window_id": window_of(user)})
    await history.add(extraction)


async def write_prompt(redis: GuardedRedis, user: str) -> None:
    await PromptEntities(redis=redis, ttl_s=600).remember(TENANT, window_of(user), "", [memory_of(user)])


async def write_lines(redis: GuardedRedis, user: str) -> None:
    patch = RecentPatch(
        entity_type="t", entity_key=user, field="f", removed=(), added=(f"{user}s word",), event_time=NOW, message_ids=("m",)
    )  # fmt: skip
    await RecentPatchStore(redis=redis).add(WindowPlace(TENANT, user, "", erased(user).home, 0), [patch])


async def write_values(redis: GuardedRedis, user: str) -> None:
    """Writes values of a user's own keys. Values of shared keys: :func:`test_values_of_keys_that_users_share_are_removed`."""
    await KeyValueNotes(redis=redis).add(KeyScope(TENANT, user, "", "topic"), [f"{user}s word"])


async def write_entity(redis: GuardedRedis, user: str) -> None:
    view = EntityView(redis=redis, ttl_s=600)
    await view.write([EntityUpdate(TENANT, entity_of(SHARED, user), EntityAsOf(1, memory_of(user)), 0, 0)])


async def write_vectors(redis: GuardedRedis, user: str) -> None:
    embedder = CountingEmbedder()
    await embedder.embed_documents([f"{user}s word"])
    assert await VectorHandover(redis=redis, embedder=embedder, ttl_s=60).offer((TENANT, user), [f"{user}s word"])


async def write_model_answer(redis: GuardedRedis, user: str) -> None:
    answer = LLMAnswer(text=f"{user}s word", model="m")
    await AnswerCache(redis=redis, ttl_s=600).put(Lookup(Place(TENANT, f"hash of {user}", window_of(user)), None), answer)


async def write_recall(redis: GuardedRedis, user: str) -> None:
    await RecallHistory(redis=redis).add([Returned(TENANT, user, [f"hash of {user}s word"])])


async def write_request(redis: GuardedRedis, user: str) -> None:
    answers = IdempotencyCache(redis=redis, ttl_s=600, max_bytes=10_000_000)
    begun = await answers.begin(encode_key(TENANT, user).decode(), "key", b"request")
    assert isinstance(begun, Begun)
    assert await answers.keep(begun, b"names what the user has")


async def write_correction(redis: GuardedRedis, user: str) -> None:
    of_user = {"id": "c", "tenant": TENANT, "user": user, "action": "correct", "memory_id": entity_of(SHARED, user), "by": "k", "time": NOW}
    await SentCorrections(redis=redis).note(Correction.model_validate(of_user), LogPosition("extractions", 0, 7))


WRITTEN: Final[dict[Callable[[GuardedRedis, str], Awaitable[None]], frozenset[KeyFamily]]] = {
    write_tail: frozenset({KeyFamily.OPEN, KeyFamily.CLOSED, KeyFamily.SESSIONS, KeyFamily.SESSIONS_OF}),
    write_history: frozenset({KeyFamily.SESSION_HISTORY}),
    write_prompt: frozenset({KeyFamily.SHOWN}),
    write_lines: frozenset({KeyFamily.RECENT_PATCHES}),
    write_values: frozenset({KeyFamily.VALUES}),
    write_entity: frozenset({KeyFamily.ENTITY}),
    write_vectors: frozenset({KeyFamily.VECTORS}),
    write_model_answer: frozenset({KeyFamily.LLM_ANSWERS, KeyFamily.LLM_ANSWERS_OF}),
    write_recall: frozenset({KeyFamily.RECALLED}),
    write_request: frozenset({KeyFamily.ANSWERS, KeyFamily.ANSWERS_INDEX, KeyFamily.ANSWERS_BYTES}),
    write_correction: frozenset({KeyFamily.CORRECTED}),
}
"""Functions that write keys of a user as the workers and the service do, with the families of these keys."""


def erased(user: str) -> ErasedUser:
    """A user of whom the log has a window in a session, which gave no extraction, and an entity that others share."""
    found = ErasedUser(TENANT, user, begun_at=NOW, partitions=PARTITIONS)
    found.sessions.add(f"{SESSION}-{user}")
    found.window_ids.add(window_of(user))
    found.erased_at = dict.fromkeys(range(PARTITIONS), 10)
    return found


async def forget(redis: GuardedRedis, user: str) -> None:
    tenants = known_tenants({TENANT: SHARED})
    found = erased(user)
    found.begin_trace(tenants)
    found.trace.note_entity(SHARED.entity_types[0].name, f"{user}s-topic", "")
    await forget_views(KeptOfUser.of(found, tenants=tenants, partitions=PARTITIONS), redis=redis, settings=Settings())


async def keys_of(client: Redis, redis: GuardedRedis, families: frozenset[KeyFamily]) -> set[bytes]:
    """The keys of some families that say anything, and the members of lists: a forgotten tail has left a place without a word."""
    found = set()
    for family in families:
        async for key in client.scan_iter(match=redis.key(family, "*")):
            if family is KeyFamily.SESSIONS:
                found |= {key + b" " + each for each in await client.zrange(key, 0, -1)}
            elif family not in {KeyFamily.OPEN, KeyFamily.CLOSED} or b"word" in (await client.get(key) or b""):
                found.add(key)
    return found


@pytest.mark.integration
@pytest.mark.parametrize("write", WRITTEN, ids=lambda write: write.__name__)
async def test_an_erasure_removes_all_written_keys(
    redis: GuardedRedis, client: Redis, write: Callable[[GuardedRedis, str], Awaitable[None]]
) -> None:
    families = WRITTEN[write]
    await write(redis, "bob")
    bobs = await keys_of(client, redis, families)
    await write(redis, "ada")
    assert {family for family in families for key in await keys_of(client, redis, frozenset({family})) - bobs} == families
    for _ in range(2):
        await forget(redis, "ada")
        assert await keys_of(client, redis, families) == bobs


@pytest.mark.integration
async def test_values_of_keys_that_users_share_are_removed(redis: GuardedRedis) -> None:
    """A window that is in a model's call gives values, and no extraction that would name their key."""
    notes, shared = KeyValueNotes(redis=redis), KeyScope(TENANT, None, "", "topic")
    await notes.add(shared, ["the merger with Initech"])
    await forget(redis, "ada")
    assert await notes.latest(shared) == ()


async def forget_group(redis: GuardedRedis) -> None:
    """Erases ada, who had written in a window with bob: the store has her words in an entity of bob's own."""
    tenants = known_tenants({TENANT: SHARED})
    found = ErasedUser(TENANT, "ada", begun_at=NOW, partitions=PARTITIONS)
    found.sessions.add("group")
    found.shared_in = {"group": {GROUP_WINDOW: {"ada", "bob"}}, "another": {"w-another": {"bob", "eve"}}}
    found.begin_trace(tenants)
    found.trace.note_entity(SHARED.entity_types[0].name, "bobs-topic", "")
    kept = KeptOfUser.of(found, tenants=tenants, partitions=PARTITIONS)
    assert kept.window_sharers == {"bob"}
    await forget_views(kept, redis=redis, settings=Settings())
    await forget_in_notes_of_others([kept], redis=redis, settings=Settings())


async def shown_to(prompts: PromptEntities, *windows: str) -> list[bool]:
    """Whether Redis still has what each window was shown."""
    return [await prompts.of(TENANT, each, "") is not None for each in windows]


@pytest.mark.integration
async def test_notes_about_a_shared_window_are_removed(redis: GuardedRedis, client: Redis) -> None:
    """They are kept by the window, or by the part of another user."""
    prompts, history = PromptEntities(redis=redis, ttl_s=600), SessionHistory(redis=redis, ttl_s=600)
    part, elsewhere = window_part_id(GROUP_WINDOW, "bob"), window_part_id("w-another", "bob")
    for window in (GROUP_WINDOW, part, elsewhere):
        await prompts.remember(TENANT, window, "", [memory_of("eve")])
    gave = {"topic": "adas word"}
    for session in ("group", "another"):
        await history.add(extraction_of([gave]).model_copy(update={"user": "bob", "session": session}))
    answers = AnswerCache(redis=redis, ttl_s=600)
    for about in (GROUP_WINDOW, "bob", "w-another"):
        await answers.put(Lookup(Place(TENANT, f"hash of {about}", about), None), LLMAnswer(text="adas word", model="m"))
    values = KeyValueNotes(redis=redis)
    for user in ("bob", "eve"):
        await values.add(KeyScope(TENANT, user, "", "topic"), ["adas word"])

    await forget_group(redis)

    assert await shown_to(prompts, GROUP_WINDOW, part, elsewhere) == [False, False, True]
    noted = [key async for key in client.scan_iter(match=redis.key(KeyFamily.SESSION_HISTORY, "*"))]
    assert [b"another" in key for key in noted] == [True]
    found = [await answers.get(Place(TENANT, f"hash of {each}", each)) for each in (GROUP_WINDOW, "bob", "w-another")]
    assert [each.answer is not None for each in found] == [False, False, True]
    assert [await values.latest(KeyScope(TENANT, each, "", "topic")) for each in ("bob", "eve")] == [(), ("adas word",)]


@pytest.mark.integration
async def test_reached_entities_leave_the_notes_of_others(redis: GuardedRedis) -> None:
    prompts, lines = PromptEntities(redis=redis, ttl_s=600), RecentPatchStore(redis=redis)
    await prompts.remember(TENANT, "w-eve", "", [memory_of("eve"), memory_of("bob")])
    await prompts.remember(TENANT, "w-eve-2", "", [memory_of("eve")])
    place = WindowPlace(TENANT, "eve", "", 0, 1)
    patches = [
        RecentPatch(
            entity_type=SHARED.entity_types[0].name, entity_key=key, field="f", removed=("adas word",), added=(), event_time=NOW,
            message_ids=("m",),
        )
        for key in ("bobs-topic", "eves-topic")
    ]  # fmt: skip
    for offset, each in enumerate(patches):
        await lines.add(replace(place, offset=offset), [each])
    await forget_group(redis)
    assert await shown_to(prompts, "w-eve", "w-eve-2") == [False, True]
    assert [each.entity_key for each in await lines.before(replace(place, offset=9))] == ["eves-topic"]
