"""Makes the record that a redrive produces. Pure."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from memory.records import DeadLetter
from runtime.dead_letters.metadata import headers_to_redrive
from runtime.dead_letters.parts import Content
from runtime.kafka import OutgoingRecord
from runtime.seals import BAD_SIGNATURE, FORGED_HEADER, UNSIGNED, Basis, Keyring, without_reserved

_NOT_PROVEN: Final = frozenset({UNSIGNED, BAD_SIGNATURE, FORGED_HEADER})


def redriven_record(
    content: Content, source: DeadLetter, *, keyring: Keyring | None, now: datetime, is_vouched: bool = False
) -> OutgoingRecord:
    """The record to redrive a letter, with the record's original identity.

    A redrive does not prove the record's origin: reserved headers without a valid seal are removed, and a message still needs a signature.

    Args:
        content: The content of the source's record.
        source: The position of the source's record, and the reason of its failure.
        keyring: Seals the record. None: its topic has no seals, or there is no master secret.
        now: The current time.
        is_vouched: An operator confirms that the record is its tenant's: its seal is valid at any age, and a message needs no signature.
    """
    record = OutgoingRecord(source.topic, content.key, content.value, content.headers, source.partition)
    if keyring is None:
        return replace(record, headers=headers_to_redrive(record.headers, source))
    seal = None
    if is_vouched or source.reason != FORGED_HEADER:
        seal = keyring.read_seal(key=content.key, value=content.value, headers=content.headers, partition=source.partition)
    if seal is None:
        record = replace(record, headers=without_reserved(record.headers))
        # A rejected signature, for example an expired one, must not become valid by a redrive.
        basis: Basis = "unproven" if source.reason in _NOT_PROVEN else "redriven"
    else:
        basis = seal.basis
    if is_vouched:
        basis = "own"
    record = replace(record, headers=headers_to_redrive(record.headers, source))
    return keyring.sealed(record, now_ms=int(now.timestamp() * 1000), basis=basis)
