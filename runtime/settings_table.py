"""Tables of all settings: for ``docs/reference/settings.md``, and with the effective values for ``varve config``."""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
from pydantic import BaseModel, SecretStr

from runtime.settings import Settings
from runtime.settings.group import Group

MASK: Final = "********"

_HEAD: Final = """# Settings

Set these as environment variables or in a `.env` file in the working folder. `varve config` prints the effective values.
A name that ends in `_S` is a time in seconds. Where the default is unset or empty, there is no value.
This page is generated from `runtime/settings/` by `make generated`; a test keeps it up to date.
"""
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
    defaults = Settings.model_construct()
    prefix = str(Settings.model_config["env_prefix"])
    groups = {name: getattr(defaults, name) for name in Settings.model_fields if isinstance(getattr(defaults, name), Group)}
    sections = [_section("Every process", "", (row for row in setting_rows(defaults) if "__" not in row.name))]
    for name, group in groups.items():
        variables = f"{prefix}{name.upper()}__"
        sections.append(_section(f"`{variables}*`", _purpose(group), _rows(group, variables)))
    return _HEAD + "".join(sections)


def _section(heading: str, purpose: str, rows: Iterable[SettingRow]) -> str:
    table = "".join(f"| `{row.name}` | {_code(row.value)} | {row.description} |\n" for row in rows)
    return f"\n## {heading}\n\n{purpose}| variable | default | meaning |\n|---|---|---|\n{table}"


def _purpose(group: Group) -> str:
    """The first paragraph of a group's docstring, as one paragraph of the page."""
    paragraph = (inspect.getdoc(type(group)) or "").split("\n\n")[0]
    return " ".join(paragraph.split()).replace("``", "`") + "\n\n"


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
    if isinstance(value, bool):
        return str(value).lower()
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
    return f"`{value}`" if value and value != _UNSET else value or "empty"


if __name__ == "__main__":
    print(settings_markdown(), end="")
