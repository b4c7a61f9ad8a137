"""The part of retention that concerns records of ``extractions``. Pure.

Of several extractions of a window the events stage publishes the newest: retention rewrites this one, under its own key, and removes the
superseded ones. A window without results is removed whole, with all records that only name it.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from control.erasure import subject_of
from control.hold import ALL_USERS
from control.state import ControlState
from memory.errors import VarveError
from memory.headers import (
    CORRECTION,
    ERASURE,
    GENERATION_DROP,
    RETENTION,
    TICK,
    TRUST,
    kind_of,
)
from memory.keys import parts_of_key, tenant_of_key
from memory.records import Contribution, Correction, Extraction
from memory.retention import OTHERS, is_due, is_older, without_old_results
from memory.topic_records import read_extractions_record, windows_named
from memory.topics import EXTRACTIONS
from streams.engine.records import ConsumedRecord
from streams.operations.retention.tenants import EntityTypes, TenantRetention

_WITHOUT_RESULTS: Final = frozenset({ERASURE, GENERATION_DROP, RETENTION, TRUST})
"""Kinds of records that name no results."""


Place = tuple[int, str, str]
"""Partition, window and generation."""


@dataclass(frozen=True, slots=True, order=True)
class _Rank:
    """Rank of an extraction among those of its window: the events stage publishes the highest."""

    drops: int
    revision: int
    offset: int


@dataclass(slots=True)
class _Newest:
    rank: _Rank
    key: bytes | None
    has_results: bool


@dataclass(frozen=True, slots=True)
class RewrittenExtraction:
    """An extraction that takes the place of a record with the same key."""

    record: ConsumedRecord
    extraction: Extraction
    removed: int
    """Number of results that it lacks."""

    @property
    def source(self) -> Extraction:
        """The record's content."""
        return self.extraction

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of its window."""
        return not self.extraction.events and not self.extraction.patches


@dataclass(frozen=True, slots=True)
class ClearedCorrection:
    """A correction without its content, which takes the place of a record with the same key, and makes entities lose it."""

    record: ConsumedRecord
    correction: Correction

    @property
    def source(self) -> Correction:
        """The record's content."""
        return self.correction

    @property
    def is_empty(self) -> bool:
        """Whether the record is removed once it is handled: always."""
        return True


@dataclass(slots=True)
class WindowIndex:
    """The newest extraction of each window of the tenants: the first reading of the log."""

    tenants: Mapping[str, TenantRetention]
    newest: dict[Place, _Newest] = field(default_factory=dict)
    _keys: dict[bytes | None, Place] = field(default_factory=dict)
    _offsets: dict[tuple[int, bytes | None], int] = field(default_factory=dict)
    """The offset of the last record of each key."""

    def add(self, record: ConsumedRecord) -> None:
        """Adds the next record."""
        if tenant_of_key(record.key) not in self.tenants:
            return
        self._offsets[record.partition, record.key] = record.offset
        if kind_of(record.headers) is not None:
            return
        if record.value is None:
            place = self._keys.pop(record.key, None)
            if place is not None and self.newest[place].key == record.key:
                del self.newest[place]
            return
        fields = _fields(record.value)
        if fields is None or "window_id" not in fields:
            return
        place = record.partition, fields["window_id"], fields.get("generation") or ""
        rank = _Rank(fields.get("drops") or 0, fields.get("revision") or 0, record.origin.offset)
        self._keys[record.key] = place
        known = self.newest.get(place)
        if known is None or known.rank <= rank:
            self.newest[place] = _Newest(rank, record.key, bool(fields.get("events") or fields.get("patches")))

    def is_last(self, record: ConsumedRecord) -> bool:
        """Whether no record with the same key follows: compaction has not removed an earlier one yet."""
        return self._offsets.get((record.partition, record.key)) == record.offset

    def is_newest(self, record: ConsumedRecord, extraction: Extraction) -> bool:
        """Whether the events stage publishes an extraction, and no other of its window."""
        known = self.newest.get((record.partition, extraction.window_id, extraction.generation))
        return known is None or known.key == record.key

    def windows_with_results(self) -> set[str]:
        """The windows that have results in any generation."""
        return {window for (_, window, _), each in self.newest.items() if each.has_results}

    def empty(self, rewritten: RewrittenExtraction) -> None:
        """Records a window that has lost its last result."""
        extraction = rewritten.extraction
        known = self.newest.get((rewritten.record.partition, extraction.window_id, extraction.generation))
        if known is not None:
            known.has_results = False


