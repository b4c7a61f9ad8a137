"""``operators.plugin_api`` exports everything that the methods of its operators take and return."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest

from operators import plugin_api
from operators.operator import Operator

KINDS = [each for name in plugin_api.__all__ if inspect.isclass(each := getattr(plugin_api, name)) and issubclass(each, Operator)]
NOT_OF_PLUGINS = {"Work"}
"""The budget of PATCH, which no plugin has."""


def classes_in(hint: Any) -> Iterator[type]:
    """The classes in a type hint."""
    if inspect.isclass(hint):
        yield hint
    for each in get_args(hint):
        yield from classes_in(each)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_operators_need_only_exported_types(kind: type[Operator]) -> None:
    needed = {
        each.__name__
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
        for hint in get_type_hints(method, vars(sys.modules[method.__module__])).values()
        for each in classes_in(hint)
        if each.__module__.startswith(("operators.", "memory."))
    }
    assert needed - NOT_OF_PLUGINS <= set(plugin_api.__all__)


def test_each_interface_is_exported() -> None:
    assert {"AgingOperator", "LLMOperator", "LinkedOperator", "PublishingOperator"} <= {each.__name__ for each in KINDS}
