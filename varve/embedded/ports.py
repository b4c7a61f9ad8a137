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
"""Ports below the range for outgoing connections and for port 0 (Linux: from 32768 on; others: from 49152 on).

Another process could take a port of that range before its owner listens, or while its owner restarts.
"""
BLOCK: Final = 16
"""Ports that a pool reserves at once; about the number that a stack needs."""


class PortPool:
    """Draws each port once, and no port of another pool, also of another process.

    A process listens on its port only seconds after the draw; until then nothing shows that the port is taken. Therefore a pool reserves
    blocks and binds the first port of each. Other pools skip a block whose first port is bound.

    Args:
        ports: The ports that it may draw.
    """

    def __init__(self, ports: range) -> None:
        self._ports = ports
        self._guards: list[socket.socket] = []
        self._left: list[int] = []
        self._lock = threading.Lock()

    def draw(self) -> int:
        """Draws a TCP port on which nothing listens.

        Raises:
            PortInUseError: If no port is free.
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
        """Releases the blocks."""
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
_CLAIMS: Final[dict[int, socket.socket]] = {}
"""Preferred ports that this process was given."""


@atexit.register
def _release_all() -> None:
    """Closes the sockets, of which Python would warn at the end of the process."""
    _POOL.close()
    for port in tuple(_CLAIMS):
        release_preferred_port(port)


def free_port() -> int:
    """Draws a free TCP port that the system does not assign by itself.

    Raises:
        PortInUseError: If no port is free.
    """
    return _POOL.draw()


def preferred_port(port: int) -> int:
    """A well-known port, so that documented addresses work; another one if a program listens on it or another stack was given it.

    The claim ends with :func:`release_preferred_port` or the process. Until the owner listens, nothing else shows that the port is taken.

    Args:
        port: The preferred port.

    Raises:
        PortInUseError: If no port is free.
    """
    claim = _claimed(port)
    if claim is None:
        return free_port()
    try:
        require_free(port, owner="", option="")
    except PortInUseError:
        claim.close()
        return free_port()
    _CLAIMS[port] = claim
    return port


def release_preferred_port(port: int) -> None:
    """Ends this process's claim to a preferred port. Does nothing if it has none."""
    claim = _CLAIMS.pop(port, None)
    if claim is not None:
        claim.close()


def require_free(port: int, *, owner: str, option: str) -> None:
    """Raises an error if something listens on a port.

    Args:
        port: The port.
        owner: The intended user of the port, for the message.
        option: The option that sets another port, for the message.

    Raises:
        PortInUseError: If the port is in use.
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


def _claimed(port: int) -> socket.socket | None:
    """A socket that no other process can have while it is open; None if another has it. Its name is in the ports' own namespace (Linux)."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0varve-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _bound(port: int) -> socket.socket | None:
    """A socket that is bound to the port and does not listen; None if the port is in use."""
    holder = socket.socket()
    try:
        holder.bind((HOST, port))
    except OSError as error:
        holder.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return holder
