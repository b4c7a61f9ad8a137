"""The redaction policies of tenants: nothing is sent for a tenant whose policy is not known."""

import pytest

from control.redaction import TenantRedaction
from control.tenant_changes import remove_tenant, set_tenant
from memory.redaction import RedactionPolicy
from models.errors import TransientModelError
from tests.control_log import known_tenants, now_known


def test_a_tenant_removed_meanwhile_has_no_policy() -> None:
    policy = RedactionPolicy(kinds=("email",))
    directory = known_tenants({"acme": "companion"})
    now_known(directory, lambda draft: set_tenant(draft, "acme", redaction=policy))
    redaction = TenantRedaction(directory)
    assert redaction.of("acme") == policy
    now_known(directory, lambda draft: remove_tenant(draft, "acme"))
    with pytest.raises(TransientModelError, match="not known now"):
        redaction.of("acme")
