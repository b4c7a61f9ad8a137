"""A process ends on SIGINT and SIGTERM, whatever its work does with its cancellation."""

import asyncio
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest

from runtime.interruption import pause

PREPARED = """
import asyncio, os, sys, threading, time
from runtime import interruption
from runtime.interruption import handle_signals, pause, run, run_until_signal, stop_by
interruption.GRACE_S = 0.5

def started():
    print("started", flush=True)
"""
SWALLOWING = """
async def main():
    started()
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("swallowed", flush=True)
"""
CLEANING_UP = """
async def main():
    try:
        started()
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.1)
        print("cleaned up", flush=True)
"""
HANGING_THREAD = """
async def main():
    started()
    await asyncio.to_thread(time.sleep, 60)
"""
BLOCKED_LOOP = """
async def main():
    started()
    while True:
        time.sleep(0.01)
"""
FAILING_CLEAN_UP = """
async def main():
    try:
        started()
        await asyncio.sleep(60)
    finally:
        raise ConnectionError("the other end is away")
"""
LONG_CLEAN_UP = """
async def main():
    try:
        started()
        await asyncio.sleep(60)
    finally:
        print("cleaning up", flush=True)
        await asyncio.sleep(60)
"""


@dataclass
class Ended:
    code: int
    output: str
    seconds: float
    """From the first signal on."""


