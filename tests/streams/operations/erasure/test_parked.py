"""Parked records with an erased user's words, in changelogs on a real broker."""

from collections.abc import Sequence
from unittest.mock import patch

import orjson
import pytest
from aiokafka.structs import OffsetAndMetadata

from control.tenants import TenantDirectory
from memory.keys import encode_key, marked_key
from memory.records import MergeRequest, Message
from memory.topics import MERGES, WINDOWS, TopicSpec
from runtime.kafka import ConsumerGroups, OutgoingRecord, Producer, TopicPartition, create_topic
from runtime.kafka.parked_note import ParkedNote
from runtime.settings import Settings
from streams.engine.failures.deferred_rows import record_row
from streams.engine.records import ConsumedRecord
from streams.engine.state.partition_state import changelog_topic
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.parked_records import ParkedRecords
from streams.stages.catalog import STAGES
from tests.made_records import made_window
from tests.streams.agent_extractions import START, TENANT, extraction
from tests.streams.flow import NewFlow
from tests.streams.operations.erasure.traced_records import headers_of

pytestmark = pytest.mark.integration

USER = "agent"
NEW = "v2"
WINDOW = extraction(0, [("grep", 0)])
MARKED = marked_key(encode_key(TENANT, USER), "w-1")
REACH = 10
SHARED_KEY = marked_key(encode_key(TENANT, "s-group", "shared"), "w-group")


@pytest.fixture
async def flow(new_flow: NewFlow) -> Settings:
    return await new_flow()


@pytest.fixture
def user(tenants: TenantDirectory) -> ErasedUser:
    found = ErasedUser(TENANT, USER, begun_at=START, partitions=2)
    found.begin_trace(tenants)
    found.trace.add(WINDOW.to_json(), headers_of(WINDOW))
    found.windows.add(MARKED)
    return found


async def park(settings: Settings, group: str, spec: TopicSpec, key: bytes, value: bytes | None, *, offset: int = 1) -> None:
    """Writes a parked record as a worker does that has stopped since: its row, and the number with the group's offset."""
    source, changelog = settings.topic(spec.name), changelog_topic(group)
    row = record_row(TENANT, ConsumedRecord(source, 0, offset, key, value, (), 0.0))
    await create_topic(changelog, config={"cleanup.policy": "compact"}, kafka=settings.kafka)
    async with Producer(kafka=settings.kafka) as producer:
        await producer.send_many([OutgoingRecord(changelog, row.key, row.value, partition=0)])
    note = ParkedNote.of({TENANT: 1}).text
    await ConsumerGroups(kafka=settings.kafka).commit(group, {TopicPartition(source, 0): OffsetAndMetadata(0, note)})


async def wait(settings: Settings, user: ErasedUser) -> None:
    merges = {TopicPartition(settings.topic(MERGES.name), 0): REACH}
    await ParkedRecords(settings, [NEW], merges=merges, patience_s=1.0).wait([user])


def question(user: ErasedUser, *, user_name: str | None = "another", key: str | None = None) -> bytes:
    """A question about an entity that the user's window reached, or about another one."""
    (entity, *_) = user.trace.entities
    return MergeRequest(
        tenant=TENANT,
        user=user_name,
        entity_type=entity.entity_type,
        entity_key=key or entity.entity_key,
        property="lessons",
        question={"text": "what grep is for"},
        time=START,
    ).to_json()


async def test_windows_of_a_stopped_generation_remain(flow: Settings, user: ErasedUser) -> None:
    group = STAGES["extraction"].group(flow.kafka.topic_prefix, NEW)
    await park(flow, group, WINDOWS, MARKED, b"{}")
    await wait(flow, user)
    assert user.problem is None
    assert user.remains == (f"1 window that the stopped workers of {group} have parked: removed when these workers run again",)
    assert user.kept_changelogs == {changelog_topic(group)}


