"""Event and entity types as data (VikingMem 2.2.1, figure 1): the memories that an application needs.

``entity := SELECT OP(event.content) FROM events WHERE filters GROUP BY keys``
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

from pydantic import JsonValue

from memory.relations import NODES
from memory.schema.method import Method
from memory.schema.time_window import TimeWindow

ValueType = Literal["int64", "float32", "string", "bool", "list<int64>", "list<float32>", "list<string>", "list<bool>"]

PATCH: Final = "PATCH"
"""Operator of properties that the extractor's patches set."""

LATEST: Final = "LATEST"
"""Operator of properties with only the newest value, which people can also set by hand."""

LLM_MERGE: Final = "LLM_MERGE"
AGENT: Final = "AGENT"
"""Operator of text properties that a model updates with the events."""

Detail = Literal["brief", "full"]
"""Amount of detail that a model should extract."""

FilterOp = Literal["=", "!=", "<", "<=", ">", ">=", "in", "contains"]

CONTENT: Final = "content"
"""``EventPropertyName`` for the event's text."""

ANY_EVENT: Final = "*"
"""``EventType`` for events of all types of the schema, except those that only a method adds."""

NUMERIC_TYPES: Final[frozenset[str]] = frozenset({"int64", "float32"})

CALENDAR_KEYS: Final = ("hour", "day", "week", "month")
"""Keys derived from the event time, in its own UTC offset."""

BUILT_IN_KEYS: Final = ("user", "session", "event", "event_type", NODES, *CALENDAR_KEYS)
"""Keys for grouping besides properties of the events. ``event`` is the event's id: each event has its own entity. ``nodes``: the
subject and object of the relation that the event states, so that it goes to both of their entities."""

_KEYS_OF_ONE_USER: Final = frozenset({"user", "session", "event", NODES})
"""Keys whose entities mostly contain what one user said, also if they do not name the user."""

BUILT_IN_FILTERS: Final = ("importance", "type", "session", "user")
"""Fields for filters in addition to properties of the events."""

KEY_ALIASES: Final[Mapping[str, str]] = MappingProxyType({"id": "user", "user_id": "user", "session_id": "session"})
"""Aliases of built-in keys for primary key properties, unless an event has a property with the alias."""


ParameterValue = int | str | TimeWindow
"""Type of an operator's parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A property of an event type."""

    name: str
    value_type: ValueType
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateExpression:
    """The events that determine an entity's property, and the operator."""

    op: str
    """The name of an operator: see :func:`memory.schema.operator_specs.operator_specs`."""
    event_type: str | None = None
    """One of the schema's, or :data:`ANY_EVENT`. None for PATCH: patches come from the extractor, not from events."""
    event_property: str | None = None
    """A property of the event type, or :data:`CONTENT`; None for PATCH. COUNT counts the events that have it, or all where None."""
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    """The operator's parameters by name, including defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityProperty(Property):
    """A property of an entity type. One without an aggregate is part of the key, or set by patches."""

    is_primary_key: bool = False
    similarity: float | None = None
    """For a part of the key: minimum cosine at which two values count as equal, such as different wordings of a topic. Default: only
    identical values are equal."""
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
    """True if all its conditions are true."""

    conditions: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True if one of its conditions is true."""

    conditions: "tuple[Condition, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """True if its condition is false, also because of a missing property."""

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
        """The property with a name, if any."""
        return next((each for each in self.properties if each.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityType:
    """A type of long-lived state that is aggregated from events."""

    name: str
    description: str
    properties: tuple[EntityProperty, ...]
    keys: tuple[str, ...] = ("user",)
    """GROUP BY: ``user``, ``session``, ``event_type``, ``hour``, ``day``, ``week`` or ``month`` (of the event time, in its UTC offset), or
    a property of the events. A primary key property with the name of an event's property represents it."""
    filters: tuple[Condition, ...] = ()
    """WHERE: all conditions must be true."""
    window: TimeWindow | None = None
    """Only events of the last units count; the last unit is that of the entity's newest event. Default: all events. Text that patches set
    does not expire."""
    by_name: Mapping[str, EntityProperty] = field(init=False, repr=False, compare=False)
    """The properties by their names."""
    key_names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Names of the keys in the entity: the primary key property that represents the key, or else the key's name."""
    similarities: Mapping[str, float] = field(init=False, repr=False, compare=False)
    """Minimum cosine for equal values, for each key that is matched by meaning."""

    def __post_init__(self) -> None:
        # Cached, because every contribution uses them.
        object.__setattr__(self, "by_name", {each.name: each for each in reversed(self.properties)})
        object.__setattr__(self, "key_names", tuple(self._name_of_key(key) for key in self.keys))
        named = ((key, self.by_name.get(name)) for key, name in zip(self.keys, self.key_names, strict=True))
        object.__setattr__(self, "similarities", {key: each.similarity for key, each in named if each is not None and each.similarity})

    @property
    def is_shared(self) -> bool:
        """Whether the events of several users make one entity, such as what is known about a tool."""
        return _KEYS_OF_ONE_USER.isdisjoint(self.keys)

    def property(self, name: str) -> EntityProperty | None:
        """The property with a name, if any."""
        return self.by_name.get(name)

    def op_of(self, each: EntityProperty) -> str | None:
        """The operator of a property: of its aggregate; none for a part of the key; otherwise PATCH."""
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
    """The event and entity types of a tenant."""

    name: str
    version: str = "1"
    description: str = ""
    detail: Detail = "brief"
    """`full`: a model extracts every detail that may be requested later, which needs more tokens."""
    said: bool = True
    """Whether an event extracted by a model contains the text of its first message, so that search finds it by that text, too."""
    event_types: tuple[EventType, ...] = field(default=())
    """Includes the types of the method."""
    entity_types: tuple[EntityType, ...] = field(default=())
    """Includes the types of the method."""
    method: Method | None = None
    """The memory method that extends the schema. None: the default, ``vikingmem``, which adds nothing."""

    @property
    def type_names(self) -> tuple[str, ...]:
        """The names of its event types and entity types."""
        return (*(each.name for each in self.event_types), *(each.name for each in self.entity_types))

    def event_type(self, name: str) -> EventType | None:
        """The event type with a name, if any."""
        return next((each for each in self.event_types if each.name == name), None)

    def without_event_types(self, *names: str) -> "MemorySchema":
        """The schema without the event types of these names that its method adds."""
        added = set() if self.method is None else set(names) & set(self.method.event_types)
        return replace(self, event_types=tuple(each for each in self.event_types if each.name not in added)) if added else self

    def feeds(self, aggregate: AggregateExpression, event_type: str) -> bool:
        """Whether events of a type drive an aggregate."""
        if aggregate.event_type != ANY_EVENT:
            return aggregate.event_type == event_type
        return self.method is None or event_type not in self.method.event_types

    def similarities(self) -> Mapping[str, float]:
        """Minimum cosine for equal values, for each key that is matched by meaning."""
        return {key: least for entity_type in self.entity_types for key, least in entity_type.similarities.items()}

    def entity_type(self, name: str) -> EntityType | None:
        """The entity type with a name, if any."""
        return next((each for each in self.entity_types if each.name == name), None)


def _stands_for(name: str, key: str) -> bool:
    return key in (name, KEY_ALIASES.get(name))
