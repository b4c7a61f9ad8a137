"""A tenant's policy for personal data in texts that hosted models see."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

RedactedKind = Literal["email", "phone", "iban", "card", "ip", "national_id"]
"""Personal data that has a well-defined form."""


class RedactionPolicy(BaseModel):
    """The personal data that models do not see."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: tuple[RedactedKind, ...] = Field(default=(), max_length=6)
    """The kinds that are replaced by placeholders, such as ``[EMAIL_1]``. Default: none."""
    restore: bool = True
    """Whether memories have the originals. False: they have placeholders without numbers, such as ``[EMAIL]``; raw messages stay."""
    region: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")] | None = Field(default=None)
    """The country of telephone numbers without a country code, such as ``NO``. Default: only numbers with a code are found."""


NO_REDACTION = RedactionPolicy()
