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


async def find_records_of_others(settings: Settings, tenant: str, users: Sequence[ErasedUser], *, log: UsersLog) -> RecordsOfOthers:
    """Finds other users' results of windows that they shared with erased users, and adds the entities that these changed to the traces."""
    joined_by, others = _shared_parts(users)
    if not others:
        return RecordsOfOthers((), (), (), SharedResults({}))
    results = SharedResults(others)
    async for record in log.records_of_others(results.users):
        results.add(record.key or b"", record.value, tuple(record.headers))
    taken = results.take(await _leaving(settings, tenant, results.users))
    for part in taken:
        for extraction in part.extractions.values():
            nothing = extraction.model_copy(update={"events": [], "patches": []})
            for user in joined_by[part.part_id]:
                # The other user's erasure makes the entities forget these messages, and its receipt lists what patches leave.
                user.trace.add_shared(extraction, nothing, ())
    superseded = [*results.superseded()]
    for part_id, found in superseded:
        for user in joined_by[part_id]:
            user.trace.add_shared(found.extraction, found.in_force, found.messages)
    for user in users:
        user.may_be_quoted = results.may_quote
    commands = [log.command(EXTRACTIONS, _command(tenant, each), log.home_of(each.user)) for each in taken if each.extractions]
    keys = [key for part in taken for key in (*part.extractions, *part.corrections)]
    keys += [command.key or b"" for command in commands]
    topic = settings.topic(EXTRACTIONS.name)
    replacements: list[OutgoingRecord] = []
    for _, key, correction in results.corrections():
        if correction is None:
            keys.append(key)
        else:
            replacements.append(OutgoingRecord(topic, key, correction.to_json(), ((KIND, CORRECTION),)))
    for _, found in superseded:
        if found.is_replaced:
            keys.append(found.key)
        else:
            replacements.append(OutgoingRecord(topic, found.key, found.in_force.to_json()))
    return RecordsOfOthers([*dict.fromkeys(keys)], replacements, commands, results)


def _shared_parts(users: Sequence[ErasedUser]) -> tuple[dict[str, list[ErasedUser]], dict[str, str]]:
    """The erased users who joined each part of a window, and the other user whose part it is; both by the part's id."""
    erased = {each.user for each in users}
    joined_by: defaultdict[str, list[ErasedUser]] = defaultdict(list)
    owners: dict[str, str] = {}
    for user in users:
        for window, members in user.joined_windows.items():
            for other in members - erased:
                part = window_part_id(window, other)
                owners[part] = other
                joined_by[part].append(user)
    return joined_by, owners


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
