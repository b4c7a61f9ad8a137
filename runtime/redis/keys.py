"""Families of keys in Redis, and the personal data in each: an erasure deletes every family that can contain a user's data."""

from enum import Enum, StrEnum
from typing import Final


class Holds(Enum):
    """Personal data that a family's values can contain."""

    WORDS = "words"
    """Messages of the user, or text derived from them."""
    TRACES = "traces"
    """Digests or ids of content that the user wrote or received, in a key that names the user."""
    NAME = "name"
    """The user's name, while an erasure of the user is in progress."""
    NOTHING = "nothing"
    """Counts, times and random names."""


class KeyFamily(StrEnum):
    """First part of a key, after the prefix. Every key has a family (:meth:`runtime.redis.client.GuardedRedis.key`)."""

    OPEN = "open"
    """The open window of a session: :mod:`runtime.redis.session_tail`."""
    CLOSED = "closed"
    """The newest closed window of a session."""
    SESSIONS = "sessions"
    """The sessions of a tenant with recent messages: :mod:`runtime.redis.session_index`."""
    SESSIONS_OF = "sessions-of"
    """The sessions of a user with recent messages."""
    ENTITY = "entity"
    """Changed entities: :mod:`runtime.redis.entity_view`."""
    SHOWN = "shown"
    """The entities in a window's prompt: :mod:`runtime.redis.extraction_notes`."""
    RECENT_PATCHES = "recent-patches"
    """The lines that a user's latest windows wrote in entities: :mod:`runtime.redis.recent_patches`."""
    SESSION_HISTORY = "session-history"
    """Topics and events of a user's latest windows in a session: :mod:`runtime.redis.session_history`."""
    VALUES = "values"
    """The values of keys that are matched by meaning: :mod:`runtime.redis.extraction_notes`."""
    VECTORS = "vectors"
    """Vectors of a user's new memories, until the index takes them: :mod:`models.embedding.handover`."""
    LLM_ANSWERS = "llm:answers"
    """Answers of models: :mod:`models.llm.cache`."""
    LLM_ANSWERS_OF = "llm:answers-of"
    """Index of the models' answers by user, window or entity."""
    LLM_ANSWERS_FORGOTTEN = "llm:answers-forgotten"
    """Number of deletions of models' answers."""
    LLM_BUDGET = "llm:budget"
    """Tokens and cost by tenant and day: :mod:`models.llm.daily_budget`."""
    LLM_SIFT_BUDGET = "llm:sift-budget"
    """Tokens and cost of models that rank sessions."""
    LLM_EXPANSION_BUDGET = "llm:expansion-budget"
    """Tokens and cost of models that expand queries."""
    LLM_TOPICS_BUDGET = "llm:topics-budget"
    """Tokens and cost of models that select topics."""
    LLM_REEXTRACTION = "llm:reextraction"
    """Tokens, cost and calls of a re-extraction: :mod:`models.llm.total_budget`."""
    LLM_REEXTRACTION_WAITS = "llm:reextraction-waits"
    """Tenants whose daily budget makes a re-extraction wait: :mod:`streams.operations.reextraction.day_waits`."""
    LLM_LIMITS = "llm:limits"
    """Running calls of an endpoint: :mod:`models.llm.limits`."""
    RECALLED = "recalled"
    """Hashes of contents that recalls returned to a user: :mod:`runtime.redis.recall_history`."""
    RECALLED_EVER = "recalled-ever"
    """Estimate of the number of distinct recalled contents."""
    RETURNED = "returned"
    """Number of recalls that returned a memory, by its id: :mod:`runtime.redis.retrieval_counts`."""
    RETURNED_AT = "returned-at"
    """Time of the last recall that returned a memory."""
    ANSWERS = "answers"
    """Answers to requests with an ``Idempotency-Key`` (:mod:`runtime.redis.idempotency_cache`), with ids of messages, windows, memories."""
    ANSWERS_INDEX = "answers-index"
    """Index of these answers by owner."""
    ANSWERS_BYTES = "answers-bytes"
    """Total size of these answers by owner."""
    OUTCOME = "outcome"
    """Outcomes of changes of messages, by request: :mod:`runtime.redis.message_outcomes`."""
    CORRECTED = "corrected"
    """Digest of the newest correction of a memory, by its id: :mod:`runtime.redis.sent_corrections`."""
    SENT = "sent"
    """Keyed digests of the texts of messages sent with an id: :mod:`runtime.redis.message_outcomes`."""
    QUOTA = "quota"
    """A caller's rate limits: :mod:`runtime.redis.rate_limits`."""
    USED = "used"
    """Times of API keys' last use: :mod:`control.key_usage`."""
    SIGNED_IN = "signed-in"
    """SHA-256 of the key of a console's session, by the SHA-256 of the session's id: :mod:`api.console.sessions`."""
    SIGN_INS = "sign-ins"
    """Recent attempts to sign in to the console, by network address."""
    ERASING = "erasing"
    """Users of unfinished erasures: :mod:`control.unfinished_erasures`."""
    ERASING_INDEX = "erasing-index"
    """Index of unfinished erasures, by digest."""
    JOBS = "jobs"
    """Leases and last runs of periodic jobs, by name: :mod:`runtime.periodic_job`."""
    WRITE_PROBE = "write-probe"
    """One key, written to find out whether Redis accepts writes."""


