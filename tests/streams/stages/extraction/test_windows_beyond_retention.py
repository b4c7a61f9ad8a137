"""The extraction stage asks no model about a window whose results retention would remove."""

from datetime import UTC, datetime, timedelta

import pytest

from control.hold_changes import place_hold
from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from runtime.clocks import SystemClock
from runtime.settings import Settings
from tests.control_log import now_known
from tests.streams.agent_extractions import TENANT
from tests.streams.stages.extraction.doubles import ScriptedExtractor, new_handler, window_record

NOW = datetime.now(UTC)


def retains(tenants: TenantDirectory, policy: dict[str, str]) -> None:
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, retention=policy))


@pytest.mark.parametrize(
    ("policy", "extracted"),
    [
        ({"*": "90d"}, 0),
        ({"*": "100y"}, 1),
        ({"tool_use": "90d"}, 1),
        ({"*": "90d", "agent_record": "100y"}, 1),
        ({"messages": "90d"}, 1),
        ({}, 1),
    ],
    ids=["all types", "long", "one type", "all but one", "raw messages", "none"],
)
async def test_a_window_is_skipped_if_nothing_is_kept(
    settings: Settings, tenants: TenantDirectory, policy: dict[str, str], extracted: int
) -> None:
    retains(tenants, policy)
    extractor = ScriptedExtractor()
    outputs = await new_handler(settings, tenants, extractor).handle(window_record())
    assert (len(outputs), len(extractor.seen)) == (extracted, extracted)


async def test_a_held_users_window_is_extracted(settings: Settings, tenants: TenantDirectory) -> None:
    retains(tenants, {"*": "90d"})
    now_known(tenants, lambda draft: place_hold(draft, TENANT, "agent", at=NOW, by="counsel", reason="case 17"))
    assert len(await new_handler(settings, tenants, ScriptedExtractor()).handle(window_record())) == 1


async def test_a_clock_that_steps_ahead_drops_no_window(
    settings: Settings, tenants: TenantDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker ends when it notices the step; until then, it must not take new windows for old ones."""
    retains(tenants, {"*": "100y"})
    handler = new_handler(settings, tenants, ScriptedExtractor())
    monkeypatch.setattr(SystemClock, "now", lambda _: NOW + timedelta(days=200 * 365))
    assert len(await handler.handle(window_record())) == 1
