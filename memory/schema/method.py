"""Memory methods: documents that say what a tenant's memory archives, extracts, manages and retrieves.

A method extends a schema. Its event and entity types become types of the schema, so the log, the stages, the operators, erasure and rebuild
treat them like any other type. The four sections follow the framework of *Memory in the LLM Era*, section 3.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from pydantic import JsonValue

from memory.errors import SchemaError
from memory.schema.node import Node

TURN: Final = "turn"
"""Type of the events that archive single messages."""
SEGMENT: Final = "segment"
"""Type of the events that hold one topic of a window each: its messages, or a model's summary of them."""
RELATION: Final = "relation"
"""Type of the events that state one relation each: subject, relation, object."""

DERIVED_TYPES: Final = (TURN, SEGMENT, RELATION)
"""Event types that a method can add to every schema."""

PathName = Literal["keywords", "links", "tree", "recent", "topics"]
"""Retrievers that a method can add to the search of memories. ``links``: follows the links of found memories. ``tree``: beam search from
the root of a tree. ``recent``: the newest memories in full. ``topics``: a model selects topics."""
PATHS: Final[tuple[PathName, ...]] = get_args(PathName)

RewritingMode = Literal["fast", "expand", "sift"]
"""How a model rewrites a recall. ``fast``: no model. ``expand``: it adds sentences to the query. ``sift``: it ranks the sessions."""
MODES: Final[tuple[RewritingMode, ...]] = get_args(RewritingMode)

