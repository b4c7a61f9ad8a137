"""The records of the logs that a run rewrites and removes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from control import ControlState
from control.erasure import subject_of
from control.erasure_changes import begin_erasure, extend_erasure, finish_erasure
from control.hold_changes import place_hold
from control.tenant_changes import set_tenant
from memory.headers import CORRECTION, EXPIRY, KIND, ORIGIN, TICK
from memory.keys import encode_key, marked_key
from memory.records import Contribution, EventRef, Expiry, Extraction, Message, Record, Window
from memory.retention import without_old_results
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from streams.operations.retention.extractions import DependentRecords, Extractions, WindowIndex, is_protected
from streams.operations.retention.tenants import EntityTypes, TenantRetention, tenants_with_retention
from streams.operations.retention.windows import ExpiredWindows
from tests.control_log import add, apply_change
from tests.made_records import made_window
from tests.streams.agent_extractions import SCHEMA, START, TENANT, extraction
from tests.streams.stages.events.corrections import correction

NOW = START + timedelta(days=100)
LIMITS = {"*": START + timedelta(days=50)}
TOPIC = "varve.extractions"


def state(policy: dict[str, str] | None = None) -> ControlState:
    found = ControlState()
    apply_change(found, add(TENANT, SCHEMA))
    apply_change(found, lambda draft: set_tenant(draft, TENANT, retention=policy or {"*": "50d", "messages": "50d"}))
    return found


def kept(held: Sequence[str] = ()) -> dict[str, TenantRetention]:
    digests = frozenset(subject_of(TENANT, each) for each in held)
    return {TENANT: TenantRetention(id=TENANT, limits=LIMITS, messages=LIMITS["*"], reads=None, held=digests)}


def logged(offset: int, value: Record | None, *, key: str = "", headers: Headers = (), at: datetime = NOW) -> ConsumedRecord:
    marked = marked_key(encode_key(TENANT, "agent"), key or str(offset))
    return ConsumedRecord(TOPIC, 0, offset, marked, None if value is None else value.to_json(), headers, at.timestamp())


def chosen(records: Sequence[ConsumedRecord], *, held: Sequence[str] = ()) -> Extractions:
    index = WindowIndex(kept(held))
    for record in records:
        index.add(record)
    return Extractions(index, EntityTypes(state()))


def of_day(what: Extraction, day: int) -> Extraction:
    time = START + timedelta(days=day)
    return what.model_copy(update={"events": [each.model_copy(update={"said_at": time}) for each in what.events], "window_end": time})


def test_an_old_extraction_is_rewritten_without_results() -> None:
    record = logged(0, extraction(0, [("grep", 0), ("curl", 1)]))
    found = chosen([record]).rewritten(record)
    assert found is not None
    assert (found.is_empty, found.removed, found.extraction.retained) == (True, 2, LIMITS)


def test_a_recent_extraction_is_kept() -> None:
    record = logged(0, of_day(extraction(0, [("grep", 0)]), 90))
    assert chosen([record]).rewritten(record) is None


def test_only_the_last_record_of_a_key_counts() -> None:
    what = extraction(0, [("grep", 0)])
    after = without_old_results(what, LIMITS).model_copy(update={"retained": LIMITS})
    records = [logged(0, what, key="k"), logged(5, after, key="k", headers=((ORIGIN, b"varve.extractions/0/0"),))]
    assert chosen(records).rewritten(records[0]) is None
    records.append(logged(6, None, key="k"))
    assert [chosen(records).rewritten(each) for each in records] == [None, None, None]


def test_the_newest_of_a_window_is_rewritten() -> None:
    old, again = logged(0, extraction(0, [("grep", 0)])), logged(3, of_day(extraction(0, [("grep", 0)]), 90))
    decided = chosen([old, again])
    assert [decided.rewritten(each) for each in (old, again)] == [None, None]
    assert [decided.is_superseded(each) for each in (old, again)] == [True, False]


def test_a_rewritten_record_is_not_newer_than_it_was() -> None:
    """It is later in the log, but the events stage publishes the extraction that came after the original."""
    first = extraction(0, [("grep", 0)]).model_copy(update={"retained": {"other": NOW}})
    rewritten = logged(9, first, key="0", headers=((ORIGIN, b"varve.extractions/0/0"),))
    again = logged(3, of_day(extraction(0, [("curl", 0)]), 90))
    decided = chosen([again, rewritten])
    assert (decided.rewritten(rewritten), decided.is_superseded(rewritten)) == (None, True)
    assert decided.is_superseded(again) is False


def test_a_later_revision_outranks_a_later_offset() -> None:
    edited = logged(0, extraction(0, [("grep", 0)]).model_copy(update={"revision": 1}))
    redriven = logged(3, extraction(0, [("curl", 0)]))
    decided = chosen([edited, redriven])
    assert decided.rewritten(edited) is not None
    assert decided.is_superseded(redriven)


def test_a_held_user_loses_nothing() -> None:
    what = extraction(0, [("grep", 0)])
    record, fixed = logged(0, what), logged(1, correction(what.events[0], 1), headers=((KIND, CORRECTION),))
    decided = chosen([record, fixed], held=["agent"])
    assert decided.rewritten(record) is None
    assert not DependentRecords(decided.index, [what.window_id]).is_obsolete(fixed)


def test_another_tenants_records_stay() -> None:
    what = extraction(0, [("grep", 0)], tenant="umbrella")
    record = ConsumedRecord(TOPIC, 0, 0, encode_key("umbrella", "agent"), what.to_json(), (), NOW.timestamp())
    assert chosen([record]).rewritten(record) is None


def test_records_go_with_the_windows_they_name() -> None:
    gone, left = extraction(0, [("grep", 0)]), of_day(extraction(1, [("curl", 0)]), 90)
    expiries = [
        logged(number, _expiry(*names), headers=((KIND, EXPIRY),))
        for number, names in enumerate([(gone.window_id,), (gone.window_id, left.window_id), ("unknown",)], start=2)
    ]
    decided = chosen([logged(1, left), *expiries])
    dependents = DependentRecords(decided.index, [gone.window_id])
    assert [dependents.is_obsolete(each) for each in expiries] == [True, False, False]
    late = logged(9, _expiry("unknown"), headers=((KIND, EXPIRY),), at=START)
    decided = chosen([late])
    assert DependentRecords(decided.index, []).is_obsolete(late), "an earlier run was interrupted"


def test_ticks_go_only_if_no_type_is_kept() -> None:
    tick = Contribution(tenant=TENANT, entity_type="t", entity_key="k", kind="tick", source="contributions/0", position=0, time=START)
    record = logged(0, tick, headers=((KIND, TICK),))
    decided = chosen([record])
    assert DependentRecords(decided.index, []).is_obsolete(record)
    index = WindowIndex({TENANT: TenantRetention(id=TENANT, limits={"tool_use": LIMITS["*"]}, messages=None, reads=None, held=frozenset())})
    index.add(record)
    assert not DependentRecords(index, []).is_obsolete(record)


def test_only_extracted_old_windows_are_removed() -> None:
    old = ExpiredWindows(kept(["bob"]), extracted={0: 10})
    windows = [("a", "ann", START, 0), ("b", "ann", NOW, 1), ("c", "bob", START, 2), ("d", "ann", START, 10)]
    for number, (session, user, at, offset) in enumerate(windows):
        window = _window(session, user, at, last_offset=number)
        old.add(0, offset, encode_key(TENANT, user) + b"#" + session.encode(), window.to_json())
    old.add(0, 3, encode_key("umbrella", "ann"), _window("e", "ann", START).to_json())
    old.add(0, 4, b"%", b"no window")
    assert [each.session for each in old.windows] == ["a"]
    ((key, command),) = old.commands()
    assert (key, command.session, command.windows) == (encode_key(TENANT, "a"), "a", [0])
    assert old.truncation() == {2: 1}


def test_an_edited_window_counts_as_its_newest_revision() -> None:
    old = ExpiredWindows(kept(), extracted={0: 10})
    key = encode_key(TENANT, "ann") + b"#w"
    old.add(0, 0, key, _window("a", "ann", START).to_json())
    old.add(0, 1, key, None)
    assert old.windows == []


def test_tenants_without_policy_or_under_hold_are_excluded() -> None:
    known = state()
    apply_change(known, add("umbrella", SCHEMA))
    assert [each.id for each in tenants_with_retention(known, NOW)] == [TENANT]
    assert tenants_with_retention(known, NOW)[0].limits == {"*": NOW - timedelta(days=50)}
    assert tenants_with_retention(known, NOW, only=["umbrella"]) == []
    apply_change(known, lambda draft: place_hold(draft, TENANT, "ann", at=NOW, by="x", reason="y"))
    assert tenants_with_retention(known, NOW)[0].is_held("ann")
    apply_change(known, lambda draft: place_hold(draft, TENANT, None, at=NOW, by="x", reason="y"))
    assert tenants_with_retention(known, NOW) == []


def test_erased_and_held_users_are_excluded() -> None:
    what, known, subject = extraction(0, [("grep", 0)]), state(), subject_of(TENANT, "agent")
    record, later = logged(3, what), logged(9, what)
    assert not is_protected(known, what, record)
    apply_change(known, lambda draft: begin_erasure(draft, TENANT, "agent", at=NOW))
    assert is_protected(known, what, later)
    apply_change(known, lambda draft: extend_erasure(draft, subject, {"extractions": {0: 5}}))
    apply_change(known, lambda draft: finish_erasure(draft, subject, begun_at=NOW, at=NOW, gone_by=NOW, found={}, remains=()))
    assert [is_protected(known, what, each) for each in (record, later)] == [True, False]
    apply_change(known, lambda draft: place_hold(draft, TENANT, "agent", at=NOW, by="x", reason="y"))
    assert is_protected(known, what, later)


def _expiry(*windows: str) -> Expiry:
    events = [EventRef(id=f"e-{each}", window_id=each) for each in windows]
    return Expiry(tenant=TENANT, user="agent", entity_type="t", entity_key="k", property="p", events=events, known={}, time=NOW)


def _window(session: str, user: str, at: datetime, *, last_offset: int = 0) -> Window:
    said = Message(tenant=TENANT, user=user, session=session, id="m1", text="tea", event_time=at.astimezone(UTC))
    return made_window([said], id=f"w-{session}", source_partition=2, last_offset=last_offset)
