"""Ports on this machine."""

import errno
import random
import socket
from typing import Final

from varve.errors import PortInUseError

HOST: Final = "127.0.0.1"
DRAWN_PORTS: Final = range(20_000, 32_000)
"""Below what a system gives to outgoing connections and to whoever asks for port 0 (Linux: from 32768 on; others: from 49152 on).

One of those may be gone before its owner listens, or while its owner is started anew.
"""
_MAX_DRAWS: Final = 1000
_draws: Final = random.SystemRandom()  # two processes with one seed would draw the same ports


def free_port() -> int:
    """A TCP port that nothing listens on now, and that nobody is given who does not ask for it by number.

    Raises:
        PortInUseError: If there is none.
    """
    for _ in range(_MAX_DRAWS):
        port = _draws.choice(DRAWN_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
    raise PortInUseError(f"no port from {DRAWN_PORTS.start} to {DRAWN_PORTS.stop - 1} is free: stop programs that hold them")


def require_free(port: int, *, owner: str, option: str) -> None:
    """Refuses a port that something listens on.

    Args:
        port: The port.
        owner: Who wants it, for the message.
        option: What to give another port with, for the message.

    Raises:
        PortInUseError: If it is taken.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise PortInUseError(
                f"port {port} for {owner} is in use: stop the program that listens on it, or give another with {option}"
            ) from error


def listens(port: int) -> bool:
    """Whether something accepts connections on the port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((HOST, port)) == 0
