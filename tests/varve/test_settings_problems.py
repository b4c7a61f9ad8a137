"""A wrong setting is reported with the variable that sets it."""

from pathlib import Path

import pytest

from varve.cli.options import load_settings
from varve.errors import SettingsError


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("VARVE_LLM__BASEURL", "http://llm", "llm.baseurl: unknown name"),
        ("VARVE_LLM", '{"baseurl": "x"}', "llm.baseurl"),
        ("varve_kafka__partitions", "none", "kafka.partitions"),
    ],
)
def test_a_problem_names_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, problem: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert problem in str(refused.value)
    assert f"(set by {variable})" in str(refused.value)


def test_a_problem_names_its_variable_in_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("VARVE_KAFKA__PARTITIONS=none\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=r"\(set by VARVE_KAFKA__PARTITIONS\)"):
        load_settings()


def test_the_environment_overrides_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("VARVE_KAFKA__PARTITIONS=3\nVARVE_METRICS_PORT=7000\nVARVE_DATA=elsewhere\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VARVE_METRICS_PORT", "8000")
    read = load_settings(tmp_path)
    assert (read.kafka.partitions, read.metrics_port, read.data) == (3, 8000, tmp_path)


@pytest.mark.parametrize(
    ("variable", "notice"),
    [
        ("VARVE_LLM_BASE_URL", "VARVE_LLM_BASE_URL is not a setting and has no effect; did you mean VARVE_LLM__BASE_URL?"),
        ("varve_lmm__model", "varve_lmm__model is not a setting and has no effect; did you mean VARVE_LLM__MODEL?"),
        (
            "VARVE_LLM__MODEL",
            "VARVE_LLM__MODEL has no effect without VARVE_LLM__BASE_URL: rules extract; the address of OpenAI is https://api.openai.com/v1",
        ),
        ("VARVE_OPENAI__KEY", "VARVE_OPENAI__KEY is not a setting and has no effect; see docs/reference/settings.md"),
    ],
)
def test_a_variable_without_effect_is_named_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, notice: str
) -> None:
    monkeypatch.setenv(variable, "x")
    load_settings()
    load_settings()
    assert capsys.readouterr().err == f"varve: {notice}\n"


def test_a_misspelt_variable_in_the_file_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("VARVE_REDIS_URL=redis://cache\n")
    monkeypatch.chdir(tmp_path)
    load_settings()
    assert "did you mean VARVE_REDIS__URL?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "variable", ["VARVE_SERVICE_HOST", "VARVE_SERVICE_PORT_8080_TCP", "VARVE_KAFKA_PORT", "VARVE_TEST_DATA", "VARVE_DATA"]
)
def test_variables_of_others_are_no_misspelt_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str
) -> None:
    monkeypatch.setenv(variable, "/x")
    load_settings()
    assert not capsys.readouterr().err


def test_a_value_that_is_no_json_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VARVE_LLM__FALLBACKS", "http://llm")
    with pytest.raises(SettingsError, match="VARVE_LLM__FALLBACKS: the value must be JSON"):
        load_settings()
