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


@pytest.mark.parametrize(
    ("command", "content", "sentence"),
    [
        ("storage", None, "data.json cannot be read"),
        ("capacity", "{", "data.json is not JSON"),
        ("capacity", '{"messages": 1}', "has no cpu_ms_per_message: give the report of `make bench-ingest`"),
        ("situations", '[{"kind": "denied"}]', "0.turns: Field required"),
    ],
)
def test_a_wrong_file_is_reported_in_one_sentence(
    command: str, content: str | None, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setattr(sys, "argv", ["evaluation", command, "--data", str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert sentence in capsys.readouterr().err


def test_help_says_what_a_command_measures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["evaluation", "capacity", "--help"])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().out
    assert "what rates and users take" in said
    assert "the report of `make bench-ingest`" in said
