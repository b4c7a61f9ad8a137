"""The vectors, payload fields, indexes and metadata of the collection. Both engines have the same."""

from collections.abc import Mapping
from typing import Any, Final

from stores.errors import ModelMismatchError
from stores.former_terms import FORMER_ANALYZER_VERSION
from stores.lexical_analysis import ANALYZER_VERSION

DENSE: Final = "dense"
"""One vector for the whole text, compared by cosine."""
BM25: Final = "bm25"
"""Sparse term weights. The engine multiplies the tenant's inverse document frequency in."""
LATE: Final = "late"
"""Token vectors, compared by MaxSim. A point may lack them, and a collection whose model gives none lacks the field."""

TENANT: Final = "tenant"
"""Its index is a tenant index: the engine keeps the points of one tenant together."""
OWNER: Final = "owner"
"""The tenant and the user of a memory that belongs to a user, and whether it is an entity, as a key of all three: one condition instead of
three. Holding a second one against each of 100,000 points takes Edge 18 ms."""
KIND: Final = "kind"
TYPE: Final = "type"
SESSION: Final = "session"
ENTITY_KEYS: Final = "entity_keys"
"""The key of an entity, or of a summary's entity; of an event those of the entities that it has fed."""
MESSAGES: Final = "messages"
"""The messages that it rests on; an entity, which rests on very many, lacks the field."""
GENERATION: Final = "generation"
EVENT_TIME: Final = "event_time"
"""When it happened; of an event that is known to a day, month or year the first and the last moment at which it may have. A range passes
where one of them lies in it, so a time that begins and one that ends are two conditions."""
EXPIRES_AT: Final = "expires_at"
STEP_TENANT: Final = "step_tenant"
"""Whose a step of an entity's history is. It has no other tenant, so that it is no memory to any query, count, page or statistic."""
STEP_OF: Final = "step_of"
"""The entity that it is a step of."""
RECORD: Final = "record"
"""The memory's JSON text. It is not indexed."""

FEED_PARTITION: Final = "feed_partition"
FEED_OFFSET: Final = "feed_offset"
FEED_MS: Final = "feed_ms"
"""See :class:`stores.position.FeedPosition`."""
DELETED_AT: Final = "deleted_at"
"""When a tombstone was written. It has this field and its position, no tenant and no vectors."""
DELETED_TENANT: Final = "deleted_tenant"
"""Whose memory a tombstone stands for, on a server: there a tenant's points move to a shard of its own, tombstones with them."""

KEYWORD_FIELDS: Final = (OWNER, KIND, TYPE, GENERATION, SESSION, ENTITY_KEYS, MESSAGES, STEP_TENANT, STEP_OF)
"""Fields with a keyword index."""
DATETIME_FIELDS: Final = (EVENT_TIME, EXPIRES_AT, DELETED_AT)
"""Fields with a datetime index."""
POSITION_FIELDS: Final = (FEED_PARTITION, FEED_OFFSET, FEED_MS)
"""Whole numbers. A recall at positions filters by the first two; by the third only the server's writes do, so only there it is indexed."""

VECTORS_VERSION: Final = 4
"""Of how vectors are made and kept, beyond the model: the projection of token vectors, and the datatypes. Raise it when they change: scores
of vectors that were made in two ways cannot be compared, and an engine cannot change a datatype, so an older store is refused."""

PAYLOAD_VERSION: Final = 4
"""Of the fields that filters use. Raise it when one is added, or holds something else: points of before pass the wrong filters, so an older
store is refused."""

_UNVERSIONED: Final = 1
"""The versions of collections that were created before they were recorded."""


def metadata_of(model: str, dimension: int, late_dimension: int | None) -> dict[str, Any]:
    """What a collection records of how its vectors and terms are made.

    Args:
        model: The embedding model.
        dimension: Length of its dense vectors.
        late_dimension: Length of its token vectors; None: it gives none.
    """
    return {
        "model": model,
        "dimension": dimension,
        "late_dimension": late_dimension,
        "vectors_version": VECTORS_VERSION,
        "analyzer_version": ANALYZER_VERSION,
        "payload_version": PAYLOAD_VERSION,
    }


def analyzer_of(metadata: Mapping[str, Any]) -> int:
    """The version of the lexical analyzer that a collection began with."""
    return int(metadata.get("analyzer_version", _UNVERSIONED))


def check_metadata(existing: Mapping[str, Any], requested: Mapping[str, Any], *, collection: str) -> None:
    """Refuses a collection whose points are made in another way than what is written to it or asked of it.

    Args:
        existing: The collection's metadata.
        requested: The metadata that this process would record.
        collection: The collection's name, for the error.

    Raises:
        ModelMismatchError: If model, dimensions, the way of vectors, the payload or the analyzer differ. The analyzer before this one does
            not count: queries have its terms, too.
    """
    made = {
        "late_dimension": None,
        "vectors_version": _UNVERSIONED,
        "analyzer_version": _UNVERSIONED,
        "payload_version": _UNVERSIONED,
        **existing,
    }
    accepted = {**made, "analyzer_version": ANALYZER_VERSION} if analyzer_of(made) == FORMER_ANALYZER_VERSION else made
    if any(accepted.get(name) != value for name, value in requested.items()):
        raise ModelMismatchError(
            f"the points of {collection} were made by {_described(made)}, not by {_described(requested)}: "
            "set the embedding model back, name another collection, or rebuild the index"
        )


def _described(metadata: Mapping[str, Any]) -> str:
    late = metadata.get("late_dimension")
    return (
        f"{metadata.get('model')} with {metadata.get('dimension')} dimensions, "
        f"{'no token vectors' if late is None else f'token vectors of {late}'}, vector format {metadata.get('vectors_version')}, "
        f"payload {metadata.get('payload_version')} and lexical analyzer {metadata.get('analyzer_version')}"
    )
