"""Starts a command so that it cannot outlive the process that asked for it, however that one ends.

Run as a script of its own, ``python launch.py MODE PARENT LIFELINE -- COMMAND ...``, it becomes the command by ``exec`` and keeps its
process id, so that a signal to the child is a signal to the command.

The kernel does the killing on Linux (``kernel`` mode: ``PR_SET_PDEATHSIG`` survives an ``exec``). Elsewhere (``pipe`` mode) a small
watcher beside the command reads from a pipe whose other end only the parent holds: the pipe ends when the parent does.

The standard library only, and no import of Varve: this runs once for every child, before anything else.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys

PR_SET_PDEATHSIG = 1
WATCH_INTERVAL_S = 1.0


def main(arguments: list[str]) -> None:
    """Ties this process to its parent, then becomes the command.

    Args:
        arguments: ``[mode, parent's process id, file descriptor of the pipe, "--", command, ...]``.
    """
    mode, parent, lifeline, _, *command = arguments
    if mode == "kernel":
        _die_with_parent()
    else:
        _watch(int(lifeline))
    if os.getppid() != int(parent):
        raise SystemExit("the process that started this one has ended")
    os.execvp(command[0], command)


def _die_with_parent() -> None:
    """SIGKILL, not SIGTERM: it also ends a child that hangs, and every part of the stack survives it without loss."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise SystemExit(f"cannot tie the process to its parent: {os.strerror(ctypes.get_errno())}")


def _watch(lifeline: int) -> None:
    """Forks the watcher; returns in the process that becomes the command."""
    command = os.getpid()
    if os.fork() != 0:
        os.close(lifeline)
        return
    os.setsid()
    while os.getppid() == command:
        ended, _, _ = select.select([lifeline], [], [], WATCH_INTERVAL_S)
        if ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(command, signal.SIGKILL)
            break
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
