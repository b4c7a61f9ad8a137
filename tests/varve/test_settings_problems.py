"""A wrong setting is reported with the variable that sets it."""

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
