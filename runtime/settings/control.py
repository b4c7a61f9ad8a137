"""The control log."""

from pydantic import Field

from runtime.settings.group import Group


class ControlSettings(Group):
    """The control log: who may use this Varve, and how."""

    lease_s: float = Field(
        default=15.0,
        gt=0,
        description="A process that could not follow the control log for so long admits nobody and lets records wait. A command that takes "
        "something away waits for as long. The same for all processes.",
    )
    write_timeout_s: float = Field(default=60.0, gt=0, description="How long a change is tried again while other writers are faster.")
