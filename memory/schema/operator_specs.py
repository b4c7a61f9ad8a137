"""Specifications of operators for schemas: name, input, parameters, and types of the value.

The operators themselves are in ``operators/``. Plugins are found by their entry points (docs/build/write-an-operator.md).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Final, Literal, cast, get_args

from memory.errors import SchemaError
from memory.relations import RELATION_PROPERTIES
from memory.schema.method import PathName
from memory.schema.model import MemorySchema, ValueType
from memory.schema.node import suggestion
from memory.schema.operator_parameters import UNITS, ChoiceParameter, FlagParameter, IntegerParameter, Parameter, SpanParameter
from memory.schema.time_window import TimeWindow

ENTRY_POINTS: Final = "varve.operators"
"""The group of entry points for plugin operators: classes with a ``spec``."""

Input = Literal["event", "whole", "detailed", "embedded", "number", "scalar", "value", "patch"]
"""``event``: the existence of the event, or of its property. ``whole``: the event with its text (or a property instead), importance,
evidence, date and the time of its message. ``detailed``: the same with its type, session, properties, and the parts of the entity's key
by name. ``embedded``: ``whole`` with its type, session, properties, and the text's dense vector (:mod:`memory.vectors`). ``number``: int64
or float32. ``scalar``: one value. ``value``: one value or a list. ``patch``: the extractor's patches instead of events. The event's text,
``content``, is a scalar."""

Gives = Callable[[ValueType | None], tuple[ValueType, ...]]
"""The types that a property of this operator may have, by the type of its input; None if the input is the event itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSpec:
    """Specification of an operator for schemas."""

    name: str
    """``Op`` in an ``AggregateExpression``."""
    input: Input
    gives: Gives
    parameters: tuple[Parameter, ...] = ()
    window: Literal["any", "none", "required"] = "any"
    """Whether its entity type may, must not or must have a time window."""
    ages: bool = False
    """Whether it changes as event time advances, receives recalls, and may let events expire."""
    keys: tuple[str, ...] = ()
    """The keys that its entity type must have, in any order. Empty: any."""
    properties: tuple[str, ...] = ()
    """The properties that its event type must have."""
    paths: tuple[PathName, ...] = ()
    """The further retrievers of a method that search what this operator publishes: ``links`` or ``tree``."""
    without_model: str = ""
    """The consequence of having no model, for users. Empty: it needs none."""


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


_HEAT: Final = (
    # In hundredths.
    IntegerParameter(name="Visits", default=100, least=0, most=10_000),
    IntegerParameter(name="Length", default=100, least=0, most=10_000),
    IntegerParameter(name="Recency", default=100, least=0, most=10_000),
    IntegerParameter(name="Threshold", default=500, least=1, most=100_000),
    SpanParameter(name="Fade", default=TimeWindow(116, "day")),
)
"""The parameters of the formula of heat."""

