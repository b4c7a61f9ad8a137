"""Erasures in the control log: their end offsets only grow, they name no user, and readers know which records to skip."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control import ControlState, Draft
from control.access_keys import hash_key
from control.erasure import Erasure, subject_of
from control.erasure_changes import begin_erasure, extend_erasure, finish_erasure, require_none_unfinished
from control.errors import ChangeRefusedError, ControlLogBehindError, ErasureUnderWayError, UnknownTenantError
from control.generations.switching import tenants_to_write
from control.key_changes import add_key
from control.tenant_changes import add_generation, add_tenant, count_drop, set_generation
from control.tenants import TenantDirectory
from control.view import FixedControlView
from memory.keys import encode_key
from tests.control_log import add, apply_change

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
USER = "ann-of-the-hill"
ANN = subject_of("acme", USER)

Reaches = Mapping[str, Mapping[int, int]]

OFFSETS = st.dictionaries(st.integers(0, 5), st.integers(0, 50), max_size=4)
REACHES = st.dictionaries(st.sampled_from(["messages", "windows"]), OFFSETS, max_size=2)


def new_state() -> ControlState:
    """Two tenants: acme and umbrella."""
    state = ControlState()
    for tenant in ("acme", "umbrella"):
        apply_change(state, add(tenant, "companion"))
    return state


def add_bound_key(state: ControlState, name: str, user: str | None) -> None:
    apply_change(state, lambda draft: add_key(draft, "acme", hash_key(name), now=NOW, label=name, user=user))


def begun(state: ControlState, *, at: datetime = NOW, reason: str = "", tenant: str = "acme", user: str = USER) -> Erasure:
    return apply_change(state, lambda draft: begin_erasure(draft, tenant, user, at=at, reason=reason))


def extended(state: ControlState, reaches: Reaches, subject: str = ANN) -> Erasure:
    return apply_change(state, lambda draft: extend_erasure(draft, subject, reaches))


def finished(state: ControlState, subject: str = ANN, *, begun_at: datetime = NOW) -> Erasure:
    remains = ("a dead letter",)
    return apply_change(
        state,
        lambda draft: finish_erasure(draft, subject, begun_at=begun_at, at=LATER, gone_by=LATER, found={"windows": 3}, remains=remains),
    )


def has_reached(state: ControlState, offset: int, *, partition: int = 0, topic: str = "messages") -> bool:
    return TenantDirectory(FixedControlView(state)).is_erased("acme", USER, topic, partition, offset)


def test_an_erasure_is_begun_extended_and_finished() -> None:
    state = new_state()
    first = begun(state, reason="asked by letter")
    assert (first.tenant, first.subject, first.requested_at, first.reason) == ("acme", ANN, NOW, "asked by letter")
    assert (first.reaches, first.finished_at) == ({}, None)
    assert extended(state, {"messages": {1: 7}}).reaches == {"messages": (0, 7)}
    receipt = finished(state)
    assert (receipt.finished_at, receipt.gone_by, receipt.found, receipt.remains) == (LATER, LATER, {"windows": 3}, ("a dead letter",))
    assert receipt.reaches == {"messages": (0, 7)}
    assert state.erasures == {ANN: receipt.model_copy(update={"revision": 3})}


def test_a_second_request_keeps_offsets_and_starts_again() -> None:
    state = new_state()
    begun(state, reason="asked by letter")
    extended(state, {"messages": {0: 4}})
    finished(state)
    again = begun(state, at=LATER, reason="asked once more")
    assert (again.requested_at, again.reason, again.finished_at, again.gone_by) == (LATER, "asked once more", None, None)
    assert again.reaches == {"messages": (4,)}
    assert has_reached(state, 3)


def test_a_newer_request_is_not_marked_done() -> None:
    state = new_state()
    begun(state)
    begun(state, at=LATER, reason="asked once more")
    receipt = finished(state, begun_at=NOW)
    assert (receipt.found, receipt.finished_at, receipt.gone_by) == ({"windows": 3}, None, None)
    assert finished(state, begun_at=LATER).finished_at == LATER


def test_requests_stay_ordered_when_a_clock_is_set_back() -> None:
    """The run of the first request ends after the second one, and has not erased what was sent between them."""
    state = new_state()
    first = begun(state, at=LATER + timedelta(hours=1))
    second = begun(state, at=LATER)
    assert second.requested_at > first.requested_at
    assert finished(state, begun_at=first.requested_at).finished_at is None
    assert finished(state, begun_at=second.requested_at).finished_at == second.requested_at, "not before what was asked for"


def test_the_oldest_unfinished_erasure_is_known() -> None:
    state = new_state()
    assert state.unfinished_since() is None
    begun(state, at=LATER)
    begun(state, user="bob")
    assert state.unfinished_since() == NOW
    finished(state, subject_of("acme", "bob"))
    assert state.unfinished_since() == LATER
    finished(state, begun_at=LATER)
    assert state.unfinished_since() is None


def test_a_users_own_keys_open_nothing_more() -> None:
    state = new_state()
    for name, user in (("a", USER), ("b", "bob"), ("c", None), ("d", USER)):
        add_bound_key(state, name, user)
    begun(state)
    assert [each.label for each in state.tenants["acme"].keys] == ["b", "c"]
    assert finished(state).found == {"windows": 3, "api_keys": 2}
    begun(state)
    assert finished(state).found == {"windows": 3, "api_keys": 2}, "asked for once more it finds none, and the receipt keeps them"


def test_the_audit_of_a_key_names_no_user() -> None:
    state = new_state()
    add_bound_key(state, "a", USER)
    tenant = state.tenants["acme"]
    assert USER in tenant.to_json().decode()
    audited = str(tenant.audited())
    assert USER not in audited
    assert f"sha256:{ANN}" in audited


@pytest.mark.parametrize("user", ["", "x" * 257, "ann\r", " ", ".."])
def test_a_user_without_messages_cannot_be_erased(user: str) -> None:
    state = new_state()
    with pytest.raises(ChangeRefusedError, match="no message can have the user"):
        begun(state, user=user)
    assert state.erasures == {}


def test_messages_sent_during_an_erasure_may_be_sent_again() -> None:
    """Their windows are erased, so that they must not count as known."""
    state = new_state()
    tenants = TenantDirectory(FixedControlView(state))
    epochs = [tenants.erasure_epoch("acme", USER)]
    begun(state)
    epochs.append(tenants.erasure_epoch("acme", USER))
    extended(state, {"messages": {0: 5}})
    assert tenants.erasure_epoch("acme", USER) == epochs[-1]
    extended(state, {"windows": {1: 7}})
    epochs.append(tenants.erasure_epoch("acme", USER))
    finished(state)
    assert tenants.erasure_epoch("acme", USER) == epochs[-1]
    assert len({*epochs}) == 3
    assert epochs[0] == tenants.erasure_epoch("acme", "bob") == ""


@given(st.lists(REACHES, max_size=6))
def test_an_erasure_offset_never_decreases(steps: list[Reaches]) -> None:
    state = new_state()
    begun(state)
    furthest: dict[tuple[str, int], int] = {}
    for reaches in steps:
        extended(state, reaches)
        for topic, offsets in reaches.items():
            for partition, offset in offsets.items():
                furthest[topic, partition] = max(offset, furthest.get((topic, partition), 0))
        for topic in ("messages", "windows"):
            for partition in range(6):
                bound = furthest.get((topic, partition), 0)
                assert not has_reached(state, bound, partition=partition, topic=topic)
                assert bound == 0 or has_reached(state, bound - 1, partition=partition, topic=topic)


def test_a_user_of_an_unknown_tenant_is_refused() -> None:
    with pytest.raises(UnknownTenantError, match="nobody"):
        begun(new_state(), tenant="nobody")


def test_a_reason_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ChangeRefusedError, match="reason"):
        begun(new_state(), reason="a\x1bb")


def test_an_erasure_that_never_started_cannot_finish() -> None:
    state = new_state()
    begun(state)
    stranger = subject_of("acme", "bob")
    with pytest.raises(ChangeRefusedError, match=f"no erasure of the user with digest {stranger}"):
        extended(state, {"messages": {0: 1}}, stranger)
    with pytest.raises(ChangeRefusedError, match="varve erasures list"):
        finished(state, stranger)


def test_one_change_begins_and_extends() -> None:
    """A change finds the erasure that it has begun itself."""
    state = new_state()

    def change(draft: Draft) -> Erasure:
        begin_erasure(draft, "acme", USER, at=NOW)
        extend_erasure(draft, ANN, {"windows": {2: 5}})
        return extend_erasure(draft, ANN, {"windows": {0: 1}})

    assert apply_change(state, change).reaches == {"windows": (1, 0, 5)}


def test_an_erasure_record_contains_no_name() -> None:
    state = new_state()
    begun(state, reason="asked by letter")
    extended(state, {"messages": {0: 4}})
    erasure = finished(state)
    assert USER not in repr((erasure.key, erasure.to_json()))
    assert erasure.key == encode_key("erasure", "acme", ANN)
    assert Erasure.from_json(erasure.to_json()) == erasure


def test_users_with_equal_names_are_distinguished() -> None:
    assert subject_of("acme", "ann") != subject_of("umbrella", "ann")
    assert subject_of("acme", "ann/b") != subject_of("acme/ann", "b")


def test_erasures_are_listed_by_tenant_and_age() -> None:
    state = new_state()
    begun(state, at=LATER, user="bob")
    begun(state, at=NOW)
    begun(state, at=NOW, tenant="umbrella")
    draft = Draft(state)
    begin_erasure(draft, "acme", "cid", at=LATER + timedelta(days=1))
    assert [each.subject for each in draft.erasures("acme")] == [ANN, subject_of("acme", "bob"), subject_of("acme", "cid")]
    assert Draft(state).erasures("nobody") == []


def test_a_log_gives_the_erasure_that_was_written() -> None:
    written, read = new_state(), new_state()
    begun(written)
    erasure = extended(written, {"messages": {0: 4}})
    read.take(erasure.key, erasure.to_json(), offset=9)
    assert read.erasures == {ANN: erasure}
    assert read.document(erasure.key) == erasure
    assert read.knows_erasures("acme")
    assert read.position == 10


@pytest.mark.parametrize(
    "value", [b"{", b"", None, b'{"schema_version":"9.0"}', Erasure(tenant="umbrella", subject=ANN, requested_at=NOW).to_json()]
)
def test_an_unreadable_erasure_makes_its_tenant_unknown(value: bytes | None) -> None:
    state = new_state()
    erasure = begun(state)
    state.take(erasure.key, value, offset=9)
    assert (state.knows_erasures("acme"), state.knows_erasures("umbrella")) == (False, True)
    directory = TenantDirectory(FixedControlView(state))
    for user in (USER, "bob", None):
        with pytest.raises(ControlLogBehindError, match="tenant 'acme'"):
            directory.is_erased("acme", user, "messages", 0, 0)
    assert not directory.is_erased("umbrella", USER, "messages", 0, 0)
    state.take(erasure.key, erasure.to_json(), offset=10)
    assert state.knows_erasures("acme"), "it was written again"


@pytest.mark.parametrize("is_known", [False, True])
def test_an_unreadable_erasure_is_not_restarted(is_known: bool) -> None:
    """A newer Varve has written the reach: if this process began the erasure again, the reach would be smaller."""
    written, read = new_state(), new_state()
    begun(written)
    erasure = extended(written, {"messages": {0: 4}})
    if is_known:
        read.take(erasure.key, erasure.to_json(), offset=8)
    read.take(erasure.key, b'{"schema_version":"9.0"}', offset=9)
    with pytest.raises(ChangeRefusedError):
        begun(read)


def test_tenants_with_a_common_prefix_are_distinguished() -> None:
    state = new_state()
    apply_change(state, lambda draft: add_tenant(draft, "acme-2", schema="companion"))
    state.take(encode_key("erasure", "acme-2", ANN), b"{", offset=9)
    assert (state.knows_erasures("acme"), state.knows_erasures("acme-2")) == (True, False)


def test_records_before_the_erasure_offset_are_erased() -> None:
    state = new_state()
    begun(state)
    directory = TenantDirectory(FixedControlView(state))
    assert not directory.is_erased("acme", USER, "messages", 1, 0), "it reaches nothing yet"
    extended(state, {"messages": {1: 7}})
    assert [directory.is_erased("acme", USER, "messages", 1, offset) for offset in (0, 6, 7)] == [True, True, False]
    assert not directory.is_erased("acme", USER, "messages", 0, 0), "another partition"
    assert not directory.is_erased("acme", USER, "messages", 2, 0), "a partition that it does not name"
    assert not directory.is_erased("acme", USER, "windows", 1, 0), "another topic"


def test_records_of_other_users_are_not_erased() -> None:
    state = new_state()
    begun(state)
    extended(state, {"messages": {0: 7}})
    directory = TenantDirectory(FixedControlView(state))
    assert not directory.is_erased("umbrella", USER, "messages", 0, 0)
    assert not directory.is_erased("acme", USER.upper(), "messages", 0, 0)
    assert not directory.is_erased("acme", None, "messages", 0, 0), "it is no user's"


def test_outdated_knowledge_answers_no_erasure_question() -> None:
    with pytest.raises(ControlLogBehindError):
        TenantDirectory(NothingCurrent()).is_erased("acme", USER, "messages", 0, 0)


class NothingCurrent(FixedControlView):
    """ControlView of a log that could not be followed."""

    def __init__(self) -> None:
        super().__init__(new_state())

    def require_current(self) -> None:
        raise ControlLogBehindError("the log could not be followed")


@pytest.mark.parametrize(
    "change",
    [
        lambda draft: set_generation(draft, "acme", "v2"),
        lambda draft: count_drop(draft, "acme", "v2"),
        lambda draft: tenants_to_write(draft, "v2"),
    ],
)
def test_generations_wait_for_erasures(change: Callable[[Draft], object]) -> None:
    state = new_state()
    apply_change(state, lambda draft: add_generation(draft, "acme", "v2"))
    begun(state, tenant="umbrella")
    change(Draft(state))
    begun(state)
    with pytest.raises(ErasureUnderWayError, match=rf"user {ANN[:12]} of tenant acme since 2025-01-01 00:00Z.*varve erase TENANT USER"):
        change(Draft(state))
    finished(state)
    change(Draft(state))


def test_a_refusal_names_some_of_many_erasures() -> None:
    state = new_state()
    for number in range(5):
        begun(state, user=f"user-{number}", at=NOW + timedelta(days=number))
    with pytest.raises(ErasureUnderWayError, match=r"a rebuild has to wait .*2025-01-03 00:00Z and 2 more"):
        require_none_unfinished(state.erasures.values(), "a rebuild")
