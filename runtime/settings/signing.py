"""Settings of signatures and seals, which prove the origin of records in the ``messages`` topic."""

from typing import Annotated

from pydantic import AwareDatetime, Field, SecretStr

from runtime.settings.group import Group

MasterSecret = Annotated[SecretStr, Field(min_length=32)]


class SigningSettings(Group):
    """The master secret of producers' signing keys and of Varve's own seal."""

    secret: MasterSecret | None = Field(
        default=None,
        description="Master secret, the same in every process (`varve tenants signing-secret` prints one). Without it, every producer that "
        "may write `messages` is trusted, also with commands.",
    )
    previous_secrets: tuple[MasterSecret, ...] = Field(
        default=(), description="JSON list of replaced master secrets. What was signed under them stays valid."
    )
    since: AwareDatetime | None = Field(
        default=None,
        description="Records appended to the log before this time are trusted as they are. Set it to the time at which a running "
        "installation got its secret.",
    )
    max_age_s: float = Field(
        default=900.0,
        gt=0,
        description="Maximum difference between the time in a signature (or seal) and the broker's append time. A larger difference is "
        "rejected as a replayed copy or a clock error.",
    )
