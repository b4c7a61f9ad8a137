"""Settings of the canary."""

from pydantic import Field

from runtime.settings.group import Group


class CanarySettings(Group):
    """`varve canary`; `VARVE_CLIENT__*` sets its tenant and user."""

    interval_s: float = Field(default=60.0, gt=0, description="Time between two test facts of the canary.")
    goal_s: float = Field(default=60.0, gt=0, description="A fact counts as fresh if a recall finds it within this time.")
    timeout_s: float = Field(default=120.0, gt=0, description="How long the canary looks for a fact.")
    facts: int = Field(default=10, ge=1, le=20, description="Test facts kept at a time; the newest replaces the oldest.")
