"""Operations that call the service, written once for the synchronous and the asynchronous client."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from varve_client import AsyncVarveClient, VarveClient

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a client's method."""

    method: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


Calls = Generator[Call, Any, T]
"""An operation: it yields calls, receives their results or errors, and returns a result."""


def carry_out(operation: Calls[T], client: VarveClient) -> T:
    """Executes an operation with the synchronous client."""
    try:
        call = next(operation)
        while True:
            try:
                result = getattr(client, call.method)(*call.arguments, **call.options)
            except Exception as error:
                call = operation.throw(error)
            else:
                call = operation.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def carry_out_async(operation: Calls[T], client: AsyncVarveClient) -> T:
    """Executes an operation with the asynchronous client."""
    try:
        call = next(operation)
        while True:
            try:
                result = await getattr(client, call.method)(*call.arguments, **call.options)
            except Exception as error:
                call = operation.throw(error)
            else:
                call = operation.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
