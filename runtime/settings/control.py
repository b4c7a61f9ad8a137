"""Settings of the control log."""

from pydantic import Field

from runtime.settings.group import Group


class ControlSettings(Group):
    """The control log: tenants, keys and their rights."""

    lease_s: float = Field(
        default=15.0,
        gt=0,
        description="How long a process may act on its last confirmed read of the control log; then it rejects all requests and lets "
        "records wait. Commands that take access away wait this long. Use the same value in every process.",
    )
    write_timeout_s: float = Field(
        default=60.0, gt=0, description="How long a change of the control log is retried while other writers are faster."
    )
