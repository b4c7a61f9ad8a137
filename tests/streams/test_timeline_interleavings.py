"""Corrections, ticks, recalls, expiries, repetitions and restarts in any order: what is live is what a rebuild gives."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, note
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from memory.records import Extraction, Memory
from runtime.settings import Settings
from tests.control_log import known_tenants
from tests.operators.timeline.diaries import diary_schema
from tests.streams.events.corrections import correction, correction_record
from tests.streams.harness import plain_settings
from tests.streams.timelines_flow import TENANT, Timelines

TEXTS: Final = (["Moved to Lyon.", "Met Paul."], ["Met Paul."], ["Bought a bicycle.", "Moved to Lyon."])
"""What an extraction of a window may give, each time it is made."""
WINDOWS: Final = st.integers(0, 2)
CORRECTIONS: Final = st.tuples(st.just("correct"), WINDOWS, st.integers(0, 1), st.sampled_from(["correct", "invalidate", "revert"]))
ACTIONS: Final = st.one_of(
    st.tuples(st.just("extract"), WINDOWS, st.integers(0, len(TEXTS) - 1)),
    CORRECTIONS,
    st.tuples(st.just("recall"), WINDOWS, st.integers(0, 1)),
    st.tuples(st.just("pass_time"), st.sampled_from([1, 8, 36, 60])),
    st.tuples(st.just("restart")),
    st.tuples(st.just("deliver_again"), st.integers(0, 50)),
    st.tuples(st.just("step"), st.sampled_from(["extractions", "contributions", "merges"])),
)
SETTLED: Final = st.sampled_from([True, True, True, False])
"""Whether the stages handle at once all that an action lays into their logs."""


Action = tuple[tuple[Any, ...], bool]


class History:
    """What happened so far, by the actions that are drawn."""

    def __init__(self, settings: Settings, *, retract: bool) -> None:
        self.flow = Timelines(settings, known_tenants({TENANT: diary_schema(Retract=retract)}), is_eager=False)
        self._windows: dict[int, Extraction] = {}
        self._day = 0.0
        self._corrections = 0

    async def do(self, action: str, *arguments: Any, settled: bool) -> None:
        does: Callable[..., Coroutine[Any, Any, None]] = getattr(self, f"_{action}")
        self.flow.is_eager = settled
        await does(*arguments)

    async def _extract(self, window: int, texts: int) -> None:
        first = self._windows.get(window)
        day = self._day if first is None else (first.window_end - self.flow.now(0)).total_seconds() / 86_400
        self._windows[window] = await self.flow.extract(window, day, TEXTS[texts])

    async def _correct(self, window: int, event: int, action: str) -> None:
        extraction = self._windows.get(window)
        if extraction is None or event >= len(extraction.events):
            return
        self._corrections += 1
        fields = {"content": f"{extraction.events[event].content[:-1]} at last."} if action == "correct" else {}
        what = correction(extraction.events[event], self._corrections, action, **fields)
        await self.flow.deliver_again(correction_record(what, 0))

    async def _recall(self, window: int, event: int) -> None:
        extraction = self._windows.get(window)
        if extraction is not None and event < len(extraction.events):
            await self.flow.recall(extraction, self._day, event)

    async def _pass_time(self, days: int) -> None:
        self._day += days
        await self.flow.pass_time(days)

    async def _restart(self) -> None:
        self.flow.restart_entities()

    async def _deliver_again(self, place: int) -> None:
        if self.flow.extractions:
            await self.flow.deliver_again(self.flow.extractions[place % len(self.flow.extractions)])

    async def _step(self, log: str) -> None:
        await self.flow.step(log)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return plain_settings(tmp_path_factory.mktemp("data"))


async def quiet(flow: Timelines) -> dict[bytes, Memory]:
    """The memories once every timer that is due has fired, and all that it asked for is done."""
    await flow.settle()
    while await flow.tick():
        await flow.settle()
    return dict(flow.memories)


def events(memories: dict[bytes, Memory]) -> dict[bytes, Memory]:
    return {key: each for key, each in memories.items() if each.kind == "event"}


@given(
    actions=st.lists(st.tuples(ACTIONS, SETTLED), min_size=8, max_size=20),
    # What is corrected last has no later tick that would set it right.
    last=st.lists(st.tuples(CORRECTIONS, SETTLED), max_size=2),
    retract=st.booleans(),
)
@hypothesis_settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_rebuild_gives_what_is_live(settings: Settings, actions: list[Action], last: list[Action], retract: bool) -> None:
    async def run() -> None:
        history = History(settings, retract=retract)
        for each, settled in (*actions, *last):
            await history.do(*each, settled=settled)
        live = await quiet(history.flow)
        rebuilt = await quiet(await history.flow.rebuilt())
        for key in sorted(live.keys() | rebuilt.keys()):
            if live.get(key) != rebuilt.get(key):
                note(f"live: {live.get(key)!r}\nrebuilt: {rebuilt.get(key)!r}")
        assert rebuilt == live
        await history.flow.repeat()
        again = events(await quiet(history.flow))
        assert again == {key: each for key, each in events(live).items() if key in again}, "logs delivered once more bring nothing back"

    asyncio.run(run())
