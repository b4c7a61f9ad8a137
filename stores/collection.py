"""The vectors, payload fields, indexes and metadata of the collection, and conditions on its points. Both engines use the same ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from stores.errors import ModelMismatchError
from stores.lexical_analysis import ANALYZER_VERSION

DENSE: Final = "dense"
"""One vector of the whole text, compared by cosine."""
BM25: Final = "bm25"
"""Sparse term weights. The engine multiplies them by the tenant's inverse document frequency."""
LATE: Final = "late"
"""Token vectors, compared by MaxSim. A point may lack them. If the model has none, the collection lacks the field."""

TENANT: Final = "tenant"
"""Its index is a tenant index: the engine keeps the points of one tenant together."""
OWNER: Final = "owner"
"""Key of the tenant, the user and whether the memory is an entity; only memories that belong to a user have it. One condition replaces
three: checking a second condition against each of 100,000 points takes Edge 18 ms."""
KIND: Final = "kind"
TYPE: Final = "type"
SESSION: Final = "session"
ENTITY_KEYS: Final = "entity_keys"
"""An entity: its key. A summary: the key of its entity. An event: the keys of the entities that it updated."""
MESSAGES: Final = "messages"
"""The ids of the source messages. Entities lack the field, since they have very many."""
PARENT: Final = "parent"
"""Only of nodes of a tree: the parent node's id, or :data:`TOP`."""
TOP: Final = "-"
"""The parent of the nodes at the top of a tree."""
GENERATION: Final = "generation"
EVENT_TIME: Final = "event_time"
"""The time of the event. If only its day, month or year is known: the first and the last possible moment. A range matches if one of both is
within it, so the start and the end of a period are two conditions."""
EXPIRES_AT: Final = "expires_at"
TRUST: Final = "trust"
"""Only of memories whose sources are not ``normal``: their trust."""
STEP_TENANT: Final = "step_tenant"
"""The tenant of a step of an entity's history. A step has no field :data:`TENANT`, so no query, count, page or statistic includes it."""
STEP_OF: Final = "step_of"
"""The entity that a step of a history belongs to."""
RECORD: Final = "record"
"""The memory as JSON text. It is not indexed."""

FEED_PARTITION: Final = "feed_partition"
FEED_OFFSET: Final = "feed_offset"
FEED_MS: Final = "feed_ms"
"""See :class:`stores.position.FeedPosition`."""
DELETED_AT: Final = "deleted_at"
"""The time when a tombstone was written. A tombstone has this field and its position, no tenant and no vectors."""
DELETED_TENANT: Final = "deleted_tenant"
"""The tenant of a tombstone. Only a server needs it: when a tenant moves to its own shard, its tombstones move too."""

KEYWORD_FIELDS: Final = (OWNER, KIND, TYPE, GENERATION, SESSION, ENTITY_KEYS, MESSAGES, PARENT, STEP_TENANT, STEP_OF, TRUST)
"""Fields with a keyword index."""
DATETIME_FIELDS: Final = (EVENT_TIME, EXPIRES_AT, DELETED_AT)
"""Fields with a datetime index."""
POSITION_FIELDS: Final = (FEED_PARTITION, FEED_OFFSET, FEED_MS)
"""Integer fields. A recall at positions filters by the first two. Only writes on a server filter by the third, so Edge does not index
it."""

VECTORS_VERSION: Final = 4
"""Version of the vector format beyond the model: the projection of token vectors, and the datatypes. Raise it when they change: scores of
different formats cannot be compared, and an engine cannot change a datatype. A store of an older version is refused."""

PAYLOAD_VERSION: Final = 5
"""Version of the fields that filters use. Raise it when a field is added or changes its meaning: older points would pass the wrong filters.
A store of an older version is refused."""

_UNVERSIONED: Final = 1
"""Version of a collection whose metadata has none."""


def metadata_of(model: str, dimension: int, late_dimension: int | None) -> dict[str, Any]:
    """The metadata of a collection: how its vectors and terms are computed.

    Args:
        model: The embedding model.
        dimension: Length of its dense vectors.
        late_dimension: Length of its token vectors. None: the model has none.
    """
    return {
        "model": model,
        "dimension": dimension,
        "late_dimension": late_dimension,
        "vectors_version": VECTORS_VERSION,
        "analyzer_version": ANALYZER_VERSION,
        "payload_version": PAYLOAD_VERSION,
    }


def check_metadata(existing: Mapping[str, Any], requested: Mapping[str, Any], *, collection: str) -> None:
    """Refuses a collection whose points are incompatible with what this process writes and queries.

    Raises:
        ModelMismatchError: If the model, the dimensions, the vector format, the payload or the analyzer differ.
    """
    complete = {
        "late_dimension": None,
        "vectors_version": _UNVERSIONED,
        "analyzer_version": _UNVERSIONED,
        "payload_version": _UNVERSIONED,
        **existing,
    }
    if any(complete.get(name) != value for name, value in requested.items()):
        raise ModelMismatchError(
            f"the points of {collection} were made by {_described(complete)}, not by {_described(requested)}: "
            "restore the embedding model, use another collection, or rebuild the index"
        )


def _described(metadata: Mapping[str, Any]) -> str:
    late = metadata.get("late_dimension")
    return (
        f"{metadata.get('model')} with {metadata.get('dimension')} dimensions, "
        f"{'no token vectors' if late is None else f'token vectors of {late}'}, vector format {metadata.get('vectors_version')}, "
        f"payload {metadata.get('payload_version')} and lexical analyzer {metadata.get('analyzer_version')}"
    )


@dataclass(frozen=True, slots=True)
class MatchAny:
    """The field has one of these values."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatetimeRange:
    """The time is in ``[since, until)``. None: that side is open. Times are ISO 8601 text."""

    field: str
    since: str | None
    until: str | None


@dataclass(frozen=True, slots=True)
class MissingOrAfter:
    """The point lacks the time, or its time is after the moment."""

    field: str
    moment: str


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The point lacks the field, or its value is none of these."""

    field: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AtOrBelow:
    """The field's integer is at most this number."""

    field: str
    number: int


@dataclass(frozen=True, slots=True)
class Equals:
    """The field's integer equals this number."""

    field: str
    number: int


@dataclass(frozen=True, slots=True)
class AnyOf:
    """All conditions of at least one group hold."""

    groups: "tuple[tuple[Condition, ...], ...]"


@dataclass(frozen=True, slots=True)
class HasId:
    """The point's id is one of these."""

    ids: tuple[str, ...]


Condition = MatchAny | NoneOf | DatetimeRange | MissingOrAfter | AtOrBelow | Equals | AnyOf | HasId
