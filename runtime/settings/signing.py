"""How Varve knows whose records lie in the ``messages`` topic."""

from typing import Annotated

from pydantic import AwareDatetime, Field, SecretStr

from runtime.settings.group import Group

MasterSecret = Annotated[SecretStr, Field(min_length=32)]


class SigningSettings(Group):
    """The master secret of producers' signing keys and of Varve's own seal."""

    secret: MasterSecret | None = Field(
        default=None,
        description="Master secret, the same in every process (`varve tenants signing-secret` makes one). Unset: whoever may write "
        "`messages` is believed, commands included.",
    )
    previous_secrets: tuple[MasterSecret, ...] = Field(
        default=(), description="A JSON list of master secrets that were replaced: what was signed under them stays good."
    )
    since: AwareDatetime | None = Field(
        default=None, description="Records appended to the log before are believed as they are: when a running Varve was given its secret."
    )
    max_age_s: float = Field(
        default=900.0,
        gt=0,
        description="A record appended to the log so long behind its signature or seal, or before it, is refused: a copy, or a wrong "
        "clock.",
    )
