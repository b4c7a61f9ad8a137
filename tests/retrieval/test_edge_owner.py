"""The process that owns an Edge shard: what survives a kill, who may own what, and how its clients fare."""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from retrieval.errors import StoreUnavailableError
from retrieval.stores.edge.client import EdgeStore
from retrieval.stores.edge.protocol import Frame, read_frame
from retrieval.stores.port import RecallQuery, TenantScope
from tests.retrieval.edge_owner_process import EdgeOwnerProcess, launch_owner
from tests.retrieval.factories import DIMENSION, MODEL, embedding, memory, point

pytestmark = pytest.mark.integration

ACME = TenantScope("acme")


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[EdgeOwnerProcess]:
    with EdgeOwnerProcess(tmp_path / "edge") as process:
        yield process


@pytest.fixture
async def store(owner: EdgeOwnerProcess) -> AsyncIterator[EdgeStore]:
    built = EdgeStore(path=owner.socket)
    await built.prepare(model=MODEL, dimension=DIMENSION)
    yield built
    await built.close()


async def test_kill_minus_nine_in_the_middle_of_writing_loses_nothing_acknowledged(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    acknowledged: list[str] = []
    enough = asyncio.Event()

    async def write_until_killed() -> None:
        for place in range(100_000):
            written = memory(f"note {place}")
            await store.upsert([point(written)])
            acknowledged.append(written.id)
            if len(acknowledged) == 200:
                enough.set()

    for _ in range(3):
        acknowledged.clear()
        enough.clear()
        writing = asyncio.create_task(write_until_killed())
        await enough.wait()
        owner.stop(signal.SIGKILL)
        with pytest.raises(StoreUnavailableError):
            await writing
        owner.start()
        found = {each.id for start in range(0, len(acknowledged), 500) for each in await store.get(ACME, acknowledged[start : start + 500])}
        assert found == set(acknowledged)
        [best, *_] = await store.recall(RecallQuery(scope=ACME, text="note 199", embedding=embedding("note 199")))
        assert best.memory.content == "note 199"


async def test_a_clean_stop_keeps_everything_and_leaves_no_socket(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    await store.upsert([point(memory(f"note {place}")) for place in range(50)])
    assert owner.stop(signal.SIGTERM) == 0
    assert not owner.socket.exists()
    with pytest.raises(StoreUnavailableError, match="away"):
        await store.count(ACME)
    owner.start()
    assert await store.count(ACME) == 50


async def test_a_deletion_and_a_drop_survive_a_kill(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    kept, deleted = memory("kept"), memory("deleted")
    await store.upsert([point(kept), point(deleted)])
    await store.delete(ACME, [deleted.id])
    owner.stop(signal.SIGKILL)
    owner.start()
    assert await store.scroll(ACME) == [kept]
    await store.drop()
    owner.stop(signal.SIGKILL)
    owner.start()
    assert await store.count(ACME) == 0
    await store.prepare(model=MODEL, dimension=DIMENSION)
    await store.upsert([point(kept)])
    assert await store.count(ACME) == 1


def test_a_second_owner_of_the_folder_is_refused_in_one_sentence(owner: EdgeOwnerProcess, tmp_path: Path) -> None:
    assert owner.process is not None
    code, words = finished(owner.folder, tmp_path / "second.sock")
    assert code == 1
    assert words.count("\n") == 1
    assert f"already has an owner (process {owner.process.pid})" in words


def test_a_socket_in_use_is_refused_and_one_left_behind_is_removed(owner: EdgeOwnerProcess, tmp_path: Path) -> None:
    code, words = finished(tmp_path / "rival", owner.socket)
    assert (code, words.count("\n")) == (1, 1)
    assert "already answers" in words
    owner.stop(signal.SIGKILL)
    assert owner.socket.exists()
    owner.start()


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    code, words = finished(tmp_path / "edge", tmp_path / ("x" * 108))
    assert code == 1
    assert "VARVE_STORE__SOCKET" in words


def test_a_shard_that_cannot_be_opened_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "shard").mkdir()
    (tmp_path / "model.json").write_text('{"model": "made-up", "dimension": 8}')
    with tempfile.TemporaryDirectory() as short:
        code, words = finished(tmp_path, Path(short) / "edge.sock")
    assert (code, words.count("\n")) == (1, 1)
    assert "cannot be opened" in words


def test_the_socket_is_its_owners_alone(owner: EdgeOwnerProcess) -> None:
    assert os.stat(owner.socket).st_mode & 0o077 == 0


async def test_many_clients_and_pipelined_requests_each_get_their_own_answers(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    stored = [memory(f"note {place}", tenant=f"tenant-{place % 4}") for place in range(200)]
    await store.upsert([point(each) for each in stored])
    clients = [EdgeStore(path=owner.socket) for _ in range(4)]

    async def ask(client: EdgeStore, tenant: str, number: int) -> None:
        own = [each for each in stored if each.tenant == tenant]
        wanted = own[number % len(own)]
        assert await client.get(TenantScope(tenant), [wanted.id]) == [wanted]
        found = await client.recall(RecallQuery(scope=TenantScope(tenant), text=wanted.content, embedding=embedding(wanted.content)))
        assert {each.memory.tenant for each in found} == {tenant}

    await asyncio.gather(*(ask(clients[n % 4], f"tenant-{n % 3}", n) for n in range(300)))
    for client in clients:
        await client.close()


async def test_an_owner_that_does_not_answer_is_given_up(owner: EdgeOwnerProcess) -> None:
    assert owner.process is not None
    impatient = EdgeStore(path=owner.socket, timeout_s=0.2)
    await impatient.ping()
    owner.process.send_signal(signal.SIGSTOP)
    with pytest.raises(StoreUnavailableError, match=r"within 0\.2 s"):
        await impatient.ping()
    owner.process.send_signal(signal.SIGCONT)
    patient = EdgeStore(path=owner.socket)
    await patient.ping()
    await impatient.ping()
    await patient.close()
    await impatient.close()


async def test_a_client_that_talks_nonsense_harms_nobody(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    for nonsense in (b"GET / HTTP/1.1\r\n\r\n", b"\x02\x00\x00\x00\x00\x00\x00\x00[]", b"\x05\x00\x00\x00\x00\x00\x00\x00{}"):
        reader, writer = await asyncio.open_unix_connection(str(owner.socket))
        writer.write(nonsense)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    reader, writer = await asyncio.open_unix_connection(str(owner.socket))
    for header in ({"op": "burn"}, {"op": "count"}, {"op": "count", "filter": {"tenant": ""}}, {"op": "recall", "filter": {}}):
        writer.write(Frame(header).encoded())
        answer = await read_frame(reader)
        assert answer is not None
        assert answer.header["error"] == "rejected"
    writer.close()
    await writer.wait_closed()
    assert await store.count(ACME) == 0


async def test_a_client_finds_nobody(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="away"):
        await EdgeStore(path=tmp_path / "nobody").ping()


def finished(folder: Path, path: Path) -> tuple[int, str]:
    launched = launch_owner(folder, path)
    _, words = launched.communicate(timeout=60)
    return launched.returncode, words
