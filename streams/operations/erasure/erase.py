"""Erases users: what is in the log is passed over from now on, what stages and stores have is taken back, and Kafka removes the bytes.

An erasure follows the data flow, stage by stage, so that no record in flight is stored after it (adr/0050). Users who are erased
together share each reading of a topic and each wait for a stage:

1. The control log says how far the erasure reaches into ``messages``. Once every process knows, a command in each partition has the
   sessions stage give up the user's open windows.
2. The same of ``windows``: from then on no window of the user's is extracted, be it redriven or replayed.
3. The same of ``extractions``. A command names the user's windows and the entities that they reached: the events stage takes back what they
   published, and forgets it; the entities give up what was the user's.
4. Merging passes over what was asked for the user's own entities; what had been answered meanwhile is given up by the command once more.
5. The index has removed the points; Redis' keys and dead letters go; tombstones follow for every record of the user's, which compaction
   carries out. ``messages`` has no key for each record: it is truncated up to the sessions stage's offset; ``windows`` has those messages.

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
from runtime.kafka import Producer, check_topics
from runtime.redis import GuardedRedis
from runtime.settings import Settings
from stores.port import Eraser, MemoryStore
from streams.operations.erasure.erased_user import ErasedUser
from streams.operations.erasure.log import UsersLog
from streams.operations.erasure.run import Erasing
from streams.operations.erasure.stage_barrier import StageBarrier

_PATIENCE_S: Final = 900.0
_LOOK_AGAIN_S: Final = 2.0
_TOGETHER: Final = 500
"""Users who are erased at once: what is gathered of them is held in memory, and one of them waits for all."""


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
        tenant: Whose users.
        users: Who. What has to be read is read once for hundreds of them.
        by: Who wants it, for the audit.
        store: Asked whether anything is left there.
        redis: Its keys are removed.
        reason: Why, for the audit. It is kept for ever.
        patience_s: How long each stage may take to come so far, in seconds.
        notice: Called with a line of progress.

    Returns:
        The receipts in the order of the users, as the control log keeps them.

    Raises:
        UnknownTenantError: If there is no such tenant.
        ErasureUnfinishedError: If a stage does not reach the erasure's records, or refused a command of it; a second run continues.
        KafkaUnavailableError: If no broker answers.
        TopicMissingError: If a topic is missing.
        RedisUnavailableError: If Redis is away.
        StoreUnavailableError: If the store is away.
    """
    await check_topics(settings)
    now = SystemClock().now()
    noted = [ErasureRequest(tenant=tenant, user=each, by=by, asked_at=now) for each in dict.fromkeys(users)]

    def begin(draft: Draft) -> list[Erasure]:
        return [begin_erasure(draft, tenant, each.user, at=now, reason=reason) for each in noted]

    begin(Draft(await read_control(settings)))  # what would be refused leaves no name
    under_way = UnfinishedErasures(redis=redis)
    try:
        await under_way.note(noted)
    except RedisUnavailableError as error:
        notice(f"no service goes on with this if it is broken off, so that it would have to be run again: {error}")
    begun = await ControlWriter(settings=settings).write(begin, action="erasure begin", by=by)
    for each in begun.result:
        notice(f"user {each.subject[:12]} of tenant {tenant}: the erasure is in the control log")
    receipts: dict[str, Erasure] = {}
    is_told = False
    while left := [each for each in noted if each.subject not in receipts]:
        async with under_way.held(left, asked=True) as mine:
            if mine:
                named = [each.user for each in mine]
                done = await _carried_out(settings, tenant, named, by=by, store=store, redis=redis, patience_s=patience_s, notice=notice)
                receipts |= {each.subject: each for each in done}
        if others := [each for each in left if each.subject not in receipts]:
            if not is_told:
                notice(f"another process is at {len(others)} of the users: waiting for it")
            is_told = True
            receipts |= await _done_elsewhere(settings, others)
    return [receipts[each.subject] for each in noted]


async def _done_elsewhere(settings: Settings, others: Sequence[ErasureRequest]) -> dict[str, Erasure]:
    """Erasures that other processes have finished meanwhile, by the users' digests."""
    await asyncio.sleep(_LOOK_AGAIN_S)
    known = Draft(await read_control(settings))
    found = ((each, known.erasure_of(each.subject)) for each in others)
    return {each.subject: erasure for each, erasure in found if erasure is not None and each.is_done(erasure)}


async def _carried_out(
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
    """Carries out what the control log has begun."""
    partitions = await check_topics(settings)
    begun = (await read_control(settings)).erasures
    receipts: list[Erasure] = []
    passage = StageBarrier(settings=settings, patience_s=patience_s, notice=notice)
    async with Producer(kafka=settings.kafka) as producer:
        letters = DeadLetterBox(settings=settings, producer=producer, clock=SystemClock())
        for start in range(0, len(users), _TOGETHER):
            together = [
                ErasedUser(tenant, each, begun_at=begun[subject_of(tenant, each)].requested_at, partitions=partitions)
                for each in users[start : start + _TOGETHER]
            ]
            log = UsersLog(settings, tenant, together, partitions=partitions, producer=producer)
            erasing = Erasing(settings, tenant, together, log=log, passage=passage, letters=letters, by=by, notice=notice)
            receipts += await erasing.run(store, redis)
    return receipts


def eraser_of(settings: Settings) -> Eraser:
    """The function with which the query service carries out erasures that the control log has begun."""

    async def _erase(tenant: str, users: Sequence[str], *, by: str, store: MemoryStore, redis: GuardedRedis) -> None:
        await _carried_out(settings, tenant, users, by=by, store=store, redis=redis, patience_s=_PATIENCE_S, notice=lambda line: None)

    return _erase
