"""The note of a worker's member id, by which other workers of the machine remove it from the group once it is killed."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from structlog.testing import capture_logs

from runtime.kafka import create_topic
from runtime.kafka.client import client_options
from runtime.kafka.groups import ConsumerGroups
from runtime.settings import KafkaSettings
from streams.engine.predecessor import KilledPeers, MemberNote
from streams.engine.state.folders import own_folder
from tests.one_broker import one_broker

GROUP = "t.sessions"
NO_BROKER = one_broker(bootstrap="127.0.0.1:1", topic_prefix="t.", request_timeout_s=1.0)


async def events_of_a_start(folder: Path, *, group_instance_id: str | None = None) -> list[str]:
    """The log events of a worker that starts in a folder while no broker answers."""
    with capture_logs() as logs:
        await MemberNote(folder).remove_predecessor(GROUP, NO_BROKER.model_copy(update={"group_instance_id": group_instance_id}))
    return [each["event"] for each in logs]


async def test_without_a_note_no_broker_is_asked(tmp_path: Path) -> None:
    assert await events_of_a_start(tmp_path) == []


async def test_a_static_member_stays_in_its_group(tmp_path: Path) -> None:
    MemberNote(tmp_path).write("sessions-1-8f2a")
    assert await events_of_a_start(tmp_path, group_instance_id="sessions-1") == []


async def test_a_worker_starts_though_no_broker_answers(tmp_path: Path) -> None:
    MemberNote(tmp_path).write("faust-8f2a")
    assert await events_of_a_start(tmp_path) == ["killed_worker_not_removed"]


def test_a_note_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    note = MemberNote(folder)
    with capture_logs() as logs:
        note.write("faust-8f2a")
    assert [each["event"] for each in logs] == ["member_not_recorded"]
    folder.mkdir()
    note.write("faust-8f2a")
    assert (folder / "membership").read_text() == "faust-8f2a"


@asynccontextmanager
async def a_member(kafka: KafkaSettings) -> AsyncIterator[str]:
    """A member of the group that answers no revocation; gives its id."""
    await create_topic("t.messages", config={}, kafka=kafka)
    consumer = AIOKafkaConsumer("t.messages", **client_options(kafka), group_id=GROUP, enable_auto_commit=False)
    await consumer.start()
    try:
        yield consumer._coordinator.member_id
    finally:
        await consumer.stop()


@pytest.mark.integration
async def test_only_a_killed_peer_is_removed(kafka: str, tmp_path: Path) -> None:
    settings = one_broker(bootstrap=kafka, topic_prefix="t.")
    groups = ConsumerGroups(kafka=settings)
    async with a_member(settings) as member:
        with own_folder(tmp_path, GROUP) as own:
            with own_folder(tmp_path, GROUP) as other, MemberNote(other).held() as note:
                note.write(member)
                peers = KilledPeers(own, GROUP, settings)
                await peers.remove()
                assert await groups.members([GROUP]) == {GROUP: 1}
            with capture_logs() as logs:
                await peers.remove()
            assert [each["event"] for each in logs] == ["killed_worker_removed"]


async def events_of_a_look(folder: Path, peer: Path, kafka: KafkaSettings, *, looks: int = 1) -> list[str]:
    """The log events of a worker that looks at the folder of a killed peer while no broker answers."""
    MemberNote(peer).write("faust-8f2a")
    peers = KilledPeers(folder, GROUP, kafka)
    with capture_logs() as logs:
        for _ in range(looks):
            await peers.remove()
    return [each["event"] for each in logs]


async def test_a_killed_peer_is_removed_once(tmp_path: Path) -> None:
    with own_folder(tmp_path, GROUP) as own:
        with own_folder(tmp_path, GROUP) as peer:
            pass
        assert await events_of_a_look(own, peer, NO_BROKER, looks=2) == ["killed_worker_not_removed"]


async def test_a_peer_of_another_group_is_left(tmp_path: Path) -> None:
    with ExitStack() as folders:
        own, other = (folders.enter_context(own_folder(tmp_path, group)) for group in (GROUP, f"{GROUP}.v2"))
        assert await events_of_a_look(own, other, NO_BROKER) == []


async def test_a_static_peer_stays_in_its_group(tmp_path: Path) -> None:
    static = NO_BROKER.model_copy(update={"group_instance_id": "sessions-1"})
    with own_folder(tmp_path, GROUP) as own:
        with own_folder(tmp_path, GROUP) as peer:
            pass
        assert await events_of_a_look(own, peer, static) == []
