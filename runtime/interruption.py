"""Handling of SIGINT and SIGTERM: cancels the work, gives it some seconds to clean up, and then ends the process even if something hangs.

The first signal cancels the work and starts a deadline. A second signal, or the deadline, ends the process at once. A cancellation alone
is not enough: ``asyncio.wait_for``, which aiokafka uses, can swallow it in Python 3.11, and it does not reach a thread or a full pipe.
"""

import asyncio
import contextlib
import os
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from types import FrameType
from typing import Any, Final, TypeVar

_Result = TypeVar("_Result")
_Stop = Callable[[], None]

GRACE_S: Final = 5.0
"""Default time for cancelled work to clean up."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class _Ending:
    """State of the process's end after a signal."""

    def __init__(self) -> None:
        self.received: int | None = None
        """The first signal."""
        self.has_raised = False
        """Whether the handler has raised SystemExit."""
        self.stop: _Stop | None = None
        """Stops the running work; None: the handler itself raises SystemExit."""
        self.on_repeat: _Stop | None = None
        """Called by the second signal instead of ending the process; the third one ends it."""
        self.grace_s: Callable[[], float] = lambda: GRACE_S
        self.exit_code: int | None = None
        """Exit code of a forced end; None: 128 plus the number of the signal."""
        self._reading, self._writing = os.pipe()
        self._watchdog = threading.Thread(target=self._watch, name="interruption", daemon=True)
        self._watchdog.start()

    @property
    def code(self) -> int:
        """Exit code that shells expect of a process that a signal ended."""
        return 128 + (self.received or 0)

    def handle(self, number: int, _: FrameType | None) -> None:
        """Handles a signal, in the main thread, between any two of its instructions: it takes no lock."""
        if self.received is None:
            self.received = number
            self._set_deadline(self.grace_s())
            if self.stop is None:
                self.has_raised = True
                raise SystemExit(self.code)
            self.stop()
        elif self.on_repeat is not None:
            on_repeat, self.on_repeat = self.on_repeat, None
            self._set_deadline(GRACE_S)
            on_repeat()
        else:
            self._force()

    def close(self) -> None:
        """Ends the deadline."""
        os.close(self._writing)
        self._watchdog.join()
        os.close(self._reading)

    def is_own_exit(self, error: BaseException | None) -> bool:
        """Reports whether the handler raised this exception."""
        return self.received is not None and isinstance(error, SystemExit) and error.code == self.code

    def _set_deadline(self, seconds: float) -> None:
        os.write(self._writing, struct.pack("d", seconds))

    def _watch(self) -> None:
        """Waits for deadlines in a separate thread, because the main thread may hang."""
        seconds: float | None = None
        while True:
            if not select.select([self._reading], [], [], seconds)[0]:
                self._force()
            data = os.read(self._reading, 8)
            if not data:
                return
            (seconds,) = struct.unpack("d", data)

    def _force(self) -> None:
        os._exit(self.code if self.exit_code is None else self.exit_code)


_ending: _Ending | None = None


def handle_signals() -> None:
    """Installs the signal handlers of this module, which also work without an event loop. Call it in the main thread."""
    global _ending
    if _ending is None:
        _ending = _install()


def exit_code_of_signal() -> int | None:
    """The exit code after a signal for which the handler has raised SystemExit; None if it has not.

    Compiled code that a signal reaches may raise its own error instead of SystemExit: pydantic does while it builds a validator.
    """
    return _ending.code if _ending is not None and _ending.has_raised else None


def run(
    main: Coroutine[Any, Any, _Result],
    *,
    on_first: _Stop | None = None,
    on_repeat: _Stop | None = None,
    grace_s: Callable[[], float] = lambda: GRACE_S,
) -> _Result:
    """Runs a coroutine in a new event loop.

    Args:
        main: The coroutine.
        on_first: See :func:`run_until_signal`.
        on_repeat: See :func:`run_until_signal`.
        grace_s: See :func:`run_until_signal`.

    Returns:
        The coroutine's result.

    Raises:
        SystemExit: If a signal ended it; the code is 128 plus the number of the signal.
    """
    with _running(main) as (ending, runner):
        ending.grace_s, ending.on_repeat = grace_s, on_repeat
        try:
            return runner.run(_cancelled_by(ending, main, on_first=on_first))
        except (Exception, asyncio.CancelledError) as error:
            if ending.received is None:
                raise
            raise SystemExit(ending.code) from error


