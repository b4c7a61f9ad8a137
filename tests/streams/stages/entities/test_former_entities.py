"""Entity types and fields are removed and return, while windows are extracted again under any revision: a removed field keeps its state."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from control.tenant_changes import set_tenant
from control.tenants import TenantDirectory
from memory.headers import GENERATION_DROP, KIND
from memory.records import Extraction, GenerationDrop, MemoryChange
from memory.schema import scenario
from memory.schema.model import EntityType, MemorySchema
from runtime.clocks import SystemClock
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from tests.control_log import known_tenants, now_known
from tests.streams.agent_extractions import SCHEMA, TENANT, Call, extraction, extraction_record
from tests.streams.harness import PartitionHarness, contributed, delivered, plain_settings
from tests.streams.stages.events.events_stage import assigned

TYPE, FIELDS = "tool_experience", ("calls", "failures")
REVISIONS: dict[int, tuple[str, ...]] = {1: FIELDS, 2: ("calls",), 3: (), 4: FIELDS}
"""Each revision with such of the fields as it has; the third lacks the type."""

CALLS = st.lists(st.tuples(st.sampled_from(["grep", "curl"]), st.integers(0, 1)), max_size=3)
EXTRACTED = st.lists(st.tuples(st.integers(0, 1), st.sampled_from(sorted(REVISIONS)), CALLS), min_size=1, max_size=8)


def revision(number: int) -> MemorySchema:
    """The agents' schema as a revision has it."""
    known = next(each for each in scenario(SCHEMA).entity_types if each.name == TYPE)
    own = {"tool_name", *REVISIONS[number]}
    kept = replace(known, properties=tuple(each for each in known.properties if each.name in own))
    types: tuple[EntityType, ...] = (kept,) if REVISIONS[number] else ()
    return replace(scenario(SCHEMA), entity_types=types, description=f"revision {number}")


@pytest.fixture(scope="module")
def environment() -> Iterator[tuple[Settings, TenantDirectory]]:
    with tempfile.TemporaryDirectory() as folder:
        tenants = known_tenants({TENANT: revision(1)})
        for number in (2, 3, 4):
            now_known(tenants, lambda draft, number=number: set_tenant(draft, TENANT, schema=revision(number)))  # type: ignore[misc]
        yield plain_settings(Path(folder)), tenants


@dataclass
class Oracle:
    """The expected values: for each window and field, the calls of the newest extraction under a revision that has the field."""

    standing: dict[tuple[int, str], list[Call]] = field(default_factory=dict)

    def extracted(self, window: int, number: int, calls: list[Call]) -> None:
        for name in REVISIONS[number]:
            self.standing[window, name] = calls

    def tools(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for (_, name), calls in self.standing.items():
            for tool, failure in calls:
                values = found.setdefault(tool, {})
                values[name] = values.get(name, 0) + (1 if name == "calls" else failure)
        return found


@dataclass
class Chain:
    """The stages events and entities, each with one partition, and the tools in the feed."""

    events: PartitionHarness
    entities: PartitionHarness
    tools: dict[bytes, dict[str, object]] = field(default_factory=dict)

    async def read(self, record: ConsumedRecord) -> None:
        for output in (await self.entities.process(contributed(await self.events.process([record])))).outputs:
            change = MemoryChange.from_json(output.value) if output.value else None
            if change is None or change.memory is None:
                self.tools.pop(output.key or b"", None)
            elif change.memory.type == TYPE:
                self.tools[output.key or b""] = dict(change.memory.properties)

    def values(self) -> dict[str, dict[str, object]]:
        return {
            str(tool["tool_name"]): {name: value for name, value in tool.items() if name != "tool_name"} for tool in self.tools.values()
        }


def chain(environment: tuple[Settings, TenantDirectory]) -> Chain:
    settings, tenants = environment
    handler = EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics(), clock=SystemClock())
    return Chain(assigned(settings, tenants), PartitionHarness(handler, EntityCodec()))


