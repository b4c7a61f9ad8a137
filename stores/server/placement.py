"""Assigns tenants to the shards of a server's collection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from zlib import crc32

from qdrant_client import models

TENANT_SHARDS: Final = "tenant_shards"
"""Metadata field with the number of shared shards. It is missing if the server distributes points by their ids."""
_KEYS_PER_COUNT: Final = 10_000
"""The key of a shared shard contains the number of shared shards. A process with an outdated number then uses missing keys and gets an
error."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Tiered multitenancy: small tenants share shards, and a large one may have its own shard.

    The keys of shared shards are numbers. The key of a tenant's own shard is the tenant's id, a text, so keys never clash. A request names
    both keys. The server then uses the tenant's own shard if it exists and is complete, and otherwise the shared one.
    """

    shared: int = 0
    """Number of shards that tenants share. 0: the server distributes all points by their ids."""

    @classmethod
    def recorded_in(cls, metadata: Mapping[str, Any] | None) -> Self:
        """The placement in a collection's metadata."""
        return cls((metadata or {}).get(TENANT_SHARDS) or 0)

    @property
    def shared_keys(self) -> list[int]:
        """The keys of the shards that tenants share."""
        return [self._shared_key(index) for index in range(self.shared)]

    def shared_key_of(self, tenant: str) -> int:
        """The key of the shared shard of a tenant."""
        return self._shared_key(crc32(tenant.encode()) % self.shared)

    def key_of(self, tenant: str | None) -> models.ShardKeySelector | None:
        """The shard key of a request for a tenant's points.

        Args:
            tenant: The tenant. None: points without a tenant.

        Returns:
            None if the server distributes the points by their ids.
        """
        if not self.shared:
            return None
        return self._shared_key(0) if tenant is None else models.ShardKeyWithFallback(target=tenant, fallback=self.shared_key_of(tenant))

    def _shared_key(self, index: int) -> int:
        return self.shared * _KEYS_PER_COUNT + index
