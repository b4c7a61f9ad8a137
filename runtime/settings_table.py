"""Tables of all settings: for ``docs/reference/settings.md``, and with the effective values for ``varve config``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
from pydantic import BaseModel, SecretStr

from runtime.settings import Settings
from runtime.settings.group import Group

MASK: Final = "********"

_UNSET: Final = "unset"
_USER_INFO: Final = re.compile(r'//[^\s"]*@')
"""User and password in an address, up to its last ``@``: a password may contain any character."""
_SECRET_PARAMETER: Final = re.compile(r'([?&;][^=&\s"]*(?:key|token|secret|pass|sig|auth|cred|code)[^=&\s"]*=)[^&\s"#]+', re.IGNORECASE)
"""A secret in an address's query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    """One setting."""

    name: str
    """Its environment variable."""
    value: str
    """Value as in the environment; secrets are masked; ``unset`` if there is none."""
    description: str


def setting_rows(settings: BaseModel) -> list[SettingRow]:
    """The effective settings, in the order of their definition, with masked secrets.

    Args:
        settings: All settings, or one of the groups (then the names lack the group's part).
    """
    return list(_rows(settings, str(Settings.model_config["env_prefix"])))


def settings_markdown() -> str:
    """The text of ``docs/reference/settings.md``: every setting with its default."""
    lines = [
        "# Settings",
        "",
        "Set these as environment variables or in a `.env` file in the working folder. `varve config` prints the effective values.",
        "This page is generated from `runtime/settings/` by `make generated`; a test keeps it up to date.",
        "",
        "| variable | default | meaning |",
        "|---|---|---|",
    ]
    defaults = Settings.model_construct()
    lines += [f"| `{row.name}` | {_code(row.value)} | {row.description} |" for row in setting_rows(defaults)]
    return "\n".join(lines) + "\n"


def _rows(group: BaseModel, prefix: str) -> Iterator[SettingRow]:
    for name, info in type(group).model_fields.items():
        value = getattr(group, name)
        if isinstance(value, Group):
            yield from _rows(value, f"{prefix}{name.upper()}__")
        else:
            yield SettingRow(name=f"{prefix}{name.upper()}", value=_text(value), description=info.description or "")


def _text(value: Any) -> str:
    if value is None:
        return _UNSET
    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, tuple):
        return without_credentials(orjson.dumps([_element(each) for each in value]).decode())
    return without_credentials(str(value))


def without_credentials(text: str) -> str:
    """An address with user, password and keys masked."""
    return _SECRET_PARAMETER.sub(rf"\g<1>{MASK}", _USER_INFO.sub(f"//{MASK}@", text))


def _element(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return MASK
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _code(value: str) -> str:
    return f"`{value}`" if value and value != _UNSET else value


if __name__ == "__main__":
    print(settings_markdown(), end="")
