"""Copies of records in a new set of topics: their partitions, headers and seals. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import orjson

from memory.headers import COMMAND, GENERATION_DROP, KIND, PLACE, RETENTION, TRUST, place_of
from memory.keys import partition_of
from memory.positions import LogPosition
from memory.topics import DEAD_LETTERS, EXTRACTIONS, MESSAGES, TopicSpec, topic_named
from runtime.kafka import OutgoingRecord
from runtime.seals import Keyring, is_reserved
from runtime.tracing import Headers
from streams.engine.records import ConsumedRecord
from streams.operations.growth.layout import Layout, target_partitions, topic_in

_LETTER_TOPIC: Final = "varve-dlq-topic"
_LETTER_PARTITION: Final = "varve-dlq-partition"
_PART_OF: Final = "varve-dlq-part-of"
_SETTLES: Final = "varve-settles"
_OFFSET_DIGITS: Final = 19


@dataclass(frozen=True, slots=True)
class Copies:
    """Makes copies of records.

    Args:
        old: The present set of topics.
        new: The new set.
        keyring: Renews the seals of messages. None: there are no seals.
    """

    old: Layout
    new: Layout
    keyring: Keyring | None

    def of(self, record: ConsumedRecord, spec: TopicSpec) -> Sequence[OutgoingRecord]:
        """The copies of a record: one, or one in each partition that continues its own, if it concerns all of them."""
        if self._is_for_all(record, spec):
            homes = target_partitions(record.partition, old=self.old.partitions, new=self.new.partitions)
        else:
            homes = (partition_of(record.key or b"", self.new.partitions),)
        return [self._copy(record, spec, home) for home in homes]

    def late(self, record: ConsumedRecord, spec: TopicSpec) -> Sequence[OutgoingRecord]:
        """The copies of a record that was appended to the present topics after the growth.

        Only messages keep their place, which identifies them: elsewhere, its position may belong to a new record by now.
        """
        copies = self.of(record, spec)
        return copies if spec == MESSAGES else [replace(each, headers=record.headers) for each in copies]

    def of_letter(self, record: ConsumedRecord, offsets: Mapping[int, int]) -> OutgoingRecord:
        """The copy of a dead letter, a part or a resolution, in the same partition.

        Args:
            record: The record.
            offsets: The new offset of each earlier record of its partition.
        """
        headers = tuple((name, self._letter_header(record, name, value, offsets)) for name, value in record.headers)
        return OutgoingRecord(topic_in(DEAD_LETTERS, self.new), record.key, record.value, headers, record.partition)

    def _letter_header(self, record: ConsumedRecord, name: str, value: bytes, offsets: Mapping[int, int]) -> bytes:
        prefix = self.old.prefix.encode()
        if name in (_LETTER_TOPIC, _PART_OF) and value.startswith(prefix):
            return self.new.prefix.encode() + value.removeprefix(prefix)
        if name == _SETTLES and value.isdigit() and len(value) <= _OFFSET_DIGITS:
            return b"%d" % offsets.get(int(value), int(value))
        if name == _LETTER_PARTITION and record.key is not None:
            topic = next((each.decode(errors="replace") for other, each in record.headers if other == _LETTER_TOPIC), "")
            spec = topic_named(topic, self.old.prefix)
            # The sessions stage forwards messages itself.
            if spec is not None and spec != MESSAGES:
                return b"%d" % partition_of(record.key, self.new.partitions)
        return value

    def _is_for_all(self, record: ConsumedRecord, spec: TopicSpec) -> bool:
        if spec == EXTRACTIONS:
            return any((KIND, each) in record.headers for each in (GENERATION_DROP, RETENTION, TRUST))
        if spec == MESSAGES and (KIND, COMMAND) in record.headers:
            return _session_of(record.value) is None
        return False

    def _copy(self, record: ConsumedRecord, spec: TopicSpec, home: int) -> OutgoingRecord:
        place = place_of(record.headers) or LogPosition(record.topic, record.partition, record.offset)
        headers: Headers = (*(each for each in record.headers if each[0] != PLACE), (PLACE, str(place).encode()))
        copy = OutgoingRecord(topic_in(spec, self.new), record.key, record.value, headers, home)
        return copy if spec != MESSAGES or self.keyring is None else self._sealed(copy, record)

    def _sealed(self, copy: OutgoingRecord, record: ConsumedRecord) -> OutgoingRecord:
        """The copy with a seal of the same scope and time. A record whose own seal is wrong stays wrong."""
        assert self.keyring is not None
        seal = self.keyring.read_seal(key=record.key, value=record.value, headers=record.headers, partition=record.partition)
        if seal is not None:
            return self.keyring.sealed(copy, now_ms=seal.sealed_ms, basis=seal.basis)
        if any(is_reserved(name) for name, _ in record.headers):
            return replace(copy, headers=record.headers)
        return self.keyring.sealed(copy, now_ms=record.appended_ms, basis="unproven")


def _session_of(value: bytes | None) -> str | None:
    try:
        fields = orjson.loads(value or b"")
    except orjson.JSONDecodeError:
        return None
    session = fields.get("session") if isinstance(fields, dict) else None
    return session if isinstance(session, str) else None
