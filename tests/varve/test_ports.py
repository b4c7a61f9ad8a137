"""Ports that the embedded servers and the tests' processes are given."""

import socket
from pathlib import Path

import pytest

from varve.embedded import ports
from varve.errors import PortInUseError

EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_no_outgoing_connection_can_hold_a_drawn_port() -> None:
    first = int(EPHEMERAL.read_text().split()[0]) if EPHEMERAL.exists() else 49_152
    if first < ports.DRAWN_PORTS.stop:
        pytest.skip(f"this machine gives outgoing connections ports from {first} on")
    assert all(ports.free_port() in range(1024, first) for _ in range(50))


def test_a_port_in_use_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as owner:
        first = ports.free_port()
        owner.bind((ports.HOST, first))
        monkeypatch.setattr(ports, "DRAWN_PORTS", range(first, first + 50))
        assert first not in {ports.free_port() for _ in range(500)}
        monkeypatch.setattr(ports, "DRAWN_PORTS", range(first, first + 1))
        with pytest.raises(PortInUseError, match=str(first)):
            ports.free_port()
