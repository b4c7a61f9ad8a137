"""The process that owns an Edge shard: durability, exclusive ownership, and its clients."""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from stores.edge.client import EdgeStore
from stores.edge.protocol import Frame, read_frame
from stores.errors import StoreUnavailableError
from stores.port import MemoryFilter, RecallQuery, TenantScope
from tests.stores.edge_owner_process import EdgeOwnerProcess, launch_owner, standing_still
from tests.stores.factories import DIMENSION, LATE_DIMENSION, MODEL, deletions, embedding, memory, point

pytestmark = pytest.mark.integration

ACME = TenantScope("acme")


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[EdgeOwnerProcess]:
    with EdgeOwnerProcess(tmp_path / "edge") as process:
        yield process


@pytest.fixture
async def store(owner: EdgeOwnerProcess) -> AsyncIterator[EdgeStore]:
    built = EdgeStore(path=owner.socket)
    await built.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    yield built
    await built.close()


async def test_sigkill_loses_no_acknowledged_write(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    acknowledged: list[str] = []
    enough = asyncio.Event()

    async def write_until_killed() -> None:
        for index in range(100_000):
            written = memory(f"note {index}")
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
        [best, *_] = await store.recall(RecallQuery(filter=MemoryFilter(scope=ACME), text="note 199", embedding=embedding("note 199")))
        assert best.memory.content == "note 199"


async def test_a_clean_stop_keeps_everything_and_removes_the_socket(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    await store.upsert([point(memory(f"note {index}")) for index in range(50)])
    assert owner.stop(signal.SIGTERM) == 0
    assert not owner.socket.exists()
    with pytest.raises(StoreUnavailableError, match="unavailable"):
        await store.count(ACME)
    owner.start()
    assert await store.count(ACME) == 50


async def test_a_deletion_and_a_drop_survive_a_kill(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    kept, deleted = memory("kept"), memory("deleted")
    await store.upsert([point(kept), point(deleted)])
    await store.delete(ACME, deletions(deleted.id))
    owner.stop(signal.SIGKILL)
    owner.start()
    assert await store.scroll(ACME) == [kept]
    await store.drop()
    owner.stop(signal.SIGKILL)
    owner.start()
    assert await store.count(ACME) == 0
    await store.prepare(model=MODEL, dimension=DIMENSION, late_dimension=LATE_DIMENSION)
    await store.upsert([point(kept)])
    assert await store.count(ACME) == 1


def test_a_second_owner_of_the_folder_is_refused(owner: EdgeOwnerProcess, tmp_path: Path) -> None:
    assert owner.process is not None
    code, stderr = run_until_exit(owner.folder, tmp_path / "second.sock")
    assert code == 1
    assert stderr.count("\n") == 1
    assert f"already has an owner (process {owner.process.pid})" in stderr


def test_only_an_abandoned_socket_is_replaced(owner: EdgeOwnerProcess, tmp_path: Path) -> None:
    code, stderr = run_until_exit(tmp_path / "rival", owner.socket)
    assert (code, stderr.count("\n")) == (1, 1)
    assert "already listens" in stderr
    owner.stop(signal.SIGKILL)
    assert owner.socket.exists()
    owner.start()


def test_a_path_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    code, stderr = run_until_exit(tmp_path / "edge", tmp_path / ("x" * 108))
    assert code == 1
    assert "VARVE_STORE__SOCKET" in stderr


def test_an_unreadable_shard_is_reported_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "shard").mkdir()
    (tmp_path / "model.json").write_text('{"model": "made-up", "dimension": 8}')
    with tempfile.TemporaryDirectory() as short:
        code, stderr = run_until_exit(tmp_path, Path(short) / "edge.sock")
    assert (code, stderr.count("\n")) == (1, 1)
    assert "cannot be opened" in stderr


def test_only_the_same_user_may_open_the_socket(owner: EdgeOwnerProcess) -> None:
    assert os.stat(owner.socket).st_mode & 0o077 == 0


async def test_pipelined_requests_get_their_own_responses(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    stored = [memory(f"note {index}", tenant=f"tenant-{index % 4}") for index in range(200)]
    await store.upsert([point(each) for each in stored])
    clients = [EdgeStore(path=owner.socket) for _ in range(4)]

    async def query(client: EdgeStore, tenant: str, number: int) -> None:
        own = [each for each in stored if each.tenant == tenant]
        expected = own[number % len(own)]
        assert await client.get(TenantScope(tenant), [expected.id]) == [expected]
        found = await client.recall(
            RecallQuery(filter=MemoryFilter(scope=TenantScope(tenant)), text=expected.content, embedding=embedding(expected.content))
        )
        assert {each.memory.tenant for each in found} == {tenant}

    await asyncio.gather(*(query(clients[n % 4], f"tenant-{n % 3}", n) for n in range(300)))
    for client in clients:
        await client.close()


async def test_a_flood_does_not_delay_another_tenant(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    await store.upsert([point(memory(f"note {index}", tenant=tenant)) for index in range(300) for tenant in ("flood", "quiet")])
    answered: list[str] = []

    async def recall(tenant: str) -> None:
        query = RecallQuery(
            filter=MemoryFilter(scope=TenantScope(tenant)), text="note", embedding=embedding("note"), limit=1000, prefetch=1000
        )
        assert len(await store.recall(query)) == 300
        answered.append(tenant)

    await asyncio.gather(*(recall("flood") for _ in range(40)), recall("quiet"))
    # Those that are answered before its request has come in are no delay: on a busy machine eleven were, else two at most.
    assert answered.index("quiet") <= 20, "it came last, and asks for as much: in the order of coming forty would go before it"


async def test_a_hanging_owner_times_out(owner: EdgeOwnerProcess) -> None:
    assert owner.process is not None
    client = EdgeStore(path=owner.socket, timeout_s=1)
    await client.ping()
    owner.process.send_signal(signal.SIGSTOP)
    with pytest.raises(StoreUnavailableError, match=r"within 1 s"):
        await client.ping()
    owner.process.send_signal(signal.SIGCONT)
    other = EdgeStore(path=owner.socket)
    await other.ping()
    await client.ping()
    await other.close()
    await client.close()


async def test_a_closed_client_does_not_connect_again(owner: EdgeOwnerProcess) -> None:
    client = EdgeStore(path=owner.socket)
    await client.ping()
    with standing_still(owner):
        waiting = asyncio.create_task(client.ping())
        await asyncio.sleep(0)  # it has sent its request
        await client.close()
        with pytest.raises(StoreUnavailableError, match="its client was closed"):
            await waiting
    with pytest.raises(StoreUnavailableError, match="its client was closed"):
        await client.ping()
    await client.close()


async def test_malformed_frames_do_not_affect_other_clients(owner: EdgeOwnerProcess, store: EdgeStore) -> None:
    for malformed in (b"GET / HTTP/1.1\r\n\r\n", b"\x02\x00\x00\x00\x00\x00\x00\x00[]", b"\x05\x00\x00\x00\x00\x00\x00\x00{}"):
        reader, writer = await asyncio.open_unix_connection(str(owner.socket))
        writer.write(malformed)
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


async def test_a_missing_owner_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="unavailable"):
        await EdgeStore(path=tmp_path / "nobody").ping()


def run_until_exit(folder: Path, path: Path) -> tuple[int, str]:
    launched = launch_owner(folder, path)
    _, stderr = launched.communicate(timeout=60)
    return launched.returncode, stderr
