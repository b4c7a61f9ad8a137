"""Child processes: started, diagnosed, restarted, stopped, and never left running."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import VarveError
from runtime.resilience import Backoff, RestartPolicy
from tests.varve.varve_process import living, wait_until
from varve.embedded.ports import free_port
from varve.embedded.stack import health_check
from varve.errors import AccessDeniedError, DiskFullError, FolderInUseError, StartError
from varve.supervisor.lock import exclusive_lock
from varve.supervisor.process import MOST_UNANSWERED, ManagedProcess, ParentWatch, ProcessSpec, resident_bytes
from varve.supervisor.supervisor import OneShot, Program, Supervisor

DEADLINE_S = 30.0
SLEEPER = "import time; time.sleep(600)"
IGNORES_SIGTERM = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"

PARENT = """
import asyncio, sys, time
from pathlib import Path
from types import SimpleNamespace
from varve.supervisor.process import MOST_UNANSWERED, ManagedProcess, ProcessSpec

async def ready():
    return True

async def main():
    child = ManagedProcess(
        ProcessSpec(name="child", command=(sys.executable, "-c", "import time; time.sleep(600)"), log=Path(sys.argv[1]), ready=ready),
        parent_watch=sys.argv[2],
    )
    await child.start()
    print(child.pid, flush=True)
    time.sleep(600)

asyncio.run(main())
"""


async def test_a_process_is_started_when_it_is_ready(tmp_path: Path) -> None:
    marker = tmp_path / "ready"
    process = ManagedProcess(_spec(tmp_path, f"open({str(marker)!r}, 'w').close(); {SLEEPER}", ready=_exists(marker)))
    await process.start()
    assert marker.exists()
    assert process.pid is not None
    assert resident_bytes(process.pid) == pytest.approx(psutil.Process(process.pid).memory_info().rss, rel=0.5)
    assert await process.stop()
    assert process.pid is None
    assert process.exit_code == -signal.SIGTERM


async def test_a_failed_start_quotes_the_last_line_of_output(tmp_path: Path) -> None:
    code = "import sys; print('noise', flush=True); sys.exit('no configuration')"
    process = ManagedProcess(_spec(tmp_path, code, ready=_never))
    with pytest.raises(StartError, match=r"^part ended with exit code 1 while it started: no configuration \(whole log: .*\)$"):
        await process.start()


async def test_a_process_that_never_gets_ready_is_stopped(tmp_path: Path) -> None:
    process = ManagedProcess(_spec(tmp_path, SLEEPER, ready=_never, start_deadline_s=0.3))
    with pytest.raises(StartError, match=r"^part was not ready within 0 s"):
        await process.start()
    assert process.pid is None


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("OSError: [Errno 28] No space left on device", DiskFullError),
        ("java.nio.file.AccessDeniedException: /data/logs", AccessDeniedError),
        ("PermissionError: [Errno 13] Permission denied", AccessDeniedError),
    ],
)
async def test_a_file_system_error_becomes_one_sentence(line: str, error: type[VarveError], tmp_path: Path) -> None:
    process = ManagedProcess(_spec(tmp_path, f"import sys; print('at line 1', flush=True); sys.exit({line!r})", ready=_never))
    with pytest.raises(error) as caught:
        await process.start()
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("part ")


@pytest.mark.parametrize(("free", "error"), [(0, DiskFullError), (1 << 30, StartError)])
async def test_a_full_disk_takes_no_last_words(free: int, error: type[VarveError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(path: Path) -> SimpleNamespace:
        assert path == tmp_path
        return SimpleNamespace(free=free)

    monkeypatch.setattr("varve.supervisor.start_errors.shutil.disk_usage", usage)
    with pytest.raises(error, match="no space left" if free == 0 else "it wrote nothing"):
        await ManagedProcess(_spec(tmp_path, "import sys; sys.exit(1)", ready=_never)).start()


async def test_a_refused_start_leaves_no_open_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr("varve.supervisor.process.subprocess.Popen", refuse)
    before = psutil.Process().num_fds()
    for _ in range(3):
        with pytest.raises(BlockingIOError):
            await ManagedProcess(_spec(tmp_path, SLEEPER, ready=_never)).start()
    assert psutil.Process().num_fds() == before


async def test_only_the_output_of_this_run_is_diagnosed(tmp_path: Path) -> None:
    (tmp_path / "part.log").write_text("No space left on device\n")
    process = ManagedProcess(_spec(tmp_path, "import sys; sys.exit('other trouble')", ready=_never))
    with pytest.raises(StartError, match="other trouble"):
        await process.start()


async def test_the_log_of_a_running_process_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("varve.supervisor.process.ROTATE_BYTES", 10_000)
    monkeypatch.setattr("varve.supervisor.process.LOG_LOOK_S", 0.01)
    log, old, end = tmp_path / "part.log", tmp_path / "part.old.log", tmp_path / "end"
    code = f"""
