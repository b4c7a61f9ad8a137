"""The dead letters of users who are erased: purged, but for those that their erasures cannot be finished with."""

from collections.abc import AsyncIterator

import pytest

from memory.headers import ERASURE, KIND
from memory.keys import distinct_key, encode_key
from memory.records import ErasureCommand
from runtime.clocks import ManualClock
from runtime.dead_letters import DeadLetterBox, LetterSelection
from runtime.kafka import Producer, create_topics
from runtime.settings import Settings
from streams.erasure.erased_user import ErasedUser
from streams.erasure.letters import note_what_entities_lack, purge_letters
from tests.one_broker import one_broker
from tests.runtime.dead_letters.letter_flow import NOON, Flow

pytestmark = pytest.mark.integration


@pytest.fixture
async def settings(kafka: str, topic_prefix: str) -> Settings:
    settings = Settings(kafka=one_broker(bootstrap=kafka, topic_prefix=topic_prefix, partitions=2))
    await create_topics(settings)
    return settings


@pytest.fixture
async def producer(settings: Settings) -> AsyncIterator[Producer]:
    async with Producer(kafka=settings.kafka) as producer:
        yield producer


@pytest.fixture
def box(settings: Settings, producer: Producer) -> DeadLetterBox:
    return DeadLetterBox(settings=settings, producer=producer, clock=ManualClock(NOON))


@pytest.fixture
def flow(settings: Settings, producer: Producer) -> Flow:
    return Flow(settings, producer)


@pytest.fixture
def ann() -> ErasedUser:
    return ErasedUser("acme", "ann", begun_at=NOON, partitions=2)


@pytest.fixture
def bob() -> ErasedUser:
    return ErasedUser("acme", "bob", begun_at=NOON, partitions=2)


async def contribution_refused(flow: Flow, user: str) -> None:
    key, value = encode_key("acme", "tool", "grep"), b'{"tenant": "acme", "user": "%s", "changes": []}' % user.encode()
    await flow.refused("contributions", "entities", key, value, await flow.record("contributions", key, value))


async def message_refused(flow: Flow, user: str) -> None:
    key, value = encode_key("acme", "s"), b'{"tenant": "acme", "user": "%s", "text": 3}' % user.encode()
    await flow.refused("messages", "sessions", key, value, await flow.record("messages", key, value))


async def test_what_entities_lack_cannot_be_taken_back(box: DeadLetterBox, flow: Flow, ann: ErasedUser, bob: ErasedUser) -> None:
    await contribution_refused(flow, "ann")
    await message_refused(flow, "bob")
    await note_what_entities_lack(box, "acme", [ann, bob])
    assert ann.problem is not None
    assert ann.problem.startswith(f"entities lack 1 contributions of user {ann.subject[:12]}, such as the dead letter ")
    assert "`varve dlq redrive`" in ann.problem
    assert bob.problem is None
    await box.redrive(LetterSelection(stage="entities"))
    ann.problem = None
    await note_what_entities_lack(box, "acme", [ann])
    assert ann.problem is None, "it has come by then"


async def test_letters_of_those_who_can_be_erased_go(box: DeadLetterBox, flow: Flow, ann: ErasedUser, bob: ErasedUser) -> None:
    key, command = distinct_key("acme", "ann"), ErasureCommand(tenant="acme", user="ann").to_json()
    at = await flow.record("extractions", key, command)
    await flow.refused("extractions", "events", key, command, at, headers=((KIND, ERASURE),))
    for user in ("ann", "bob", "bob", "eve"):
        await message_refused(flow, user)
    await purge_letters(box, "acme", [ann, bob])
    assert ann.problem is not None
    assert ann.problem.startswith(f"1 commands of the erasure of user {ann.subject[:12]} were refused")
    assert (ann.dead_letters, bob.problem, bob.dead_letters) == (0, None, 2)
    left = [await box.open(each.position) for each in await box.letters(LetterSelection())]
    assert sorted(b'"bob"' in (each.value or b"") for each in left) == [False, False, False]
