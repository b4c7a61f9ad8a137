"""Levels of trust in the control log: set source by source, versioned, kept in exports."""

from datetime import UTC, datetime, timedelta

import pytest

from control.documents import Tenant
from control.draft import Draft
from control.errors import ChangeRefusedError
from control.state import ControlState
from control.tenant_changes import add_tenant, remove_tenant
from control.tenants_file import TenantsFile, apply_file, export_file
from control.trust_changes import change_trust, note_applied

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def state() -> ControlState:
    return _changed(ControlState(), lambda draft: add_tenant(draft, "acme", schema="companion"))


def _changed(state: ControlState, *changes: object) -> ControlState:
    for change in changes:
        draft = Draft(state)
        change(draft)  # type: ignore[operator]
        state.put(each.after for each in draft.changes())
    return state


def _tenant(state: ControlState) -> Tenant:
    return state.tenants["acme"]


def test_levels_are_set_source_by_source(state: ControlState) -> None:
    _changed(
        state,
        lambda draft: change_trust(draft, "acme", now=NOW, sources={"tool:*": "untrusted", "app:crm": "trusted"}),
        lambda draft: change_trust(draft, "acme", now=NOW, sources={"app:crm": None, "tool:browser": "distrusted"}),
    )
    trust = _tenant(state).trust
    assert trust.sources == {"tool:*": "untrusted", "tool:browser": "distrusted"}
    assert (trust.entities_from, trust.is_applied, trust.changed_at) == ("normal", False, NOW)


def test_each_change_has_a_higher_version(state: ControlState) -> None:
    versions = [0]
    for hours, level in ((2, "untrusted"), (1, "distrusted"), (3, "normal")):
        at = NOW + timedelta(hours=hours)
        _changed(state, lambda draft, at=at, level=level: change_trust(draft, "acme", now=at, sources={"app:crm": level}))
        versions.append(_tenant(state).trust.version)
    assert versions == sorted(set(versions)), "also if a clock goes back"
    _changed(state, lambda draft: change_trust(draft, "acme", now=NOW + timedelta(days=1), sources={"app:crm": "normal"}))
    assert _tenant(state).trust.version == versions[-1], "nothing was changed"


def test_an_older_application_is_not_noted(state: ControlState) -> None:
    _changed(state, lambda draft: change_trust(draft, "acme", now=NOW, sources={"app:crm": "untrusted"}))
    first = _tenant(state).trust.version
    _changed(state, lambda draft: change_trust(draft, "acme", now=NOW, sources={"app:crm": "trusted"}))
    _changed(state, lambda draft: note_applied(draft, "acme", first))
    assert not _tenant(state).trust.is_applied
    _changed(
        state, lambda draft: note_applied(draft, "acme", _tenant(state).trust.version), lambda draft: note_applied(draft, "acme", first)
    )
    assert _tenant(state).trust.is_applied


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"browser": "untrusted"}, "'browser' is no source: write KIND:NAME"),
        ({"tool:": "untrusted"}, "'tool:' is no source"),
        ({"planet:mars": "normal"}, "'planet:mars' is no source"),
        ({"tool:browser": "evil"}, "tool:browser"),
    ],
)
def test_wrong_sources_and_levels_are_refused(state: ControlState, wrong: dict[str, str], problem: str) -> None:
    with pytest.raises(ChangeRefusedError, match=problem):
        change_trust(Draft(state), "acme", now=NOW, sources=wrong)  # type: ignore[arg-type]


def test_a_tenant_that_returns_keeps_its_levels(state: ControlState) -> None:
    _changed(state, lambda draft: change_trust(draft, "acme", now=NOW, sources={"app:crm": "distrusted"}))
    before = _tenant(state).trust
    _changed(state, lambda draft: remove_tenant(draft, "acme"), lambda draft: add_tenant(draft, "acme", schema="companion"))
    assert _tenant(state).trust == before, "what the log has was published under them"


def test_an_exported_file_sets_the_levels(state: ControlState) -> None:
    _changed(state, lambda draft: change_trust(draft, "acme", now=NOW, sources={"app:crm": "distrusted"}, entities_from="untrusted"))
    file = TenantsFile.model_validate(export_file(state, with_schemas=True))
    other = _changed(ControlState(), lambda draft: apply_file(draft, file, folder=None, now=NOW, prune=False))
    assert _tenant(other).trust.policy == _tenant(state).trust.policy
    assert not _tenant(other).trust.is_applied
