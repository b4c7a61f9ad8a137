"""The operators by name, made for the properties of entity types."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from memory.errors import SchemaError
from memory.schema.model import EntityProperty, EntityType, ParameterValue, ValueType
from memory.schema.operator_specs import ENTRY_POINTS, plugin_operators
from memory.schema.time_window import TimeWindow
from operators.agent.agent import AgentText
from operators.aggregates.decay import Ewma
from operators.aggregates.distinct_count import DistinctCount
from operators.aggregates.heat import Heat
from operators.aggregates.newest import Latest, NewestList
from operators.aggregates.statistics import Avg, Count, Max, Min, Rate, Sum
from operators.aggregates.strength import Strength
from operators.aggregates.top_k import TopK
from operators.aggregates.windowed import Windowed
from operators.aging import AgingOperator
from operators.cluster.cluster import Communities
from operators.links.edge import Edges
from operators.links.link import LinkedNote
from operators.llm.merged_text import MergedText
from operators.operator import Configuration, MergeableOperator, Operator
from operators.patches.patch import PatchedText
from operators.timeline.compress import TimeCompress
from operators.tree.tiers import MemoryTiers
from operators.tree.tree import MemoryTree

_BUILT_IN: Final = (
    Sum,
    Count,
    Avg,
    Max,
    Min,
    DistinctCount,
    TopK,
    Latest,
    NewestList,
    Rate,
    Ewma,
    PatchedText,
    MergedText,
    AgentText,
    LinkedNote,
    TimeCompress,
    Strength,
    Edges,
    Communities,
    Heat,
    MemoryTree,
    MemoryTiers,
)
_MOST_PROPERTIES: Final = 4096
"""Differently configured properties whose operators are cached."""


@cache
def operators() -> Mapping[str, type[Operator]]:
    """All operators by name: the shipped ones, and those of installed packages.

    Raises:
        memory.errors.SchemaError: If an entry point of a package is no operator.
    """
    found: dict[str, type[Operator]] = {each.spec.name: each for each in _BUILT_IN}
    for name, plugin in plugin_operators().items():
        if not (isinstance(plugin, type) and issubclass(plugin, Operator)):
            raise SchemaError(
                "", f"the entry point {name!r} of {ENTRY_POINTS} is not an operator: it must name a subclass of {Operator.__name__}"
            )
        if plugin.spec.ages != issubclass(plugin, AgingOperator):
            raise SchemaError("", f"the operator {name!r}: its spec must say ages={not plugin.spec.ages}, as its class does")
        if plugin.spec.window != "none" and not issubclass(plugin, MergeableOperator):
            raise SchemaError("", f"the operator {name!r} cannot be merged: its spec must say window='none'")
        found[name] = plugin
    return MappingProxyType(found)


class BoundOperator(NamedTuple):
    """The operator of a property, and its configuration."""

    tag: str
    """Names the operator and its configuration. A state with another tag is from an older schema, and cannot be used."""
    operator: Operator | None
    """None if this version has no such operator."""


def bind(each: EntityProperty, entity_type: EntityType) -> BoundOperator | None:
    """The operator of a property under an entity type, which need not have the property any more; None for a part of the key."""
    op = entity_type.op_of(each)
    parameters = () if each.aggregate is None else each.aggregate.parameters
    return None if op is None else _bind(op, parameters, each.value_type, entity_type.window, each.description)


def bound_operator(entity_type: EntityType, name: str) -> BoundOperator | None:
    """The operator of a property; None for a part of the key, and for a property that the entity type does not have."""
    each = entity_type.property(name)
    return None if each is None else bind(each, entity_type)


def bound_operators(entity_type: EntityType) -> Iterator[tuple[str, BoundOperator]]:
    """The names and operators of an entity type's properties, without the parts of the key."""
    for each in entity_type.properties:
        bound = bind(each, entity_type)
        if bound is not None:
            yield each.name, bound


@lru_cache(maxsize=_MOST_PROPERTIES)
def _bind(
    op: str, parameters: tuple[tuple[str, ParameterValue], ...], value_type: ValueType, window: TimeWindow | None, description: str
) -> BoundOperator:
    tag = f"{op}({', '.join(f'{name}={value}' for name, value in parameters)})" if parameters else op
    kind = operators().get(op)
    if kind is None:
        return BoundOperator(tag, None)
    operator = kind(Configuration(value_type=value_type, description=description, parameters=dict(parameters), window=window))
    if window is not None and isinstance(operator, MergeableOperator):
        return BoundOperator(f"{tag}/{window}", Windowed(operator, window))
    return BoundOperator(tag, operator)
