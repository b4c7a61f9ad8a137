"""The chart's files, as far as plain Python can check them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from deploy.chart.settings_schema import OWN, config_schema, secrets_schema
from deploy.chart.values_table import values_of
from runtime.settings import Settings
from runtime.settings_table import MASK, setting_rows

CHART = Path(__file__).parents[2] / "helm" / "varve"
KNOWN = {row.name: row.value for row in setting_rows(Settings.model_construct())}


def test_every_value_is_documented() -> None:
    assert undocumented((CHART / "values.yaml").read_text()) == []


def undocumented(text: str) -> list[str]:
    """Paths of values without a documented meaning, whose parents have none either."""
    documented = {value.path for value in values_of(text)}
    return [path for path in leaves(yaml.safe_load(text)) if not any(path == each or path.startswith(f"{each}.") for each in documented)]


def leaves(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def test_a_comment_is_attached_to_its_key() -> None:
    text = "# -- One\n# and more.\na: 1\nb:\n  # -- Two.\n  c: {d: 2}\n# No value.\ne: 3\n"
    assert list(values_of(text)) == [("a", 1, "One and more."), ("b.c", {"d": 2}, "Two.")]
    assert undocumented(text) == ["e"]


def test_the_templates_set_only_known_settings() -> None:
    named = {name for path in (CHART / "templates").iterdir() for name in re.findall(r"\bVARVE_[A-Z0-9_]+\b", path.read_text())}
    assert named - KNOWN.keys() == set()
    # Known to the image, or without a meaning in a cluster.
    assert named & OWN == OWN - {"VARVE_CACHE", "VARVE_STORE__SOCKET", "VARVE_TENANTS_FILE"}


def test_every_setting_can_be_given() -> None:
    free = config_schema()["properties"].keys()
    secret = set(secrets_schema()["propertyNames"]["enum"])
    client = {name for name in KNOWN if name.startswith("VARVE_CLIENT__")}
    assert free | secret | OWN | client == KNOWN.keys()
    assert not free & OWN


def test_no_secret_is_accepted_as_plain_text() -> None:
    secrets = {
        "VARVE_LLM__API_KEY",
        "VARVE_SIGNING__SECRET",
        "VARVE_KAFKA__SASL_PASSWORD",
        "VARVE_STORE__API_KEY",
        "VARVE_EMBEDDING__API_KEY",
    }
    masked = {row.name for row in setting_rows(Settings(signing={"secret": "s" * 32})) if row.value == MASK}
    assert (secrets | masked | {"VARVE_LLM__FALLBACKS", "VARVE_SIGNING__PREVIOUS_SECRETS"}) & config_schema()["properties"].keys() == set()
