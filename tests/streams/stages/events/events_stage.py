"""The events stage with one partition, and its parsed outputs."""

from control.tenants import TenantDirectory
from memory.records import Contribution
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.tasks.batch import Batch
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from tests.streams.harness import InMemoryRows, PartitionHarness


def assigned(settings: Settings, tenants: TenantDirectory, rows: InMemoryRows | None = None) -> PartitionHarness:
    return PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics()), LedgerCodec(), rows)


def contributions(batch: Batch) -> list[Contribution]:
    return [Contribution.from_json(each.value or b"") for each in batch.outputs if each.topic == "varve.contributions"]


def changes(batch: Batch) -> dict[str, tuple[str, ...]]:
    """By tool: the changes to its count of calls, in their order."""
    return {
        contribution.entity_key: tuple(change.op for change in contribution.changes if change.property == "calls")
        for contribution in contributions(batch)
        if contribution.entity_type == "tool_experience"
    }
