"""The process that has loaded Varve and forks for each command: the eight processes of a stack load it once, not eight times.

Run as ``python -m varve.supervisor.fork_server SOCKET PARENT`` by :mod:`varve.supervisor.forked`. Each message on the socket is a ``varve``
command, with the descriptors of its log and of a pipe. Through the pipe the requester gets the process id at once and the exit code at the
end, as :data:`NUMBER`.

Only for Linux: the kernel kills this process with the one that started it, and the commands with this one.
"""

import ctypes
import os
import selectors
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

import orjson

from runtime.garbage import loading
from varve.supervisor.launch import die_with_parent

NUMBER: Final = struct.Struct("<q")
LARGEST_REQUEST: Final = 1_000_000
_LOADED: Final = ("varve.cli", "varve.settings_reading", "varve.embedded.stack_file", "streams.run", "api.serve", "streams.operations.jobs")
_PR_SET_NAME: Final = 15


def serve(requests: socket.socket, parent: int) -> dict[str, Any] | None:
    """Forks for each request.

    Args:
        requests: The socket.
        parent: Process id of the requester.

    Returns:
        In a fork, the command to run. In this process None, when the requester has closed its end.
    """
    die_with_parent(parent)
    # A Ctrl-C in the terminal is for the supervisor.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _load()
    server, pipes = os.getpid(), dict[int, int]()
    wake, woken = os.pipe()
    for each in (wake, woken):
        os.set_blocking(each, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    with selectors.DefaultSelector() as selector:
        for source in (requests, wake):
            selector.register(source, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if wake in ready:
                os.read(wake, 4096)
                _report_ended(pipes)
            if requests not in ready:
                continue
            request, descriptors, _, _ = socket.recv_fds(requests, LARGEST_REQUEST, 2)
            if not request:
                return None
            log, pipe = descriptors
            try:
                process = os.fork()
            except OSError as error:
                # Of no memory or too many processes. The supervisor tries again when the pipe ends without a process id.
                print(f"cannot fork: {error}", file=sys.stderr, flush=True)
                os.close(log)
                os.close(pipe)
                continue
            if process == 0:
                signal.set_wakeup_fd(-1)
                for descriptor in (wake, woken, pipe, *pipes.values()):
                    os.close(descriptor)
                _detach(log, server)
                return dict(orjson.loads(request))
            os.close(log)
            pipes[process] = pipe
            os.write(pipe, NUMBER.pack(process))


def run(command: dict[str, Any]) -> None:
    """Runs a command in this process, as ``python -m varve`` does."""
    os.environ.clear()
    os.environ.update(command["environment"])
    os.chdir(command["folder"])
    sys.argv = ["varve", *command["arguments"]]
    # The name in `top`; the command line is that of the fork server.
    ctypes.CDLL(None).prctl(_PR_SET_NAME, f"varve {command['arguments'][-1]}".encode(), 0, 0, 0)
    from varve.cli import main

    main()


def _load() -> None:
    """Loads what the workers and the service load; nothing that starts threads, which a fork would lose."""
    from extraction.offline.kept_literals import prepare_rules
    from runtime.settings import Settings

    with loading():
        for module in _LOADED:
            import_module(module)
        for stage in import_module("streams.stages.catalog").STAGES:
            import_module(f"streams.stages.{stage}.build")
        # Each process has the rules of the extraction, too: at its first text it would derive their literals for seconds.
        prepare_rules(Settings().cache_path)


def _detach(log: int, server: int) -> None:
    """Makes a fork a process as the supervisor starts others: in a separate session, with its output in its log."""
    die_with_parent(server)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for output in (1, 2):
        os.dup2(log, output)
    os.close(log)


def _report_ended(pipes: dict[int, int]) -> None:
    while pipes:
        process, status = os.waitpid(-1, os.WNOHANG)
        if process == 0:
            return
        # The supervisor may have ended, or may no longer want to know.
        with suppress(BrokenPipeError):
            os.write(pipes[process], NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(pipes.pop(process))


def main() -> None:
    """Serves requests; in a fork, runs the command."""
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        command = serve(requests, int(sys.argv[2]))
    if command is not None:
        run(command)


if __name__ == "__main__":
    main()
