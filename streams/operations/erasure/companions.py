"""Finds records of other users who shared windows with erased users."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from control import Draft, read_control
from control.erasure import subject_of
from memory.headers import CORRECTION, KIND
from memory.ids import window_part_id
from memory.records import ErasedWindow, ErasureCommand
from memory.topics import EXTRACTIONS
from runtime.kafka import OutgoingRecord
from runtime.settings import Settings
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import UsersLog
from streams.operations.erasure.shared_results import SharedResults, TakenPart


@dataclass(frozen=True, slots=True)
class RecordsOfOthers:
    """Other users' records in ``extractions`` that quote erased users."""

    keys: Sequence[bytes]
    """Those that the erasure removes."""
    replacements: Sequence[OutgoingRecord]
    """Those that stay in force, without the quotations."""
    commands: Sequence[OutgoingRecord]
    """Commands to forget the results of users whose own erasures are in progress."""
    results: SharedResults


async def note_shared_results(settings: Settings, tenant: str, users: Sequence[ErasedUser], *, log: UsersLog) -> RecordsOfOthers:
    """Finds other users' results of windows that they shared with erased users, and adds the entities that these changed to the traces."""
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
        return RecordsOfOthers((), (), (), SharedResults({}))
    results, topic = SharedResults(parts), settings.topic(EXTRACTIONS.name)
    async for record in log.records_of_others(results.users):
        results.add(record.key or b"", record.value, tuple(record.headers))
    keys: dict[bytes, None] = {}
    replacements, commands = list[OutgoingRecord](), list[OutgoingRecord]()
    for taken in results.take(await _leaving(settings, tenant, results.users)):
        keys |= dict.fromkeys((*taken.extractions, *taken.corrections))
        if taken.extractions:
            command = log.command(EXTRACTIONS, _command(tenant, taken), log.home_of(taken.user))
            commands.append(command)
            keys[command.key or b""] = None
        for extraction in taken.extractions.values():
            for user in joined_by[taken.part_id]:
                nothing = extraction.model_copy(update={"events": [], "patches": []})
                # The other user's erasure makes the entities forget these messages, and its receipt lists what patches leave.
                user.trace.add_shared(extraction, nothing, ())
    for _, key, correction in results.corrections():
        if correction is None:
            keys[key] = None
        else:
            replacements.append(OutgoingRecord(topic, key, correction.to_json(), ((KIND, CORRECTION),)))
    for part, each in results.superseded():
        for user in joined_by[part]:
            user.trace.add_shared(each.extraction, each.in_force, each.messages)
        if each.is_replaced:
            keys[each.key] = None
        else:
            replacements.append(OutgoingRecord(topic, each.key, each.in_force.to_json()))
    for user in users:
        user.may_be_quoted = results.may_quote
    return RecordsOfOthers([*keys], replacements, commands, results)


def _command(tenant: str, taken: TakenPart) -> ErasureCommand:
    """The command that makes the events stage forget a user's part of a window."""
    memories: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for each in taken.extractions.values():
        memories[each.generation].update(dict.fromkeys(event.id for event in each.events))
    windows = [ErasedWindow(window_id=taken.part_id, generation=name, memory_ids=[*ids]) for name, ids in memories.items()]
    return ErasureCommand(tenant=tenant, user=taken.user, windows=windows)


async def _leaving(settings: Settings, tenant: str, users: Collection[str]) -> set[str]:
    """The users whose own erasures are in progress: their windows are not extracted again, and may quote until these erasures end."""
    known = Draft(await read_control(settings))
    found = ((each, known.erasure_of(subject_of(tenant, each))) for each in users)
    return {each for each, erasure in found if erasure is not None and erasure.finished_at is None}
