"""Ports on this machine."""

import socket
from typing import Final

from varve.errors import PortInUseError

HOST: Final = "127.0.0.1"


def free_port() -> int:
    """A TCP port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


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
