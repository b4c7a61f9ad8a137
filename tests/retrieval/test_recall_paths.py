"""Each part of a recall returns a result, or is left out with a reason."""

import asyncio

import pytest

from memory.errors import MalformedRecordError, SchemaError, VarveError
from models.errors import InputTooLongError, ModelConfigurationError, TransientModelError
from retrieval.errors import RecallFailedError, RecallLateError
from retrieval.paths import Unavailable, attempt
from runtime.errors import RedisUnavailableError
from stores.errors import ModelMismatchError, OwnershipError, StoreUnavailableError


def in_s(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


async def raising(error: Exception) -> int:
    raise error


async def test_an_answer_in_time_is_returned() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 7

    assert await attempt(answer(), name="memories", until=in_s(60)) == 7


async def test_a_late_part_is_cancelled_and_named() -> None:
    cancelled = asyncio.Event()

    async def never() -> int:
        try:
            await asyncio.get_running_loop().create_future()
            return 0
        finally:
            cancelled.set()

    found = await attempt(never(), name="session_tail", until=in_s(0.01))
    assert isinstance(found, Unavailable)
    assert (found.outcome, type(found.error)) == ("late", RecallLateError)
    assert "session tail" in str(found.error)
    assert cancelled.is_set()


@pytest.mark.parametrize("error", [StoreUnavailableError("x"), TransientModelError("x"), RedisUnavailableError("x")])
async def test_an_unavailable_part_is_left_out(error: Exception) -> None:
    assert await attempt(raising(error), name="entities", until=in_s(60)) == Unavailable("away", error)  # type: ignore[arg-type]


async def test_a_refused_query_is_named_so() -> None:
    error = InputTooLongError("x")
    found = await attempt(raising(error), name="memories", until=in_s(60))
    assert found == Unavailable("refused", error)
    assert found.as_the_answer() is error


@pytest.mark.parametrize("error", [ModelConfigurationError("x"), ModelMismatchError("x"), MalformedRecordError("x")])
async def test_an_internal_error_is_reported_as_failed(error: VarveError) -> None:
    found = await attempt(raising(error), name="memories", until=in_s(60))
    assert found == Unavailable("failed", error)
    failure = found.as_the_answer()
    assert isinstance(failure, RecallFailedError)
    assert failure.__cause__ is error


@pytest.mark.parametrize("error", [SchemaError("x", "y"), OwnershipError("x"), TimeoutError("of something else"), ValueError("x")])
async def test_a_defect_is_not_left_out(error: Exception) -> None:
    with pytest.raises(type(error)):
        await attempt(raising(error), name="memories", until=in_s(60))
