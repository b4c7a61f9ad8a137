"""Settings of logs, traces and the canary."""

from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from runtime.settings.group import Group

_SEPARATOR: Final = ","


class LogSettings(Group):
    """Logs of every process."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="Lowest level that is logged.")
    format: Literal["json", "console"] = Field(default="console", description="`json` for machines, `console` for people.")


class TracingSettings(Group):
    """OpenTelemetry spans. All processes need the same settings."""

    endpoint: str | None = Field(
        default=None,
        description="Full address of the collector for spans (OTLP over HTTP), such as `http://collector:4318/v1/traces`. Default: spans "
        "are not recorded.",
    )
    sample_ratio: float = Field(
        default=1.0, ge=0, le=1, description="Share of traces begun by Varve that is recorded. Other traces follow their `traceparent`."
    )
    headers: SecretStr | None = Field(default=None, description="Headers for the collector: `name=value`, separated by commas.")

    @field_validator("endpoint")
    @classmethod
    def _is_an_address(cls, endpoint: str | None) -> str | None:
        address = None if endpoint is None else urlsplit(endpoint)
        if address is not None and (address.scheme not in ("http", "https") or not address.hostname):
            raise ValueError("expected an address that begins with http:// or https://; it usually ends in /v1/traces")
        return endpoint

    @field_validator("headers")
    @classmethod
    def _are_fields(cls, headers: SecretStr | None) -> SecretStr | None:
        if headers is not None and not all("=" in each for each in headers.get_secret_value().split(_SEPARATOR)):
            raise ValueError("expected name=value, separated by commas")
        return headers

    @property
    def header_fields(self) -> dict[str, str]:
        """The headers by name."""
        if self.headers is None:
            return {}
        fields = (each.partition("=") for each in self.headers.get_secret_value().split(_SEPARATOR))
        return {name.strip().lower(): value.strip() for name, _, value in fields}


class CanarySettings(Group):
    """`varve canary`; `VARVE_CLIENT__*` sets its tenant and user."""

    interval_s: float = Field(default=60.0, gt=0, description="Time between two test facts of the canary.")
    goal_s: float = Field(default=60.0, gt=0, description="A fact counts as fresh if a recall finds it within this time.")
    timeout_s: float = Field(default=120.0, gt=0, description="How long the canary looks for a fact.")
    facts: int = Field(default=10, ge=1, le=20, description="Test facts kept at a time; the newest replaces the oldest.")
