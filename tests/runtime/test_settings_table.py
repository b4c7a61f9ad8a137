import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from runtime.settings import EndpointSettings, LLMSettings, RedisSettings, Settings, SigningSettings, StoreSettings
from runtime.settings_table import MASK, setting_rows, settings_markdown

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def test_the_document_lists_all_settings() -> None:
    assert DOCUMENT.read_text() == settings_markdown(), "write it again: python -m runtime.settings_table > docs/reference/settings.md"


def test_the_document_has_a_section_for_each_group() -> None:
    sections = settings_markdown().split("\n## ")[1:]
    assert [each.split("\n")[0] for each in sections[:3]] == ["Every process", "`VARVE_KAFKA__*`", "`VARVE_CONTROL__*`"]
    assert not [each for each in sections[1:] if not each.split("\n")[2].endswith(".")]
    assert sum(each.count("\n| `VARVE_") for each in sections) == len(setting_rows(Settings()))


def test_every_setting_is_described() -> None:
    assert [row.name for row in setting_rows(Settings()) if not row.description] == []


def test_every_name_sets_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VARVE_KAFKA__PARTITIONS", "3")
    monkeypatch.setenv("VARVE_DATA", "/elsewhere")
    rows = {row.name: row.value for row in setting_rows(Settings())}
    assert rows["VARVE_KAFKA__PARTITIONS"] == "3"
    assert rows["VARVE_DATA"] == "/elsewhere"


def test_the_document_shows_defaults_despite_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "VARVE_KAFKA__BOOTSTRAP", "elsewhere:1")
    assert "elsewhere" not in settings_markdown()


def test_no_secret_is_shown() -> None:
    settings = Settings(
        signing=SigningSettings(secret=SecretStr("hush" * 8), previous_secrets=(SecretStr("hush-hush" * 4),)),
        redis=RedisSettings(url="redis://user:hush/re@dis-hush@host:6379/0"),
        store=StoreSettings(url="https://host:6333/?api-key=hush&timeout=3"),
        llm=LLMSettings(
            base_url="http://host/v1",
            api_key=SecretStr("hush-first"),
            fallbacks=(
                EndpointSettings(base_url="http://other/v1", model="m", api_key=SecretStr("hush-second")),
                EndpointSettings(base_url="https://me:hush-third@third/v1?subscription_token=hush-fourth&version=2", model="m"),
            ),
        ),
    )
    rows = {row.name: row.value for row in setting_rows(settings)}
    assert not [name for name, value in rows.items() if "hush" in value]
    assert rows["VARVE_REDIS__URL"] == f"redis://{MASK}@host:6379/0"
    assert rows["VARVE_LLM__API_KEY"] == MASK
    assert rows["VARVE_STORE__URL"] == f"https://host:6333/?api-key={MASK}&timeout=3"
    assert "http://other/v1" in rows["VARVE_LLM__FALLBACKS"]
    assert f"https://{MASK}@third/v1?subscription_token={MASK}&version=2" in rows["VARVE_LLM__FALLBACKS"]