def ended(script: str, number: signal.Signals, *then: str) -> Ended:
    """Runs a script and sends it a signal: once it has said ``started``, and again once it has said each of ``then``."""
    with (
        subprocess.Popen([sys.executable, "-c", PREPARED + script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process,
        ExitStack() as at_end,
    ):
        at_end.callback(process.kill)
        assert process.stdout is not None
        output, began = "", 0.0
        for awaited in ("started", *then):
            while awaited not in output:
                line = process.stdout.readline()
                assert line, output
                output += line
            began = began or time.monotonic()
            process.send_signal(number)
        rest, _ = process.communicate(timeout=30)
        return Ended(process.returncode, output + rest, time.monotonic() - began)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("work", "says"), [(CLEANING_UP, "cleaned up"), (SWALLOWING, "swallowed"), (HANGING_THREAD, ""), (BLOCKED_LOOP, "")]
)
def test_the_process_ends_whatever_its_work_does(number: signal.Signals, work: str, says: str) -> None:
    done = ended(work + "handle_signals(); run(main())", number)
    assert done.code == 128 + number, done.output
    assert says in done.output
    assert "Traceback" not in done.output
    assert done.seconds < 10


def test_endless_work_ends_with_0() -> None:
    assert ended(CLEANING_UP + "handle_signals(); print(run_until_signal(main()))", signal.SIGTERM).output.endswith("cleaned up\nNone\n")
    assert ended(SWALLOWING + "handle_signals(); run_until_signal(main(), grace_s=0.5)", signal.SIGTERM).code == 0
    assert ended(SWALLOWING + "handle_signals(); run_until_signal(main(), grace_s=0.5, exit_code=None)", signal.SIGTERM).code == 143


def test_a_failure_of_interrupted_work_is_the_interruption() -> None:
    done = ended(FAILING_CLEAN_UP + "handle_signals(); run(main())", signal.SIGINT)
    assert done.code == 130
    assert "Traceback" not in done.output


def test_the_second_signal_ends_the_process_at_once() -> None:
    long = "handle_signals(); interruption.GRACE_S = 50; run(main())"
    done = ended(LONG_CLEAN_UP + long, signal.SIGINT, "cleaning up")
    assert (done.code, done.seconds < 30) == (130, True)


def test_the_third_signal_ends_the_process() -> None:
    script = LONG_CLEAN_UP + (
        "handle_signals(); interruption.GRACE_S = 50\n"
        "def on_repeat():\n    os.write(1, b'cleaning up again\\n')\n"
        "run_until_signal(main(), on_first=lambda: print('first', flush=True), on_repeat=on_repeat, grace_s=50, exit_code=None)"
    )
    done = ended(script, signal.SIGINT, "cleaning up\n", "cleaning up again\n")
    assert (done.code, done.seconds < 30) == (130, True)
    assert done.output.index("first") < done.output.index("cleaning up") < done.output.index("cleaning up again")


@pytest.mark.parametrize("loop_factory", ["None", "__import__('uvloop').new_event_loop"])
def test_a_signal_outside_the_main_thread_wakes_the_loop(loop_factory: str) -> None:
    script = f"""
import signal
def signal_this_thread():
    time.sleep(0.3)  # until the loop waits
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
async def main():
    threading.Thread(target=signal_this_thread).start()
    started()
    await asyncio.sleep(60)
handle_signals()
print(run_until_signal(main(), loop_factory={loop_factory}), time.monotonic() - began < 30)
"""
    done = subprocess.run(
        [sys.executable, "-c", PREPARED + "began = time.monotonic()" + script], capture_output=True, text=True, timeout=90
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\nNone True\n", "")


def test_the_time_to_clean_up_can_be_longer() -> None:
    work = CLEANING_UP.replace("sleep(0.1)", "sleep(1.0)")
    done = ended(work + "handle_signals(); run_until_signal(main(), grace_s=lambda: 30)", signal.SIGTERM)
    assert "cleaned up" in done.output


def test_a_signal_stops_work_as_requested() -> None:
    script = """
async def main():
    stop = asyncio.Event()
    stop_by(stop.set, grace_s=5)
    started()
    await stop.wait()
    return "stopped"
handle_signals()
print(run_until_signal(main()))
"""
    done = ended(script, signal.SIGTERM)
    assert (done.code, done.output) == (0, "started\nstopped\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_work_without_a_loop(number: signal.Signals) -> None:
    script = """
handle_signals()
try:
    started()
    time.sleep(60)
finally:
    print("cleaned up", flush=True)
"""
    done = ended(script, number)
    assert (done.code, done.output) == (128 + number, "started\ncleaned up\n")


def test_an_early_signal_prevents_the_work() -> None:
    script = """
import os, signal
handle_signals()
interruption._ending.stop = lambda: None  # as while the loop is made
started()
time.sleep(0.3)
async def main():
    await asyncio.sleep(0)
    print("went on", flush=True)
run(main())
"""
    done = ended(script, signal.SIGTERM)
    assert (done.code, done.output) == (143, "started\n")


def test_a_hang_at_process_exit_is_ended() -> None:
    script = """
handle_signals()
async def main():
    started()
    await asyncio.sleep(60)
threading.Thread(target=time.sleep, args=(60,)).start()
run(main())
"""
    assert ended(script, signal.SIGTERM).code == 143


def test_after_the_work_signals_are_handled_as_before() -> None:
    from runtime.interruption import run, run_until_signal

    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

    async def work() -> int:
        assert signal.getsignal(signal.SIGTERM) not in before
        return 3

    assert run(work()) == 3
    assert run_until_signal(work()) == 3
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


async def test_work_runs_in_another_thread_too() -> None:
    from runtime.interruption import run

    async def work() -> int:
        return 3

    assert await asyncio.to_thread(lambda: run(work())) == 3


async def test_a_swallowed_cancellation_ends_the_loop() -> None:
    rounds, waits = 0, asyncio.Event()

    async def swallowing() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            if rounds == 3:
                waits.set()
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            await pause(0)

    task = asyncio.create_task(swallowing())
    await waits.wait()
    task.cancel()
    async with asyncio.timeout(60):
        await asyncio.wait([task])
    assert task.cancelled()
    assert rounds == 3


def test_an_exit_swallowed_by_a_destructor_is_not_reported() -> None:
    script = """
handle_signals()
class Slow:
    def __del__(self):
        started()
        time.sleep(60)
async def main():
    await asyncio.sleep(0)
    print("went on", flush=True)
Slow()
run(main())
"""
    done = ended(script, signal.SIGINT)
    assert (done.code, done.output) == (130, "started\n")


def test_other_failures_of_destructors_are_reported() -> None:
    script = """
class Broken:
    def __del__(self):
        raise ValueError("broken")
async def main():
    Broken()
    started()
    await asyncio.sleep(60)
handle_signals()
run(main())
"""
    assert "ValueError: broken" in ended(script, signal.SIGINT).output