import os, sys, time
print("x" * 20_000, flush=True)
while not os.path.exists({str(end)!r}):
    time.sleep(0.01)
sys.exit("the last words")
"""
    process = ManagedProcess(_spec(tmp_path, code))
    await process.start()
    ended = asyncio.create_task(process.wait_ended())
    await _eventually(lambda: old.exists() and log.stat().st_size == 0)
    end.touch()
    await ended
    assert log.read_text() == "the last words\n", "it goes on at the log's new end"
    assert str(process.failure("part ended")).startswith("part ended: the last words")


async def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "part.log"
    process = ManagedProcess(_spec(tmp_path, IGNORES_SIGTERM, ready=_prints(log, "up"), stop_deadline_s=0.2))
    await process.start()
    assert not await process.stop()
    assert process.exit_code == -signal.SIGKILL


@pytest.mark.parametrize("watch", ["kernel", "pipe"])
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
def test_a_child_does_not_outlive_a_killed_parent(watch: ParentWatch, tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "log"), watch], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        family = [child, *child.children(recursive=True)]
        parent.kill()
    wait_until(lambda: not living(family), seconds=DEADLINE_S, failure=lambda: f"{living(family)} outlived their parent")


async def test_the_pipes_watcher_does_not_outlive_its_command(tmp_path: Path) -> None:
    process = ManagedProcess(
        _spec(tmp_path, f"print('up', flush=True); {SLEEPER}", ready=_prints(tmp_path / "part.log", "up")), parent_watch="pipe"
    )
    await process.start()
    try:
        assert process.pid is not None
        watchers = psutil.Process(process.pid).children()
        assert len(watchers) == 1
        os.kill(process.pid, signal.SIGKILL)
    finally:
        await process.stop()
    await _eventually(lambda: not living(watchers))


async def test_levels_start_in_order_and_stop_in_reverse(tmp_path: Path) -> None:
    notices: list[str] = []
    journal = tmp_path / "journal"
    code = f"""
import signal, sys, time
def record(line):
    with open({str(journal)!r}, "a") as file:
        file.write(line + "\\n")
