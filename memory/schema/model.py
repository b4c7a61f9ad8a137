"""Event and entity types as data (VikingMem 2.2.1, figure 1): what an application wants remembered.

``entity := SELECT OP(event.content) FROM events WHERE filters GROUP BY keys``
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from pydantic import JsonValue

from memory.schema.time_window import TimeWindow

ValueType = Literal["int64", "float32", "string", "bool", "list<int64>", "list<float32>", "list<string>", "list<bool>"]

PATCH: Final = "PATCH"
"""The operator of the properties that an extractor's patches set."""

LATEST: Final = "LATEST"
"""The operator of the properties that have the newest value alone: a person can set one by hand, too."""

LLM_MERGE: Final = "LLM_MERGE"
"""The operator of the properties that are texts which a model keeps up with the events."""

TIME_COMPRESS: Final = "TIME_COMPRESS"
"""The operator of the properties that are timelines: they change as event time goes by."""

Detail = Literal["brief", "full"]
"""How much a model is asked to keep of what was said."""

FilterOp = Literal["=", "!=", "<", "<=", ">", ">=", "in", "contains"]

CONTENT: Final = "content"
"""As an ``EventPropertyName``: the event's text itself."""

NUMERIC_TYPES: Final[frozenset[str]] = frozenset({"int64", "float32"})

CALENDAR_KEYS: Final = ("hour", "day", "week", "month")
"""Of the event time, UTC."""

BUILT_IN_KEYS: Final = ("user", "session", "event_type", *CALENDAR_KEYS)
"""What an entity can be grouped by besides a property of the events."""

BUILT_IN_FILTERS: Final = ("importance", "type", "session", "user")
"""What a filter can look at besides a property of the events."""

KEY_ALIASES: Final[Mapping[str, str]] = MappingProxyType({"id": "user", "user_id": "user", "session_id": "session"})
"""Names that a primary key property may bear for a built-in key, where no event has a property of that name."""


ParameterValue = int | str | TimeWindow
"""Of an operator's parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property of an event type."""

    name: str
    value_type: ValueType
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateExpression:
    """Which events drive a property of an entity, and how."""

    op: str
    """The name of an operator: see :func:`memory.schema.operator_specs.operator_specs`."""
    event_type: str | None = None
    """None for PATCH: patches come from the extractor, not from events."""
    event_property: str | None = None
    """A property of the event type, or :data:`CONTENT`; None for PATCH. COUNT counts the events that have it, or all where None."""
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    """The operator's parameters by name, those left out with their defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityProperty(Property):
    """A property of an entity type. One without an aggregate is part of the key, or set by patches."""

    is_primary_key: bool = False
    similarity: float | None = None
    """Of a part of the key: the cosine from which on two of its values are one, as a topic is that is worded anew. None: only equal ones
    are."""
    aggregate: AggregateExpression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One comparison of the WHERE clause. A missing property fails every comparison but ``!=``."""

    property: str
    """A property of the event, or one of :data:`BUILT_IN_FILTERS`."""
    op: FilterOp
    value: JsonValue


@dataclass(frozen=True, slots=True)
class AllOf:
    """Holds where all its conditions hold."""

    conditions: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Holds where one of its conditions holds."""

    conditions: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """Holds where its condition does not, be it for a missing property."""

    condition: "Condition"


Condition = Filter | AllOf | AnyOf | Not
"""A part of the WHERE clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventType:
    """A kind of event to extract."""

    name: str
    description: str
    properties: tuple[Property, ...] = ()
    weight: float = 1.0
    """Type-level business importance in [0, 1] (VikingMem 3.3)."""

    def property(self, name: str) -> Property | None:
        """The property of that name, if there is one."""
        return next((each for each in self.properties if each.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """A kind of long-lived state that events grow."""

    name: str
    description: str
    properties: tuple[EntityProperty, ...]
    keys: tuple[str, ...] = ("user",)
    """GROUP BY: ``user``, ``session``, ``event_type``, ``hour``, ``day``, ``week`` or ``month`` (of the event time, UTC), or a property of
    the events. A primary key property that bears an event property's name stands for it."""
    filters: tuple[Condition, ...] = ()
    """WHERE: all must hold."""
    window: TimeWindow | None = None
    """Only events of the last so many units count, the unit of the entity's newest event being the last; None: all. Text that patches set
    does not age."""
    by_name: Mapping[str, EntityProperty] = field(init=False, repr=False, compare=False)
    """The properties by their names."""
    key_names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """For each key, the name that it has in the entity: the primary key property that stands for it, or the key's own."""
    similarities: Mapping[str, float] = field(init=False, repr=False, compare=False)
    """Of each key whose values are one where they mean the same, the cosine from which on they are."""

    def __post_init__(self) -> None:
        # Looked up with every contribution.
        object.__setattr__(self, "by_name", {each.name: each for each in reversed(self.properties)})
        object.__setattr__(self, "key_names", tuple(self._name_of_key(key) for key in self.keys))
        named = ((key, self.by_name.get(name)) for key, name in zip(self.keys, self.key_names, strict=True))
        object.__setattr__(self, "similarities", {key: each.similarity for key, each in named if each is not None and each.similarity})

    def property(self, name: str) -> EntityProperty | None:
        """The property of that name, if there is one."""
        return self.by_name.get(name)

    def op_of(self, each: EntityProperty) -> str | None:
        """What drives a property of this type: its aggregate, nothing for a part of the key, else patches."""
        if each.aggregate is not None:
            return each.aggregate.op
        return None if each.is_primary_key or each.name in self.keys else PATCH

    def patched_properties(self) -> tuple[EntityProperty, ...]:
        """The properties that an extractor's patches set."""
        return tuple(each for each in self.properties if self.op_of(each) == PATCH)

    def _name_of_key(self, key: str) -> str:
        return next((each.name for each in self.properties if each.is_primary_key and _stands_for(each.name, key)), key)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySchema:
    """All that one tenant wants remembered."""

    name: str
    version: str = "1"
    description: str = ""
    detail: Detail = "brief"
    """`full`: a model is to lose no detail that somebody may ask for later, which takes it more tokens."""
    said: bool = True
    """Whether a model's event bears what its first message says, and is found by that, too."""
    event_types: tuple[EventType, ...] = field(default=())
    entity_types: tuple[EntityType, ...] = field(default=())

    def event_type(self, name: str) -> EventType | None:
        """The event type of that name, if there is one."""
        return next((each for each in self.event_types if each.name == name), None)

    def similarities(self) -> Mapping[str, float]:
        """Of each key whose values are one where they mean the same, the cosine from which on they are."""
        return {key: least for entity_type in self.entity_types for key, least in entity_type.similarities.items()}

    def timeline_event_types(self) -> frozenset[str]:
        """The event types that timelines hold, and one day let go."""
        aggregates = (each.aggregate for entity_type in self.entity_types for each in entity_type.properties)
        return frozenset(each.event_type for each in aggregates if each is not None and each.op == TIME_COMPRESS and each.event_type)

    def entity_type(self, name: str) -> EntityType | None:
        """The entity type of that name, if there is one."""
        return next((each for each in self.entity_types if each.name == name), None)


def _stands_for(name: str, key: str) -> bool:
    return key in (name, KEY_ALIASES.get(name))
