"""One run that erases users of a tenant: the steps of :mod:`streams.operations.erasure.erase`, in their order."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import chain

from control import ControlWriter, Draft, read_control
from control.erasure import Erasure
from control.erasure_changes import finish_erasure
from control.tenants import TenantDirectory
from control.unfinished_erasures import UnfinishedErasures
from control.view import FixedControlView
from memory.errors import RecordError
from memory.ids import entity_id
from memory.records import ErasureCommand, Window
from memory.texts.text import counted
from memory.topics import EXTRACTIONS, MERGES, MESSAGES, RECALLS, WINDOWS
from runtime.clocks import Clock, SystemClock
from runtime.dead_letters import DeadLetterBox
from runtime.errors import RedisUnavailableError
from runtime.kafka import TopicPartition
from runtime.logs import logger
from runtime.redis.client import GuardedRedis
from runtime.redis.server import rewrite_files
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.errors import ErasureUnfinishedError
from streams.operations.erasure.dead_letters import note_what_entities_lack, purge_letters
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import UsersLog
from streams.operations.erasure.parked_records import ParkedRecords
from streams.operations.erasure.published import note_published
from streams.operations.erasure.reach import ErasureReach, by_partition
from streams.operations.erasure.records_of_others import RecordsOfOthers, find_records_of_others
from streams.operations.erasure.redis_views import KeptOfUser, forget_in_notes_of_others, forget_views
from streams.operations.erasure.removal import RecordRemoval, note_files
from streams.operations.erasure.verification import Verification
from streams.operations.stage_barrier import BATCH, StageBarrier, ends_after
from streams.stages.catalog import STAGES

_log = logger(__name__)


class ErasureRun:
    """One run."""

    def __init__(
        self,
        settings: Settings,
        tenant: str,
        users: Sequence[ErasedUser],
        *,
        log: UsersLog,
        barrier: StageBarrier,
        letters: DeadLetterBox,
        by: str,
        notice: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._tenant = tenant
        self._users = [*users]
        self._log = log
        self._barrier = barrier
        self._letters = letters
        self._by = by
        self._notice = notice
        self._clock: Clock = SystemClock()
        self._control = ControlWriter(settings=settings)
        self._reach = ErasureReach(settings, self._control, log=log, by=by)
        self._verification: Verification
        self._traced: Mapping[TopicPartition, int] = {}
        """The end of the extractions that the users' traces contain, by partition."""
        self._merges: Mapping[TopicPartition, int] = {}
        """The end of the questions that may quote the users, by partition."""
        self._of_others: RecordsOfOthers
        """Keys of other users' extractions and corrections that quote the users."""
        self._problems: list[str] = []
        """Descriptions of erasures that cannot be finished."""

    async def run(self, store: MemoryStore, redis: GuardedRedis) -> list[Erasure]:
        """Executes the run; raises as :func:`streams.operations.erasure.erase.erase` does.

        Args:
            store: The vector store, which the verification reads.
            redis: Has the keys to remove.

        Returns:
            The receipts.
        """
        generations = [each.name for each in (await read_control(self._settings)).tenants[self._tenant].generations]
        self._verification = Verification(self._settings, self._tenant, generations)
        await self._verification.begin()
        cut = await self._drop_open_windows()
        await self._skip_windows(generations)
        await self._forget_touched_events()
        await self._retract(store)
        await self._wait_for("index")
        # Until the index had removed the points, recalls may have returned the users' memories.
        await self._forget_touched_events()
        await ParkedRecords(self._settings, generations, merges=self._merges, notice=self._notice).wait(self._users)
        self._exclude_failed()
        await self._forget_views(redis)
        await purge_letters(self._letters, self._tenant, self._users, of_others=self._of_others.results)
        self._exclude_failed()
        await note_files(self._settings, self._users, redis)
        await self._trace_later_records()
        await self._remove_records(cut)
        await self._check_shared_results()
        await self._verification.check(self._users, store)
        self._exclude_failed()
        receipts = await self._write_receipts()
        await self._forget_names(receipts, redis)
        if self._problems:
            raise ErasureUnfinishedError("; ".join(self._problems))
        return receipts

    def _exclude_failed(self) -> None:
        """Continues without the users whose erasures cannot be finished.

        Raises:
            ErasureUnfinishedError: If none is left.
        """
        self._problems += [each.problem for each in self._users if each.problem is not None]
        self._users = [each for each in self._users if each.problem is None]
        if not self._users:
            raise ErasureUnfinishedError("; ".join(self._problems))

    async def _drop_open_windows(self) -> Mapping[TopicPartition, int]:
        """Has the sessions stage drop the open windows; returns the offset after the commands in each partition of ``messages``."""
        ends = by_partition(await self._log.ends(MESSAGES))
        await self._reach.extend(MESSAGES, dict.fromkeys(self._users, ends))
        sent = {
            each: await self._log.send(self._log.session_command(each, partition) for partition in self._log.partitions)
            for each in self._users
        }
        cut = ends_after(chain.from_iterable(sent.values()))
        await self._barrier.of(STAGES["sessions"], cut)
        await self._reach.extend(MESSAGES, {user: by_partition(ends_after(positions)) for user, positions in sent.items()}, settle=False)
        for user, positions in sent.items():
            user.erased_at = {each.partition: each.offset for each in positions}
        self._notice("sessions: open windows are dropped")
        return cut

    async def _skip_windows(self, generations: Sequence[str]) -> None:
        every = await self._log.ends(WINDOWS)
        ends = await self._log.home_ends(WINDOWS)
        await self._reach.extend_at_home(self._users, WINDOWS, ends)
        shared = await self._note_shared_windows(every)
        async for user, record in self._log.records(WINDOWS, before=ends):
            user.windows.add(record.key or b"")
            with suppress(RecordError):  # it is no window, and went to the dead letters
                window = Window.from_json(record.value or b"")
                user.sessions.add(window.session)
                user.window_ids.add(window.id)
        awaited = ends | {partition: end for partition, end in every.items() if partition.partition in shared}
        await self._barrier.of(STAGES["extraction"], awaited)
        await self._barrier.of_second_workers(STAGES["extraction"], awaited, suffixes=["-", *generations])
        self._notice(f"extraction skips {counted(sum(each.windows.count for each in self._users), 'window')} from now on")

    async def _note_shared_windows(self, ends: Mapping[TopicPartition, int]) -> set[int]:
        """Records the shared windows of the users' sessions; returns the partitions of ``windows`` that have them.

        After compaction, a later run finds only revisions without the user. It still finds the windows by their session.
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

    async def _forget_touched_events(self) -> None:
        """Has the recalls stage forget the touched events. It writes touches to ``extractions``, so this runs before that topic is read."""
        sent = {}
        for each in self._users:
            command = ErasureCommand(tenant=self._tenant, user=each.user)
            sent[each] = await self._log.send(self._log.command(RECALLS, command, partition) for partition in self._log.partitions)
        await self._barrier.of(STAGES["recalls"], ends_after(chain.from_iterable(sent.values())), may_be_missing=True)
        # The reach ends before the command: a replay has to carry it out again.
        before = {user: {each.partition: each.offset for each in positions} for user, positions in sent.items()}
        await self._reach.extend(RECALLS, before, settle=False)

    async def _retract(self, store: MemoryStore) -> None:
        """Reads the users' extractions, and has the later stages retract their results."""
        ends = self._traced = await self._log.home_ends(EXTRACTIONS)
        # First the stages handle everything before the reach: an entity must not retract contributions that it has not received. In the
        # middle of a rebuild, other partitions would still publish results of other users that quote these.
        await self._wait_for("events")
        await self._wait_for("entities")
        known = TenantDirectory(FixedControlView(await read_control(self._settings)))
        for each in self._users:
            each.begin_trace(known)
        await note_what_entities_lack(self._letters, self._tenant, self._users)
        self._exclude_failed()
        await self._reach.extend_at_home(self._users, EXTRACTIONS, ends, settle=False)
        async for user, record in self._log.records(EXTRACTIONS, before=ends):
            user.extractions.add(record.key or b"")
            if record.value is not None:
                user.trace.add(record.value, tuple(record.headers))
        await self._replace_shared_results()
        await self._command_stages()
        windows = sum(len(each.trace.windows) for each in self._users)
        self._notice(f"events and entities: retracting {counted(windows, 'window')} from {counted(len(self._entities), 'entity')}")
        merges = self._merges = await self._log.ends(MERGES)
        await self._reach.extend(MERGES, dict.fromkeys(self._users, by_partition(merges)))
        await self._barrier.of(STAGES["merging"], merges)
        await self._wait_for("entities")
        # Answers of models in the meantime may have created the users' own entities again, and memories may be published that no state has.
        await note_published(self._settings, self._tenant, self._users, began=self._verification.began, store=store)
        await self._command_stages()

    async def _replace_shared_results(self) -> None:
        """Finds other users' results of windows that they shared with the users, and replaces those that stay in force.

        The log has all of them: the extraction stage has handled the windows without the users' messages, or has parked them.
        """
        found = self._of_others = await find_records_of_others(self._settings, self._tenant, self._users, log=self._log)
        await self._barrier.of(STAGES["events"], ends_after(await self._log.send([*found.replacements, *found.commands])))

    async def _check_shared_results(self) -> None:
        """Gives a problem to the users if other users' records still quote them: these records do not name them."""
        found = await find_records_of_others(self._settings, self._tenant, self._users, log=self._log)
        if left := len(found.keys) + len(found.replacements):
            for user in (each for each in self._users if each.joined_windows):
                user.problem = (
                    f"{left} results of other users may quote user {user.subject[:12]}, so there is no receipt: run the command again to "
                    "continue"
                )

    async def _trace_later_records(self) -> None:
        """Adds later extraction records about what is erased to the traces: commands, ticks, touches, corrections."""
        async for user, record in self._log.records(EXTRACTIONS, since=self._traced):
            if record.value is not None and user.trace.is_about(record.value, tuple(record.headers)):
                user.extractions.add(record.key or b"")

    async def _forget_views(self, redis: GuardedRedis) -> None:
        """Removes the users' keys in Redis, after all stages have handled the erasure: no worker writes older data any more."""
        known = TenantDirectory(FixedControlView(await read_control(self._settings)))
        kept = [KeptOfUser.of(each, tenants=known, partitions=len(self._log.partitions)) for each in self._users]
        for each in kept:
            await forget_views(each, redis=redis, settings=self._settings)
        await forget_in_notes_of_others(kept, redis=redis, settings=self._settings)

    @property
    def _entities(self) -> list[str]:
        """The ids of all entities that the users' messages have ever changed."""
        reached = (each for user in self._users for each in user.trace.entities)
        return [*dict.fromkeys(entity_id(self._tenant, each.entity_type, each.entity_key, each.generation) for each in reached)]

    async def _command_stages(self) -> None:
        commands = [self._log.command(EXTRACTIONS, each, user.home) for user in self._users for each in user.trace.commands()]
        for start in range(0, len(commands), BATCH):
            await self._barrier.of(STAGES["events"], ends_after(await self._log.send(commands[start : start + BATCH])))
        await self._wait_for("entities")

    async def _remove_records(self, cut: Mapping[TopicPartition, int]) -> None:
        await RecordRemoval(self._settings, self._users, log=self._log, notice=self._notice).remove(cut, of_others=self._of_others)

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
        """Removes the users' names from Redis. This is the last step: until then, a process that resumes the erasure needs them."""
        done = {each.subject: each.requested_at for each in receipts if each.finished_at is not None}
        try:
            await UnfinishedErasures(redis=redis).forget(done)
            await rewrite_files(redis)
        except RedisUnavailableError as error:
            # The erasures are done. A query service removes the names when it looks for unfinished erasures.
            _log.warning("erased_names_not_forgotten", subjects=[*done], error=str(error))
            self._notice(f"Redis still has the users' names until a query service removes them: {error}")

    async def _wait_for(self, stage_name: str) -> None:
        """Waits until a stage has handled all records that its source has now."""
        stage = STAGES[stage_name]
        await self._barrier.of(stage, await self._log.ends(stage.source))