def made_under(number: int, window: int, calls: list[Call], *, drops: int = 0) -> Extraction:
    what = extraction(window, calls, drops=drops)
    return what.model_copy(update={"schema_name": SCHEMA, "schema_revision": number})


@examples(max_examples=150, deadline=None)
@given(extracted=EXTRACTED, repeated=st.integers(0, 8))
async def test_fields_missing_in_the_schema_keep_their_state(
    environment: tuple[Settings, TenantDirectory], extracted: list[tuple[int, int, list[Call]]], repeated: int
) -> None:
    oracle, stages = Oracle(), chain(environment)
    log = [extraction_record(made_under(number, window, calls), offset) for offset, (window, number, calls) in enumerate(extracted)]
    for window, number, calls in extracted:
        oracle.extracted(window, number, calls)
    for record in [*log, *log[repeated:]]:
        await stages.read(record)
    assert stages.values() == oracle.tools()

    drop = GenerationDrop(tenant=TENANT, generation="", drops=1).to_json()
    await stages.read(delivered("extractions", len(log), b"acme/-", drop, headers=((KIND, GENERATION_DROP),)))
    newest = {window: number for window, number, _ in extracted}
    for offset, (window, number) in enumerate(newest.items(), len(log) + 1):
        await stages.read(extraction_record(made_under(number, window, [], drops=1), offset))
    assert stages.values() == {}, "a drop also retracts types that the schema no longer has"
    for offset, window in enumerate(newest, len(log) + 1 + len(newest)):
        await stages.read(extraction_record(made_under(4, window, [("grep", 1)], drops=1), offset))
    assert stages.values() == {"grep": {"calls": len(newest), "failures": len(newest)}}, "created again, it starts empty"


async def test_a_schema_of_another_name_keeps_former_fields(tmp_path: Path) -> None:
    tenants = known_tenants({TENANT: revision(1)})
    stages = chain((plain_settings(tmp_path), tenants))
    calls = [("grep", 1)]
    await stages.read(extraction_record(extraction(0, calls).model_copy(update={"schema_name": SCHEMA, "schema_revision": 1}), 0))
    assert stages.values() == {"grep": {"calls": 1, "failures": 1}}

    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=replace(revision(2), name="renamed")))
    await stages.read(extraction_record(extraction(1, calls).model_copy(update={"schema_name": "renamed", "schema_revision": 1}), 1))
    assert stages.values() == {"grep": {"calls": 2, "failures": 1}}, "nothing is added to it, and it can be read"

    late = extraction(2, calls).model_copy(update={"schema_name": SCHEMA, "schema_revision": 1})
    await stages.read(extraction_record(late, 2))
    assert stages.values() == {"grep": {"calls": 3, "failures": 2}}, "extracted under the former schema after the change"

    drop = GenerationDrop(tenant=TENANT, generation="", drops=1).to_json()
    await stages.read(delivered("extractions", 3, b"acme/-", drop, headers=((KIND, GENERATION_DROP),)))
    for window in range(3):
        under = {"schema_name": "renamed", "schema_revision": 1}
        await stages.read(extraction_record(extraction(window, [], drops=1).model_copy(update=under), 4 + window))
    assert stages.values() == {}


async def test_a_late_extraction_shows_newer_fields(tmp_path: Path) -> None:
    tenants = known_tenants({TENANT: revision(2)})
    now_known(tenants, lambda draft: set_tenant(draft, TENANT, schema=revision(1)))
    stages = chain((plain_settings(tmp_path), tenants))
    for window, number in ((0, 2), (1, 1)):
        made = extraction(window, [("grep", 1)]).model_copy(update={"schema_name": SCHEMA, "schema_revision": number})
        await stages.read(extraction_record(made, window))
    late = extraction(2, [("grep", 0)]).model_copy(update={"schema_name": SCHEMA, "schema_revision": 1})
    await stages.read(extraction_record(late, 2))
    assert stages.values() == {"grep": {"calls": 3, "failures": 1}}, "a field that a later revision adds stays readable"