HOLDS: Final[dict[KeyFamily, Holds]] = {
    KeyFamily.OPEN: Holds.WORDS,
    KeyFamily.CLOSED: Holds.WORDS,
    KeyFamily.SESSIONS: Holds.TRACES,
    KeyFamily.SESSIONS_OF: Holds.TRACES,
    KeyFamily.ENTITY: Holds.WORDS,
    KeyFamily.SHOWN: Holds.WORDS,
    KeyFamily.RECENT_PATCHES: Holds.WORDS,
    KeyFamily.SESSION_HISTORY: Holds.WORDS,
    KeyFamily.VALUES: Holds.WORDS,
    KeyFamily.VECTORS: Holds.TRACES,
    KeyFamily.LLM_ANSWERS: Holds.WORDS,
    KeyFamily.LLM_ANSWERS_OF: Holds.TRACES,
    KeyFamily.LLM_ANSWERS_FORGOTTEN: Holds.NOTHING,
    KeyFamily.LLM_BUDGET: Holds.NOTHING,
    KeyFamily.LLM_SIFT_BUDGET: Holds.NOTHING,
    KeyFamily.LLM_EXPANSION_BUDGET: Holds.NOTHING,
    KeyFamily.LLM_TOPICS_BUDGET: Holds.NOTHING,
    KeyFamily.LLM_REEXTRACTION: Holds.NOTHING,
    KeyFamily.LLM_REEXTRACTION_WAITS: Holds.NOTHING,
    KeyFamily.LLM_LIMITS: Holds.NOTHING,
    KeyFamily.RECALLED: Holds.TRACES,
    KeyFamily.RECALLED_EVER: Holds.NOTHING,
    KeyFamily.RETURNED: Holds.NOTHING,
    KeyFamily.RETURNED_AT: Holds.NOTHING,
    KeyFamily.ANSWERS: Holds.TRACES,
    KeyFamily.ANSWERS_INDEX: Holds.TRACES,
    KeyFamily.ANSWERS_BYTES: Holds.TRACES,
    KeyFamily.OUTCOME: Holds.NOTHING,
    KeyFamily.CORRECTED: Holds.TRACES,
    KeyFamily.SENT: Holds.NOTHING,
    KeyFamily.QUOTA: Holds.NOTHING,
    KeyFamily.USED: Holds.NOTHING,
    KeyFamily.SIGNED_IN: Holds.NOTHING,
    KeyFamily.SIGN_INS: Holds.NOTHING,
    KeyFamily.ERASING: Holds.NAME,
    KeyFamily.ERASING_INDEX: Holds.NOTHING,
    KeyFamily.JOBS: Holds.NOTHING,
    KeyFamily.WRITE_PROBE: Holds.NOTHING,
}
"""Tests check that every family has an entry, and that an erasure deletes each family with words or traces."""
