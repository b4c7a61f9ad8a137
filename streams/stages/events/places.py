"""Positions of the records of ``extractions``, also of records that growth has copied from an earlier set of topics.

A copied record counts under its earlier position: contributions, memories and corrections contain it.
"""

from dataclasses import replace

from memory.headers import place_of
from memory.topics import EXTRACTIONS
from operators.applied_positions import COPIED
from streams.engine.records import ConsumedRecord


def in_earlier_place(record: ConsumedRecord) -> ConsumedRecord:
    """The record at its earlier position, if it was copied."""
    place = record.place
    return record if place == record.position else replace(record, topic=place.topic, partition=place.partition, offset=place.offset)


def source_of(record: ConsumedRecord, partition: int) -> str:
    """The source of a record's contributions.

    Args:
        record: The record, from :func:`in_earlier_place`.
        partition: The partition that was read.
    """
    source = f"{EXTRACTIONS.name}/{record.partition}"
    return source if place_of(record.headers) is None else f"{source}{COPIED}{partition}"