_KINDS: Final = ("event", "entity", "summary", "segment")
_SECTIONS: Final = {
    "Archive": ("Turns",),
    "Extract": ("Segments", "Relations"),
    "Manage": ("KeepEntityTypes", "EntityTypes"),
    "Store": ("Kinds", "Types"),
}
_MAX_QUOTA: Final = 50
_MAX_HOPS: Final = 3
_MAX_FAN_OUT: Final = 20
_MAX_PERCENT: Final = 99


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalPath:
    """One further retriever of a recall."""

    name: PathName
    quota: int
    """Most hits of it. The hits of all such retrievers together take at most half of the results, unless there are fewer others."""
    types: tuple[str, ...] = ()
    """Only memories of these types. Empty: any."""
    hops: int = 1
    """For ``links``: most links between a found memory and a result."""
    fan_out: int = 5
    """For ``links``: most links that are followed from one memory. For ``tree``: the width of the beam."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """Ranks memories last whose retention is low. An operator ``STRENGTH`` with ``Ranks`` counts their recalls."""

    entity_type: str
    """Its entity type, which has the ``Keys`` ``["user"]``."""
    properties: tuple[str, ...]
    """The properties of the entity type with such an operator."""
    least: int
    """In percent: memories with a lower retention rank last."""
    types: tuple[str, ...] = ()
    """Only events of these types fade. Empty: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The search of a method's recalls."""

    profile: str | None = None
    """The ranker. None: the setting's."""
    mode: RewritingMode | None = None
    """The mode of recalls that name none. None: ``fast``."""
    paths: tuple[RetrievalPath, ...] = ()
    fading: Fading | None = None
    """None: no memory fades."""

    def path(self, name: PathName) -> RetrievalPath | None:
        """The retriever with a name, if the method uses it."""
        return next((each for each in self.paths if each.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One memory method."""

    name: str
    version: str = "1"
    description: str = ""
    source: str = ""
    """The paper and its sections that the method follows."""
    archives_turns: bool = False
    """Whether each message is also stored as an event of the type :data:`TURN`."""
    extracts_segments: bool = False
    """Whether each segment of a window is stored as an event of the type :data:`SEGMENT`."""
    extracts_relations: bool = False
    """Whether relations are extracted, as events of the type :data:`RELATION`."""
    kinds: tuple[str, ...] = ()
    """Kinds of memories that a recall searches. Empty: the recall's default."""
    types: tuple[str, ...] = ()
    """Types of memories that a recall searches. Empty: all."""
    keeps_entity_types: bool = True
    """Whether the schema's own entity types are kept in addition to those of the method."""
    own_entity_types: tuple[str, ...] = ()
    """Names of the entity types that the method adds."""
    retrieval: Retrieval = Retrieval()

    @property
    def event_types(self) -> tuple[str, ...]:
        """Names of the event types that the method adds."""
        wanted = (self.archives_turns, self.extracts_segments, self.extracts_relations)
        return tuple(name for name, is_wanted in zip(DERIVED_TYPES, wanted, strict=True) if is_wanted)


def read_method(node: Node) -> Method:
    """Reads a method's document, without its entity types, which belong to the schema.

    Args:
        node: ``{Method, Version, Description, Source, Archive, Extract, Manage, Store, Retrieve}``.

    Raises:
        SchemaError: With the path of the first error.
    """
    node.check_fields("Method", "Version", "Description", "Source", "Archive", "Extract", "Manage", "Store", "Retrieve")
    archive, extract, manage, store = (_section(node, name, fields) for name, fields in _SECTIONS.items())
    return Method(
        name=node.at("Method").name(),
        version=node.at("Version").version() if node.has("Version") else "1",
        description=node.at("Description").text(),
        source=node.at("Source").text(),
        archives_turns=archive.at("Turns").flag(),
        extracts_segments=extract.at("Segments").flag(),
        extracts_relations=extract.at("Relations").flag(),
        kinds=tuple(each.choice(_KINDS) for each in store.at("Kinds").items()) if store.has("Kinds") else (),
        types=_names(store, "Types"),
        keeps_entity_types=manage.at("KeepEntityTypes").value is None or manage.at("KeepEntityTypes").flag(),
        own_entity_types=tuple(each.at("EntityType").name() for each in entity_type_nodes(node)),
        retrieval=_retrieval(node) if node.has("Retrieve") else Retrieval(),
    )


def entity_type_nodes(node: Node) -> list[Node]:
    """The nodes of the entity types that a method's document adds."""
    manage = node.at("Manage")
    return list(manage.at("EntityTypes").items()) if manage.has("EntityTypes") else []


def write_method(method: Method, entity_types: list[JsonValue]) -> dict[str, JsonValue]:
    """A method as the JSON that :func:`read_method` reads.

    Args:
        method: The method.
        entity_types: Its entity types, as a schema has them.
    """
    retrieval = method.retrieval
    return {
        "Method": method.name,
        "Version": method.version,
        "Description": method.description,
        "Source": method.source,
        "Archive": {"Turns": method.archives_turns},
        "Extract": {"Segments": method.extracts_segments, "Relations": method.extracts_relations},
        "Manage": {"KeepEntityTypes": method.keeps_entity_types, "EntityTypes": entity_types},
        "Store": {"Kinds": list(method.kinds), "Types": list(method.types)},
        "Retrieve": {
            **({} if retrieval.profile is None else {"Profile": retrieval.profile}),
            **({} if retrieval.fading is None else {"Fading": _write_fading(retrieval.fading)}),
            **({} if retrieval.mode is None else {"Mode": retrieval.mode}),
            "Paths": [
                {"Path": path.name, "Quota": path.quota, "Types": list(path.types), "Hops": path.hops, "FanOut": path.fan_out}
                for path in retrieval.paths
            ],
        },
    }


def _section(node: Node, name: str, fields: tuple[str, ...]) -> Node:
    section = node.at(name)
    if section.value is not None:
        section.check_fields(*fields)
    return section


def _retrieval(method: Node) -> Retrieval:
    node = method.at("Retrieve")
    node.check_fields("Profile", "Mode", "Fading", "Paths")
    paths = tuple(_path(each) for each in node.at("Paths").items()) if node.has("Paths") else ()
    names = [each.name for each in paths]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise SchemaError(f"{node.path}.Paths[{index}].Path", f"{name!r} is duplicated; a method uses each retriever once")
    return Retrieval(
        profile=node.at("Profile").name() if node.has("Profile") else None,
        mode=node.at("Mode").choice(MODES) if node.has("Mode") else None,
        paths=paths,
        fading=_fading(node.at("Fading"), method) if node.has("Fading") else None,
    )


def _fading(node: Node, method: Node) -> Fading:
    node.check_fields("EntityType", "Least", "Types")
    name = node.at("EntityType").name()
    own = next((each for each in entity_type_nodes(method) if each.at("EntityType").name() == name), None)
    properties = () if own is None else _counting_recalls(own)
    if not properties:
        raise node.at("EntityType").fault(
            f"expected an entity type of the method with the Keys ['user'] and an operator STRENGTH with Ranks, found {name!r}"
        )
    least = node.at("Least").whole_number(1, _MAX_PERCENT)
    return Fading(entity_type=name, properties=properties, least=least, types=_names(node, "Types"))


def _counting_recalls(entity_type: Node) -> tuple[str, ...]:
    """The properties of an entity type that publish the recalls of a user's memories."""
    keys = [each.name() for each in entity_type.at("Keys").items()] if entity_type.has("Keys") else []
    properties = list(entity_type.at("Properties").items()) if entity_type.has("Properties") and keys == ["user"] else []
    aggregates = ((each, each.at("AggregateExpression")) for each in properties)
    return tuple(
        each.at("PropertyName").name()
        for each, aggregate in aggregates
        if aggregate.at("Op").value == "STRENGTH" and aggregate.at("Ranks").value is True
    )


def _write_fading(fading: Fading) -> dict[str, JsonValue]:
    return {"EntityType": fading.entity_type, "Least": fading.least, "Types": list(fading.types)}


def _path(node: Node) -> RetrievalPath:
    node.check_fields("Path", "Quota", "Types", "Hops", "FanOut")
    return RetrievalPath(
        name=node.at("Path").choice(PATHS),
        quota=node.at("Quota").whole_number(1, _MAX_QUOTA),
        types=_names(node, "Types"),
        hops=node.at("Hops").whole_number(1, _MAX_HOPS) if node.has("Hops") else 1,
        fan_out=node.at("FanOut").whole_number(1, _MAX_FAN_OUT) if node.has("FanOut") else 5,
    )


def _names(node: Node, field: str) -> tuple[str, ...]:
    return tuple(each.name() for each in node.at(field).items()) if node.has(field) else ()
