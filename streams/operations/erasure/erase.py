"""Erases users: the stages skip their records in the log and retract the results, the stores delete them, and Kafka removes the bytes.

An erasure follows the data flow, stage by stage, so that no record in flight is stored after it (adr/0050). It reads each topic and waits
for each stage once for all users of a run:

1. The control log records the offsets up to which the erasure applies in ``messages`` (its reach). Once every process knows them, a
   command in each partition makes the sessions stage drop the user's open windows.
2. The same for ``windows``: from then on no worker extracts a window of the user, not even a redriven or replayed one.
3. The same for ``extractions``. A command names the user's windows and the entities that they changed: the events stage retracts and
   forgets what it published of them, and the entities drop the user's contributions.
4. Merging skips the questions about the user's own entities. A second command retracts the answers that came in the meantime.
5. The index removes the points. The run deletes the keys in Redis and the dead letters, and writes a tombstone for each of the user's
   records; Kafka's compaction then removes them. Records of ``messages`` have no key of their own: the run truncates the topic up to the
   offset of the sessions stage, since ``windows`` has those messages.

Each step is idempotent: a second run continues. Redis keeps the user's name from before the control log's begin record until the receipt
is written, so that a service resumes an erasure whose process stopped (`control/unfinished_erasures.py`).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from control import ControlWriter, Draft, read_control
from control.erasure import Erasure, subject_of
from control.erasure_changes import begin_erasure
from control.unfinished_erasures import ErasureRequest, UnfinishedErasures
from runtime.clocks import SystemClock
from runtime.dead_letters import DeadLetterBox
from runtime.errors import RedisUnavailableError
from runtime.kafka import KafkaOffsets, Producer, check_topics
from runtime.redis.client import GuardedRedis
from runtime.settings import Settings
from stores.port import MemoryStore
from streams.errors import ErasureUnfinishedError
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import UsersLog
from streams.operations.erasure.run import ErasureRun
from streams.operations.growth.journal import unfinished_growth
from streams.operations.service_work import Eraser
from streams.operations.stage_barrier import StageBarrier

_PATIENCE_S: Final = 900.0
_POLL_S: Final = 2.0
_USERS_PER_RUN: Final = 500
"""Users of one run. Their traces are held in memory, and the receipts are written together."""


async def erase(
    settings: Settings,
    tenant: str,
    users: Sequence[str],
    *,
    by: str,
    store: MemoryStore,
    redis: GuardedRedis,
    reason: str = "",
    patience_s: float = _PATIENCE_S,
    notice: Callable[[str], None] = lambda line: None,
) -> list[Erasure]:
    """Erases users of a tenant, while all stages run. Messages that they send afterwards are kept.

    Args:
        settings: The settings in force.
        tenant: The tenant of the users.
        users: The users. Each topic is read once for hundreds of them.
        by: The actor, for the audit.
        store: The vector store, which the verification reads.
        redis: Has the keys to remove.
        reason: The reason, for the audit, which is kept forever.
        patience_s: How long to wait for each stage, in seconds.
        notice: Called with each line of progress.

    Returns:
        The receipts in the order of the users, as the control log keeps them.

    Raises:
        UnknownTenantError: If there is no such tenant.
        StageBehindError: If a stage does not reach the erasure's records in time; a second run continues.
        ErasureUnfinishedError: If a stage refused a command of the erasure, or the topics are being grown; a second run continues.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
        RedisUnavailableError: If Redis is unavailable.
        StoreUnavailableError: If the store is unavailable.
    """
    await check_topics(settings)
    await _require_one_set_of_topics(settings)
    now = SystemClock().now()
    requests = [ErasureRequest(tenant=tenant, user=each, by=by, asked_at=now) for each in dict.fromkeys(users)]

    def begin(draft: Draft) -> list[Erasure]:
        return [begin_erasure(draft, tenant, each.user, at=now, reason=reason) for each in requests]

    begin(Draft(await read_control(settings)))  # a refused request leaves no name in Redis
    unfinished_erasures = UnfinishedErasures(redis=redis)
    try:
        await unfinished_erasures.note(requests)
    except RedisUnavailableError as error:
        notice(f"if this process stops, no service resumes the erasure, and you have to run the command again: {error}")
    begun = await ControlWriter(settings=settings).write(begin, action="erasure begin", by=by)
    for each in begun.result:
        notice(f"user {each.subject[:12]} of tenant {tenant}: the erasure is in the control log")
    receipts: dict[str, Erasure] = {}
    is_noticed = False
    while unfinished := [each for each in requests if each.subject not in receipts]:
        async with unfinished_erasures.held(unfinished, asked=True) as leased:
            if leased:
                named = [each.user for each in leased]
                done = await _run_erasures(settings, tenant, named, by=by, store=store, redis=redis, patience_s=patience_s, notice=notice)
                receipts |= {each.subject: each for each in done}
        if others := [each for each in unfinished if each.subject not in receipts]:
            if not is_noticed:
                notice(f"another process erases {len(others)} of the users: waiting for it")
            is_noticed = True
            receipts |= await _finished_elsewhere(settings, others)
    return [receipts[each.subject] for each in requests]


async def _finished_elsewhere(settings: Settings, others: Sequence[ErasureRequest]) -> dict[str, Erasure]:
    """Erasures that other processes have finished in the meantime, by the users' digests."""
    await asyncio.sleep(_POLL_S)
    known = Draft(await read_control(settings))
    found = ((each, known.erasure_of(each.subject)) for each in others)
    return {each.subject: erasure for each, erasure in found if erasure is not None and each.is_done(erasure)}


