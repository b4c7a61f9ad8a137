"""Variables that look like settings of Varve and have no effect, and variables whose value should be JSON. Pure."""

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BaseModel

from runtime.settings import Settings

_PREFIX: Final = "VARVE_"
_DELIMITER: Final = "__"
_NEAR: Final = 0.8
"""Least similarity of a suggestion."""
_MODEL: Final = "VARVE_LLM__MODEL"
_ENDPOINT: Final = "VARVE_LLM__BASE_URL"
_OF_OTHERS: Final = re.compile(r"VARVE_TEST_|.*_SERVICE_(HOST|PORT)|.*_PORT(_\d+_(TCP|UDP).*)?$")
"""Names of the tests, and those by which Kubernetes gives each pod the addresses of a service ``varve-...``."""


def ineffective_variables(variables: Mapping[str, Any]) -> list[str]:
    """A sentence for each variable that is probably a misspelt setting, or has no effect without another one.

    Names below a known group are not here: reading them fails.

    Args:
        variables: The environment, with the ``.env`` file.
    """
    known = {name.upper() for name in Settings.model_fields}
    names = [name for name, _ in _settings()]
    sentences = []
    for given in variables:
        name = given.upper()
        if not name.startswith(_PREFIX) or name.removeprefix(_PREFIX).partition(_DELIMITER)[0] in known or _OF_OTHERS.match(name):
            continue
        near = get_close_matches(name, names, n=1, cutoff=_NEAR)
        if near or _DELIMITER in name:
            hint = f"did you mean {near[0]}?" if near else "see docs/reference/settings.md"
            sentences.append(f"{given} is not a setting and has no effect; {hint}")
    return [*sentences, *_without_endpoint({name.upper(): value for name, value in variables.items()})]


def _without_endpoint(variables: Mapping[str, Any]) -> list[str]:
    """A sentence if a model is named and no endpoint: clients of OpenAI have a default address, and Varve extracts with rules."""
    if not variables.get(_MODEL) or variables.get(_ENDPOINT) or f"{_PREFIX}LLM" in variables:
        return []
    return [f"{_MODEL} has no effect without {_ENDPOINT}: rules extract; the address of OpenAI is https://api.openai.com/v1"]


def unreadable_variables(variables: Mapping[str, Any]) -> list[str]:
    """The variables whose value should be JSON and is not.

    Args:
        variables: The environment, with the ``.env`` file.
    """
    lists = {name for name, default in _settings() if isinstance(default, list | tuple | dict | set | frozenset | BaseModel)}
    return [name for name, value in variables.items() if name.upper() in lists and not _is_json(value)]


def _settings() -> Iterator[tuple[str, Any]]:
    """The names of all settings and of their groups, with their defaults."""
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        yield f"{_PREFIX}{name.upper()}", default
        if isinstance(default, BaseModel):
            for part in type(default).model_fields:
                yield f"{_PREFIX}{name.upper()}{_DELIMITER}{part.upper()}", getattr(default, part)


def _is_json(value: Any) -> bool:
    try:
        json.loads(value)
    except (ValueError, TypeError):
        return False
    return True
