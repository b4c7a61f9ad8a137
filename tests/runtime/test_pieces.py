"""Long work in pieces."""

import asyncio

from runtime.pieces import ITEMS_IN_PIECE, map_in_pieces


async def test_others_run_between_the_pieces() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    seen_at = await map_in_pieces(lambda item: (item, turns), range(ITEMS_IN_PIECE * 4))
    beside.cancel()
    assert [item for item, _ in seen_at] == [*range(ITEMS_IN_PIECE * 4)]
    assert len({turn for _, turn in seen_at}) == 4


async def test_no_items_give_nothing() -> None:
    assert await map_in_pieces(str, ()) == []
