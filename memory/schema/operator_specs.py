"""What a schema may say of each operator: its name, its input, its parameters, and the types of its value.

The operators themselves are in ``operators/``. One that comes from outside is found by its entry point (docs/build/write-an-operator.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Final, Literal, cast

from memory.errors import SchemaError
from memory.schema.model import ValueType
from memory.schema.operator_parameters import FlagParameter, IntegerParameter, Parameter, SpanParameter, UnitParameter
from memory.schema.time_window import TimeWindow

ENTRY_POINTS: Final = "varve.operators"
"""The group of entry points that name operators from outside: each a class with a ``spec``."""

Input = Literal["event", "whole", "number", "scalar", "value", "patch"]
"""``event``: the event as such, or that it has a property. ``whole``: the event with its text (or a property in place of it), importance
and evidence. ``number``: an int64 or float32. ``scalar``: one value. ``value``: one or a list. ``patch``: no event, but the extractor's
patches. The event's text, ``content``, is a scalar."""

Gives = Callable[[ValueType | None], tuple[ValueType, ...]]
"""The types that a property of this operator may have, by the type of its input; None where it looks at the event as such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSpec:
    """What a schema may say of an operator."""

    name: str
    """``Op`` in an ``AggregateExpression``."""
    input: Input
    gives: Gives
    parameters: tuple[Parameter, ...] = ()
    window: Literal["any", "none", "required"] = "any"
    """Whether its entity type may, must not or must have a time window."""


def _numbers(_: ValueType | None) -> tuple[ValueType, ...]:
    return ("int64", "float32")


def _float(_: ValueType | None) -> tuple[ValueType, ...]:
    return ("float32",)


def _text(_: ValueType | None) -> tuple[ValueType, ...]:
    return ("string",)


def _float_of_floats(source: ValueType | None) -> tuple[ValueType, ...]:
    return ("float32",) if source == "float32" else ("int64", "float32")


def _same(source: ValueType | None) -> tuple[ValueType, ...]:
    return (source or "string",)


def _list_of(source: ValueType | None) -> tuple[ValueType, ...]:
    return (source,) if source and source.startswith("list") else (cast(ValueType, f"list<{source or 'string'}>"),)


def _any(_: ValueType | None) -> tuple[ValueType, ...]:
    return ("int64", "float32", "string", "bool", "list<int64>", "list<float32>", "list<string>", "list<bool>")


_BUILT_IN: Final = (
    OperatorSpec(name="SUM", input="number", gives=_float_of_floats),
    OperatorSpec(name="COUNT", input="event", gives=_numbers),
    OperatorSpec(name="AVG", input="number", gives=_float),
    OperatorSpec(name="MAX", input="number", gives=_float_of_floats),
    OperatorSpec(name="MIN", input="number", gives=_float_of_floats),
    OperatorSpec(name="DISTINCT_COUNT", input="value", gives=_numbers),
    OperatorSpec(name="TOP_K", input="value", gives=_list_of, parameters=(IntegerParameter(name="K", default=5, least=1, most=50),)),
    OperatorSpec(name="LATEST", input="value", gives=_same),
    OperatorSpec(name="LIST", input="scalar", gives=_list_of, parameters=(IntegerParameter(name="Limit", default=10, least=1, most=50),)),
    OperatorSpec(name="RATE", input="event", gives=_float, parameters=(UnitParameter(name="Per", default="day"),), window="required"),
    OperatorSpec(
        name="EWMA",
        input="number",
        gives=_float,
        parameters=(SpanParameter(name="HalfLife", default=TimeWindow(7, "day")),),
        window="none",
    ),
    OperatorSpec(
        name="LLM_MERGE",
        input="value",
        gives=_text,
        parameters=(IntegerParameter(name="Characters", default=2000, least=200, most=8000),),
        window="none",
    ),
    OperatorSpec(name="PATCH", input="patch", gives=_any),
    OperatorSpec(
        name="TIME_COMPRESS",
        input="whole",
        gives=_text,
        parameters=(
            SpanParameter(name="Quiet", default=TimeWindow(7, "day")),
            SpanParameter(name="Keep", default=TimeWindow(30, "day")),
            FlagParameter(name="Retract"),
        ),
        window="none",
    ),
)


def built_in(name: str) -> OperatorSpec:
    """What a schema may say of an operator that ships."""
    return next(each for each in _BUILT_IN if each.name == name)


@cache
def operator_specs() -> Mapping[str, OperatorSpec]:
    """All operators by name: those that ship, and those that installed packages bring.

    Raises:
        SchemaError: If a package brings an operator of a name that is taken, or something that is none.
    """
    specs = {each.name: each for each in _BUILT_IN}
    for name, operator in plugin_operators().items():
        spec = getattr(operator, "spec", None)
        if not isinstance(spec, OperatorSpec) or spec.name != name:
            raise SchemaError("", f"the entry point {name!r} of {ENTRY_POINTS} names no operator: it needs a spec of the name {name!r}")
        if name in specs:
            raise SchemaError("", f"the entry point {name!r} of {ENTRY_POINTS} bears the name of an operator that ships; rename it")
        specs[name] = spec
    return MappingProxyType(specs)


@cache
def plugin_operators() -> Mapping[str, Any]:
    """The operators that installed packages bring, by the names of their entry points."""
    return MappingProxyType({each.name: each.load() for each in entry_points(group=ENTRY_POINTS)})
