"""Webhooks in the control log: their limits, their secrets over time, and the audit."""

from datetime import UTC, datetime, timedelta

import pytest

from control import ControlState
from control.errors import ChangeRefusedError, UnknownTenantError
from control.webhook_changes import add_webhook, remove_webhook, rotate_webhook_secret
from control.webhooks import MOST_SECRETS, MOST_WEBHOOKS, Webhook
from tests.control_log import apply_change

NOW = datetime(2025, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
URL = "https://hooks.example.com/path-with-a-secret"


def add(state: ControlState, number: int = 0, *, url: str = URL) -> None:
    apply_change(state, lambda draft: add_webhook(draft, "acme", f"wh_000{number:02}", f"s000{number:02}", url=url, now=NOW))


def webhook(state: ControlState) -> Webhook:
    [found] = state.tenants["acme"].webhooks
    return found


def test_a_tenant_has_a_limited_number_of_webhooks(state: ControlState) -> None:
    for number in range(MOST_WEBHOOKS):
        add(state, number)
    with pytest.raises(ChangeRefusedError, match="which is the maximum"):
        add(state, MOST_WEBHOOKS)
    apply_change(state, lambda draft: remove_webhook(draft, "acme", "wh_00000"))
    assert len(state.tenants["acme"].webhooks) == MOST_WEBHOOKS - 1


def test_both_secrets_are_valid_until_the_overlap_ends(state: ControlState) -> None:
    add(state)
    apply_change(state, lambda draft: rotate_webhook_secret(draft, "acme", "wh_00000", "second", now=NOW, overlap=HOUR))
    assert [each.id for each in webhook(state).valid_secrets(NOW)] == ["s00000", "second"]
    assert [each.id for each in webhook(state).valid_secrets(NOW + HOUR)] == ["second"]


def test_a_second_rotation_prolongs_no_secret(state: ControlState) -> None:
    add(state)
    for number, (at, overlap) in enumerate([(NOW, HOUR), (NOW + HOUR / 2, 5 * HOUR)]):
        apply_change(
            state,
            lambda draft, n=number, t=at, o=overlap: rotate_webhook_secret(draft, "acme", "wh_00000", f"next{n}", now=t, overlap=o),  # type: ignore[misc]
        )
    assert [each.id for each in webhook(state).valid_secrets(NOW + HOUR)] == ["next0", "next1"]


def test_an_emergency_rotation_ends_the_old_secret(state: ControlState) -> None:
    add(state)
    apply_change(state, lambda draft: rotate_webhook_secret(draft, "acme", "wh_00000", "second", now=NOW, overlap=timedelta()))
    assert [each.id for each in webhook(state).secrets] == ["second"]


def test_the_number_of_valid_secrets_is_limited(state: ControlState) -> None:
    add(state)

    def rotate(number: int) -> None:
        apply_change(state, lambda draft: rotate_webhook_secret(draft, "acme", "wh_00000", f"next{number}", now=NOW, overlap=HOUR))

    for number in range(MOST_SECRETS - 1):
        rotate(number)
    with pytest.raises(ChangeRefusedError, match="wait until one has expired"):
        rotate(MOST_SECRETS)


def test_unknown_tenants_and_webhooks_are_refused(state: ControlState) -> None:
    with pytest.raises(UnknownTenantError):
        apply_change(state, lambda draft: remove_webhook(draft, "umbrella", "wh_00000"))
    with pytest.raises(ChangeRefusedError, match="it has: none"):
        apply_change(state, lambda draft: remove_webhook(draft, "acme", "wh_00000"))


def test_the_audit_has_only_the_origin_of_a_url(state: ControlState) -> None:
    add(state)
    audited = str(state.tenants["acme"].audited())
    assert "https://hooks.example.com" in audited
    assert "path-with-a-secret" not in audited
