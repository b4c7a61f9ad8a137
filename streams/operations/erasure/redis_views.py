"""What Redis keeps of a user, for a while: forgotten at once."""

from collections.abc import Iterable

from memory.ids import entity_id
from memory.keys import encode_key
from runtime.answer_cache import KeptAnswers
from runtime.entity_view import EntityView
from runtime.key_values import KeyScope, KeyValueNotes
from runtime.prompt_entities import PromptEntities
from runtime.recall_history import RecallHistory
from runtime.recent_patches import LaidDownNotes, WindowPlace
from runtime.redis import GuardedRedis
from runtime.session_history import SessionHistory
from runtime.session_tail import SessionTail
from runtime.settings import Settings
from streams.operations.erasure.trace import UserTrace


async def forget_views(trace: UserTrace, *, sessions: Iterable[str], partition: int, redis: GuardedRedis, settings: Settings) -> None:
    """Forgets the tails of a user's sessions, what extraction notes between windows, views of entities, what recalls returned, and answers.

    Args:
        trace: What the log has of the user.
        sessions: The user's sessions.
        partition: Where the user's windows lie.
        redis: Where all of it is kept.
        settings: The settings in force.

    Raises:
        RedisUnavailableError: If Redis is away.
    """
    tenant, user = trace.tenant, trace.user
    tails = SessionTail(redis=redis, ttl_s=settings.redis.tail_ttl_s)
    for session in sorted(sessions):
        await tails.forget(tenant, session)
    history = SessionHistory(redis=redis, ttl_s=settings.extraction.context_ttl_s)
    for session, generation in sorted(trace.sessions):
        await history.forget(tenant, user, session, generation)
    shown = PromptEntities(redis=redis, ttl_s=settings.extraction.context_ttl_s)
    for window in trace.windows:
        await shown.forget(tenant, window.window_id, window.generation)
    laid_down = LaidDownNotes(redis=redis)
    for generation in {each.generation for each in trace.windows}:
        await laid_down.forget(WindowPlace(tenant, user, generation, partition, 0))
    views = EntityView(redis=redis, ttl_s=settings.redis.entity_ttl_s)
    for entity in trace.entities:
        await views.forget(tenant, entity_id(tenant, entity.entity_type, entity.entity_key, entity.generation))
    await RecallHistory(redis=redis).forget(tenant, user)
    values = KeyValueNotes(redis=redis)
    for key, generation in sorted(trace.similar_keys):
        await values.forget(KeyScope(tenant, user, generation, key))
    answers = KeptAnswers(redis=redis, ttl_s=settings.service.idempotency_ttl_s, max_bytes=settings.service.idempotency_bytes)
    await answers.forget_owner(encode_key(tenant, user).decode("ascii"))
