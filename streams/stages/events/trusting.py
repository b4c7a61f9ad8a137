"""Applies a tenant's levels of trust (:mod:`memory.trust`) to the results of windows, in log order.

The levels are records of the extractions log (:class:`memory.records.TrustRules`): extractions that follow in the partition are published
under them. A window that was published before gets them by a :class:`memory.records.TrustReview`: the changes of results that are no longer
trusted enough are retracted, and those of results that are trusted again are applied. So a rebuild gives the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memory.records import Contribution, Extraction, TrustReview, TrustRules
from memory.retention import reaches_entities
from memory.trust import NO_RULES, TrustPolicy, WindowTrust, trust_of
from operators.entities.routing import contributions_of
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.events.corrections import CorrectedWindow, PresentEvent, patches_in_force, present_events
from streams.stages.events.ledger import Ledger, corrected_window, published_key, revive, trust_key
from streams.stages.events.ledger_entries import PublishedWindow, TrustSince
from streams.stages.events.places import source_of
from streams.stages.events.publishing import fed_entities, memory_of, with_trust
from streams.stages.events.record_handler import RecordHandler
from streams.stages.tenancy import schema_of_record, tenant_of

LimitsFor = Callable[[Extraction], Mapping[str, datetime]]
"""The limits of retention for an extraction."""


class TrustReviewer(RecordHandler):
    """Handles the rules and reviews of one partition."""

    def note(self, batch: Batch, record: ConsumedRecord, rules: TrustRules) -> None:
        """Applies rules to all extractions that follow, unless newer ones are in force."""
        key, ledger = trust_key(rules.tenant), Ledger(batch.state)
        known = ledger.get(key, TrustSince)
        if known is not None and known.version >= rules.version:
            return
        policy = TrustPolicy(sources=rules.sources, entities_from=rules.entities_from)
        ledger.put(key, TrustSince(version=rules.version, policy=policy, time=rules.time), position=record.offset)

    def trust_of(self, batch: Batch, extraction: Extraction) -> WindowTrust:
        """The trust in an extraction's results under the newest rules."""
        known = Ledger(batch.state).get(trust_key(extraction.tenant), TrustSince)
        return NO_RULES if known is None else trust_of(extraction, known.policy, since=known.time)

    def review(self, batch: Batch, record: ConsumedRecord, review: TrustReview, *, limits_for: LimitsFor) -> None:
        """Applies the newest rules to a published window, in every generation. A repetition emits the same.

        Args:
            batch: The current batch.
            record: The record of the review.
            review: The review.
            limits_for: See :meth:`streams.stages.events.retaining.Retainer.limits_for`.

        Raises:
            PoisonRecordError: Its tenant or schema is unknown.
            TransientError: This process does not know them yet.
        """
        tenant = tenant_of(self._tenants, review.tenant)
        corrected = corrected_window(batch.state, review.tenant, review.window_id)
        for generation in ("", *(each.name for each in tenant.generations)):
            published = Ledger(batch.state).get(published_key(review.window_id, generation), PublishedWindow)
            if published is None or published.extraction.tenant != review.tenant:
                continue
            if published.trust.changed_at == record.offset:
                self._repeat(batch, record, published, corrected)
                continue
            trust = self.trust_of(batch, published.extraction)
            if trust.model_copy(update={"changed_at": published.trust.changed_at}) != published.trust:
                after = trust.model_copy(update={"changed_at": record.offset})
                self._change(batch, record, _Window(published, corrected), after, limits_for(published.extraction))

    def _change(self, batch: Batch, record: ConsumedRecord, window: "_Window", trust: WindowTrust, limits: Mapping[str, datetime]) -> None:
        before, extraction = window.published, window.published.extraction
        was, now = window.feeding(before.trust), window.feeding(trust)
        # A result whose level changes is retracted and applied again, so that its entities know the level.
        changed = set(was ^ now) | {each for each in was & now if before.trust.level(each) != trust.level(each)}
        entering = changed & now
        schema = schema_of_record(self._tenants, extraction)
        contributions = contributions_of(
            extraction.model_copy(update={"patches": [each for each in extraction.patches if each.id in entering]}),
            schema,
            events=[each.event for each in window.present(trust) if each.event.id in entering],
            source=source_of(record, self._partition),
            position=record.offset,
            previous=[_without_others(each, changed, now) for each in before.in_force()],
            recorded_at=record.appended_at,
            cause="correction",
            may_reach=reaches_entities(extraction, limits) if limits else None,
        )
        contributions = with_trust(contributions, trust)
        after = replace(before.with_correction(contributions) if contributions else before, trust=trust)
        revive(batch.state, extraction.window_id, extraction.generation, now - was, position=record.offset)
        self._publish(batch, record, _Window(before, window.corrected), _Window(after, window.corrected))
        self._publisher.contributions(batch, record, contributions)
        Ledger(batch.state).put(published_key(extraction.window_id, extraction.generation), after, position=record.offset)
        self._metrics.records.labels("events", "trust_reviewed").inc()

    def _publish(self, batch: Batch, record: ConsumedRecord, before: "_Window", after: "_Window") -> None:
        """Publishes the memories that differ in more than their version."""
        fed_before, fed_after = (fed_entities(each.published.in_force()) for each in (before, after))
        for old, new in zip(before.present(), after.present(), strict=True):
            was, now = memory_of(old, before.published, fed=fed_before), memory_of(new, after.published, fed=fed_after)
            if not new.is_deleted and was != now.model_copy(update={"version": was.version}):
                self._publisher.memory(batch, record, now)

    def _repeat(self, batch: Batch, record: ConsumedRecord, published: PublishedWindow, corrected: CorrectedWindow) -> None:
        """Repeats the outputs of a review, for a replay that repairs later stages."""
        fed = fed_entities(published.in_force())
        for each in present_events(published.extraction, corrected, published.trust):
            self._publisher.event(batch, record, each, published, fed=fed)
        for contributions in published.corrections:
            self._publisher.contributions(batch, record, (each for each in contributions if each.position == record.offset))


@dataclass(frozen=True, slots=True)
class _Window:
    """A published window with its corrections."""

    published: PublishedWindow
    corrected: CorrectedWindow

    def present(self, trust: WindowTrust | None = None) -> list[PresentEvent]:
        """Its events; under its own trust by default."""
        return present_events(self.published.extraction, self.corrected, self.published.trust if trust is None else trust)

    def feeding(self, trust: WindowTrust) -> set[str]:
        """The ids of the events and patches that change entities under some levels of trust."""
        present = self.present(trust)
        events = {each.event.id for each in present if each.is_valid and each.feeds_entities}
        return events | {each.id for each in patches_in_force(self.published.extraction.patches, present, trust)}


def _without_others(contribution: Contribution, changed: set[str], staying: set[str]) -> Contribution:
    """The changes in force of changed results. An update that a staying result has caused in another note stays."""
    changes = [each for each in contribution.changes if each.source_id in changed and not (each.is_update and each.source_id in staying)]
    return contribution.model_copy(update={"changes": changes})
