"""Names of the API that the console explains in words: none is missing."""

import re
from pathlib import Path
from typing import Final, get_args

from api.reads.explain_missing import Stop
from control.reextraction import State
from retrieval.request import Outcome
from runtime.settings import BudgetSettings, QuotaSettings

_ROOT: Final = Path(__file__).parents[3]
_PAGES: Final = _ROOT / "console" / "src" / "pages"


def _keys(path: str, table: str) -> set[str]:
    """The keys of an object literal."""
    text = (_PAGES / path).read_text().split(f"const {table}", 1)[1].split("\n};", 1)[0]
    return set(re.findall(r"^  (\w+):", text, re.MULTILINE))


def test_every_dead_letter_reason_is_explained() -> None:
    page = (_ROOT / "docs" / "reference" / "errors.md").read_text().split("## Dead-letter reasons")[1]
    documented = {name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert _keys("letters/reasons.ts", "REASONS") == documented


def test_every_outcome_of_a_candidate_is_explained() -> None:
    assert _keys("recall/outcomes.ts", "OUTCOMES") == {*get_args(Outcome), *get_args(Stop)}


def test_every_state_of_a_reextraction_has_words() -> None:
    assert _keys("reextractions/state.ts", "STATES") == set(get_args(State))


def test_the_form_of_limits_has_fields_of_the_settings() -> None:
    shown = set(re.findall(r'name: "(\w+)"', (_PAGES / "keys" / "limits.ts").read_text()))
    known = {*BudgetSettings.model_fields, *QuotaSettings.model_fields}
    assert known - shown == {"burst_s", "off_peak_start_hour", "off_peak_hours"}, "these are left to the command line and the API"
    assert shown <= known
