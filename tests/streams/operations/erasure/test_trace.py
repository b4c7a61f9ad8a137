"""A user's trace in the extractions: windows, entities and sessions, each once, and the commands that name them."""

from collections.abc import Sequence
from dataclasses import replace
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from memory.headers import CORRECTION, ERASURE, EXPIRY, GENERATION_DROP, KIND, TICK, TOUCHES
from memory.ids import entity_id
from memory.keys import entity_key
from memory.records import (
    Change,
    Correction,
    EntityCorrection,
    ErasedEntity,
    ErasedWindow,
    ErasureCommand,
    EventRef,
    Expiry,
    Extraction,
    Touches,
)
from memory.records.base import Record
from memory.schema import scenario
from streams.operations.erasure.trace import UserTrace
from tests.control_log import known_tenants, now_known
from tests.streams.agent_extractions import SCHEMA, START, TENANT, Call, extraction
from tests.streams.operations.erasure.traced_records import headers_of, patched, with_outcome
from tests.streams.stages.events.corrections import LATER, correction

USER = "agent"
NOTHING = ErasureCommand(tenant=TENANT, user=USER)


@pytest.fixture
def trace(tenants: TenantDirectory) -> UserTrace:
    return UserTrace(TENANT, USER, tenants=tenants)


def add(trace: UserTrace, *records: Record) -> None:
    """Adds the user's records as the log has them."""
    for record in records:
        trace.add(record.to_json(), headers_of(record))


def entities(trace: UserTrace) -> set[tuple[str, str, str, bool]]:
    return {(each.entity_type, each.entity_key, each.generation, each.own) for each in trace.entities}


def test_windows_are_named_once_in_each_generation(trace: UserTrace) -> None:
    first, again, beside = extraction(0, [("grep", 0)]), extraction(0, []), extraction(0, [("grep", 0)], generation="g2")
    second = extraction(1, [])
    add(trace, first, second, again, beside)
    assert trace.windows == [
        ErasedWindow(window_id=first.window_id),
        ErasedWindow(window_id=second.window_id),
        ErasedWindow(window_id=first.window_id, generation="g2"),
    ]
    assert trace.sessions == {("s1", ""), ("s1", "g2")}
    assert trace.event_ids == {each.id for what in (first, beside) for each in what.events}


def test_entities_are_own_or_shared(trace: UserTrace) -> None:
    add(trace, with_outcome(extraction(0, [("grep", 0)]), procedure="first read"))
    assert entities(trace) == {
        ("tool_experience", "grep", "", False),
        ("recent_reliability", "grep", "", False),
        ("agent_record", USER, "", True),
    }


def test_only_records_of_others_may_quote_the_user(trace: UserTrace) -> None:
    add(trace, extraction(0, [("grep", 0), ("curl", 0)]))
    assert {each.is_quoted for each in trace.entities} == {False}
    theirs = extraction(1, [("grep", 0)])
    trace.add_shared(theirs, theirs.model_copy(update={"events": []}), ())
    add(trace, extraction(2, [("grep", 0)]))
    assert {each.entity_key for each in trace.entities if each.is_quoted} == {"grep"}


def test_an_entity_reached_before_is_named_still(trace: UserTrace) -> None:
    """An extraction that was made again has retracted it; its history may have the words."""
    add(trace, extraction(0, [("grep", 0)]), extraction(0, [("curl", 0)]))
    assert {each.entity_key for each in trace.entities} == {"grep", "curl"}


def test_an_entity_is_named_under_its_last_schema(trace: UserTrace, tenants: TenantDirectory) -> None:
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=replace(scenario(SCHEMA), description="another")))
    for revision in (1, 2):
        add(trace, extraction(0, [("grep", 0)]).model_copy(update={"schema_revision": revision}))
    assert {(each.schema_name, each.schema_revision) for each in trace.entities} == {(SCHEMA, 2)}


