"""The operations of LangGraph's store as calls of the service."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)
from varve_client import Memory, MemoryPage, RecallResult, ServiceProblemError, Session

from varve_integrations.calls import Call, Calls
from varve_integrations.read_your_writes import OwnWrites, Write
from varve_integrations.store_items import ITEM_TYPE, Address, StoredItem, expiry, new_version, newest
from varve_integrations.store_queries import has_prefix, has_suffix, listed, matches

MOST_ITEMS: Final = 10_000
"""Most versions of items that one request reads: LangGraph has offsets, and the service has cursors."""
_PAGE: Final = 200
_RECALLED: Final = 256
"""Results of a recall, of which a search takes those that it accepts."""
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404


class StoreOperations:
    """Operations of one store.

    Args:
        user: The user to whom items belong.
        user_label: The index of the label that names the user in a namespace. None: all items belong to ``user``.
        index: Paths of the fields by which a query finds an item.
        clock: The time.
    """

    def __init__(self, *, user: str, user_label: int | None, index: Sequence[str], clock: Callable[[], datetime]) -> None:
        self._user, self._user_label = user, user_label
        self._index, self._clock = tuple(index), clock
        self._writes = OwnWrites()

    def batch(self, ops: Sequence[Op]) -> Calls[list[Result]]:
        """Executes a batch: those that read see the state before it."""
        results: list[Result] = []
        puts: dict[Address, PutOp] = {}
        read: dict[Address, StoredItem] = {}
        for op in ops:
            validate_op_namespace(op)
            match op:
                case GetOp():
                    found = yield from self._get(Address(tuple(op.namespace), op.key))
                    results.append(None if found is None else _item_of(found))
                    if found is not None and op.refresh_ttl:
                        read[found.address] = found
                case SearchOp():
                    items = yield from self._search(op)
                    results.append([_search_item(each, score) for each, score in items])
                    if op.refresh_ttl:
                        read |= {each.address: each for each, _ in items}
                case ListNamespacesOp():
                    results.append((yield from self._namespaces(op)))
                case PutOp():
                    puts[Address(tuple(op.namespace), op.key)] = op
                    results.append(None)
                case _:
                    raise ValueError(f"unknown operation: {type(op).__name__}")
        refreshed = [each for address, each in read.items() if each.ttl_minutes is not None and address not in puts]
        yield from self._put(puts, refreshed)
        return results

    def _get(self, address: Address) -> Calls[StoredItem | None]:
        return self._current(address, (yield from self._versions(address)))

    def _versions(self, address: Address) -> Calls[list[StoredItem]]:
        """The versions of an item that the service shows, also those that were just replaced or deleted."""
        user = self._owner(address.namespace)
        session = address.session(user)
        tail: Session = yield Call("session", (session,))
        found = [item for each in tail.messages if (item := StoredItem.of_message(each["message"])) is not None]
        found += yield from self._stored(user=user, session=session)
        versions = list({each.version: each for each in found if each.address == address and each.user == user}.values())
        self._writes.shown(versions, address)
        return versions

    def _current(self, address: Address, versions: Sequence[StoredItem]) -> StoredItem | None:
        """The version that counts. None: there is none, or it has expired."""
        current = newest(self._writes.merged(versions, address)).get(address)
        return current if current is not None and current.is_alive(self._clock()) else None

    def _search(self, op: SearchOp) -> Calls[list[tuple[StoredItem, float | None]]]:
        prefix, now = tuple(op.namespace_prefix), self._clock()

        def accepted(items: Mapping[Address, StoredItem]) -> list[StoredItem]:
            inside = [each for each in items.values() if each.address.namespace[: len(prefix)] == prefix and each.is_alive(now)]
            return [each for each in inside if matches(each.value, op.filter)]

        ranked: list[tuple[StoredItem, float | None]] = []
        if op.query and op.query.strip():
            scores = yield from self._recalled(op.query, prefix)
            current = newest(self._writes.merged([each for each, _ in scores.values()]))
            good = {each.address: each for each in accepted(current) if each.is_searchable}
            # A write that the recall has not seen is ranked after those that it has.
            ranked = [(good[address], scores[address][1]) for address in scores if address in good and good[address] == scores[address][0]]
            if min(op.offset, op.limit) >= 0 and len(ranked) >= op.offset + op.limit:
                return ranked[op.offset : op.offset + op.limit]
        stored = yield from self._stored(user=self._owner_of_prefix(prefix))
        found = {each.address for each, _ in ranked}
        rest = [each for each in accepted(newest(self._writes.merged(stored))) if each.address not in found]
        rest.sort(key=lambda each: (each.updated_at, each.version), reverse=True)
        return [*ranked, *((each, None) for each in rest)][op.offset : op.offset + op.limit]

    def _recalled(self, query: str, prefix: tuple[str, ...]) -> Calls[dict[Address, tuple[StoredItem, float]]]:
        """The items that a recall finds, with their scores, best first."""
        user = self._owner_of_prefix(prefix)
        options = {"user": user, "kinds": ["event"], "types": [ITEM_TYPE], "limit": _RECALLED}
        response: RecallResult = yield Call("recall", (query,), options)
        found = [(item, each.score) for each in response.results if (item := _stored_item(each)) is not None]
        latest = newest([item for item, _ in found])
        return {item.address: (item, score) for item, score in found if latest[item.address].version == item.version}

    def _namespaces(self, op: ListNamespacesOp) -> Calls[list[tuple[str, ...]]]:
        conditions = op.match_conditions or ()
        prefix = next((tuple(each.path) for each in conditions if each.match_type == "prefix"), ())
        stored = yield from self._stored(user=self._owner_of_prefix(prefix))
        now = self._clock()
        alive = {each.address.namespace for each in newest(self._writes.merged(stored)).values() if each.is_alive(now)}
        fits = {"prefix": has_prefix, "suffix": has_suffix}
        chosen = [each for each in alive if all(fits[condition.match_type](each, condition.path) for condition in conditions)]
        return listed(chosen, max_depth=op.max_depth, limit=op.limit, offset=op.offset)

    def put(self, address: Address, value: Mapping[str, Any] | None) -> Calls[None]:
        """Puts an item, or deletes it if the value is None."""
        yield from self._put({address: PutOp(address.namespace, address.key, value)})

    def is_indexed(self, address: Address) -> Calls[bool]:
        """Whether the service has made an event of an item."""
        user = self._owner(address.namespace)
        return bool((yield from self._stored(user=user, session=address.session(user))))

    def sweep(self) -> Calls[int]:
        """Deletes expired items. Returns their number."""
        stored = yield from self._stored(user=None if self._user_label is not None else self._user)
        now = self._clock()
        expired = [each for each in newest(self._writes.merged(stored)).values() if not each.is_alive(now)]
        yield from self._put({each.address: PutOp(each.address.namespace, each.address.key, None) for each in expired})
        return len(expired)

    def _put(self, puts: Mapping[Address, PutOp], refreshed: Sequence[StoredItem] = ()) -> Calls[None]:
        """Writes items: new messages first, then the deletion of earlier ones, so that a failure in between loses nothing.

        Args:
            puts: The operations, one per item.
            refreshed: Items whose lifetime begins again.
        """
        if not puts and not refreshed:
            return
        versions: dict[Address, list[StoredItem]] = {}
        for address in [*puts, *(each.address for each in refreshed)]:
            versions[address] = yield from self._versions(address)
        now = self._clock()
        written = [self._next(address, op, versions[address], now) for address, op in puts.items()]
        for item in refreshed:
            if self._current(item.address, versions[item.address]) == item:
                version = new_version(now, self._writes.versions(versions[item.address], item.address))
                written.append(Write(item.address, version, replace(item, version=version, expires_at=expiry(now, item.ttl_minutes))))
        messages = [write.item.message(self._text(write.item)) for write in written if write.item is not None]
        if messages:
            yield Call("send", (messages,))
        for write in written:
            # The service may not show an own write of a moment ago, and deletes it nevertheless.
            earlier = {each.version: each for each in [*versions[write.address], *self._writes.items(write.address)]}
            self._writes.add(write)
            if write.item is not None:
                yield from _flush(write.item.session)
            for each in earlier.values():
                yield from _delete(each)

    def _next(self, address: Address, op: PutOp, versions: Sequence[StoredItem], now: datetime) -> Write:
        version = new_version(now, self._writes.versions(versions, address))
        if op.value is None:
            return Write(address, version, None)
        earlier = self._current(address, versions)
        item = StoredItem(
            address=address,
            user=self._owner(address.namespace),
            value=dict(op.value),
            version=version,
            created_at=now if earlier is None else earlier.created_at,
            updated_at=now,
            index=None if op.index is None else tuple(op.index or ()),
            ttl_minutes=op.ttl,
            expires_at=expiry(now, op.ttl),
        )
        return Write(address, version, item)

    def _text(self, item: StoredItem) -> str:
        """The text by which a query finds an item."""
        paths = self._index if item.index is None else item.index
        texts = [text for path in paths for text in get_text_at_path(item.value, "$" if path == "$" else tokenize_path(path))]
        return "\n".join(texts) or item.address.key

    def _stored(self, *, user: str | None, session: str | None = None) -> Calls[list[StoredItem]]:
        found: list[Memory] = []
        after: str | None = None
        while True:
            options = {"user": user, "session": session, "kinds": ["event"], "types": [ITEM_TYPE], "after": after, "limit": _PAGE}
            page: MemoryPage = yield Call("memories", (), options)
            found += page.memories
            after = page.next
            if after is None:
                items = [item for each in found if (item := _stored_item(each)) is not None]
                self._writes.indexed(items)
                return items
            if len(found) >= MOST_ITEMS:
                raise ValueError(f"more than {MOST_ITEMS} items; search below a namespace that names a user (user_label)")

    def _owner(self, namespace: tuple[str, ...]) -> str:
        """The user to whom the items of a namespace belong."""
        label = self._user_label
        return namespace[label] if label is not None and label < len(namespace) else self._user

    def _owner_of_prefix(self, prefix: tuple[str, ...]) -> str | None:
        """The user to whom all items below a prefix belong. None: there may be several."""
        label = self._user_label
        if label is None:
            return self._user
        return prefix[label] if label < len(prefix) and prefix[label] != "*" else None


def _flush(session: str) -> Calls[None]:
    try:
        yield Call("flush", (session,))
    except ServiceProblemError as error:
        # A key that is bound to a user cannot close a window; it closes by itself later.
        if error.status != _FORBIDDEN:
            raise


def _delete(item: StoredItem) -> Calls[None]:
    try:
        yield Call("delete_message", (item.session, item.version), {"user": item.user})
    except ServiceProblemError as error:
        if error.status != _NOT_FOUND:  # It was deleted meanwhile.
            raise


def _stored_item(memory: Memory) -> StoredItem | None:
    return StoredItem.of_properties(memory.properties, memory.user or "")


def _item_of(item: StoredItem) -> Item:
    return Item(
        value=dict(item.value),
        key=item.address.key,
        namespace=item.address.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _search_item(item: StoredItem, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=item.address.namespace,
        key=item.address.key,
        value=dict(item.value),
        created_at=item.created_at,
        updated_at=item.updated_at,
        score=score,
    )
