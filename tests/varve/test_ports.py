"""Ports that the embedded servers and the tests' processes are given."""

import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from varve.embedded import ports
from varve.errors import PortInUseError

BESIDE = range(ports.DRAWN_PORTS.stop, ports.DRAWN_PORTS.stop + 640)
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_no_outgoing_connection_can_hold_a_drawn_port() -> None:
    first = int(EPHEMERAL.read_text().split()[0]) if EPHEMERAL.exists() else 49_152
    if first < ports.DRAWN_PORTS.stop:
        pytest.skip(f"this machine gives outgoing connections ports from {first} on")
    assert all(ports.free_port() in range(1024, first) for _ in range(50))


@pytest.fixture
def few() -> range:
    """Two blocks that no process has, outside the pools of other tests."""
    for first in BESIDE[:: 2 * ports.BLOCK]:
        taken = range(first, first + 2 * ports.BLOCK)
        if not any(map(is_taken, taken)):
            return taken
    raise AssertionError("no two blocks are free")


def is_taken(port: int) -> bool:
    """Whether anybody has it, listening or not: this run's own pool holds ports, too."""
    with socket.socket() as probe:
        try:
            probe.bind((ports.HOST, port))
        except OSError:
            return True
    return False


def drawn(pool: ports.PortPool) -> list[int]:
    """All that a pool can give."""
    found = []
    with suppress(PortInUseError):
        while True:
            found.append(pool.draw())
    return found


def test_a_port_in_use_is_not_drawn(few: range) -> None:
    with socket.socket() as owner, closing(ports.PortPool(few)) as pool:
        owner.bind((ports.HOST, few.start + 3))
        found = drawn(pool)
        assert sorted(found) == [each for each in few if each % ports.BLOCK and each != few.start + 3]
        with pytest.raises(PortInUseError, match=str(few.start)):
            pool.draw()


def test_a_port_is_drawn_once_among_all_pools(few: range) -> None:
    with closing(ports.PortPool(few)) as one, closing(ports.PortPool(few)) as other, closing(ports.PortPool(few)) as late:
        # Nothing listens on what was drawn.
        found = [pool.draw() for _ in range(ports.BLOCK - 1) for pool in (one, other)]
        assert len(set(found)) == 2 * (ports.BLOCK - 1)
        assert drawn(late) == []
        one.close()
        assert len(drawn(late)) == ports.BLOCK - 1
        assert set(drawn(other)) == set()


def test_blocks_of_other_processes_are_skipped(few: range) -> None:
    pool_of = f"from varve.embedded.ports import PortPool; pool = PortPool(range({few.start}, {few.stop}))"
    code = f"{pool_of}; print(pool.draw(), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        theirs = int(process.stdout.readline())
        with closing(ports.PortPool(few)) as pool:
            found = drawn(pool)
            assert len(found) == ports.BLOCK - 1
            assert theirs // ports.BLOCK not in {each // ports.BLOCK for each in found}
        process.communicate("\n")


def test_a_preferred_port_is_given_once() -> None:
    port = ports.free_port()
    assert ports.preferred_port(port) == port
    again = f"from varve.embedded.ports import preferred_port; print(preferred_port({port}))"
    other = subprocess.run([sys.executable, "-c", again], capture_output=True, text=True, check=True)
    assert int(other.stdout) != port, "nothing listens on it yet, but another process was given it"
    assert ports.preferred_port(port) != port


def test_a_claim_ends_with_its_process() -> None:
    port = ports.free_port()
    code = f"from varve.embedded.ports import preferred_port; print(preferred_port({port}))"
    owner = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert (int(owner.stdout), owner.stderr) == (port, ""), "Python warns of a socket that is left open"
    assert ports.preferred_port(port) == port


def test_a_preferred_port_in_use_is_not_given() -> None:
    port = ports.free_port()
    with socket.socket() as owner:
        owner.bind((ports.HOST, port))
        owner.listen()
        assert ports.preferred_port(port) != port
    assert ports.preferred_port(port) == port
