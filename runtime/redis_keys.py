"""The families of keys in Redis, and what each keeps of users: an erasure removes every family that can hold a user's words."""

from enum import Enum, StrEnum
from typing import Final


class Holds(Enum):
    """What the values of a family of keys can hold of a user."""

    WORDS = "words"
    """What the user said, or a text that was made of it."""
    TRACES = "traces"
    """Digests or ids of what the user said or was shown, under a key that names the user."""
    NAME = "name"
    """The user's name, for as long as an erasure of the user is under way."""
    NOTHING = "nothing"
    """Counts, times and random names."""


class KeyFamily(StrEnum):
    """How a key begins, after the prefix. Every key is built from a family (:meth:`runtime.redis.GuardedRedis.key`)."""

    OPEN = "open"
    """The open window of a session: :mod:`runtime.session_tail`."""
    CLOSED = "closed"
    """The newest closed window of a session."""
    ENTITY = "entity"
    """Changed entities: :mod:`runtime.entity_view`."""
    SHOWN = "shown"
    """The entities in a window's prompt: :mod:`runtime.prompt_entities`."""
    LAID = "laid"
    """The lines that a user's latest windows wrote in entities: :mod:`runtime.recent_patches`."""
    NOTED = "noted"
    """Topics and events of a user's latest windows in a session: :mod:`runtime.session_history`."""
    VALUES = "values"
    """The values of keys that are matched by meaning: :mod:`runtime.key_values`."""
    LLM_ANSWERS = "llm:answers"
    """Answers of models: :mod:`models.llm.cache`."""
    LLM_ANSWERS_OF = "llm:answers-of"
    """Which of them are about one user, window or entity."""
    LLM_ANSWERS_FORGOTTEN = "llm:answers-forgotten"
    """How often they were forgotten."""
    LLM_BUDGET = "llm:budget"
    """Tokens and cost of a tenant's day: :mod:`models.llm.budget`."""
    LLM_SIFT_BUDGET = "llm:sift-budget"
    """The same of models that rank sessions."""
    LLM_EXPANSION_BUDGET = "llm:expansion-budget"
    """The same of models that expand queries."""
    LLM_LIMITS = "llm:limits"
    """Calls under way at an endpoint: :mod:`models.llm.limits`."""
    RECALLED = "recalled"
    """Hashes of what recalls returned to a user: :mod:`runtime.recall_history`."""
    RECALLED_EVER = "recalled-ever"
    """How many different contents recalls have returned, as an estimate."""
    RETURNED = "returned"
    """How often recalls returned a memory, by its id: :mod:`runtime.retrieval_counts`."""
    RETURNED_AT = "returned-at"
    """When they did last."""
    ANSWERS = "answers"
    """Answers to requests with an ``Idempotency-Key``: :mod:`runtime.answer_cache`. They name messages, windows and memories by id."""
    ANSWERS_INDEX = "answers-index"
    """Which of them one owner has."""
    ANSWERS_BYTES = "answers-bytes"
    """How large they are together."""
    QUOTA = "quota"
    """A caller's rate limits: :mod:`runtime.shared_rate_limits`."""
    USED = "used"
    """When API keys were used: :mod:`control.key_usage`."""
    ERASING = "erasing"
    """Whom the erasures under way are about: :mod:`control.unfinished_erasures`."""
    ERASING_INDEX = "erasing-index"
    """The digests of all of them."""


HOLDS: Final[dict[KeyFamily, Holds]] = {
    KeyFamily.OPEN: Holds.WORDS,
    KeyFamily.CLOSED: Holds.WORDS,
    KeyFamily.ENTITY: Holds.WORDS,
    KeyFamily.SHOWN: Holds.WORDS,
    KeyFamily.LAID: Holds.WORDS,
    KeyFamily.NOTED: Holds.WORDS,
    KeyFamily.VALUES: Holds.WORDS,
    KeyFamily.LLM_ANSWERS: Holds.WORDS,
    KeyFamily.LLM_ANSWERS_OF: Holds.TRACES,
    KeyFamily.LLM_ANSWERS_FORGOTTEN: Holds.NOTHING,
    KeyFamily.LLM_BUDGET: Holds.NOTHING,
    KeyFamily.LLM_SIFT_BUDGET: Holds.NOTHING,
    KeyFamily.LLM_EXPANSION_BUDGET: Holds.NOTHING,
    KeyFamily.LLM_LIMITS: Holds.NOTHING,
    KeyFamily.RECALLED: Holds.TRACES,
    KeyFamily.RECALLED_EVER: Holds.NOTHING,
    KeyFamily.RETURNED: Holds.NOTHING,
    KeyFamily.RETURNED_AT: Holds.NOTHING,
    KeyFamily.ANSWERS: Holds.TRACES,
    KeyFamily.ANSWERS_INDEX: Holds.TRACES,
    KeyFamily.ANSWERS_BYTES: Holds.TRACES,
    KeyFamily.QUOTA: Holds.NOTHING,
    KeyFamily.USED: Holds.NOTHING,
    KeyFamily.ERASING: Holds.NAME,
    KeyFamily.ERASING_INDEX: Holds.NOTHING,
}
"""Every family has its entry: a test says so, and that an erasure removes each that holds words or traces."""
