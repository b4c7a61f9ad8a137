"""One run that erases users of a tenant: the steps of :mod:`streams.operations.erasure.erase`, in their order."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from typing import Final

from control import ControlWriter, Draft, read_control
from control.erasure import Erasure
from control.erasure_changes import extend_erasure, finish_erasure
from control.tenants import FixedControlView, TenantDirectory
from control.unfinished_erasures import UnfinishedErasures
from memory.errors import RecordError
from memory.ids import entity_id
from memory.records import ErasureCommand, Window
from memory.topics import EXTRACTIONS, MERGES, MESSAGES, RECALLS, WINDOWS, TopicSpec
from runtime.clocks import Clock, SystemClock
from runtime.dead_letters import DeadLetterBox
from runtime.errors import RedisUnavailableError
from runtime.kafka import OutgoingRecord, TopicPartition
from runtime.kafka.topics import are_compacted, delete_before
from runtime.logs import logger
from runtime.redis import GuardedRedis
from runtime.redis_server import rewrite_files
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.errors import ErasureUnfinishedError
from streams.operations.erasure.companions import RecordsOfOthers, note_shared_results
from streams.operations.erasure.dead_letters import note_what_entities_lack, purge_letters
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import BATCH, UsersLog, behind
from streams.operations.erasure.published import note_published
from streams.operations.erasure.redis_views import KeptOfUser, forget_in_notes_of_others, forget_views
from streams.operations.erasure.stage_barrier import ParkedWords, StageBarrier
from streams.operations.erasure.verification import Verification
from streams.stages.catalog import STAGES

_log = logger(__name__)

_KEPT_BY_QDRANT: Final = "the files of the Qdrant server keep deleted points until its optimizer rewrites their segments"
"""The embedded store rewrites its files daily, so what it keeps is gone long before the time in the receipt."""


class Erasing:
    """One run."""

    def __init__(
        self,
        settings: Settings,
        tenant: str,
        users: Sequence[ErasedUser],
        *,
        log: UsersLog,
        passage: StageBarrier,
        letters: DeadLetterBox,
        by: str,
        notice: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._tenant = tenant
        self._users = [*users]
        self._log = log
        self._passage = passage
        self._letters = letters
        self._by = by
        self._notice = notice
        self._clock: Clock = SystemClock()
        self._control = ControlWriter(settings=settings)
        self._verification: Verification
        self._traced: Mapping[TopicPartition, int] = {}
        """Up to where the extractions are in the users' traces."""
        self._merges: Mapping[TopicPartition, int] = {}
        """Up to where the questions may quote the users."""
        self._of_others: RecordsOfOthers
        """Keys of other users' extractions and corrections that quote the users."""
        self._problems: list[str] = []
        """Of users whose erasures cannot be finished."""

    async def run(self, store: MemoryStore, redis: GuardedRedis) -> list[Erasure]:
        """Carries it out; raises as :func:`streams.operations.erasure.erase.erase` does.

        Args:
            store: Asked whether anything is left there.
            redis: Its keys are removed.

        Returns:
            The receipts.
        """
        generations = [each.name for each in (await read_control(self._settings)).tenants[self._tenant].generations]
        self._verification = Verification(self._settings, self._tenant, generations)
        await self._verification.begin()
        cut = await self._give_up_open_windows()
        await self._pass_over_windows(generations)
        await self._forget_touches()
        await self._take_back(store)
        await self._pass("index")
        # Recalls have met what the store had of the users up to here.
        await self._forget_touches()
        await self._note_what_came_since()
        await ParkedWords(self._settings, generations, merges=self._merges, notice=self._notice).wait(self._users)
        self._set_aside()
        await self._forget_views(redis)
        await purge_letters(self._letters, self._tenant, self._users, of_others=self._of_others.results)
        self._set_aside()
        await self._note_files(redis)
        await self._remove_bytes(cut)
        await self._check_shared_results()
        await self._verification.check(self._users, store)
        self._set_aside()
        receipts = await self._write_receipts()
        await self._forget_names(receipts, redis)
        if self._problems:
            raise ErasureUnfinishedError("; ".join(self._problems))
        return receipts

    def _set_aside(self) -> None:
        """Goes on without the users whose erasures cannot be finished.

        Raises:
            ErasureUnfinishedError: If none is left.
        """
        self._problems += [each.problem for each in self._users if each.problem is not None]
        self._users = [each for each in self._users if each.problem is None]
        if not self._users:
            raise ErasureUnfinishedError("; ".join(self._problems))

    async def _give_up_open_windows(self) -> Mapping[TopicPartition, int]:
        """Returns the offset after the commands in each partition of ``messages``."""
        ends = _by_partition(await self._log.ends(MESSAGES))
        await self._reach(MESSAGES, dict.fromkeys(self._users, ends))
        told = {
            each: await self._log.send(self._log.session_command(each, partition) for partition in self._log.partitions)
            for each in self._users
        }
        cut = behind(chain.from_iterable(told.values()))
        await self._passage.of(STAGES["sessions"], cut)
        await self._reach(MESSAGES, {user: _by_partition(behind(positions)) for user, positions in told.items()}, settle=False)
        for user, positions in told.items():
            user.erased_at = {each.partition: each.offset for each in positions}
        self._notice("sessions: open windows are given up")
        return cut

    async def _pass_over_windows(self, generations: Sequence[str]) -> None:
        every = await self._log.ends(WINDOWS)
        ends = await self._log.home_ends(WINDOWS)
        await self._reach_home(WINDOWS, ends)
        shared = await self._note_shared_windows(every)
        async for user, record in self._log.records(WINDOWS, before=ends):
            user.windows.add(record.key or b"")
            with suppress(RecordError):  # it is no window, and went to the dead letters
                window = Window.from_json(record.value or b"")
                user.sessions.add(window.session)
                user.window_ids.add(window.id)
        awaited = ends | {partition: end for partition, end in every.items() if partition.partition in shared}
        await self._passage.of(STAGES["extraction"], awaited)
        await self._passage.of_second_workers(STAGES["extraction"], awaited, suffixes=["-", *generations])
        self._notice(f"extraction: {sum(each.windows.count for each in self._users)} windows are passed over from now on")

    async def _note_shared_windows(self, ends: Mapping[TopicPartition, int]) -> set[int]:
        """Takes note of the shared windows of the users' sessions; returns the partitions of ``windows`` that have them.

        A later run finds only revisions without the user once compaction has removed the earlier ones: the session still names them.
        """
        partitions: set[int] = set()
        seen: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        async for partition, window in self._log.shared_windows(before=ends):
            partitions.add(partition)
            seen[window.session][window.id].update(window.users)
        for user in self._users:
            user.shared_in = seen
            user.sessions.update(session for session, windows in seen.items() if user.user in set().union(*windows.values()))
        return partitions

    async def _forget_touches(self) -> None:
        """Comes before the extractions are read, because the touches of recalls are among them."""
        told = {}
        for each in self._users:
            command = ErasureCommand(tenant=self._tenant, user=each.user)
            told[each] = await self._log.send(self._log.command(RECALLS, command, partition) for partition in self._log.partitions)
        await self._passage.of(STAGES["recalls"], behind(chain.from_iterable(told.values())), may_be_missing=True)
        # The command itself is not passed over: a replay has it again.
        before = {user: {each.partition: each.offset for each in positions} for user, positions in told.items()}
        await self._reach(RECALLS, before, settle=False)

    async def _take_back(self, store: MemoryStore) -> None:
        """Takes note of what the extractions have of the users, and has the later stages give it up."""
        ends = self._traced = await self._log.home_ends(EXTRACTIONS)
        # What is taken back has to be there: an entity that skipped records before the reach would give up what it never had.
        await self._passage.of(STAGES["events"], ends)
        await self._pass("entities")
        known = TenantDirectory(FixedControlView(await read_control(self._settings)))
        for each in self._users:
            each.begin_trace(known)
        await note_what_entities_lack(self._letters, self._tenant, self._users)
        self._set_aside()
        await self._reach_home(EXTRACTIONS, ends, settle=False)
        async for user, record in self._log.records(EXTRACTIONS, before=ends):
            user.extractions.add(record.key or b"")
            if record.value is not None:
                user.trace.add(record.value, tuple(record.headers))
        await self._replace_shared_results()
        await self._command_stages()
        windows = sum(len(each.trace.windows) for each in self._users)
        self._notice(f"events and entities: {windows} windows are taken back from {len(self._entities)} entities")
        merges = self._merges = await self._log.ends(MERGES)
        await self._reach(MERGES, dict.fromkeys(self._users, _by_partition(merges)))
        await self._passage.of(STAGES["merging"], merges)
        await self._pass("entities")
        # What a model had answered meanwhile has made the users' own entities again; what is published, and no state knows, is named.
        await note_published(self._settings, self._tenant, self._users, began=self._verification.began, store=store)
        await self._command_stages()

    async def _replace_shared_results(self) -> None:
        """Takes note of other users' results of windows that they shared with the users, and replaces those that stay in force.

        All of it is in the log: the extraction stage has handled the windows without the users' messages, or has parked them.
        """
        found = self._of_others = await note_shared_results(self._settings, self._tenant, self._users, log=self._log)
        await self._passage.of(STAGES["events"], behind(await self._log.send([*found.replacements, *found.commands])))

    async def _check_shared_results(self) -> None:
        """Gives a problem to the users if other users' records still quote them: these records do not name them."""
        found = await note_shared_results(self._settings, self._tenant, self._users, log=self._log)
        if left := len(found.keys) + len(found.replacements):
            for user in (each for each in self._users if each.joined_windows):
                user.problem = (
                    f"{left} results of other users may quote user {user.subject[:12]}, so there is no receipt: run the command again, "
                    "which goes on"
                )

    async def _note_what_came_since(self) -> None:
        """Takes note of later extraction records about the erased windows: commands, ticks, touches."""
        async for user, record in self._log.records(EXTRACTIONS, since=self._traced):
            if record.value is not None and user.trace.is_about(record.value, tuple(record.headers)):
                user.extractions.add(record.key or b"")

    async def _forget_views(self, redis: GuardedRedis) -> None:
        """Comes after all stages have passed the erasure: nothing older is written to Redis any more."""
        known = TenantDirectory(FixedControlView(await read_control(self._settings)))
        kept = [KeptOfUser.of(each, tenants=known, partitions=len(self._log.partitions)) for each in self._users]
        for each in kept:
            await forget_views(each, redis=redis, settings=self._settings)
        await forget_in_notes_of_others(kept, redis=redis, settings=self._settings)

    async def _note_files(self, redis: GuardedRedis) -> None:
        """Has Redis rewrite its files, and puts into the receipts what files keep without a known end."""
        kept_in_files = [*await rewrite_files(redis)]
        if self._settings.store.kind == "server":
            kept_in_files.append(_KEPT_BY_QDRANT)
        for kept in kept_in_files:
            for user in self._users:
                user.leave(kept)

    @property
    def _entities(self) -> list[str]:
        """The ids of all entities that the users' words have ever reached."""
        reached = (each for user in self._users for each in user.trace.entities)
        return [*dict.fromkeys(entity_id(self._tenant, each.entity_type, each.entity_key, each.generation) for each in reached)]

    async def _command_stages(self) -> None:
        commands = [self._log.command(EXTRACTIONS, each, user.home) for user in self._users for each in user.trace.commands()]
        for start in range(0, len(commands), BATCH):
            await self._passage.of(STAGES["events"], behind(await self._log.send(commands[start : start + BATCH])))
        await self._pass("entities")

    async def _remove_bytes(self, cut: Mapping[TopicPartition, int]) -> None:
        topic = self._settings.topic(EXTRACTIONS.name)
        await self._log.send(OutgoingRecord(topic, key, None) for key in self._of_others.keys)
        compacted = await are_compacted([self._settings.topic(each.name) for each in (WINDOWS, EXTRACTIONS)], self._settings.kafka)
        for user in self._users:
            for spec, written in ((WINDOWS, user.windows), (EXTRACTIONS, user.extractions)):
                topic = self._settings.topic(spec.name)
                await self._log.send(OutgoingRecord(topic, key, None, partition=user.home) for key in written.keys)
                if written.unmarked or not compacted:
                    user.kept_topics.add(spec.name)
                    user.leave(f"{written.count} records in {topic}, which an older version wrote: see ADR 50")
        if compacted and not any(each.windows.unmarked for each in self._users):
            await delete_before(cut, self._settings.kafka)
            self._notice("messages: the log is cut off behind what is in windows")
            return
        for user in self._users:
            user.kept_topics.add(MESSAGES.name)
            user.leave(f"the user's messages in {self._settings.topic(MESSAGES.name)}: nothing else has all of the others'")

    async def _write_receipts(self) -> list[Erasure]:
        now = self._clock.now()

        def finish(draft: Draft) -> list[Erasure]:
            return [
                finish_erasure(
                    draft,
                    each.subject,
                    begun_at=each.begun_at,
                    at=now,
                    gone_by=now + timedelta(milliseconds=each.kept_ms),
                    found=each.found,
                    remains=each.remains,
                )
                for each in self._users
            ]

        return (await self._control.write(finish, action="erasure finish", by=self._by)).result

    async def _forget_names(self, receipts: Sequence[Erasure], redis: GuardedRedis) -> None:
        """Comes last: a process that resumes after a stop needs them up to here."""
        done = {each.subject: each.requested_at for each in receipts if each.finished_at is not None}
        try:
            await UnfinishedErasures(redis=redis).forget(done)
            await rewrite_files(redis)
        except RedisUnavailableError as error:
            # The erasures are done; a service that looks for some that are not takes the names away.
            _log.warning("erased_names_not_forgotten", subjects=[*done], error=str(error))
            self._notice(f"Redis still has whom the erasures were about, until a service takes that away: {error}")

    async def _reach_home(self, spec: TopicSpec, ends: Mapping[TopicPartition, int], *, settle: bool = True) -> None:
        """The same in a topic that is keyed by user.

        After a growth, a user's copied records count under partitions of earlier topics, at lower offsets than all later records have. The
        user has no other records there.
        """
        is_grown = self._settings.kafka.control_prefix is not None
        homes = {each: self._log.partitions if is_grown else (each.home,) for each in self._users}
        await self._reach(spec, {each: dict.fromkeys(homes[each], ends[self._log.home(spec, each)]) for each in self._users}, settle=settle)

    async def _reach(self, spec: TopicSpec, reaches: Mapping[ErasedUser, Mapping[int, int]], *, settle: bool = True) -> None:
        """Has the erasures reach further in a topic; returns when every process knows, or works on nothing."""

        def extend(draft: Draft) -> None:
            for user, reach in reaches.items():
                extend_erasure(draft, user.subject, {spec.name: reach})

        await self._control.write(extend, action="erasure reach", by=self._by)
        if settle:
            await self._control.settle()

    async def _pass(self, stage_name: str) -> None:
        """Returns when a stage has handled all that its source has now."""
        stage = STAGES[stage_name]
        await self._passage.of(stage, await self._log.ends(stage.source))


def _by_partition(offsets: Mapping[TopicPartition, int]) -> dict[int, int]:
    """Offsets of one topic by the number of the partition."""
    return {each.partition: offset for each, offset in offsets.items()}
