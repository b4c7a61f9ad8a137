"""Users whose records a run does not replace. Pure."""

from control.erasure import subject_of
from control.hold import ALL_USERS
from control.state import ControlState
from memory.records import Correction, Extraction
from memory.topics import EXTRACTIONS
from streams.engine.records import ConsumedRecord


def is_protected(state: ControlState, source: Extraction | Correction, record: ConsumedRecord) -> bool:
    """Whether a record stays, because its user has a hold or is being erased, or an erasure covers it.

    An erasure writes its tombstones once. A record that replaces another one of the user must not follow them.

    Args:
        state: The newest control log.
        source: The content of the record.
        record: The record.
    """
    if source.user is None:
        return state.hold_on(source.tenant, ALL_USERS) is not None
    subject = subject_of(source.tenant, source.user)
    erasure = state.erasures.get(subject)
    is_erased = erasure is not None and (
        erasure.finished_at is None or erasure.covers(EXTRACTIONS.name, record.origin.partition, record.origin.offset)
    )
    return is_erased or state.hold_on(source.tenant, subject) is not None
