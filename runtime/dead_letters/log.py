"""Reads the dead-letter topic: letters with their outcomes, and their contents."""

import json
import re
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson
from aiokafka import ConsumerRecord

from memory.keys import encode_key, unmarked_key
from memory.positions import LogPosition
from runtime.dead_letters.metadata import (
    ANSWER,
    Content,
    Resolution,
    dead_letter_name,
    part_count,
    part_of,
    read_metadata,
    read_resolution,
    tenant_of,
    text_in,
    unpack,
    without_metadata,
    written_size,
    written_tenant,
)
from runtime.dead_letters.records import DeadLetter, apply_resolutions
from runtime.errors import DeadLetterMissingError
from runtime.kafka import read_topic
from runtime.settings import KafkaSettings

_TEXT: Final = rb'("(?:[^"\\]|\\.)*")'

_Record: TypeAlias = "ConsumerRecord[bytes | None, bytes | None]"


def owners_in(value: bytes) -> set[str]:
    """The users that a record belongs to.

    Varve's records have the user at the top level, changes of memories in the memory. Deeper fields are untrusted: they count only if there
    is no such field, because keeping data of an erased user is worse than deleting too much.
    """
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {*_written(value, "user")}
    own = {each["user"] for each in _tops(parsed) if isinstance(each.get("user"), str)}
    return own or {*_held(parsed, "user")}


def texts_in_field(value: bytes, name: str) -> set[str]:
    """The texts in all fields of a name, at any depth."""
    try:
        return {*_held(orjson.loads(value), name)}
    except orjson.JSONDecodeError:
        return {*_written(value, name)}


def _tops(parsed: Any) -> Iterator[dict[str, Any]]:
    if isinstance(parsed, dict):
        yield parsed
        if isinstance(memory := parsed.get("memory"), dict):
            yield memory


def _held(parsed: Any, name: str) -> Iterator[str]:
    ahead = [parsed]  # JSON may be nested deeper than Python's recursion limit
    while ahead:
        each = ahead.pop()
        if isinstance(each, dict):
            if isinstance(text := each.get(name), str):
                yield text
            ahead += each.values()
        elif isinstance(each, list):
            ahead += each


def _written(value: bytes, name: str) -> Iterator[str]:
    """The texts in a value that is not valid JSON: everything that looks like such a field."""
    for found in re.finditer(re.escape(orjson.dumps(name)) + rb"\s*:\s*" + _TEXT, value, re.DOTALL):
        try:
            yield json.loads(found[1])
        except ValueError:  # no JSON, or no UTF-8
            continue


@dataclass(slots=True)
class FoundDeadLetter:
    """A letter with the parts that were read."""

    letter: DeadLetter
    record: _Record
    parts: list[bytes] = field(default_factory=list)

    @property
    def answer(self) -> str | None:
        """The model's answer, if the letter has one."""
        return text_in(self.record.headers, ANSWER)

    def users_named(self, tenant: str, users: Collection[str], *, has_users_key: bool) -> set[str]:
        """The users, of those given, that the record belongs to.

        Args:
            tenant: The tenant of the users.
            users: The users.
            has_users_key: Whether its topic is keyed by tenant and user.
        """
        try:
            value = self.content().value or b""
        except DeadLetterMissingError:
            value = b""
        if self.letter.metadata.tenant != tenant and tenant not in texts_in_field(value, "tenant"):
            return set()
        found = owners_in(value).intersection(users)
        if has_users_key:
            key = unmarked_key(self.record.key or b"")
            found |= {each for each in users if encode_key(tenant, each) == key}
        return found

    def content(self) -> Content:
        """The content of the source's record.

        Raises:
            DeadLetterMissingError: If the content is in several parts and some are missing.
        """
        if not self.letter.parts:
            return Content(self.record.key, self.record.value, without_metadata(self.record.headers))
        if len(self.parts) < self.letter.parts:
            raise DeadLetterMissingError(f"{len(self.parts)} of {self.letter.parts} parts of its content are left; purge it")
        return unpack(self.parts)


class DeadLetterLog:
    """Reads the topic, each time from its beginning."""

    def __init__(self, *, topic: str, kafka: KafkaSettings) -> None:
        self._topic = topic
        self._kafka = kafka

    async def letters(self) -> tuple[list[DeadLetter], dict[int, int]]:
        """All letters with their outcomes, and the end offset of each partition that was read."""
        letters: list[DeadLetter] = []
        resolutions: list[tuple[int, Resolution]] = []
        ends: dict[int, int] = {}
        async for record in read_topic(self._topic, self._kafka):
            ends[record.partition] = record.offset + 1
            letter = _letter(record)
            resolution = read_resolution(record.headers) if letter is None else None
            if letter is not None:
                letters.append(letter)
            elif resolution is not None:
                resolutions.append((record.partition, resolution))
        return apply_resolutions(letters, resolutions), ends

    async def contents(self, letters: Sequence[DeadLetter]) -> AsyncIterator[FoundDeadLetter]:
        """Letters with their contents, in the order in which they are completely read. Letters with missing parts come last."""
        if not letters:
            return
        by_position = {letter.position: letter for letter in letters}
        pending: dict[str, FoundDeadLetter] = {}
        async for record in read_topic(self._topic, self._kafka):
            letter = by_position.get(_position(record))
            if letter is not None and letter.parts:
                pending[dead_letter_name(letter.metadata)] = FoundDeadLetter(letter, record)
            elif letter is not None:
                yield FoundDeadLetter(letter, record)
            elif pending and (found := pending.get(part_of(record.headers) or "")) is not None:
                found.parts.append(record.value or b"")
                if len(found.parts) == found.letter.parts:
                    yield pending.pop(dead_letter_name(found.letter.metadata))
        for found in pending.values():
            yield found


def _letter(record: _Record) -> DeadLetter | None:
    metadata = read_metadata(record.headers)
    if metadata is None:
        return None
    tenant = written_tenant(record.headers) or tenant_of(record.key, record.value)
    with_tenant = metadata.model_copy(update={"tenant": tenant})
    parts = part_count(record.headers)
    size = written_size(record.headers) if parts else len(record.value or b"")
    return DeadLetter(_position(record), with_tenant, record.key, size, parts=parts)


def _position(record: _Record) -> LogPosition:
    return LogPosition(record.topic, record.partition, record.offset)
