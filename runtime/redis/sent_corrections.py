"""The newest correction that was sent for each memory, in Redis: what the store shows may be older.

The service compares a correction with the memory in the store, to recognise one that changes nothing. A correction that is still on its way
through the stages makes that comparison void. A note names it for a day, by its place and a digest.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import orjson

from memory.positions import LogPosition
from memory.records import Correction
from runtime.redis.client import GuardedRedis
from runtime.redis.keys import KeyFamily

_TTL_MS: Final = 86_400_000
_DIGEST_BYTES: Final = 16
# Two requests may write their notes in another order than their records.
_NOTE: Final = """
local known = redis.call('GET', KEYS[1])
if not known or tonumber(string.match(known, '^%d+ (%d+) ')) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
"""


@dataclass(frozen=True, slots=True)
class SentCorrection:
    """A correction in the log."""

    partition: int
    offset: int
    digest: str
    """From :func:`digest_of`."""


class SentCorrections:
    """Remembers the newest correction of each memory. Every method raises RedisUnavailableError while Redis is unavailable."""

    def __init__(self, *, redis: GuardedRedis) -> None:
        self._redis = redis

    async def note(self, correction: Correction, position: LogPosition) -> None:
        """Remembers a correction, unless a later one of its memory is known.

        Args:
            correction: The correction.
            position: Its position in the log.
        """
        value = f"{position.partition} {position.offset} {digest_of(correction)}"
        key = self._key(correction.tenant, correction.memory_id)
        await self._redis.script("noting a correction", _NOTE, [key], position.offset, value, _TTL_MS)

    async def newest(self, tenant: str, memory_id: str) -> SentCorrection | None:
        """The newest correction of a memory; None if none was sent within a day."""
        key = self._key(tenant, memory_id)
        found = await self._redis.read("reading the newest correction of a memory", key)
        if found is None:
            return None
        partition, offset, digest = found.decode().split(" ")
        return SentCorrection(int(partition), int(offset), digest)

    async def forget(self, tenant: str, memory_ids: Iterable[str]) -> None:
        """Removes the notes about memories."""
        await self._redis.unlink("forgetting corrections", [self._key(tenant, each) for each in memory_ids])

    def _key(self, tenant: str, memory_id: str) -> str:
        return self._redis.key_of(KeyFamily.CORRECTED, tenant, memory_id)


def digest_of(correction: Correction) -> str:
    """A digest of what a correction does to its memory. It can be matched only with the memory's id and the new values."""
    changes = () if correction.entity is None else correction.entity.changes
    content = [
        correction.action,
        correction.fields.model_dump(mode="json"),
        [[each.property, each.value, each.event_time.isoformat()] for each in changes],
    ]
    raw = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    return blake2b(raw, digest_size=_DIGEST_BYTES, key=correction.memory_id.encode()[: blake2b.MAX_KEY_SIZE]).hexdigest()
