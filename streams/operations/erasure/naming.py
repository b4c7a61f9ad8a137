"""Finds the users that a record names: those whose record it is, or who are in the key of its entity. Pure.

A name elsewhere in a record does not count. A user may have the name of a session, of a role ("user") or of somebody whom another user
mentions, and the erasure of that user could never be verified.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from memory.keys import parts_of_key
from memory.topics import AUDIT, CONTROL, DEAD_LETTERS, TopicSpec
from runtime.kafka import TopicPartition
from streams.engine.failures.deferred_rows import parked_record
from streams.engine.state.partition_state import unpack
from streams.stages.catalog import STAGES

_ANY_FORM: Final = frozenset({CONTROL.name, AUDIT.name, DEAD_LETTERS.name})
"""Topics whose records have many forms: every string counts. An erasure removes nothing from them, or reads them by itself."""
_SHARED_KEY: Final = 3
"""Parts of the key of a shared window, which names its session and not a user."""
_PUNCTUATION: Final = re.compile(rb"[\s,:{}\[\]]+")
"""Text that JSON has between two quotation marks outside of strings."""
_OF_USER: Final = b"#of/"
"""Begins the keys of rows of the sessions stage that name a user."""
_PARKING: Final = frozenset({"extraction", "merging"})
"""Stages whose rows are parked records of their source."""
_FREE: Final = frozenset({"properties", "metadata", "tool_call", "value", "question", "outcome", "change", "state"})
"""Fields whose content has the names of an application or of an operator."""


class Naming:
    """Finds the users of a tenant that a record names.

    Args:
        tenant: The users' tenant.
        users: The users.
    """

    def __init__(self, tenant: str, *users: str) -> None:
        self._tenant, self._tenant_word = tenant, orjson.dumps(tenant)
        self._users = frozenset(users)
        quoted = {each: orjson.dumps(each)[1:-1] for each in self._users}
        self._plain = {word: each for each, word in quoted.items() if b"\\" not in word}
        self._escaped = {b'"' + word + b'"': each for each, word in quoted.items() if b"\\" in word}

    def in_record(self, spec: TopicSpec, key: bytes, value: bytes) -> set[str]:
        """The users that a record of a topic names. A value that is no JSON names every user whose name it has as a string."""
        parts = parts_of_key(key)
        if spec.name in _ANY_FORM:
            every = {each for part in parts for each in (part, *_key_parts(part))}
            text = _plain(value)
            return self._mentioned(text) | (self._users & every) if self._tenant in every or self._tenant_word in text else set()
        return self._named(parts[:1], _users_of_key(spec, parts), value)

    def in_row(self, stage: str, key: bytes, packed: bytes) -> set[str]:
        """The users that a row of a stage's changelog names; ``packed`` is the row with its offset."""
        if stage in _PARKING and (parked := parked_record(TopicPartition("", 0), key, packed)) is not None:
            return self.in_record(STAGES[stage].source, parked.key or b"", parked.value or b"")
        tenants, users = _owners_of_row(stage, key, parts_of_key(key.removeprefix(_OF_USER)))
        return self._named(tenants, users, unpack(packed)[1])

    def _named(self, tenants: Iterable[str], users: Iterable[str], value: bytes) -> set[str]:
        """The users among those in a record's key and in its value, if the record is one of the tenant's."""
        owners, found, text = {*tenants}, {*users} & self._users, _plain(value)
        mentioned = self._mentioned(text)
        if mentioned or (found and self._tenant not in owners):
            documents = _documents(text)
            if documents is None:
                return found | mentioned if self._tenant in owners or self._tenant_word in text else set()
            for name, content in _fields_of(documents):
                if name == "tenant":
                    owners.add(content)
                else:
                    found |= mentioned.intersection(_key_parts(content) if name in ("entity_key", "entity_keys") else (content,))
        return found if self._tenant in owners else set()

    def _mentioned(self, text: bytes) -> set[str]:
        """The users whose names a text has as whole strings. Most texts have none."""
        # One pass over the text for any number of users: the strings between two quotation marks.
        words = text.split(b'"')[1:-1]
        found = {self._plain[each] for each in self._plain.keys() & words if not _PUNCTUATION.fullmatch(each) or _has_string(text, each)}
        return found | {user for word, user in self._escaped.items() if word in text}


def _users_of_key(spec: TopicSpec, parts: tuple[str, ...]) -> Iterator[str]:
    if len(parts) >= _SHARED_KEY and spec.key == ("tenant", "user"):
        return
    for name, part in zip(spec.key, parts, strict=False):
        if name == "user":
            yield part
        elif name == "entity_key":
            yield from _key_parts(part)


def _owners_of_row(stage: str, key: bytes, parts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tenant and the users that the key of a row names, each if it names any."""
    match stage, parts:
        case "sessions", (tenant, user, *_):
            return (tenant,), (user,) if key.startswith(_OF_USER) else ()
        case "recalls", (tenant, user, *_):
            return (tenant,), (user,)
        case ("events", ("corrected", tenant, _, entity_key, _)) | ("entities", ("timer", tenant, _, entity_key, _)):
            return (tenant,), _key_parts(entity_key)
        case "events", ("since-erasure", tenant, user):
            return (tenant,), (user,)
        case "entities", (tenant, _, entity_key, _):
            return (tenant,), _key_parts(entity_key)
    return (), ()


def _fields_of(documents: list[Any]) -> Iterator[tuple[str, str]]:
    """The fields that name a tenant, a user or an entity's key, wherever Varve's own fields have them."""
    waiting = [*documents]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            for name, value in each.items():
                if name in ("tenant", "user", "entity_key") and isinstance(value, str):
                    yield name, value
                elif name in ("users", "authors", "entity_keys") and isinstance(value, list):
                    yield from ((name, one) for one in value if isinstance(one, str))
                elif name not in _FREE and isinstance(value, dict | list):
                    waiting.append(value)


def _documents(text: bytes) -> list[Any] | None:
    """The JSON of a text, also after a row's mark or before a session's messages; None: it has none."""
    if not text:
        return []
    for candidate in (text, text.partition(b"\0")[0], text[max(0, text.find(b"{")) :]):
        try:
            return [orjson.loads(candidate)]
        except orjson.JSONDecodeError:
            continue
    return None


def _key_parts(part: str) -> tuple[str, ...]:
    """The parts of an entity's key."""
    return parts_of_key(part.encode("utf-8", "surrogatepass"))


def _has_string(text: bytes, string: bytes) -> bool:
    """Whether a JSON text has a string, or may have it because the text is no JSON."""
    try:
        waiting = [orjson.loads(text)]
    except orjson.JSONDecodeError:
        return True
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and each.encode() == string:
            return True
        waiting += [*each, *each.values()] if isinstance(each, dict) else each if isinstance(each, list) else []
    return False


def _plain(value: bytes) -> bytes:
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value
