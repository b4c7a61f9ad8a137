"""Applies changed levels of trust to what was extracted before the change, through the log, while all stages run.

1. The levels go to every partition of ``extractions``: what follows is published under them.
2. Each window with a source that some version of the levels names gets a review: the events stage publishes what differs.
3. Once the events stage has handled the reviews, the control log notes the version as applied.

A window that the new levels do not change is reviewed without effect. Each step may be repeated; an interrupted run is completed by the
next one.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import orjson

from control import ControlWriter, read_control
from control.documents import Tenant
from control.erasure import subject_of
from control.state import ControlState
from control.trust_changes import note_applied
from memory.errors import RecordError
from memory.headers import KIND, TRUST, TRUST_REVIEW, origin_of, place_of
from memory.keys import distinct_key, encode_key, marked_key, parts_of_key
from memory.positions import LogPosition
from memory.records import TrustReview, TrustRules
from memory.topics import EXTRACTIONS
from memory.trust import named_by
from runtime.kafka import OutgoingRecord, Producer, check_topics, read_topic
from runtime.logs import logger
from runtime.settings import Settings
from streams.operations.stage_barrier import BATCH, StageBarrier, ends_after
from streams.stages.catalog import STAGES

_log = logger(__name__)

_PATIENCE_S: Final = 900.0
_SOURCES: Final = b'"sources":['


async def apply_trust(
    settings: Settings,
    *,
    by: str,
    tenants: Collection[str] = (),
    patience_s: float = _PATIENCE_S,
    notice: Callable[[str], None] = lambda line: None,
) -> dict[str, int]:
    """Applies the levels of tenants whose newest version is not applied yet.

    Args:
        settings: The settings in force.
        by: The actor, for the audit.
        tenants: Only these tenants. Default: all.
        patience_s: How long the events stage may take to handle the reviews, in seconds.
        notice: Called with a line of progress.

    Returns:
        The number of reviewed windows by tenant.

    Raises:
        StageBehindError: If the events stage does not handle the reviews in time; the next run completes this one.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
    """
    await check_topics(settings)
    state = await read_control(settings)
    pending = {each.id: each for each in state.tenants.values() if _is_pending(each) and (not tenants or each.id in tenants)}
    if not pending:
        return {}
    async with Producer(kafka=settings.kafka) as producer:
        run = _Run(settings, state, pending, producer)
        sent = await run.send_rules()
        windows = await run.affected_windows()
        sent += await run.send_reviews(windows)
    await StageBarrier(settings=settings, patience_s=patience_s, notice=notice).of(STAGES["events"], ends_after(sent))
    writer = ControlWriter(settings=settings)
    for tenant in pending.values():
        noted = partial(note_applied, tenant_id=tenant.id, version=tenant.trust.version)
        await writer.write(noted, action="trust applied", by=by)
    counts = {tenant: len(windows.get(tenant, ())) for tenant in pending}
    for name, count in counts.items():
        _log.info("trust_applied", tenant=name, version=pending[name].trust.version, windows=count)
    return counts


def _is_pending(tenant: Tenant) -> bool:
    return tenant.state != "removed" and not tenant.trust.is_applied


@dataclass(frozen=True, slots=True)
class _Place:
    """The newest extraction of a window."""

    partition: int
    origin: LogPosition


@dataclass(frozen=True, slots=True)
class _Sourced:
    """A window with the sources that any of its extractions names."""

    place: _Place
    names: frozenset[str]


@dataclass(slots=True)
class _Run:
    settings: Settings
    state: ControlState
    pending: Mapping[str, Tenant]
    producer: Producer
    _sets: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    """Windows with the same sources share one set."""

    @property
    def _topic(self) -> str:
        return self.settings.topic(EXTRACTIONS.name)

    async def send_rules(self) -> list[LogPosition]:
        """Sends the levels to every partition."""
        records = []
        for tenant in self.pending.values():
            trust = tenant.trust
            assert trust.changed_at is not None
            rules = TrustRules(
                tenant=tenant.id, version=trust.version, sources=trust.sources, entities_from=trust.entities_from, time=trust.changed_at
            )
            # Compaction keeps each version, because a rebuild handles the windows between two versions under the earlier one.
            key = marked_key(encode_key(tenant.id), f"trust-{trust.version}")
            partitions = range(self.settings.kafka.partitions)
            records += [OutgoingRecord(self._topic, key, rules.to_json(), ((KIND, TRUST),), each) for each in partitions]
        return await self.producer.send_in_batches(records)

    async def affected_windows(self) -> dict[str, dict[tuple[str, str], _Place]]:
        """The windows that any version of the levels concerns, by tenant: their users and ids.

        The topic is read once. A version may follow the windows that it concerns, so all windows with sources are kept until the end.
        """
        named: defaultdict[str, set[str]] = defaultdict(set)
        found: defaultdict[str, dict[tuple[str, str], _Sourced]] = defaultdict(dict)
        async for record in read_topic(self._topic, self.settings.kafka):
            tenant, user = _owner(record.key)
            if tenant not in self.pending or record.value is None:
                continue
            if (KIND, TRUST) in record.headers:
                with suppress(RecordError):
                    named[tenant].update(TrustRules.from_json(record.value).sources)
            if not user or _SOURCES not in record.value or any(name == KIND for name, _ in record.headers):
                continue
            window, names = _sources_of(record.value)
            if names:
                headers = tuple(record.headers)
                origin = origin_of(headers) or place_of(headers) or LogPosition(record.topic, record.partition, record.offset)
                before = found[tenant].get((user, window))
                every = frozenset(names) if before is None else before.names | names
                found[tenant][user, window] = _Sourced(_Place(record.partition, origin), self._sets.setdefault(every, every))
        return {
            tenant: {window: each.place for window, each in windows.items() if named_by(each.names, named[tenant])}
            for tenant, windows in found.items()
        }

    async def send_reviews(self, windows: Mapping[str, Mapping[tuple[str, str], _Place]]) -> list[LogPosition]:
        """Sends the reviews, except those of users with an erasure: nothing that names them may follow its tombstones."""
        every = [(tenant, *window, place) for tenant, of_tenant in windows.items() for window, place in of_tenant.items()]
        sent: list[LogPosition] = []
        for start in range(0, len(every), BATCH):
            self.state = await read_control(self.settings)
            part = [each for each in every[start : start + BATCH] if not self._is_erased(each[0], each[1], each[3])]
            sent += await self.producer.send_many([self._review(*each) for each in part])
        return sent

    def _review(self, tenant: str, user: str, window: str, place: _Place) -> OutgoingRecord:
        review = TrustReview(tenant=tenant, user=user, window_id=window, version=self.pending[tenant].trust.version)
        return OutgoingRecord(self._topic, distinct_key(tenant, user), review.to_json(), ((KIND, TRUST_REVIEW),), place.partition)

    def _is_erased(self, tenant: str, user: str, place: _Place) -> bool:
        erasure = self.state.erasures.get(subject_of(tenant, user))
        if erasure is None:
            return False
        return erasure.finished_at is None or erasure.covers(EXTRACTIONS.name, place.origin.partition, place.origin.offset)


def _owner(key: bytes | None) -> tuple[str, str]:
    """The tenant and user in a key; empty texts if it has none."""
    match parts_of_key(key):
        case (tenant, user):
            return tenant, user
        case (tenant, *_):
            return tenant, ""
    return "", ""


def _sources_of(value: bytes) -> tuple[str, set[str]]:
    """The window of an extraction, and the sources that it names; none if it cannot be read."""
    try:
        fields: Any = orjson.loads(value)
        return str(fields["window_id"]), {name for each in fields.get("sources") or () for name in each["names"]}
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        return "", set()
