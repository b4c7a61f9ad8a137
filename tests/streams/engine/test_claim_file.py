"""A worker's claims outlive its process, and what is no file of claims stops no worker."""

import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from runtime.metrics import Metrics
from streams.engine.failures.crash_journal import CrashJournal
from streams.engine.failures.journal_file import ClaimFile, read_claims
from streams.engine.failures.suspects import Claim
from streams.errors import LocalTableError

GROUP, TOPIC = "varve.sessions", "varve.messages"
CLAIMS = [Claim(0, 5, 9), Claim(3, 2**40, 2**40 + 7, 2, was_alone=True), Claim(1, 0, 0, 1)]
DYING = """
import asyncio, os, signal, sys
from pathlib import Path
from runtime.metrics import Metrics
from streams.engine.failures.crash_journal import CrashJournal

async def main():
    path, group, topic = sys.argv[1:4]
    claims = CrashJournal.open(Path(path), group=group, topic=topic, maximum_crashes=3, stage="test", metrics=Metrics(), is_lost=bool)
    async with claims.held(1, 10, 19):
        pass
    async with claims.held(0, 5, 5), claims.held(1, 20, 29):
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "claims"


def read(path: Path) -> list[Claim]:
    return read_claims(path, group=GROUP, topic=TOPIC)


def test_what_was_put_is_read_again(path: Path) -> None:
    file = ClaimFile(path, group=GROUP, topic=TOPIC, claims=CLAIMS[:1])
    slots = [file.put(claim) for claim in CLAIMS[1:]]
    assert read(path) == CLAIMS
    file.free(slots[0])
    assert read(path) == [CLAIMS[0], CLAIMS[2]]
    assert file.put(CLAIMS[1]) == slots[0], "a slot that is free is used again"
    file.close()
    assert read(path) == CLAIMS


def test_a_file_grows_with_its_claims(path: Path) -> None:
    file = ClaimFile(path, group=GROUP, topic=TOPIC)
    claims = [Claim(partition, 0, 0) for partition in range(1_000)]
    for claim in claims:
        file.put(claim)
    file.close()
    assert sorted(read(path), key=lambda claim: claim.partition) == claims


def test_a_killed_process_leaves_what_it_was_at(path: Path) -> None:
    for crashes in (1, 2):
        ended = subprocess.run([sys.executable, "-c", DYING, str(path), GROUP, TOPIC], capture_output=True, text=True, check=False)
        assert ended.returncode == -9, ended.stderr
        claims = CrashJournal.open(
            path, group=GROUP, topic=TOPIC, maximum_crashes=3, stage="test", metrics=(metrics := Metrics()), is_lost=bool
        )
        claims.close()
        assert read(path) == [Claim(0, 5, 5, crashes), Claim(1, 20, 29, crashes)]
        assert metrics.suspects.labels("test")._value.get() == 11


@pytest.mark.parametrize(("group", "topic"), [("varve.events", TOPIC), (GROUP, "varve.windows")])
def test_another_groups_claims_are_passed_over(group: str, topic: str, path: Path) -> None:
    ClaimFile(path, group=group, topic=topic, claims=CLAIMS).close()
    with capture_logs() as logs:
        assert read(path) == []
    assert [(entry["event"], entry["path"]) for entry in logs] == [("claims_ignored", str(path))]


@pytest.mark.parametrize("content", [b"", b"x", b"{}\n" * 2_000, bytes(5_000)])
def test_a_foreign_file_is_passed_over(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with capture_logs() as logs:
        assert read(path) == []
    assert [entry["event"] for entry in logs] == ["claims_ignored"]
    ClaimFile(path, group=GROUP, topic=TOPIC, claims=CLAIMS).close()
    assert read(path) == CLAIMS


def test_damaged_slots_are_passed_over(path: Path) -> None:
    ClaimFile(path, group=GROUP, topic=TOPIC, claims=CLAIMS).close()
    content = bytearray(path.read_bytes())
    begin = content.index(TOPIC.encode()) + len(TOPIC) + 1
    content[begin + 8] ^= 1
    path.write_bytes(content[: begin + 32 * 2 + 20])
    with capture_logs() as logs:
        assert read(path) == [CLAIMS[1]]
    assert [entry["slot"] for entry in logs] == [0, 2]


def test_no_file_is_no_claim(path: Path) -> None:
    with capture_logs() as logs:
        assert read(path) == []
    assert logs == []


def test_a_folder_that_takes_no_file_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(LocalTableError, match=str(path)):
        read(path)
    with pytest.raises(LocalTableError, match=str(path)):
        ClaimFile(path, group=GROUP, topic=TOPIC)