async def _run_erasures(
    settings: Settings,
    tenant: str,
    users: Sequence[str],
    *,
    by: str,
    store: MemoryStore,
    redis: GuardedRedis,
    patience_s: float,
    notice: Callable[[str], None],
) -> list[Erasure]:
    """Runs erasures whose beginning is in the control log."""
    partitions = await check_topics(settings)
    await _require_one_set_of_topics(settings)
    begun = (await read_control(settings)).erasures
    receipts: list[Erasure] = []
    async with Producer(kafka=settings.kafka) as producer, KafkaOffsets(kafka=settings.kafka) as offsets:
        barrier = StageBarrier(settings=settings, patience_s=patience_s, notice=notice, offsets=offsets)
        letters = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
        for start in range(0, len(users), _USERS_PER_RUN):
            batch = [
                ErasedUser(tenant, each, begun_at=begun[subject_of(tenant, each)].requested_at, partitions=partitions)
                for each in users[start : start + _USERS_PER_RUN]
            ]
            log = UsersLog(settings, tenant, batch, partitions=partitions, producer=producer, offsets=offsets)
            run = ErasureRun(settings, tenant, batch, log=log, barrier=barrier, letters=letters, by=by, notice=notice)
            receipts += await run.run(store, redis)
    return receipts


async def _require_one_set_of_topics(settings: Settings) -> None:
    """Checks that no growth has left an earlier set of topics: it has the users' records as well, and no stage reads it.

    Raises:
        ErasureUnfinishedError: If there is one.
    """
    growth = await unfinished_growth(settings)
    if growth is not None:
        raise ErasureUnfinishedError(
            f"the topics are being grown from {growth.old_prefix} to {growth.new_prefix}, and both sets have the users' records: run "
            "`varve topics grow --finish` (or `--undo`) first, then erase; an erasure that was asked for continues then"
        )


def eraser_of(settings: Settings) -> Eraser:
    """The function by which the query service runs erasures whose beginning is in the control log."""

    async def _erase(tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        await _run_erasures(settings, tenant, users, by=by, store=store, redis=redis, patience_s=_PATIENCE_S, notice=lambda line: None)

    return _erase
