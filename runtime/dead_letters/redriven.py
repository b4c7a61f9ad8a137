"""The record that a dead letter's redrive produces. Pure."""

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
    """A letter's record as it goes to its stage again, with the identity it had at first.

    A redrive by itself proves nothing: what was not Varve's own is not made so. Reserved headers that no seal vouches for are left out, and
    a message has to be signed now as before.

    Args:
        content: What the source's record held.
        source: Where it lay, and why it was put aside.
        keyring: Seals it; None: its topic knows no seals, or there is no master secret.
        now: The time.
        is_vouched: An operator says that the record is its tenant's own: its seal, if it has one, counts whatever its age, and
            as a message it needs no signature.
    """
    record = OutgoingRecord(source.topic, content.key, content.value, content.headers, source.partition)
    if keyring is None:
        return replace(record, headers=headers_to_redrive(record.headers, source))
    seal = None
    if is_vouched or source.reason != FORGED_HEADER:
        seal = keyring.read_seal(key=content.key, value=content.value, headers=content.headers, partition=source.partition)
    if seal is None:
        record = replace(record, headers=without_reserved(record.headers))
        # A signature that was refused, maybe for its age, must not pass for having been made in time.
        basis: Basis = "unproven" if source.reason in _NOT_PROVEN else "redriven"
    else:
        basis = seal.basis
    if is_vouched:
        basis = "own"
    record = replace(record, headers=headers_to_redrive(record.headers, source))
    return keyring.sealed(record, now_ms=int(now.timestamp() * 1000), basis=basis)