def stop(*_):
    record("stop " + sys.argv[1])
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
record("start " + sys.argv[1])
time.sleep(600)
"""

    async def step() -> None:
        with journal.open("a") as file:
            file.write("step\n")

    def program(name: str) -> Program:
        return Program(
            name=name, prepare=lambda: _spec(tmp_path, code, name=name, arguments=(name,), ready=_prints(journal, f"start {name}"))
        )

    supervisor = Supervisor([[program("first")], [OneShot(name="between", run=step)], [program("second")]], notice=notices.append)
    await supervisor.start()
    assert [state.phase for state in supervisor.programs] == ["ready", "ready"]
    await supervisor.stop()
    assert journal.read_text().split("\n")[:-1] == ["start first", "step", "start second", "stop second", "stop first"]
    assert notices == ["first: ready", "between: done", "second: ready"]
    assert [state.phase for state in supervisor.programs] == ["stopped", "stopped"]


async def test_a_killed_program_is_started_again(tmp_path: Path) -> None:
    supervisor = Supervisor(
        [[Program(name="part", prepare=lambda: _spec(tmp_path, SLEEPER))]],
        notice=lambda _: None,
        restart_policy=RestartPolicy(backoff=Backoff(initial_interval_s=0.01, maximum_interval_s=1.0)),
    )
    await supervisor.start()
    try:
        state = supervisor.programs[0]
        killed = state.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        await _eventually(lambda: state.restarts == 1 and state.phase == "ready")
        assert state.pid not in (None, killed)
        assert state.problem is not None
        assert state.problem.startswith("part ended with signal SIGKILL")
    finally:
        await supervisor.stop()


ANSWERS = """
import http.server, sys
class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Healthy)
print("up", flush=True)
server.serve_forever()
"""


async def test_a_hung_program_is_killed_and_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("varve.supervisor.process.LIVENESS_LOOK_S", 0.05)
    port, checks, notices = free_port(), list[bool](), list[str]()

    async def alive() -> bool:
        checks.append(await health_check(port, timeout_s=0.5)())
        return checks[-1]

    prepare = partial(_spec, tmp_path, ANSWERS, arguments=(str(port),), ready=_prints(tmp_path / "part.log", "up"), alive=alive)
    supervisor = Supervisor(
        [[Program(name="part", prepare=prepare)]],
        notice=notices.append,
        restart_policy=RestartPolicy(backoff=Backoff(initial_interval_s=0.01, maximum_interval_s=1.0)),
    )
    await supervisor.start()
    try:
        state = supervisor.programs[0]
        await _eventually(lambda: len(checks) > MOST_UNANSWERED)
        assert (state.restarts, all(checks)) == (0, True), "one that answers is left alone"
        hung = state.pid
        assert hung is not None
        os.kill(hung, signal.SIGSTOP)
        await _eventually(lambda: notices[-1] == "part: ready again")
        assert not living([psutil.Process(hung)] if psutil.pid_exists(hung) else [])
        assert "did not answer its health check and was killed" in notices[-2]
        assert checks.count(False) == MOST_UNANSWERED
    finally:
        await supervisor.stop()


async def test_a_program_not_prepared_is_started_later(tmp_path: Path) -> None:
    problems = [RuntimeError("unforeseen"), OSError("no space left on device")]
    preparations = 0

    def prepare() -> ProcessSpec:
        nonlocal preparations
        preparations += 1
        if preparations > 1 and problems:
            raise problems.pop(0)
        return _spec(tmp_path, SLEEPER)

    notices: list[str] = []
    supervisor = Supervisor(
        [[Program(name="part", prepare=prepare)]],
        notice=notices.append,
        restart_policy=RestartPolicy(backoff=Backoff(initial_interval_s=0.01, maximum_interval_s=1.0)),
    )
    await supervisor.start()
    try:
        state = supervisor.programs[0]
        assert state.process is not None
        state.process.signal(signal.SIGKILL)
        await _eventually(lambda: notices[-1] == "part: ready again")
        assert preparations == 4
        assert any("RuntimeError('unforeseen')" in each for each in notices)
        assert any("no space left on device" in each for each in notices)
    finally:
        await supervisor.stop()


DIES_TWICE = """
import os, signal, sys, time
from pathlib import Path
from types import SimpleNamespace
starts = Path(sys.argv[1])
starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
if len(starts.read_text()) <= 2:
    os.kill(os.getpid(), signal.SIGSEGV) if sys.argv[2] == "killed" else os._exit(os.EX_TEMPFAIL)
