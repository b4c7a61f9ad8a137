"""The records of the read audit that a run chooses."""

from datetime import UTC, datetime, timedelta

from control.erasure import subject_of
from memory.keys import distinct_key, encode_key, marked_key
from memory.times import milliseconds_of
from streams.operations.retention.reads import ExpiredReads
from streams.operations.retention.tenants import TenantRetention

LIMIT = datetime(2026, 1, 1, tzinfo=UTC)
OLD, YOUNG = (milliseconds_of(LIMIT + timedelta(seconds=each)) for each in (-1, 0))


def reads_of(limit: datetime | None) -> ExpiredReads:
    held = frozenset({subject_of("acme", "held")})
    return ExpiredReads({"acme": TenantRetention(id="acme", limits={}, messages=None, reads=limit, held=held)})


def test_older_records_of_users_without_hold_are_chosen() -> None:
    reads, key = reads_of(LIMIT), distinct_key("acme", "ann")
    reads.add(key, b"{}", OLD)
    reads.add(distinct_key("acme", "ann"), b"{}", YOUNG)
    reads.add(distinct_key("acme", "held"), b"{}", OLD)
    reads.add(distinct_key("globex", "ann"), b"{}", OLD)
    assert [(each.key, each.tenant, each.user) for each in reads.found] == [(key, "acme", "ann")]


def test_a_record_with_a_tombstone_is_not_chosen_again() -> None:
    reads, key = reads_of(LIMIT), distinct_key("acme", "ann")
    reads.add(key, b"{}", OLD)
    reads.add(key, None, YOUNG)
    assert reads.found == []


def test_nothing_without_a_limit_or_of_strange_keys() -> None:
    unlimited = reads_of(None)
    unlimited.add(distinct_key("acme", "ann"), b"{}", OLD)
    assert unlimited.found == []
    strange = reads_of(LIMIT)
    for key in (b"", b"\xff", marked_key(encode_key("acme"), "x"), encode_key("acme", "ann", "s")):
        strange.add(key, b"{}", OLD)
    assert strange.found == []