def test_an_extraction_is_read_by_its_own_schema(trace: UserTrace, tenants: TenantDirectory) -> None:
    without_tools = replace(scenario(SCHEMA), entity_types=())
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=without_tools))
    add(trace, extraction(0, [("grep", 0)]).model_copy(update={"schema_revision": 1}))
    assert {each.entity_key for each in trace.entities} == {"grep"}


def test_patched_texts_of_shared_entities_are_reported(trace: UserTrace) -> None:
    what = patched(extraction(0, [("grep", 0)]), "tool_experience", "grep", "suggestions")
    add(trace, patched(what, "agent_record", USER, "procedures"))
    assert trace.patched == {("tool_experience", entity_id(TENANT, "tool_experience", "grep"), "suggestions")}
    assert ("agent_record", USER, "", True) in entities(trace)


def test_a_traced_entity_has_one_spelling(trace: UserTrace) -> None:
    decomposed = normalize("NFD", "Wörter")
    add(trace, patched(extraction(0, [(decomposed, 0)]), "tool_experience", decomposed, "suggestions"))
    assert {each.entity_key for each in trace.entities} == {entity_key("Wörter")}
    assert trace.patched == {("tool_experience", entity_id(TENANT, "tool_experience", entity_key("Wörter")), "suggestions")}


def test_a_corrected_event_names_its_window(trace: UserTrace) -> None:
    """Its extraction may be older than the reach of the last erasure."""
    what = extraction(0, [("grep", 0)])
    add(trace, correction(what.events[0], 1, content="used rg"))
    assert trace.windows == [ErasedWindow(window_id=what.window_id)]
    assert trace.entities == []


def entity_correction(entity_type: str, key: str) -> Correction:
    change = Change(op="apply", property="suggestions", value="by hand", source_id="c1", event_time=LATER)
    entity = EntityCorrection(entity_type=entity_type, entity_key=entity_key(key), changes=[change], schema_name=SCHEMA)
    return Correction(id="c1", tenant=TENANT, user=USER, action="correct", memory_id="e1", entity=entity, by="support", time=LATER)


def test_a_corrected_entity_is_named(trace: UserTrace) -> None:
    add(trace, entity_correction("agent_record", USER), entity_correction("tool_experience", "make"))
    assert entities(trace) == {("agent_record", USER, "", True), ("tool_experience", "make", "", False)}
    assert trace.windows == []


def test_unreadable_records_are_counted(trace: UserTrace) -> None:
    what = extraction(0, [("grep", 0)])
    of_an_unknown_schema = extraction(1, [("grep", 0)]).model_copy(update={"schema_revision": 7})
    trace.add(b"{", ())
    trace.add(what.to_json().replace(b'"schema_version":"1.0"', b'"schema_version":"3.0"'), ())
    trace.add(b"{", ((KIND, CORRECTION),))
    add(trace, of_an_unknown_schema)
    assert trace.unread == 4
    assert trace.windows == [ErasedWindow(window_id=of_an_unknown_schema.window_id)], "its window is known nevertheless"
    add(trace, what)
    assert (trace.unread, len(trace.windows)) == (4, 2)


@pytest.mark.parametrize("kind", [TOUCHES, EXPIRY, TICK, GENERATION_DROP])
def test_other_kinds_are_not_read(trace: UserTrace, kind: bytes) -> None:
    trace.add(b"{", ((KIND, kind),))
    assert (trace.unread, trace.windows, trace.entities) == (0, [], [])


def test_sessions_whose_open_windows_were_dropped_are_noted(trace: UserTrace) -> None:
    for sessions in (["s-1", "s-2"], ["s-2", "s-3"], []):
        report = ErasureCommand(tenant="acme", user="ann", sessions=sessions)
        trace.add(report.to_json(), ((KIND, ERASURE),))
    assert trace.dropped_sessions == {"s-1", "s-2", "s-3"}
    assert (trace.unread, trace.windows, list(trace.commands())) == (0, [], [NOTHING])


def test_a_user_without_messages_gets_an_empty_command(trace: UserTrace) -> None:
    assert list(trace.commands()) == [NOTHING]


