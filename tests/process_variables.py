"""Settings as the environment of a process."""

from collections.abc import Iterator
from typing import Any

from runtime.settings import Settings


def process_variables(settings: Settings) -> dict[str, str]:
    """The environment variables that give another process these settings, except secrets."""
    return dict(_variables("VARVE_", settings.model_dump(mode="json", exclude_defaults=True)))


def _variables(prefix: str, values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _variables(f"{prefix}{name.upper()}__", value)
        elif value is not None:
            yield f"{prefix}{name.upper()}", str(value)