def run_until_signal(
    main: Coroutine[Any, Any, _Result],
    *,
    stop: _Stop | None = None,
    on_first: _Stop | None = None,
    on_repeat: _Stop | None = None,
    grace_s: float | Callable[[], float] = GRACE_S,
    exit_code: int | None = 0,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> _Result | None:
    """Runs a coroutine until a signal, which is its normal end.

    Args:
        main: The coroutine.
        stop: Called in the event loop by the first signal. Default: cancels the coroutine.
        on_first: Called in the event loop before that.
        on_repeat: Called by the second signal; the third one then ends the process. Default: the second one ends it.
        grace_s: Time for the coroutine to end after the signal, in seconds.
        exit_code: Exit code if it takes longer; None: 128 plus the number of the signal.
        loop_factory: Makes the event loop. Default: asyncio's own.

    Returns:
        The coroutine's result; None if a signal cancelled it.
    """
    with _running(main, loop_factory) as (ending, runner):
        ending.exit_code = exit_code
        ending.grace_s = grace_s if callable(grace_s) else lambda: grace_s
        ending.on_repeat = on_repeat
        try:
            return runner.run(_cancelled_by(ending, main, stop, on_first))
        except asyncio.CancelledError:
            if ending.received is None:
                raise
            return None


def stop_by(stop: _Stop, *, grace_s: float) -> None:
    """Replaces the handling of the first signal, once the work has started. Does nothing outside of :func:`run_until_signal`.

    Args:
        stop: Called in the event loop by the first signal instead of cancelling; called at once if a signal has already arrived.
        grace_s: Time for the work to end after that, in seconds.
    """
    if _ending is None or _ending.stop is None:
        return
    loop = asyncio.get_running_loop()
    _ending.stop = lambda: _call_soon(loop, stop)
    _ending.grace_s = lambda: grace_s
    if _ending.received is not None:
        stop()


async def pause(seconds: float) -> None:
    """Sleeps. Raises at once if a cancellation of the task was swallowed before, so that a loop does not run until the deadline.

    Raises:
        asyncio.CancelledError: If the task was or is cancelled.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    await asyncio.sleep(seconds)


async def _cancelled_by(
    ending: _Ending, main: Coroutine[Any, Any, _Result], stop: _Stop | None = None, on_first: _Stop | None = None
) -> _Result:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    cancel = task.cancel

    def on_signal() -> None:
        if on_first is not None:
            on_first()
        if stop is not None:
            stop()
        else:
            cancel()

    ending.stop = lambda: _call_soon(loop, on_signal)
    if ending.received is not None:
        on_signal()
    try:
        return await main
    finally:
        ending.stop = _remember


def _remember() -> None:
    """Does nothing: the signal is recorded, and there is nothing to cancel."""


def _call_soon(loop: asyncio.AbstractEventLoop, stop: _Stop) -> None:
    with contextlib.suppress(RuntimeError):  # the loop was just closed
        loop.call_soon_threadsafe(stop)


@contextlib.contextmanager
def _running(
    main: Coroutine[Any, Any, Any], loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> Iterator[tuple[_Ending, asyncio.Runner]]:
    """Handles signals for the length of a block, unless :func:`handle_signals` already does."""
    global _ending
    if threading.current_thread() is not threading.main_thread():
        # Python handles signals in the main thread only, so they do not end this coroutine.
        with asyncio.Runner(loop_factory=loop_factory) as runner, contextlib.closing(_Ending()) as ending:
            yield ending, runner
        return
    is_outermost = _ending is None
    try:
        handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        report = sys.unraisablehook
        ending = _ending = _ending or _install()
        # While the loop is made or closed, an exception out of the handler would leave it half open.
        ending.stop = _remember
        try:
            with _wakeups() as wakeups, asyncio.Runner(loop_factory=loop_factory) as runner:
                runner.get_loop().add_reader(wakeups, wakeups.recv, 64)
                yield ending, runner
        finally:
            ending.stop = None
            if is_outermost:
                for number, handler in handlers.items():
                    signal.signal(number, handler)
                sys.unraisablehook = report
                _ending = None
                ending.close()
    finally:
        main.close()


@contextlib.contextmanager
def _wakeups() -> Iterator[socket.socket]:
    """Yields a socket that receives a byte with every signal, so that a loop that reads it wakes.

    Python calls a handler between two instructions of the main thread. The handler of a signal that arrives just before the loop waits for
    events, or that the kernel delivers to another thread, would not run until the wait ends.
    """
    receiver, sender = socket.socketpair()
    with receiver, sender:
        receiver.setblocking(False)
        sender.setblocking(False)
        before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        try:
            yield receiver
        finally:
            signal.set_wakeup_fd(before)


def _install() -> _Ending:
    ending, report = _Ending(), sys.unraisablehook

    def report_unraisable(unraisable: Any) -> None:
        # Python cannot raise out of a destructor or a C callback. The signal is recorded: the next `run` or the deadline ends the process.
        if not ending.is_own_exit(unraisable.exc_value):
            report(unraisable)

    sys.unraisablehook = report_unraisable
    for number in _SIGNALS:
        signal.signal(number, ending.handle)
    return ending