async def test_windows_of_others_and_of_the_new_life_stay(flow: Settings, user: ErasedUser) -> None:
    group = STAGES["extraction"].group(flow.kafka.topic_prefix)
    await park(flow, group, WINDOWS, marked_key(encode_key(TENANT, "another"), "w-2"), b"{}")
    await park(flow, group, WINDOWS, marked_key(encode_key(TENANT, USER), "w-3"), b"{}", offset=2)
    await wait(flow, user)
    assert (user.problem, user.remains) == (None, ())


def shared_window(*users: str, last_offset: int, tenant: str = TENANT) -> bytes:
    """A parked window of several users, which ends at an offset of the first partition."""
    messages = [
        Message(tenant=tenant, user=user, session="s-group", id=f"m-{user}", text="hi", event_time=START) for user in users or ("left",)
    ]
    window = made_window(messages, id="w-group", users=list(users), last_offset=last_offset)
    # As the sessions stage writes it: a shared window has no single user.
    return orjson.dumps({name: each for name, each in orjson.loads(window.to_json()).items() if name != "user" or not users})


async def test_a_shared_window_with_the_user_remains(flow: Settings, user: ErasedUser) -> None:
    """Its key names the session, so its users say whose it is."""
    user.erased_at = {0: REACH}
    group = STAGES["extraction"].group(flow.kafka.topic_prefix, NEW)
    await park(flow, group, WINDOWS, SHARED_KEY, shared_window("another", USER, last_offset=REACH - 1))
    await wait(flow, user)
    assert user.remains == (f"1 window that the stopped workers of {group} have parked: removed when these workers run again",)


async def test_a_running_workers_shared_window_stops_the_receipt(flow: Settings, user: ErasedUser) -> None:
    user.erased_at = {0: REACH}
    group = STAGES["extraction"].group(flow.kafka.topic_prefix)
    await park(flow, group, WINDOWS, SHARED_KEY, shared_window("another", USER, last_offset=REACH - 1))

    async def running(_: object, groups: Sequence[str]) -> dict[str, int]:
        return dict.fromkeys(groups, 1)

    with patch.object(ConsumerGroups, "members", running):
        await wait(flow, user)
    assert user.problem is not None
    assert f"the workers of {group} still have 1 parked windows" in user.problem


async def test_other_shared_windows_stop_no_receipt(flow: Settings, user: ErasedUser) -> None:
    """Of others, of the new life, of another tenant, without users, and unreadable."""
    user.erased_at = {0: REACH}
    group = STAGES["extraction"].group(flow.kafka.topic_prefix)
    values = [
        shared_window("another", "eve", last_offset=1),
        shared_window("another", USER, last_offset=REACH),
        shared_window("another", USER, last_offset=1, tenant="umbrella"),
        shared_window(last_offset=1),
        b'{"users":["agent"]',
    ]
    for offset, value in enumerate(values):
        await park(flow, group, WINDOWS, SHARED_KEY, value, offset=offset)
    await wait(flow, user)
    assert (user.problem, user.remains) == (None, ())


@pytest.mark.parametrize("asked_for", ["another", USER])
async def test_a_question_about_the_user_stops_the_receipt(flow: Settings, user: ErasedUser, asked_for: str) -> None:
    """For any user: the model is asked about all that several users have said meanwhile."""
    await park(flow, STAGES["merging"].group(flow.kafka.topic_prefix), MERGES, b"k", question(user, user_name=asked_for))
    await wait(flow, user)
    assert user.problem is not None
    assert "in 1 question, parked for the tenant's budget" in user.problem
    assert "Raise the budget or wait" in user.problem


async def test_other_questions_stop_no_receipt(flow: Settings, user: ErasedUser) -> None:
    group = STAGES["merging"].group(flow.kafka.topic_prefix)
    await park(flow, group, MERGES, b"k", question(user, key="another-entity"))
    await park(flow, group, MERGES, b"k", question(user), offset=REACH)
    await park(flow, group, MERGES, b"k", b"{", offset=2)
    await wait(flow, user)
    assert (user.problem, user.remains) == (None, ())