print("ready", flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize(("end", "shown"), [("killed", "signal SIGSEGV"), ("fenced", "exit code 75")])
@pytest.mark.parametrize("deaths", [1, 2])
async def test_a_program_may_end_while_it_starts(deaths: int, end: str, shown: str, tmp_path: Path) -> None:
    """Like a record that kills its worker until it becomes a dead letter, or a worker whose Kafka session ended meanwhile."""
    spec = partial(_spec, tmp_path, DIES_TWICE, arguments=(str(tmp_path / "starts"), end), ready=_prints(tmp_path / "part.log", "ready"))
    supervisor = Supervisor(
        [[Program(name="part", prepare=spec, deaths_while_starting=deaths)]],
        notice=lambda _: None,
        restart_policy=RestartPolicy(backoff=Backoff(initial_interval_s=0.01, maximum_interval_s=1.0)),
    )
    if deaths < 2:
        with pytest.raises(StartError, match=f"part ended with {shown} while it started"):
            await supervisor.start()
        return
    await supervisor.start()
    try:
        assert supervisor.programs[0].phase == "ready"
    finally:
        await supervisor.stop()


async def test_a_failed_start_stops_all_started_processes(tmp_path: Path) -> None:
    good = Program(name="good", prepare=lambda: _spec(tmp_path, SLEEPER, name="good"))
    bad = Program(name="bad", prepare=lambda: _spec(tmp_path, "import sys; sys.exit('no')", name="bad", ready=_never))
    supervisor = Supervisor([[good], [bad]], notice=lambda _: None)
    with pytest.raises(StartError, match=r"^bad ended with exit code 1 while it started: no"):
        await supervisor.start()
    assert [state.pid for state in supervisor.programs] == [None, None]


@given(runs=st.lists(st.floats(min_value=0, max_value=120), min_size=1, max_size=40))
def test_the_restart_interval_doubles_until_a_long_run(runs: list[float]) -> None:
    policy = RestartPolicy(backoff=Backoff(initial_interval_s=0.5, maximum_interval_s=30), reset_after_s=60)
    expected, crashes = 0.5, 0
    for ran_s in runs:
        expected = 0.5 if ran_s >= 60 else expected
        crashes = policy.crashes_in_a_row(crashes, ran_s=ran_s)
        assert policy.backoff.interval_s(crashes) == expected
        expected = min(30, expected * 2)


def test_a_data_folder_has_one_supervisor(tmp_path: Path) -> None:
    with (
        exclusive_lock(tmp_path),
        pytest.raises(FolderInUseError, match=rf"another `varve dev` \(process {os.getpid()}\) works on {tmp_path}: .*--data$"),
        exclusive_lock(tmp_path),
    ):
        pass
    with exclusive_lock(tmp_path):
        pass


async def _always() -> bool:
    return True


async def _never() -> bool:
    return False


def _exists(path: Path) -> Callable[[], Awaitable[bool]]:
    async def ready() -> bool:
        return await asyncio.to_thread(path.exists)

    return ready


def _prints(path: Path, text: str) -> Callable[[], Awaitable[bool]]:
    async def ready() -> bool:
        return await asyncio.to_thread(lambda: path.exists() and text in path.read_text())

    return ready


def _spec(
    folder: Path,
    code: str,
    *,
    name: str = "part",
    arguments: tuple[str, ...] = (),
    ready: Callable[[], Awaitable[bool]] = _always,
    alive: Callable[[], Awaitable[bool]] | None = None,
    start_deadline_s: float = DEADLINE_S,
    stop_deadline_s: float = DEADLINE_S,
) -> ProcessSpec:
    return ProcessSpec(
        name=name,
        command=(sys.executable, "-c", code, *arguments),
        log=folder / f"{name}.log",
        ready=ready,
        alive=alive,
        start_deadline_s=start_deadline_s,
        stop_deadline_s=stop_deadline_s,
    )


async def _eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not condition():  # noqa: ASYNC110 - it is the operating system that is waited for
            await asyncio.sleep(0.02)
