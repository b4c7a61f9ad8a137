"""Long work in pieces."""

import asyncio

from runtime.pieces import PIECE_S, map_in_pieces


class Work:
    """Takes as long for each item as it says, and knows how often another task ran before it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.time = 0.0
        self.turns = 0

    def do(self, item: int) -> tuple[int, int]:
        self.time += self._seconds
        return item, self.turns

    async def beside(self) -> None:
        while True:
            self.turns += 1
            await asyncio.sleep(0)


async def done_in_pieces(work: Work, items: int) -> list[tuple[int, int]]:
    beside = asyncio.create_task(work.beside())
    done = await map_in_pieces(work.do, range(items), monotonic=lambda: work.time)
    beside.cancel()
    assert [item for item, _ in done] == [*range(items)]
    return done


async def test_others_run_between_the_pieces() -> None:
    assert len({turn for _, turn in await done_in_pieces(Work(PIECE_S / 8), 32)}) == 4


async def test_long_items_are_pieces_by_themselves() -> None:
    assert len({turn for _, turn in await done_in_pieces(Work(PIECE_S * 2), 5)}) == 5


async def test_no_items_give_nothing() -> None:
    assert await map_in_pieces(str, ()) == []