@examples(max_examples=30, deadline=None)
@given(windows=st.integers(0, 450), tools=st.integers(0, 2100))
def test_commands_name_everything_once(windows: int, tools: int) -> None:
    trace = UserTrace(TENANT, USER, tenants=known_tenants({}))
    trace._windows = {(f"w{number}", "g2" if number % 2 else ""): 100 for number in range(windows)}
    trace._entities = {
        ("tool_experience", f"t{number}", ""): ErasedEntity(entity_type="tool_experience", entity_key=f"t{number}", own=False)
        for number in range(tools)
    }
    commands = list(trace.commands())
    assert [each for command in commands for each in command.windows] == trace.windows
    assert [each for command in commands for each in command.entities] == trace.entities
    assert all(len(each.windows) <= 5 and len(each.entities) <= 300 for each in commands)
    assert all(each.windows or each.entities for each in commands) == bool(windows or tools)
    assert {(each.tenant, each.user) for each in commands} <= {(TENANT, USER)}


def test_a_command_fits_into_a_record() -> None:
    trace = UserTrace(TENANT, USER, tenants=known_tenants({}))
    ids = [f"{number:0256}" for number in range(20)]
    trace._entities = {
        ("tool_experience", f"t{number}", ""): ErasedEntity(
            entity_type="tool_experience", entity_key=f"t{number}", own=False, message_ids=ids
        )
        for number in range(600)
    }
    trace._windows = {(f"w{number}", ""): 100_000 * number for number in range(8)}
    commands = list(trace.commands())
    assert max(len(each.to_json()) for each in commands) < 400_000
    assert [len(each.windows) for each in commands if each.windows] == [3, 1, 1, 1, 1, 1]
    assert sum(len(each.entities) for each in commands) == 600


def is_about(trace: UserTrace, record: Record) -> bool:
    return trace.is_about(record.to_json(), headers_of(record))


def touching(what: Extraction) -> Sequence[Record]:
    """All that may come later of a window."""
    events = [EventRef(id=each.id, window_id=each.window_id) for each in what.events]
    expiry = Expiry(
        tenant=TENANT,
        user=USER,
        entity_type="tool_experience",
        entity_key="grep",
        property="life",
        events=events,
        retract=False,
        known={},
        time=START,
    )
    return what, Touches(tenant=TENANT, user=USER, events=events, time=START), expiry, correction(what.events[0], 1)


def test_later_records_of_known_windows_are_about_them(trace: UserTrace) -> None:
    known, new = extraction(0, [("grep", 0)]), extraction(1, [("grep", 0)])
    add(trace, known)
    assert [is_about(trace, each) for each in touching(known)] == [True] * 4
    assert [is_about(trace, each) for each in touching(new)] == [False, False, False, True]
    assert is_about(trace, entity_correction("agent_record", USER)), "no stage has applied it"


def test_records_without_words_are_recognized_by_kind(trace: UserTrace) -> None:
    assert [trace.is_about(b"{", ((KIND, kind),)) for kind in (TICK, ERASURE, CORRECTION)] == [True] * 3


def test_unreadable_records_concern_no_known_user(trace: UserTrace) -> None:
    add(trace, extraction(0, [("grep", 0)]))
    assert [trace.is_about(b"{", headers) for headers in ((), ((KIND, TOUCHES),), ((KIND, EXPIRY),))] == [False] * 3


CALLS = st.lists(st.tuples(st.sampled_from(["grep", "curl", ""]), st.integers(0, 1)), max_size=3)


@examples(max_examples=50, deadline=None)
@given(log=st.lists(st.tuples(st.integers(0, 3), CALLS), max_size=8))
def test_every_tool_ever_used_is_named(log: list[tuple[int, list[Call]]]) -> None:
    trace = UserTrace(TENANT, USER, tenants=known_tenants({TENANT: SCHEMA}))
    add(trace, *(extraction(window, calls) for window, calls in log))
    tools = {tool for _, calls in log for tool, _ in calls if tool}
    assert {each.entity_key for each in trace.entities if each.entity_type == "tool_experience"} == tools
    assert len(trace.windows) == len({window for window, _ in log})
    assert not any(each.own for each in trace.entities)
