"""Retention of a tenant in the control log and in the tenants' file."""

from datetime import UTC, datetime

import pytest

from control import ControlState, Draft
from control.errors import ChangeRefusedError
from control.tenant_changes import set_tenant
from control.tenants_file import TenantsFile, apply_file, export_file
from memory.schema import scenario
from tests.control_log import apply_change

NOW = datetime(2025, 1, 1, tzinfo=UTC)


def retains(state: ControlState, policy: object) -> dict[str, str]:
    return apply_change(state, lambda draft: set_tenant(draft, "acme", retention=policy)).retention


def test_types_and_raw_messages_get_periods(state: ControlState) -> None:
    schema = scenario("companion")
    event, entity = schema.event_types[0].name, schema.entity_types[0].name
    policy = {event: "90d", entity: "1y", "messages": "30d", "*": "2y"}
    assert retains(state, policy) == policy
    assert retains(state, {}) == {}


def test_a_misspelt_type_is_refused(state: ControlState) -> None:
    with pytest.raises(ChangeRefusedError, match="no schema of it has a type 'chatt'"):
        retains(state, {"chatt": "90d"})


@pytest.mark.parametrize("policy", [{"*": "90"}, {"*": "90 days"}, {"*": 90}, {"*": None}, ["90d"], "90d"])
def test_an_invalid_period_is_refused(state: ControlState, policy: object) -> None:
    with pytest.raises(ChangeRefusedError, match="retention"):
        retains(state, policy)


def test_a_file_keeps_sets_and_lifts_retention(state: ControlState) -> None:
    def applied(**fields: object) -> dict[str, str]:
        file = TenantsFile.model_validate({"tenants": [{"id": "acme", "schema": "companion", **fields}]})
        apply_change(state, lambda draft: apply_file(draft, file, folder=None, now=NOW, prune=False))
        return Draft(state).tenant("acme").retention

    assert applied(retention={"*": "1y"}) == {"*": "1y"}
    assert applied() == {"*": "1y"}
    (exported,) = export_file(state)["tenants"]
    assert exported["retention"] == {"*": "1y"}
    assert applied(retention={}) == {}
