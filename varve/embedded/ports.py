"""Ports on this machine."""

import atexit
import errno
import random
import socket
import threading
from typing import Final

from varve.errors import PortInUseError

HOST: Final = "127.0.0.1"
DRAWN_PORTS: Final = range(20_000, 32_000)
"""Below what a system gives to outgoing connections and to whoever asks for port 0 (Linux: from 32768 on; others: from 49152 on).

One of those may be gone before its owner listens, or while its owner is started anew.
"""
BLOCK: Final = 16
"""Ports that a pool takes at once: about what a stack needs."""


class PortPool:
    """Gives out ports, each once, and none that another pool has, be it another process's.

    A port that is given out is listened on seconds later. Until then nothing shows that it is taken. So a pool takes blocks, and keeps the
    first port of each bound: whoever finds it bound passes the block over.

    Args:
        ports: What it may give out.
    """

    def __init__(self, ports: range) -> None:
        self._ports = ports
        self._guards: list[socket.socket] = []
        self._left: list[int] = []
        self._lock = threading.Lock()

    def draw(self) -> int:
        """A TCP port that nothing listens on now.

        Raises:
            PortInUseError: If there is none.
        """
        with self._lock:
            while True:
                while self._left:
                    port = self._left.pop()
                    guard = _bound(port)
                    if guard is not None:
                        guard.close()
                        return port
                self._take_block()

    def close(self) -> None:
        """Gives the blocks back."""
        with self._lock:
            for guard in self._guards:
                guard.close()
            self._guards, self._left = [], []

    def _take_block(self) -> None:
        firsts = list(self._ports[::BLOCK])
        random.SystemRandom().shuffle(firsts)  # two processes with one seed would try the same ones
        for first in firsts:
            guard = _bound(first)
            if guard is not None:
                self._guards.append(guard)
                self._left = [port for port in range(first + BLOCK - 1, first, -1) if port in self._ports]
                return
        raise PortInUseError(f"no port from {self._ports.start} to {self._ports.stop - 1} is free: stop programs that hold them")


_POOL: Final = PortPool(DRAWN_PORTS)
atexit.register(_POOL.close)


def free_port() -> int:
    """A TCP port that nothing listens on now, and that nobody is given who does not ask for it by number.

    Raises:
        PortInUseError: If there is none.
    """
    return _POOL.draw()


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


def _bound(port: int) -> socket.socket | None:
    """A socket that holds the port, and does not listen; None where somebody else has it."""
    holder = socket.socket()
    try:
        holder.bind((HOST, port))
    except OSError as error:
        holder.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return holder