BUILT_IN: Final = (
    OperatorSpec(name="SUM", input="number", gives=_float_of_floats),
    OperatorSpec(name="COUNT", input="event", gives=_numbers),
    OperatorSpec(name="AVG", input="number", gives=_float),
    OperatorSpec(name="MAX", input="number", gives=_float_of_floats),
    OperatorSpec(name="MIN", input="number", gives=_float_of_floats),
    OperatorSpec(name="DISTINCT_COUNT", input="value", gives=_numbers),
    OperatorSpec(name="TOP_K", input="value", gives=_list_of, parameters=(IntegerParameter(name="K", default=5, least=1, most=50),)),
    OperatorSpec(name="LATEST", input="value", gives=_same),
    OperatorSpec(name="LIST", input="scalar", gives=_list_of, parameters=(IntegerParameter(name="Limit", default=10, least=1, most=50),)),
    OperatorSpec(
        name="RATE", input="event", gives=_float, parameters=(ChoiceParameter(name="Per", default="day", choices=UNITS),), window="required"
    ),
    OperatorSpec(
        name="EWMA",
        input="number",
        gives=_float,
        parameters=(SpanParameter(name="HalfLife", default=TimeWindow(7, "day")),),
        window="none",
    ),
    OperatorSpec(
        name="LLM_MERGE",
        without_model="the text consists of the statements, and contradictions are not resolved",
        input="value",
        gives=_text,
        parameters=(IntegerParameter(name="Characters", default=2000, least=200, most=8000),),
        window="none",
    ),
    OperatorSpec(
        name="AGENT",
        without_model="nobody edits the block, and it stays empty",
        input="value",
        gives=_text,
        parameters=(
            IntegerParameter(name="Characters", default=2000, least=200, most=8000),
            IntegerParameter(name="Steps", default=5, least=1, most=20),
            IntegerParameter(name="Tokens", default=20_000, least=2000, most=200_000),
        ),
        window="none",
        keys=("user",),
    ),
    OperatorSpec(
        name="LINK",
        without_model="the rule decides: notes are linked by similarity, and only a fact in the same words counts as known",
        input="embedded",
        gives=_text,
        parameters=(
            IntegerParameter(name="Neighbours", default=5, least=1, most=20),
            ChoiceParameter(name="Decide", default="link", choices=("link", "reconcile")),
            IntegerParameter(name="LinkAbove", default=60, least=1, most=100),
        ),
        paths=("links",),
        window="none",
        keys=("user", "event"),
    ),
    OperatorSpec(
        name="EDGE",
        input="detailed",
        gives=_text,
        paths=("links",),
        properties=RELATION_PROPERTIES,
        parameters=(IntegerParameter(name="Limit", default=200, least=1, most=1000),),
        window="none",
    ),
    OperatorSpec(
        name="CLUSTER",
        without_model="the summary of a community lists its relations",
        input="detailed",
        gives=_text,
        properties=RELATION_PROPERTIES,
        parameters=(
            IntegerParameter(name="Limit", default=200, least=1, most=1000),
            IntegerParameter(name="Questions", default=2, least=1, most=16),
        ),
        window="none",
    ),
    OperatorSpec(name="PATCH", input="patch", gives=_any),
    OperatorSpec(
        name="TIME_COMPRESS",
        without_model="summaries are extracts",
        input="whole",
        gives=_text,
        parameters=(
            SpanParameter(name="Quiet", default=TimeWindow(7, "day")),
            SpanParameter(name="Keep", default=TimeWindow(30, "day")),
            IntegerParameter(name="Details", default=0, least=0, most=300),
            FlagParameter(name="Retract"),
        ),
        window="none",
        ages=True,
    ),
    OperatorSpec(
        name="HEAT",
        input="whole",
        gives=_text,
        parameters=(
            *_HEAT,
            IntegerParameter(name="Limit", default=200, least=1, most=1000),
        ),
        window="none",
        ages=True,
    ),
    OperatorSpec(
        name="STRENGTH",
        input="whole",
        gives=_numbers,
        parameters=(
            SpanParameter(name="Strength", default=TimeWindow(1, "day")),
            IntegerParameter(name="LeastRetention", default=5, least=1, most=99),
            IntegerParameter(name="Limit", default=500, least=1, most=2000),
            FlagParameter(name="Retract"),
            FlagParameter(name="Ranks"),
        ),
        window="none",
        ages=True,
    ),
    OperatorSpec(
        name="TREE",
        without_model="summaries are extracts",
        input="embedded",
        gives=_text,
        paths=("tree",),
        parameters=(
            # In thousandths.
            IntegerParameter(name="Base", default=400, least=0, most=1000),
            IntegerParameter(name="Rate", default=500, least=0, most=2000),
            IntegerParameter(name="Depth", default=8, least=2, most=16),
            IntegerParameter(name="Nodes", default=256, least=16, most=1024),
            IntegerParameter(name="Fifo", default=0, least=0, most=100),
            IntegerParameter(name="Questions", default=2, least=1, most=16),
        ),
        window="none",
    ),
    OperatorSpec(
        name="TIERS",
        input="embedded",
        gives=_text,
        parameters=(
            IntegerParameter(name="Fifo", default=14, least=2, most=100),
            # In thousandths.
            IntegerParameter(name="Similarity", default=600, least=0, most=1000),
            FlagParameter(name="Topics"),
            *_HEAT,
            IntegerParameter(name="Limit", default=200, least=1, most=1000),
        ),
        window="none",
        ages=True,
    ),
)


def built_in(name: str) -> OperatorSpec:
    """The specification of a built-in operator."""
    return next(each for each in BUILT_IN if each.name == name)


@cache
def operator_specs() -> Mapping[str, OperatorSpec]:
    """All operators by name: built-in ones, and plugins from installed packages.

    Raises:
        SchemaError: If a plugin cannot be imported, has the name of a built-in operator, is not an operator, or lacks a method.
    """
    specs = {each.name: each for each in BUILT_IN}
    for name, operator in plugin_operators().items():
        spec = getattr(operator, "spec", None)
        if not isinstance(spec, OperatorSpec) or spec.name != name:
            raise SchemaError("", f"the entry point {name!r} of {ENTRY_POINTS} is not an operator: it needs a spec with the name {name!r}")
        if spec.input not in (inputs := get_args(Input)):
            raise SchemaError("", f"the operator {name!r}: its spec has the input {spec.input!r}; {suggestion(spec.input, inputs)}")
        missing = sorted(getattr(operator, "__abstractmethods__", ()))
        if missing:
            raise SchemaError(
                "", f"the operator {name!r} is incomplete: {operator.__module__}.{operator.__qualname__} must define {', '.join(missing)}"
            )
        if name in specs:
            raise SchemaError("", f"the entry point {name!r} of {ENTRY_POINTS} has the name of a built-in operator; rename it")
        specs[name] = spec
    return MappingProxyType(specs)


def driving_event_types(schema: MemorySchema, wanted: Callable[[OperatorSpec], bool]) -> frozenset[str]:
    """The event types of a schema that drive an operator of some kind.

    Args:
        schema: The schema.
        wanted: Whether an operator is of that kind.
    """
    specs = operator_specs()
    aggregates = [
        each.aggregate
        for entity_type in schema.entity_types
        for each in entity_type.properties
        if each.aggregate is not None and wanted(specs[each.aggregate.op])
    ]
    return frozenset(event.name for event in schema.event_types if any(schema.feeds(each, event.name) for each in aggregates))


@cache
def plugin_operators() -> Mapping[str, Any]:
    """The plugin operators from installed packages, by the names of their entry points.

    Raises:
        SchemaError: If one cannot be imported; names its entry point and its package.
    """
    return MappingProxyType({each.name: _loaded(each) for each in entry_points(group=ENTRY_POINTS)})


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:  # An import runs the package's own code, which can raise anything.
        package = f" of the package {point.dist.name}" if point.dist is not None else ""
        raise SchemaError(
            "",
            f"the entry point {point.name!r}{package} ({ENTRY_POINTS}) cannot be imported from {point.value!r}: "
            f"{type(error).__name__}: {error}. Correct the package and install it again, or uninstall it",
        ) from error
