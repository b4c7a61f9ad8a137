"""Reads what the log has of other users who had written in windows with erased users."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from control import Draft, read_control
from control.erasure import subject_of
from memory.headers import CORRECTION, KIND
from memory.ids import window_part_id
from memory.topics import EXTRACTIONS
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import UsersLog
from streams.operations.erasure.shared_results import SharedResults


@dataclass(frozen=True, slots=True)
class RecordsOfOthers:
    """Other users' records in ``extractions`` that quote erased users."""

    keys: Sequence[bytes]
    """Those that the erasure removes."""
    replacements: Sequence[OutgoingRecord]
    """Those that stay in force, without the quotations."""
    results: SharedResults


async def note_shared_results(settings: Settings, tenant: str, users: Sequence[ErasedUser], *, log: UsersLog) -> RecordsOfOthers:
    """Finds other users' results of windows that they shared with erased users, and adds the entities that these reached to the traces.

    Args:
        settings: The settings in force.
        tenant: The users' tenant.
        users: The erased users, with their traces.
        log: Their records.

    Raises:
        KafkaUnavailableError: If no broker answers.
    """
    erased = {each.user for each in users}
    parts: dict[str, str] = {}
    joined_by: defaultdict[str, list[ErasedUser]] = defaultdict(list)
    for user in users:
        for window, others in user.joined_windows.items():
            for other in others - erased:
                part = window_part_id(window, other)
                parts[part] = other
                joined_by[part].append(user)
    if not parts:
        return RecordsOfOthers((), (), SharedResults({}))
    results, topic = SharedResults(parts), settings.topic(EXTRACTIONS.name)
    async for record in log.records_of_others(EXTRACTIONS, results.users):
        results.add(record.key or b"", record.value, tuple(record.headers))
    leaving = await _leaving(settings, tenant, results.users)
    keys: dict[bytes, None] = {}
    replacements = []
    for other, key, correction in results.corrections():
        if correction is None:
            keys[key] = None
        elif other not in leaving:
            replacements.append(OutgoingRecord(topic, key, correction.to_json(), ((KIND, CORRECTION),)))
    for part, each in results.superseded():
        for user in joined_by[part]:
            user.trace.add_shared(each.extraction, each.in_force, each.messages)
        if each.is_replaced:
            keys[each.key] = None
        elif each.user not in leaving:
            replacements.append(OutgoingRecord(topic, each.key, each.in_force.to_json()))
    for user in users:
        user.may_be_quoted = results.may_quote
    return RecordsOfOthers([*keys], replacements, results)


async def _leaving(settings: Settings, tenant: str, users: Collection[str]) -> set[str]:
    """Those whose own erasure is under way, and has read their extractions: it would not find a replacement."""
    known = Draft(await read_control(settings))
    found = ((each, known.erasure_of(subject_of(tenant, each))) for each in users)
    return {each for each, erasure in found if erasure is not None and erasure.finished_at is None and EXTRACTIONS.name in erasure.reaches}
