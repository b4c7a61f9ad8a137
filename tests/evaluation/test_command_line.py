"""``python -m evaluation``: where reports go, and the messages for errors."""

import sys
from pathlib import Path

import orjson
import pytest

from evaluation.__main__ import main


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The input of ``evaluation capacity``, in a new folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ingest.json"
    path.write_bytes(orjson.dumps({"messages": 100, "memories": 50, "cpu_ms_per_message": {"index": 6.0}}))
    return path


def test_a_report_has_a_place_by_default(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluation", "capacity", "--data", str(measured)])
    main()
    assert orjson.loads(Path("build/reports/capacity.json").read_bytes())["costs"]["memories_per_message"] == 0.5


def test_a_report_is_written_to_the_given_path(measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluation", "capacity", "--data", str(measured), "--report", "elsewhere/here.json"])
    main()
    assert orjson.loads(Path("elsewhere/here.json").read_bytes())["costs"]["memories_per_message"] == 0.5
    assert not Path("build").exists()


def test_an_unwritable_report_is_printed(measured: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluation", "capacity", "--data", str(measured), "--report", str(measured / "here.json")])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    assert end.value.code == 1
    assert "| memories after a year |" in said.out
    assert str(measured) in said.err


def test_a_missing_file_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluation", "storage", "--data", str(tmp_path / "none.json")])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "none.json cannot be read" in capsys.readouterr().err
