"""A stage that does not get ready says what it waits for, in either form of the log."""

from pathlib import Path

import pytest

from runtime.settings import Settings
from varve.embedded.stack import EmbeddedStack
from varve.supervisor.process import ManagedProcess, ProcessSpec
from varve.supervisor.start_errors import waiting_stage
from varve.supervisor.supervisor import Program

LACKS = "the store holds nothing of partition 5: it was emptied; run `varve replay index`"
CONSOLE = f"2026-01-01T00:00:00Z [warning  ] retry_scheduled  [streams.engine.context] attempt=12 error={LACKS!r} stage=index wait_s=16.86"
QUOTED = CONSOLE.replace(repr(LACKS), repr('it\'s "away"'))
JSON = f'{{"stage":"index","attempt":12,"wait_s":16.86,"error":"{LACKS}","event":"retry_scheduled","level":"warning"}}'


@pytest.mark.parametrize(("line", "error"), [(CONSOLE, LACKS), (JSON, LACKS), (QUOTED, 'it\'s "away"')])
def test_the_last_retry_names_the_cause(line: str, error: str) -> None:
    found = waiting_stage(f"started\n{line}\n\n", name="index", path=Path("index.log"))
    assert str(found) == f"index is not ready: {error} (whole log: index.log)"


@pytest.mark.parametrize(
    "end", ["", "Traceback: it broke", '{"event":"worker_started"}', "retry_scheduled error=unquoted", "{} retry_scheduled"]
)
def test_other_final_lines_name_no_waiting_stage(end: str) -> None:
    assert waiting_stage(f"{CONSOLE}\n{end}" if end else "", name="index", path=Path("index.log")) is None


def test_each_stage_of_a_stack_is_asked(tmp_path: Path) -> None:
    levels = EmbeddedStack(settings=Settings(data=tmp_path)).levels()
    workers = [member for level in levels for member in level if isinstance(member, Program) and member.name in ("index", "sessions")]
    for worker in workers:
        spec: ProcessSpec = worker.prepare()
        spec.log.parent.mkdir(parents=True, exist_ok=True)
        spec.log.write_text(CONSOLE)
        assert str(ManagedProcess(spec).failure("was not ready")) == f"{worker.name} is not ready: {LACKS} (whole log: {spec.log})"
    assert len(workers) == 2
