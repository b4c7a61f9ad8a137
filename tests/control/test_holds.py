"""Legal holds in the control log: they forbid erasures, contain no names, and are listed after their release."""

from datetime import UTC, datetime, timedelta

import pytest

from control import ControlState, Draft
from control.erasure import subject_of
from control.erasure_changes import begin_erasure
from control.errors import ChangeRefusedError, LegalHoldError, UnknownTenantError
from control.hold import ALL_USERS, Hold
from control.hold_changes import place_hold, release_hold
from tests.control_log import apply_change

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
USER = "ann-of-the-hill"
ANN = subject_of("acme", USER)


def placed(state: ControlState, user: str | None = USER, *, reason: str = "case 17", at: datetime = NOW) -> Hold:
    return apply_change(state, lambda draft: place_hold(draft, "acme", user, at=at, by="counsel", reason=reason))


def released(state: ControlState, user: str | None = USER) -> Hold:
    return apply_change(state, lambda draft: release_hold(draft, "acme", user, at=LATER, by="court", reason="settled"))


def erased(state: ControlState, user: str = USER) -> None:
    apply_change(state, lambda draft: begin_erasure(draft, "acme", user, at=NOW))


@pytest.mark.parametrize("user", [USER, None], ids=["of the user", "of the tenant"])
def test_a_hold_refuses_an_erasure_until_released(state: ControlState, user: str | None) -> None:
    placed(state, user)
    with pytest.raises(LegalHoldError, match=r"in force since 2025-01-01 00:00Z \(case 17\)"):
        erased(state)
    assert state.erasures == {}
    released(state, user)
    erased(state)
    assert [*state.erasures] == [ANN]


@pytest.mark.parametrize("user", ["", "ann\r", "x" * 257])
def test_a_hold_needs_a_possible_user(state: ControlState, user: str) -> None:
    with pytest.raises(ChangeRefusedError, match="no message can have the user"):
        placed(state, user)
    assert state.holds == {}


def test_a_hold_concerns_no_other_user(state: ControlState) -> None:
    placed(state)
    erased(state, "bob")
    assert state.hold_on("acme", subject_of("acme", "bob")) is None


def test_a_released_hold_stays_listed(state: ControlState) -> None:
    placed(state)
    released(state)
    (hold,) = Draft(state).holds("acme")
    assert (hold.placed_by, hold.reason, hold.released_by, hold.released_at, hold.release_reason) == (
        "counsel",
        "case 17",
        "court",
        LATER,
        "settled",
    )
    assert not hold.is_in_force
    again = placed(state, reason="case 18", at=LATER)
    assert (again.is_in_force, again.placed_at, again.release_reason) == (True, LATER, "")


def test_a_hold_placed_again_keeps_its_time(state: ControlState) -> None:
    placed(state)
    assert placed(state, reason="case 18", at=LATER).placed_at == NOW
    assert Draft(state).holds()[0].reason == "case 18"


def test_a_hold_names_no_user(state: ControlState) -> None:
    hold = placed(state)
    assert hold.subject == ANN
    assert USER.encode() not in hold.to_json()
    assert placed(state, None).subject == ALL_USERS


def test_a_hold_waits_for_an_erasure_under_way(state: ControlState) -> None:
    erased(state)
    for user in (USER, None):
        with pytest.raises(ChangeRefusedError, match="is under way since"):
            placed(state, user)
    assert placed(state, "bob").is_in_force


def test_a_hold_needs_a_reason_and_a_tenant(state: ControlState) -> None:
    with pytest.raises(ChangeRefusedError, match="reason"):
        placed(state, reason="")
    with pytest.raises(UnknownTenantError):
        apply_change(state, lambda draft: place_hold(draft, "nobody", USER, at=NOW, by="x", reason="y"))


def test_only_a_hold_in_force_is_released(state: ControlState) -> None:
    with pytest.raises(ChangeRefusedError, match="no hold in force on this user"):
        released(state)
    placed(state)
    released(state)
    with pytest.raises(ChangeRefusedError, match="no hold in force"):
        released(state)


def test_holds_are_read_from_the_log(state: ControlState) -> None:
    hold = placed(state)
    read = ControlState()
    read.take(hold.key, hold.to_json(), offset=0)
    assert read.hold_on("acme", ANN) == hold
    assert read.document(hold.key) == hold
