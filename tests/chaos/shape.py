"""The size of a chaos run's cluster: brokers, partitions, workers of each stage, and nodes of the vector store."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

from streams.stages.catalog import STAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterShape:
    """The number of brokers, partitions, workers and store nodes of a cluster."""

    brokers: Literal[1, 3] = 1
    """Three brokers keep three replicas of each record, with ``min.insync.replicas`` 2."""
    partitions: int = 4
    """Partitions of each topic."""
    workers: Mapping[str, int] = field(default_factory=dict)
    """Workers by stage. Default: one."""
    session_timeout_s: float = 6.0
    """Session time-out of the workers: Varve's default, which is the least that Kafka allows by default."""
    store_nodes: Literal[1, 3] = 1
    """Nodes of a Qdrant server. Three keep two copies of each shard. One may also be the Edge process."""
    tenant_shards: int | None = 2
    """Shards that tenants share on a Qdrant server; None: all points are spread over its shards."""

    def workers_of(self, stage: str) -> int:
        """The number of workers of a stage."""
        return self.workers.get(stage, 1)


SINGLE: Final = ClusterShape()
"""One broker, and one worker of each stage."""
REPLICATED: Final = ClusterShape(brokers=3)
"""Three brokers, and one worker of each stage."""
MANY_WORKERS: Final = tuple(stage for stage in STAGES if stage not in ("merging", "recalls"))
"""Stages with three workers in :data:`LARGE`. The others have one, because two cores are shared by all of them."""
LARGE: Final = ClusterShape(brokers=3, partitions=6, workers=MappingProxyType(dict.fromkeys(MANY_WORKERS, 3)))
"""Three brokers, and three workers of most stages with two partitions each."""
SHORT_SESSIONS: Final = replace(LARGE, session_timeout_s=3.0)
"""Workers that lose their partitions sooner, on brokers with a lower ``group.min.session.timeout.ms``."""
THREE_STORE_NODES: Final = ClusterShape(store_nodes=3, tenant_shards=None)
"""One broker, and a Qdrant server of three nodes over which each tenant's points are spread."""
THREE_STORE_NODES_BY_TENANT: Final = replace(THREE_STORE_NODES, tenant_shards=3)
"""The same, with each tenant in one of three shards."""
