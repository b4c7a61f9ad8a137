"""Long work in pieces."""

import asyncio

from runtime.pieces import PIECE_S, map_in_pieces, waiting_between_pieces


class Work:
    """Takes as long for each item as it says, and knows how often another task ran before it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.time = 0.0
        self.turns = 0

    def do(self, item: int) -> tuple[int, int]:
        self.time += self._seconds
        return item, self.turns

    async def other_work(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)


async def done_in_pieces(work: Work, items: int) -> list[tuple[int, int]]:
    other_work = asyncio.create_task(work.other_work())
    done = await map_in_pieces(work.do, range(items), monotonic=lambda: work.time)
    other_work.cancel()
    assert [item for item, _ in done] == [*range(items)]
    return done


async def test_others_run_between_the_pieces() -> None:
    assert len({turn for _, turn in await done_in_pieces(Work(PIECE_S / 8), 32)}) == 4


async def test_long_items_are_pieces_by_themselves() -> None:
    assert len({turn for _, turn in await done_in_pieces(Work(PIECE_S * 2), 5)}) == 5


async def test_no_items_give_nothing() -> None:
    assert await map_in_pieces(str, ()) == []


async def test_pieces_pause_for_the_given_time() -> None:
    work, begun, may_go_on = Work(PIECE_S * 2), asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        await may_go_on.wait()

    async def work_in_a_task_of_its_own() -> list[tuple[int, int]]:
        with waiting_between_pieces(wait):
            return await asyncio.create_task(done_in_pieces(work, 5))

    waiting = asyncio.create_task(work_in_a_task_of_its_own())
    await begun.wait()
    assert len(await done_in_pieces(Work(PIECE_S * 2), 50)) == 50, "others do not wait"
    assert work.time == PIECE_S * 2, "one piece is done"
    may_go_on.set()
    assert len(await waiting) == 5
