"""A store's own writes, until the service lists them."""

import pytest
from varve_client import ServiceProblemError
from varve_integrations.calls import Call, Calls, carry_out, carry_out_async
from varve_integrations.read_your_writes import OwnWrites, Write
from varve_integrations.store_items import Address, StoredItem, new_version

from tests.letter_flow import NOON

A, B = Address(("a",), "k"), Address(("b",), "k")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def item(address: Address, number: int, *, after: StoredItem | None = None) -> StoredItem:
    version = new_version(NOON, [] if after is None else [after.version])
    return StoredItem(address=address, user="ann", value={"n": number}, version=version, created_at=NOON, updated_at=NOON)


def put(stored: StoredItem) -> Write:
    return Write(stored.address, stored.version, stored)


def numbers(items: list[StoredItem]) -> list[int]:
    return sorted(each.value["n"] for each in items)


def test_an_own_write_replaces_earlier_versions() -> None:
    writes, first, other = OwnWrites(), item(A, 1), item(B, 9)
    second = item(A, 2, after=first)
    writes.add(put(second))
    assert numbers(writes.merged([first, other])) == [2, 9]
    assert numbers(writes.merged([item(A, 3, after=second)])) == [2, 3], "the caller chooses the newest"
    assert numbers(writes.merged([first], B)) == [1]
    assert writes.versions([first], A) == [first.version, second.version]


def test_a_deleted_item_stays_deleted() -> None:
    writes, first = OwnWrites(), item(A, 1)
    writes.add(Write(A, new_version(NOON, [first.version]), None))
    assert writes.merged([first]) == []
    writes.indexed([first])
    assert writes.merged([first]) == []
    assert writes.items(A) == []


def test_a_listed_write_is_forgotten() -> None:
    writes, first = OwnWrites(), item(A, 1)
    writes.add(put(first))
    writes.indexed([])
    assert writes.items(A) == [first]
    writes.indexed([first])
    assert writes.merged([]) == [], "another process may have deleted it"


def test_a_write_that_the_service_stops_showing_is_forgotten() -> None:
    writes, first, deleted = OwnWrites(), item(A, 1), item(B, 2)
    second = item(A, 3, after=first)
    writes.add(put(first))
    writes.shown([], A)
    assert writes.merged([], A) == [first], "the service has not shown it yet"
    writes.shown([second], A)
    writes.shown([first], A)
    assert writes.merged([], A) == [first]
    writes.shown([], A)
    assert writes.merged([], A) == [], "another process has deleted it and what replaced it"
    writes.add(Write(B, new_version(NOON, [deleted.version]), None))
    writes.shown([deleted], B)
    writes.shown([], B)
    assert writes.merged([deleted], B) == [], "an own deletion stays"


def test_writes_are_forgotten_after_ten_minutes() -> None:
    clock = Clock()
    writes, first, second = OwnWrites(clock), item(A, 1), item(B, 2)
    writes.add(put(first))
    clock.now = 599.0
    writes.add(put(second))
    assert numbers(writes.merged([])) == [1, 2]
    clock.now = 601.0
    assert numbers(writes.merged([])) == [2]


def operation() -> Calls[str]:
    first = yield Call("recall", ("cat",), {"user": "ann"})
    try:
        yield Call("delete_memory", ("1",))
    except ServiceProblemError as error:
        return f"{first}, {error.detail}"
    return "no error"


class Client:
    """Records calls, and refuses deletions."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def recall(self, query: str, **options: object) -> str:
        self.calls.append((query, options))
        return "Pixel"

    def delete_memory(self, memory_id: str) -> None:
        raise ServiceProblemError("refused", status=403, kind="", detail="not allowed", trace_id=None, members={})


class AsyncClient(Client):
    async def recall(self, query: str, **options: object) -> str:  # type: ignore[override]
        return super().recall(query, **options)

    async def delete_memory(self, memory_id: str) -> None:  # type: ignore[override]
        super().delete_memory(memory_id)


async def test_both_clients_carry_out_the_same_operation() -> None:
    client, async_client = Client(), AsyncClient()
    assert carry_out(operation(), client) == "Pixel, not allowed"  # type: ignore[arg-type]
    assert await carry_out_async(operation(), async_client) == "Pixel, not allowed"  # type: ignore[arg-type]
    assert client.calls == async_client.calls == [("cat", {"user": "ann"})]


def test_an_unexpected_error_ends_an_operation() -> None:
    def unguarded() -> Calls[None]:
        yield Call("delete_memory", ("1",))

    with pytest.raises(ServiceProblemError, match="refused"):
        carry_out(unguarded(), Client())  # type: ignore[arg-type]
