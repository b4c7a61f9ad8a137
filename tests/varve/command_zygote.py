"""A process that has loaded the command line, and forks for each command: a command costs a test some milliseconds instead of seconds.

It reads requests from standard input and writes the result of each to standard output, both as lines of JSON.
"""

import os
import signal
import sys
import time

import orjson

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _preload() -> None:
    """Loads what commands load while they run; nothing that starts threads, which a fork would lose."""
    import aiokafka
    import httpx
    import pydantic_settings
    import redis.asyncio
    import rich.live

    import control
    import runtime.kafka
    import runtime.settings
    import stores.build
    import streams.stages.catalog
    import varve.cli
    import varve.embedded.stack_file
    import varve.lag

    assert aiokafka
    assert httpx
    assert pydantic_settings
    assert redis.asyncio
    assert rich.live
    assert stores.build
    assert control
    assert runtime.kafka
    assert runtime.settings
    assert streams.stages.catalog
    assert varve.cli
    assert varve.embedded.stack_file
    assert varve.lag


def _run_command(request: dict[str, object]) -> None:
    """Runs a command in this process, a fork, and ends it."""
    os.setsid()
    output = os.open(str(request["output"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    # Nobody types: a command that reads its standard input waits forever.
    silent, _ = os.pipe()
    for descriptor, number in ((silent, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, number)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    sys.argv = ["varve", *request["arguments"]]  # type: ignore[misc]
    os.chdir(str(request["folder"]))

    from runtime.interruption import handle_signals
    from varve.cli import main

    # First of all, because a signal that arrives earlier would test nothing.
    handle_signals()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    main()


def _interrupt(process: int, number: int, after_s: float, deadline_s: float) -> dict[str, object]:
    """Sends a signal to a command after a time, and reports how it ended."""
    code = _wait(process, after_s)
    was_running, began = code is None, time.monotonic()
    if was_running:
        os.kill(process, number)
        code = _wait(process, deadline_s)
    seconds = time.monotonic() - began
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        has_left = False
    else:
        has_left = code is not None
    if code is None:
        os.waitpid(process, 0)
    return {"code": code, "was_running": was_running, "seconds": seconds, "has_left": has_left}


def _wait(process: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return None


def serve() -> None:
    """Answers requests until standard input ends."""
    _preload()
    for line in sys.stdin.buffer:
        request = orjson.loads(line)
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        process = os.fork()
        if process == 0:
            _run_command(request)
            sys.exit(0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        answer = _interrupt(process, request["signal"], request["after_s"], request["deadline_s"])
        sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
