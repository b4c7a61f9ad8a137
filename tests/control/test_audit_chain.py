"""The audit's chain: a removed, inserted or changed entry is detected."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from control import ControlState, Draft
from control.documents import AuditHead
from control.log import AuditCheck, AuditTrail, audit, change_of
from control.tenant_changes import add_tenant, set_tenant

NOW = datetime(2025, 1, 1, tzinfo=UTC)
LOSS = b'{"action": "accept_loss"}'
Records = list[tuple[int, bytes]]


class Log:
    """An audit log, and its control log."""

    def __init__(self) -> None:
        self.state = ControlState()
        self.records: Records = []
        self.next_offset = 0

    def append(self, value: bytes) -> None:
        # Markers of transactions take up offsets.
        self.records.append((self.next_offset, value))
        self.next_offset += 2

    def change(self, weight: float, tenants: int, *, race: bool = False) -> None:
        """A change of tenants; in a race, another writer appends to the audit after the change has read it."""
        draft = Draft(self.state)
        for number in range(tenants):
            name = f"t{number}"
            if name in self.state.tenants:
                set_tenant(draft, name, weight=weight)
            else:
                add_tenant(draft, name, schema="companion", weight=weight)
        changes = draft.changes()
        if not changes:
            return
        head = self.state.audit_head
        trail = AuditTrail(head.before, head.until)
        for offset, value in self.records:
            if offset >= head.until:
                trail.add(value, offset)
        audited = audit(changes, trail, head, change=f"change {self.next_offset}", action="set", by="ann", at=NOW)
        if race:
            self.append(LOSS)
        for value in audited.records:
            self.append(value)
        self.state.put([*(each.after for each in changes), audited.head])


def check(records: Records, head: AuditHead) -> AuditCheck:
    found = AuditCheck()
    for offset, value in records:
        found.add(value, offset)
    found.finish(head)
    return found


STEPS = st.lists(st.one_of(st.just("loss"), st.tuples(st.floats(0.1, 9), st.integers(1, 3), st.booleans())), min_size=1, max_size=8)


def built(steps: list[object]) -> Log:
    log = Log()
    for step in steps:
        if isinstance(step, tuple):
            log.change(step[0], step[1], race=step[2])
        else:
            log.append(LOSS)
    return log


@given(STEPS)
def test_a_complete_chain_passes(steps: list[object]) -> None:
    log = built(steps)
    found = check(log.records, log.state.audit_head)
    assert found.problems == []
    assert found.changes == len({change_of(value) for _, value in log.records} - {None})
    assert found.digest in found.digests


@given(STEPS, st.data())
def test_a_chain_that_is_broken_is_noticed(steps: list[object], data: st.DataObject) -> None:
    log = built([*steps, (9.5, 2, False)])
    index = data.draw(st.integers(0, len(log.records) - 1))
    offset, value = log.records[index]
    what = data.draw(st.sampled_from(["removed", "changed", "doubled", "swapped"]))
    records = list(log.records)
    if what == "removed":
        del records[index]
    elif what == "changed":
        records[index] = offset, value.replace(b"a", b"b", 1)
    elif what == "doubled":
        records.insert(index, (offset, value))
    else:
        other = data.draw(st.integers(0, len(log.records) - 1))
        records[index], records[other] = (offset, records[other][1]), (records[other][0], value)
        if records == log.records:
            return
    assert check(records, log.state.audit_head).problems


def test_records_after_the_last_change_are_not_attested() -> None:
    log = built([(1.0, 1, False), "loss"])
    assert check(log.records[:-1], log.state.audit_head).problems == []
    noted = check(log.records, log.state.audit_head).digest
    assert noted not in check(log.records[:-1], log.state.audit_head).digests, "a digest noted elsewhere attests them"


def test_a_cut_end_is_noticed_by_the_control_log() -> None:
    log = built([(1.0, 2, False), (2.0, 2, False)])
    for kept in range(len(log.records)):
        assert check(log.records[:kept], log.state.audit_head).problems


@pytest.mark.parametrize("value", [b"", b"null", LOSS, b"\xff"])
def test_an_unchanged_document_has_no_difference(value: bytes) -> None:
    assert change_of(value) is None
