"""LangGraph: a store of items with namespaces, search and expiry, as memories of Varve."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final, TypeVar

from langgraph.store.base import BaseStore, Op, Result, TTLConfig
from varve_client import AsyncVarveClient, ServiceProblemError, VarveClient

from varve_integrations.calls import Calls, carry_out, carry_out_async
from varve_integrations.langgraph_operations import StoreOperations
from varve_integrations.store_items import ITEM_TYPE, Address

T = TypeVar("T")

_PROBE: Final = Address(("varve",), "setup")
_POLL_S: Final = 0.1
_REFUSED: Final = 422
_NEEDS: Final = f"The tenant's schema needs the event type {ITEM_TYPE} (varve_integrations.store_items.SCHEMA)"


class VarveStore(BaseStore):  # type: ignore[misc]
    """Implements ``langgraph.store.base.BaseStore``.

    An item is an event of the type ``store_item`` that its put states, with the message as evidence. The tenant's schema needs this type:
    ``varve_integrations.store_items.SCHEMA`` has it. Give the store its own tenant with that schema; ``setup`` checks it.

    Differences from ``InMemoryStore``:

    - Puts are durable when they return. This store sees its own writes at once. Other processes see them with ``get`` after about 0.1
      seconds, and with ``search`` and ``list_namespaces`` after about a second. Of two processes that put an item at the same time, the
      later clock wins.
    - A new value keeps ``created_at``. The earlier value is deleted, as a message is deleted: the log keeps it until the user is erased.
    - ``search`` needs no ``index`` to be configured. With a query, items come in the order of a recall; those that it does not find follow
      without a score. Without a query, the newest update is first.
    - A comparison such as ``$gt`` with a value that is no number is false; there it is an error.
    - A namespace without items is not listed.
    - Values are JSON: tuples come back as lists. A value may have about 370,000 characters, namespace and key together 1,900.
    - A request that has to read more than 10,000 items is an error: search below a prefix that names a user.

    Args:
        client: The client of synchronous calls. Default: there are none.
        async_client: The client of asynchronous calls. Default: ``client``, in a thread.
        user: The user to whom items belong: an erasure of that user erases them.
        user_label: The index of the label that names the user in a namespace: 1 for ``("memories", "ann")``. Namespaces without it belong
            to ``user``. Default: all items belong to ``user``.
        index: Paths of the fields by which a query finds an item, as in LangGraph. Default: the whole value.
        ttl: LangGraph's configuration of lifetimes. Expired items are never returned; ``sweep_ttl`` deletes them.
        clock: The time. Default: the clock of this machine.
    """

    supports_ttl = True

    def __init__(
        self,
        client: VarveClient | None = None,
        *,
        async_client: AsyncVarveClient | None = None,
        user: str,
        user_label: int | None = None,
        index: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if client is None and async_client is None:
            raise ValueError("the store needs a client, an async_client or both")
        if user_label is not None and user_label < 0:
            raise ValueError(f"user_label: expected 0 or more, got {user_label}")
        self.ttl_config = ttl
        self._client, self._async_client = client, async_client
        self._operations = StoreOperations(user=user, user_label=user_label, index=index, clock=clock)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes operations. Those that read see the state before the batch."""
        return self._run(self._operations.batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Executes operations. Those that read see the state before the batch."""
        return await self._arun(self._operations.batch(list(ops)))

    def sweep_ttl(self) -> int:
        """Deletes expired items. Returns their number."""
        return self._run(self._operations.sweep())

    async def asweep_ttl(self) -> int:
        """Deletes expired items. Returns their number."""
        return await self._arun(self._operations.sweep())

    def setup(self, timeout_s: float = 30.0) -> None:
        """Checks that the tenant stores items: puts one, waits until it is an event, and deletes it.

        Args:
            timeout_s: Longest wait, in seconds.

        Raises:
            RuntimeError: If it is no event by then, or the tenant has another schema.
        """
        deadline = time.monotonic() + timeout_s
        self._run(self._operations.put(_PROBE, {"text": "setup"}))
        while True:
            found = self._run(self._operations.is_indexed(_PROBE))
            if found or time.monotonic() > deadline:
                break
            time.sleep(_POLL_S)
        self._run(self._operations.put(_PROBE, None))
        _require_indexed(found, timeout_s)

    async def asetup(self, timeout_s: float = 30.0) -> None:
        """Does the same as ``setup``."""
        deadline = time.monotonic() + timeout_s
        await self._arun(self._operations.put(_PROBE, {"text": "setup"}))
        while True:
            found = await self._arun(self._operations.is_indexed(_PROBE))
            if found or time.monotonic() > deadline:
                break
            await asyncio.sleep(_POLL_S)
        await self._arun(self._operations.put(_PROBE, None))
        _require_indexed(found, timeout_s)

    def _run(self, operation: Calls[T]) -> T:
        if self._client is None:
            raise RuntimeError("the store has only an async_client: use the asynchronous methods, or give it a client too")
        with _schema_errors():
            return carry_out(operation, self._client)

    async def _arun(self, operation: Calls[T]) -> T:
        if self._async_client is None:
            return await asyncio.to_thread(self._run, operation)
        with _schema_errors():
            return await carry_out_async(operation, self._async_client)


@contextmanager
def _schema_errors() -> Iterator[None]:
    """Says what a tenant with another schema needs."""
    try:
        yield
    except ServiceProblemError as error:
        if error.status == _REFUSED and repr(ITEM_TYPE) in error.detail:
            raise RuntimeError(f"{_NEEDS}; {error.detail}") from error
        raise


def _require_indexed(found: bool, timeout_s: float) -> None:
    if not found:
        raise RuntimeError(f"the service did not store an item within {timeout_s:g} s. {_NEEDS}")
