"""Starts a command that ends with its parent, also when the parent is killed.

Run as a script, ``python launch.py MODE PARENT PIPE -- COMMAND ...``, it becomes the command by ``exec`` and keeps its process id, so that
a signal to the child is a signal to the command.

On Linux (``kernel`` mode) the kernel kills the command: ``PR_SET_PDEATHSIG`` survives an ``exec``. Elsewhere (``pipe`` mode) a watcher
process reads from a pipe whose write end only the parent holds: it reads the end of the file when the parent dies.

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
    """Has this process killed when its parent dies, then becomes the command.

    Args:
        arguments: ``[mode, parent's process id, file descriptor of the pipe, "--", command, ...]``.
    """
    mode, parent, pipe, _, *command = arguments
    if mode == "kernel":
        die_with_parent(int(parent))
    else:
        _watch_parent(int(pipe))
        _require_parent(int(parent))
    os.execvp(command[0], command)


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent dies.

    SIGKILL, not SIGTERM: it also ends a child that hangs, and no program of the stack loses data by it.

    Args:
        parent: The parent's process id. If it has ended already, this process ends.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise SystemExit(f"cannot set the parent-death signal: {os.strerror(ctypes.get_errno())}")
    _require_parent(parent)


def _require_parent(parent: int) -> None:
    if os.getppid() != parent:
        raise SystemExit("the process that started this one has ended")


def _watch_parent(pipe: int) -> None:
    """Forks the watcher; returns in the process that becomes the command."""
    command = os.getpid()
    if os.fork() != 0:
        os.close(pipe)
        return
    os.setsid()
    while os.getppid() == command:
        ended, _, _ = select.select([pipe], [], [], WATCH_INTERVAL_S)
        if ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(command, signal.SIGKILL)
            break
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
