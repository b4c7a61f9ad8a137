"""The final memories equal those that a second implementation computes from the log, in any order of actions; a rebuild gives the same."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from hypothesis import given, note
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from loadtest.answers import extraction_answer
from loadtest.llm_simulator import LLMSimulator
from memory.headers import CORRECTION, EXPIRY, KIND, ORIGIN, TICK, TOUCHES
from memory.records import Correction, EventFields, EventSeen, Extraction, Memory
from models.llm.build import build_llm
from models.llm.port import LLM
from models.llm.telemetry import LLMMetrics
from models.llm.usage import DiscardedUsage
from runtime.settings import LLMSettings, Settings
from tests.control_log import known_tenants
from tests.operators.timeline.diaries import diary_schema
from tests.streams.harness import plain_settings
from tests.streams.stages.events.corrections import correction_record
from tests.streams.timeline_truth import Truth, problems
from tests.streams.timelines_flow import TENANT, Timelines

TEXTS: Final[tuple[list[str], ...]] = (["Moved to Lyon.", "Met Paul."], ["Met Paul."], ["Bought a bicycle.", "Moved to Lyon."], [])
"""The results that an extraction of a window may have. The same text occurs with several ids, and one id with several texts."""
WORDS: Final = ("Saw Rita instead.", "Stayed at home.")
"""Texts of corrections."""
PLACES: Final = st.integers(0, 5)
"""Index among the newest ones."""
CORRECTIONS: Final = st.tuples(
    st.just("correct"),
    PLACES,
    st.sampled_from(
        [
            ("correct",),
            ("invalidate",),
            ("revert",),
            ("correct", "again"),
            ("invalidate", "revert"),
            ("invalidate", "again", "revert"),
            ("correct", "correct", "revert"),
            ("correct", "invalidate", "revert"),
        ]
    ),
)
"""Corrections of one memory as it was seen; ``again`` repeats the last one."""
ACTIONS: Final = st.one_of(
    st.tuples(st.just("extract"), st.integers(0, 1), st.sampled_from([0, 0, 1, 2, 2, 3])),
    CORRECTIONS,
    CORRECTIONS,
    st.tuples(st.just("recall"), PLACES),
    st.tuples(st.just("repeat_record"), PLACES, st.sampled_from([EXPIRY, EXPIRY, CORRECTION, TOUCHES, TICK])),
    st.tuples(st.just("redrive"), PLACES),
    st.tuples(st.just("restart")),
    st.tuples(st.just("step"), st.sampled_from(["extractions", "contributions", "merges"])),
)
DAYS: Final = st.sampled_from([0, 1, 8, 36, 0])
SETTLED: Final = st.sampled_from([True, True, False])
STEPS: Final = st.tuples(ACTIONS, DAYS, SETTLED)
"""An action, the days that pass after it, and whether the stages handle its records at once."""
LAST: Final = st.tuples(CORRECTIONS, st.just(0), SETTLED)
"""A last correction, with no later tick that would repair its effect."""


Step = tuple[tuple[Any, ...], int, bool]


class History:
    """Executes the drawn actions.

    Args:
        flow: The stages.
    """

    def __init__(self, flow: Timelines) -> None:
        self.flow = flow
        self._first_day: dict[int, float] = {}
        self._day = 0.0
        self._extracted: dict[str, Extraction] = {}
        self._seen: list[Memory] = []
        self._corrections = 0

    async def do(self, action: tuple[Any, ...], days: int, *, settled: bool) -> None:
        """Lets an action happen, and some days pass."""
        name, *arguments = action
        does: Callable[..., Coroutine[Any, Any, None]] = getattr(self, f"_{name}")
        self.flow.is_eager = settled
        await does(*arguments)
        self._day += days
        await self.flow.pass_time(days)
        # Somebody may act upon what a memory said before, too.
        self._seen.extend(each for each in self.flow.kinds("event").values() if each not in self._seen)

    async def end(self) -> None:
        """Lets all timers fire that are due, and all happen that follows."""
        await self.flow.settle()
        length = -1
        while length < len(self.flow.extractions):
            length = len(self.flow.extractions)
            await self.flow.pass_time(0.1)
            await self.flow.settle()

    async def _extract(self, window: int, texts: int) -> None:
        day = self._first_day.setdefault(window, self._day)
        what = await self.flow.extract(window, day, TEXTS[texts])
        self._extracted[what.window_id] = what

    async def _correct(self, place: int, actions: tuple[str, ...]) -> None:
        if not self._seen:
            return
        seen = self._seen[-1 - place % len(self._seen)]
        for action in actions:
            if action == "again":
                await self._repeat_record(0, CORRECTION)
            else:
                await self.flow.deliver_again(correction_record(self._correction(seen, action), 0))

    def _correction(self, seen: Memory, action: str) -> Correction:
        self._corrections += 1
        words = WORDS[self._corrections % len(WORDS)]
        return Correction.model_validate(
            {
                "id": f"c{self._corrections}",
                "tenant": TENANT,
                "user": seen.user,
                "action": action,
                "memory_id": seen.id,
                "event": EventSeen(window_id=seen.window_id or "", type=seen.type, content=seen.content, message_ids=seen.message_ids),
                "fields": EventFields(content=words) if action == "correct" else EventFields(),
                "by": "support (k1)",
                "reason": "the user said so",
                "time": self.flow.now(self._day),
            }
        )

    async def _recall(self, place: int) -> None:
        found = [(what, index) for what in self._extracted.values() for index in range(len(what.events))]
        if found:
            what, index = found[place % len(found)]
            await self.flow.recall(what, self._day, index)

    async def _repeat_record(self, place: int, kind: bytes) -> None:
        found = [each for each in self.flow.extractions if each.header(KIND) == kind]
        if found:
            await self.flow.deliver_again(found[-1 - place % len(found)])

    async def _redrive(self, place: int) -> None:
        """An extraction comes as its letter is driven again: it is not newer for that."""
        found = [each for each in self.flow.extractions if each.header(KIND) is None]
        if found:
            record = found[-1 - place % len(found)]
            headers = record.headers if record.header(ORIGIN) else ((ORIGIN, str(record.origin).encode()),)
            await self.flow.deliver_again(replace(record, headers=headers))

    async def _restart(self) -> None:
        self.flow.restart_entities()

    async def _step(self, log: str) -> None:
        await self.flow.step(log)


@dataclass
class World:
    """The event loop and the simulated model that all histories share."""

    settings: Settings
    loop: asyncio.Runner
    simulator: LLMSimulator
    llm: LLM

    def flow(self, *, forgets: bool, is_written: bool, details: int) -> Timelines:
        """New stages.

        Args:
            forgets: Whether entities forget expired events.
            is_written: Whether a model writes the summaries.
            details: Number of summarised events that stay.
        """
        tenants = known_tenants({TENANT: diary_schema(Retract=forgets, Details=details)})
        settings = self.settings if is_written else self.settings.model_copy(update={"llm": LLMSettings()})
        return Timelines(settings, tenants, self.llm if is_written else None, is_eager=False)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    simulator = LLMSimulator(answer=extraction_answer)
    with asyncio.Runner() as loop:
        loop.run(simulator.__aenter__())
        asking = LLMSettings(base_url=simulator.base_url, model="simulated")
        settings = plain_settings(tmp_path_factory.mktemp("data"), llm=asking)
        llm = build_llm(settings, redis=None, usage=DiscardedUsage(), metrics=LLMMetrics(CollectorRegistry()))
        assert llm is not None
        yield World(settings, loop, simulator, llm)
        loop.run(llm.close())
        loop.run(simulator.__aexit__(None, None, None))


@given(
    actions=st.lists(STEPS, min_size=8, max_size=20),
    last=st.lists(LAST, max_size=2),
    forgets=st.booleans(),
    is_written=st.booleans(),
    details=st.sampled_from([0, 0, 1, 2]),
)
@hypothesis_settings(max_examples=60, derandomize=True)
def test_timelines_equal_the_state_of_the_log(
    world: World, actions: list[Step], last: list[Step], forgets: bool, is_written: bool, details: int
) -> None:
    async def run() -> None:
        history = History(world.flow(forgets=forgets, is_written=is_written, details=details))
        flow = history.flow
        for action, days, settled in (*actions, *last):
            await history.do(action, days, settled=settled)
        await history.end()
        live = dict(flow.memories)
        assert problems(Truth(flow.extractions), live.values(), forgets=forgets) == []
        rebuild = await flow.rebuilt()
        rebuilt = rebuild.memories
        for key in sorted(live.keys() | rebuilt.keys()):
            if live.get(key) != rebuilt.get(key):
                note(f"live: {live.get(key)!r}\nrebuilt: {rebuilt.get(key)!r}")
        assert rebuilt == live
        assert rebuild.merges == [], "no model is asked again"
        await flow.repeat()
        assert problems(Truth(flow.extractions), flow.memories.values(), forgets=forgets) == [], (
            "logs that are delivered once more bring nothing back"
        )

    world.loop.run(run())
