"""The canary: facts written and recalled for ever."""

from pydantic import Field

from runtime.settings.group import Group


class CanarySettings(Group):
    """`varve canary`; whose facts it writes, `VARVE_CLIENT__*` says."""

    interval_s: float = Field(default=60.0, gt=0, description="Time from one fact of the canary to the next.")
    goal_s: float = Field(default=60.0, gt=0, description="A fact is fresh if a recall finds it so soon after it was sent.")
    timeout_s: float = Field(default=120.0, gt=0, description="How long it is looked for at all.")
    facts: int = Field(default=10, ge=1, le=20, description="Facts that are remembered at a time; the oldest makes room for the newest.")
