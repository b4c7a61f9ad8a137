"""Periods of a retention policy, their limits, and the results beyond them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import EntityPatch, Extraction
from memory.retention import (
    MESSAGES,
    READS,
    duration_of,
    is_due,
    is_older,
    limit_of,
    limits_at,
    merged_limits,
    messages_limit,
    reads_limit,
    without_old_results,
)
from tests.streams.agent_extractions import START, extraction

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LIMITS = st.dictionaries(st.sampled_from(["chat", "trip", "*"]), st.datetimes(timezones=st.just(UTC)), max_size=3)


@pytest.mark.parametrize(("period", "days"), [("90d", 90), ("8w", 56), ("1y", 365), ("48h", 2)], ids=["days", "weeks", "years", "hours"])
def test_periods_have_units(period: str, days: int) -> None:
    assert duration_of(period) == timedelta(days=days)


@pytest.mark.parametrize("period", ["", "90", "d", "0d", "-1d", "1.5d", "90 d", "90D", "1m", "101y", "9999999d", "९d"])
def test_other_texts_are_no_periods(period: str) -> None:
    with pytest.raises(ValueError, match=r"period|longer than 100 years"):
        duration_of(period)


def test_raw_messages_have_their_own_limit() -> None:
    policy = {"chat": "1d", MESSAGES: "2d"}
    assert limits_at(policy, NOW) == {"chat": NOW - timedelta(days=1)}
    assert messages_limit(policy, NOW) == NOW - timedelta(days=2)
    assert messages_limit({"chat": "1d"}, NOW) is None


def test_the_read_audit_has_a_limit_or_the_default() -> None:
    policy = {"chat": "1d", READS: "2d", "*": "3d"}
    assert limits_at(policy, NOW).keys() == {"chat", "*"}
    assert reads_limit(policy, NOW) == NOW - timedelta(days=2)
    assert reads_limit({"*": "3d"}, NOW) == NOW - timedelta(days=3)
    assert reads_limit({"chat": "1d"}, NOW) is None


def test_the_period_of_a_named_type_has_precedence() -> None:
    limits = limits_at({"chat": "1d", "*": "2d"}, NOW)
    assert (limit_of(limits, "chat"), limit_of(limits, "trip")) == (NOW - timedelta(days=1), NOW - timedelta(days=2))
    assert limit_of({"chat": NOW}, "trip") is None


def test_a_message_exactly_at_the_limit_is_kept() -> None:
    assert not is_older(NOW, {"chat": NOW}, "chat")
    assert is_older(NOW - timedelta(microseconds=1), {"chat": NOW}, "chat")


@given(one=LIMITS, other=LIMITS)
def test_merged_limits_never_fall(one: dict[str, datetime], other: dict[str, datetime]) -> None:
    merged = merged_limits(one, other)
    assert merged == merged_limits(other, one)
    assert merged.keys() == one.keys() | other.keys()
    assert all(merged[name] >= limits[name] for limits in (one, other) for name in limits)


def test_old_events_and_patches_are_left_out() -> None:
    before = _extraction()
    after = without_old_results(before, {"tool_use": START + timedelta(days=1)})
    assert (after.events, len(after.patches)) == ([], 1)
    assert without_old_results(before, {"agent_record": START + timedelta(days=1)}).patches == []
    assert without_old_results(before, {"tool_use": START}) is before


def test_an_old_fact_stated_recently_is_kept() -> None:
    before = _extraction()
    born = before.events[0].model_copy(update={"event_time": START - timedelta(days=20_000)})
    before = before.model_copy(update={"events": [born]})
    assert without_old_results(before, {"tool_use": START}).events == [born]


def test_an_extraction_is_due_once_per_limit() -> None:
    before, limit = _extraction(), {"tool_experience": START + timedelta(days=1)}
    assert is_due(before, limit, ["tool_experience"])
    assert not is_due(before, limit, ["agent_record"])
    done = before.model_copy(update={"retained": limit})
    assert not is_due(done, limit, ["tool_experience"])
    assert not is_due(done, {"tool_experience": START + timedelta(days=2)}, ["tool_experience"])
    assert is_due(done, {"tool_use": START + timedelta(days=2)}, ["tool_experience"])


def _extraction() -> Extraction:
    patch = EntityPatch(
        id="p1",
        entity_type="agent_record",
        entity_key="agent",
        field="procedures",
        replace="Use grep.",
        event_time=START,
        message_ids=["m0-0"],
    )
    return extraction(0, [("grep", 0), ("curl", 1)]).model_copy(update={"patches": [patch]})
