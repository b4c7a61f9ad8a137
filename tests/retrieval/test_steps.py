"""The recording of a recall's steps."""

import asyncio
import time

import pytest

from retrieval.steps import note_step, recorded_steps


async def test_steps_of_concurrent_tasks_are_recorded() -> None:
    async def part(name: str, found: int) -> None:
        note_step(name, time.perf_counter(), found=found)

    with recorded_steps() as steps:
        began = time.perf_counter()
        await asyncio.gather(part("entities", 2), part("keywords", 3))
        note_step("rank", began, given=5, found=4)
    note_step("later", time.perf_counter())
    assert {each.name: (each.given, each.found) for each in steps} == {"entities": (None, 2), "keywords": (None, 3), "rank": (5, 4)}
    assert all(each.began_ms >= 0 and each.ms >= 0 for each in steps)


def test_recordings_do_not_mix() -> None:
    with recorded_steps() as outer:
        with recorded_steps(wanted=False) as unwanted, recorded_steps() as inner:
            note_step("rank", time.perf_counter())
        note_step("cut", time.perf_counter())
    assert ([each.name for each in inner], [each.name for each in outer], unwanted) == (["rank"], ["cut"], [])


@pytest.mark.parametrize("given", [0, 7])
def test_the_next_step_begins_where_one_ends(given: int) -> None:
    began = time.perf_counter()
    with recorded_steps() as steps:
        after = note_step("score", began, given=given)
        assert after >= began
    assert steps[0].given == given
