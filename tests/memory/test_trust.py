"""The trust that a tenant's rules give the memories that are based on their sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memory.records import Extraction, Window
from memory.records.trust import TrustLevel
from memory.sources import with_sources
from memory.trust import LEVELS, NO_RULES, TrustPolicy, level_of, lowest, trust_of
from tests.memory.sample_windows import CALL, IBAN, PAGE, extraction_of, window_of


def trust_in(window: Window, content: str, *evidence: int, rules: dict[str, TrustLevel], value: str = "") -> dict[str, TrustLevel]:
    extraction = with_sources(extraction_of(window, content, *evidence, value=value), window)
    return trust_of(Extraction.from_json(extraction.to_json()), TrustPolicy(sources=rules)).levels


@pytest.mark.parametrize("evidence", [(2,), (1, 2), (3,), (0,), (0, 3)])
def test_an_injected_iban_is_untrusted_whatever_it_names(evidence: tuple[int, ...]) -> None:
    """A model was made to state what a page says, and names any message of the window."""
    window = window_of({"text": "Please summarise the page"}, CALL, PAGE, {"role": "assistant", "text": f"Your IBAN is {IBAN}."})
    found = trust_in(window, f"The user's IBAN is {IBAN}", *evidence, rules={"tool:*": "untrusted"}, value=IBAN)
    assert found == {"e1": "untrusted", "p1": "untrusted"}


def test_own_words_stay_normal_next_to_a_page() -> None:
    window = window_of({"text": "I live in Oslo and my name is Ann"}, CALL, {**PAGE, "content": "Ann, the user, reads about Oslo"})
    assert trust_in(window, "The user Ann lives in Oslo", 0, rules={"tool:browser": "untrusted"}) == {}


def test_a_distrusted_message_does_not_count() -> None:
    window = window_of({"text": "I live in Oslo"}, {"text": "Lives in Oslo", "metadata": {"app": "crm"}})
    rules: dict[str, TrustLevel] = {"app:crm": "distrusted", "role:user": "trusted"}
    assert trust_in(window, "lives in Oslo", 0, 1, rules=rules) == {"e1": "trusted", "p1": "trusted"}
    assert trust_in(window, "lives in Oslo", 1, rules=rules) == {"e1": "distrusted", "p1": "distrusted"}


def test_a_named_tool_beats_the_wildcard() -> None:
    rules: dict[str, TrustLevel] = {"tool:*": "untrusted", "tool:calendar": "trusted"}
    assert level_of(["role:tool", "tool:calendar"], rules) == "trusted"
    assert level_of(["role:tool", "tool:browser"], rules) == "untrusted"
    assert level_of(["role:tool"], rules) == "normal"


@given(st.lists(st.sampled_from(LEVELS), min_size=1), st.sampled_from(LEVELS))
def test_more_sources_never_raise_trust(levels: list[TrustLevel], further: TrustLevel) -> None:
    assert LEVELS.index(lowest([*levels, further])) <= LEVELS.index(lowest(levels))


@pytest.mark.parametrize("name", ["browser", "tool:", "planet:mars", "tool:" + "x" * 201])
def test_unknown_kinds_of_sources_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        TrustPolicy(sources={name: "untrusted"})


def test_without_rules_nothing_has_a_level() -> None:
    window = window_of({"text": "I live in Oslo"})
    assert trust_of(with_sources(extraction_of(window, "I live in Oslo", 0), window), TrustPolicy()) is NO_RULES
