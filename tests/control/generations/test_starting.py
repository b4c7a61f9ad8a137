"""The tenants whose windows a second set of workers extracts: never those of a live generation, unless a command names it."""

import pytest

from control import ControlState, Draft
from control.errors import ChangeRefusedError, UnknownTenantError
from control.generations.switching import tenants_to_write
from control.tenant_changes import add_generation, add_tenant, set_generation
from tests.control_log import apply_change


@pytest.fixture
def known() -> Draft:
    """Two tenants that are live on v2, one that has it in addition to the first, and one without it."""
    state = ControlState()

    def change(draft: Draft) -> None:
        for tenant in ("ahead", "along", "beside", "without"):
            add_tenant(draft, tenant, schema="companion")
        for tenant in ("ahead", "along", "beside"):
            add_generation(draft, tenant, "v2")
        for tenant in ("ahead", "along"):
            set_generation(draft, tenant, "v2")

    apply_change(state, change)
    return Draft(state)


def test_a_live_generation_is_left_to_its_workers(known: Draft) -> None:
    assert tenants_to_write(known, "v2") == ["beside"]
    assert tenants_to_write(known, "") == ["ahead", "along"], "the way back touches nobody who is there still"


def test_only_the_named_tenants_are_written(known: Draft) -> None:
    assert tenants_to_write(known, "", named=["ahead"]) == ["ahead"]
    assert tenants_to_write(known, "v2", named=["ahead", "beside"]) == ["ahead", "beside"]


def test_a_start_without_tenants_is_refused(known: Draft) -> None:
    with pytest.raises(ChangeRefusedError, match=r"tenant 'without' has no generation 'v2'; `varve generations start v2 --tenant without`"):
        tenants_to_write(known, "v2", named=["beside", "without"])
    with pytest.raises(ChangeRefusedError, match="no tenant has a generation 'v3'"):
        tenants_to_write(known, "v3")
    with pytest.raises(UnknownTenantError, match="nobody"):
        tenants_to_write(known, "", named=["nobody"])
    state = ControlState()
    apply_change(state, lambda draft: add_tenant(draft, "acme", schema="companion"))
    with pytest.raises(ChangeRefusedError, match=r"generation - is live on every tenant.*--tenant"):
        tenants_to_write(Draft(state), "")
