"""Entities follow corrections: after any sequence of extractions, corrections and reverts they count the valid events."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from control.tenants import TenantDirectory
from memory.records import Extraction, MemoryChange
from runtime.clocks import SystemClock
from runtime.metrics import Metrics
from runtime.settings import Settings
from streams.engine.records import ConsumedRecord
from streams.engine.tasks.batch import Batch
from streams.stages.entities.codec import EntityCodec
from streams.stages.entities.handler import EntitiesHandler
from streams.stages.events.handler import EventsHandler
from streams.stages.events.ledger import LedgerCodec
from tests.control_log import known_tenants
from tests.streams.agent_extractions import SCHEMA, TENANT, Call, extraction, extraction_record
from tests.streams.harness import PartitionHarness, contributed, plain_settings
from tests.streams.stages.events.corrections import correction, correction_record

WORDS = ("alpha", "bravo", "carol", "delta")
TOOLS = st.sampled_from(["grep", "curl", "make"])


@pytest.fixture(scope="module")
def environment() -> Iterator[tuple[Settings, TenantDirectory]]:
    with tempfile.TemporaryDirectory() as folder:
        yield plain_settings(Path(folder)), known_tenants({TENANT: SCHEMA})


def extracted(window: int, calls: Sequence[Call], order: Sequence[int]) -> Extraction:
    """A window's events, each with one distinct word, in a given order: ids follow the place, evidence the event."""
    what = extraction(window, list(calls))
    own = [each.model_copy(update={"content": f"{each.content} for {WORDS[index]}"}) for index, each in enumerate(what.events)]
    return what.model_copy(
        update={"events": [own[index].model_copy(update={"id": what.events[place].id}) for place, index in enumerate(order)]}
    )


@dataclass
class Oracle:
    """The state of each event: its tool as extracted, and the corrections in force, newest last."""

    calls: dict[tuple[int, str], Call] = field(default_factory=dict)
    present: dict[int, list[str]] = field(default_factory=dict)
    standing: dict[tuple[int, str], list[str | None]] = field(default_factory=dict)

    def tools(self) -> dict[str, tuple[int, int]]:
        count, failed = Counter[str](), Counter[str]()
        for window, contents in self.present.items():
            for content in contents:
                tool, failure = self.calls[window, content]
                stack = self.standing.get((window, content), [])
                if stack and stack[-1] is None:
                    continue
                tool = next((each for each in reversed(stack) if each is not None), tool)
                count[tool] += 1
                failed[tool] += failure
        return {tool: (count[tool], failed[tool]) for tool in count}


class Tools:
    """The tools as the change feed has them."""

    def __init__(self) -> None:
        self.by_key: dict[bytes, dict[str, object]] = {}

    def apply(self, batch: Batch) -> None:
        for output in batch.outputs:
            change = MemoryChange.from_json(output.value) if output.value else None
            if change is None or change.memory is None:
                self.by_key.pop(output.key or b"", None)
            elif change.memory.type == "tool_experience":
                self.by_key[output.key or b""] = dict(change.memory.properties)

    def counts(self) -> dict[str, tuple[int, int]]:
        return {str(each["tool_name"]): (int(str(each["calls"])), int(str(each.get("failures", 0)))) for each in self.by_key.values()}


WINDOWS = st.lists(st.lists(st.tuples(TOOLS, st.integers(0, 1)), min_size=1, max_size=4), min_size=1, max_size=3)
ACTIONS = st.lists(
    st.tuples(st.sampled_from(["extract", "correct", "invalidate", "revert"]), st.integers(0, 2), st.integers(0, 3), TOOLS, st.randoms()),
    max_size=14,
)


@examples(max_examples=100, deadline=None)
@given(windows=WINDOWS, actions=ACTIONS, repeated=st.integers(0, 40))
async def test_entities_count_valid_events(
    environment: tuple[Settings, TenantDirectory],
    windows: list[list[Call]],
    actions: list[tuple[str, int, int, str, object]],
    repeated: int,
) -> None:
    settings, tenants = environment
    oracle = Oracle()
    current: dict[int, Extraction] = {}
    log: list[ConsumedRecord] = []
    for number, calls in enumerate(windows):
        current[number] = extracted(number, calls, range(len(calls)))
        log.append(extraction_record(current[number], len(log)))
        for event, call in zip(current[number].events, calls, strict=True):
            oracle.calls[number, event.content] = call
        oracle.present[number] = [event.content for event in current[number].events]
    for action, window, index, tool, random in actions:
        window %= len(windows)
        calls = windows[window]
        if action == "extract":
            order = list(range(len(calls)))
            random.shuffle(order)  # type: ignore[attr-defined]
            current[window] = extracted(window, calls, order[: index + 1])
            oracle.present[window] = [event.content for event in current[window].events]
            log.append(extraction_record(current[window], len(log)))
            continue
        chosen = current[window].events[index % len(current[window].events)]
        stack = oracle.standing.setdefault((window, chosen.content), [])
        properties = {"tool_name": tool} if action == "correct" else None
        log.append(correction_record(correction(chosen, len(log), action, properties=properties), len(log)))
        value = tool if action == "correct" else None
        if action != "revert":
            if not has_effect_already(stack, value):
                stack.append(value)
        elif stack:
            stack.pop()
    events = PartitionHarness(EventsHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics()), LedgerCodec())
    entities = PartitionHarness(
        EntitiesHandler(partition=0, settings=settings, tenants=tenants, metrics=Metrics(), clock=SystemClock()), EntityCodec()
    )
    tools = Tools()
    for record in [*log, *log[repeated:]]:
        batch = await events.process([record])
        tools.apply(await entities.process(contributed(batch)))
    assert tools.counts() == oracle.tools()


def has_effect_already(stack: list[str | None], value: str | None) -> bool:
    """Whether the corrections in force have the effect of another one, which is then not recorded. None is an invalidation."""
    if not stack or value is None or stack[-1] is None:
        return bool(stack) and value is stack[-1]
    return value == stack[-1]