@dataclass(frozen=True, slots=True)
class Extractions:
    """Decides about single records, once the index is complete."""

    index: WindowIndex
    entity_types: EntityTypes

    def rewritten(self, record: ConsumedRecord) -> RewrittenExtraction | None:
        """The extraction that replaces a record; None if it stays, or is no extraction."""
        tenant = self._tenant_of(record)
        if tenant is None or record.value is None:
            return None
        with suppress(VarveError):
            extraction = Extraction.from_json(record.value)
            if tenant.is_held(extraction.user) or not self.index.is_newest(record, extraction):
                return None
            is_empty = not extraction.events and not extraction.patches
            is_old = tenant.oldest is not None and extraction.window_end < tenant.oldest
            if is_due(extraction, tenant.limits, self.entity_types.of(extraction)) or (is_empty and is_old):
                after = without_old_results(extraction, tenant.limits)
                removed = len(extraction.events) + len(extraction.patches) - len(after.events) - len(after.patches)
                return RewrittenExtraction(record, after.model_copy(update={"retained": dict(tenant.limits)}), removed)
        return None

    def is_superseded(self, record: ConsumedRecord) -> bool:
        """Whether a record is an extraction with old results that the events stage does not publish any more."""
        tenant = self._tenant_of(record)
        if tenant is None or record.value is None:
            return False
        with suppress(VarveError):
            extraction = Extraction.from_json(record.value)
            if tenant.is_held(extraction.user) or self.index.is_newest(record, extraction):
                return False
            return without_old_results(extraction, tenant.limits) is not extraction
        return False

    def cleared_correction(self, record: ConsumedRecord) -> ClearedCorrection | None:
        """The record that replaces an old correction of an entity's fields; None if the record stays, or is no such correction."""
        tenant = self.index.tenants.get(tenant_of_key(record.key))
        if tenant is None or kind_of(record.headers) != CORRECTION or record.value is None or not self.index.is_last(record):
            return None
        with suppress(VarveError):
            correction = Correction.from_json(record.value)
            entity = correction.entity
            if entity is None or correction.action == "edit" or correction.retained_offset is not None or _is_held(tenant, record):
                return None
            if is_older(correction.time, tenant.limits, entity.entity_type):
                without_words = {"entity": entity.model_copy(update={"changes": []}), "reason": "", "retained_offset": record.offset}
                return ClearedCorrection(record, correction.model_copy(update=without_words))
        return None

    def _tenant_of(self, record: ConsumedRecord) -> TenantRetention | None:
        """The tenant of an extraction that the log still has."""
        tenant = self.index.tenants.get(tenant_of_key(record.key))
        is_extraction = kind_of(record.headers) is None and record.value is not None
        return tenant if tenant is not None and is_extraction and self.index.is_last(record) else None


class DependentRecords:
    """Decides about records that are no extractions, once all windows are rewritten.

    Args:
        index: The newest extraction of each window.
        emptied: The windows that have lost their last result in this run.
    """

    def __init__(self, index: WindowIndex, emptied: Collection[str]) -> None:
        self._index = index
        self._emptied = frozenset(emptied)
        self._windows_with_results = index.windows_with_results()

    def is_obsolete(self, record: ConsumedRecord) -> bool:
        """Whether a record names only removed results."""
        tenant = self._index.tenants.get(tenant_of_key(record.key))
        kind = kind_of(record.headers)
        if tenant is None or kind is None or kind in _WITHOUT_RESULTS or record.value is None:
            return False
        if not self._index.is_last(record) or _is_held(tenant, record):
            return False
        with suppress(VarveError):
            if kind == TICK:
                # Only if no type is kept forever: a later tick does what an earlier one did.
                oldest = tenant.oldest
                return OTHERS in tenant.limits and oldest is not None and Contribution.from_json(record.value).time < oldest
            if kind == CORRECTION and _is_old_correction(Correction.from_json(record.value), tenant):
                return True
            windows = windows_named(read_extractions_record(kind, record.value))
            is_old = tenant.oldest is not None and record.appended_at < tenant.oldest
            return bool(windows) and not windows & self._windows_with_results and (is_old or windows <= self._emptied)
        return False


def is_protected(state: ControlState, source: Extraction | Correction, record: ConsumedRecord) -> bool:
    """Whether a record stays, because its user has a hold or is being erased, or an erasure covers it.

    An erasure writes its tombstones once. A record that replaces another one of the user must not follow them.

    Args:
        state: The newest control log.
        source: The content of the record.
        record: The record.
    """
    if source.user is None:
        return state.hold_on(source.tenant, ALL_USERS) is not None
    subject = subject_of(source.tenant, source.user)
    erasure = state.erasures.get(subject)
    is_erased = erasure is not None and (
        erasure.finished_at is None or erasure.covers(EXTRACTIONS.name, record.origin.partition, record.origin.offset)
    )
    return is_erased or state.hold_on(source.tenant, subject) is not None


def _is_old_correction(correction: Correction, tenant: TenantRetention) -> bool:
    """Whether retention has cleared a correction, or it concerns an event beyond the limit of its type."""
    if correction.retained_offset is not None:
        return True
    return correction.event is not None and is_older(correction.time, tenant.limits, correction.event.type)


def _is_held(tenant: TenantRetention, record: ConsumedRecord) -> bool:
    _, *user = parts_of_key(record.key) or ("",)
    return bool(user) and tenant.is_held(user[0])


def _fields(value: bytes) -> dict[str, Any] | None:
    try:
        fields = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    return fields if isinstance(fields, dict) else None
