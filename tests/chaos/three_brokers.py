"""Three brokers with every record on each of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from runtime.kafka.client import admin_client
from runtime.settings import KafkaSettings
from tests.chaos.proxy import ProxiedKafka
from tests.chaos.waiting import until
from varve.embedded.ports import HOST

_REPLICAS: Final = {
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
    "min.insync.replicas": 2,
    # Kafka's default is 6 s.
    "group.min.session.timeout.ms": 1000,
}


class ClusterNode(ProxiedKafka):
    """One of several brokers, each a controller, too.

    Args:
        number: Its id in the cluster, from 1.
        data: Its data folder.
        cache: The cache folder that holds the jars.
        log: Where its output goes.
    """

    def __init__(self, number: int, *, data: Path, cache: Path, log: Path) -> None:
        super().__init__(data=data, cache=cache, log=log, heap_mb=256)
        self._number = number
        self._voters = ""

    @property
    def voter(self) -> str:
        """How the controllers' quorum names it."""
        return f"{self._number}@{HOST}:{self._controller_port}"

    def join(self, nodes: Sequence["ClusterNode"]) -> None:
        """Makes it one of these."""
        self._voters = ",".join(each.voter for each in nodes)

    def _properties(self) -> dict[str, str | int]:
        return super()._properties() | _REPLICAS | {"node.id": self._number, "controller.quorum.voters": self._voters}


def three_brokers(folder: Path, *, cache: Path, logs: Path) -> list[ProxiedKafka]:
    """The nodes of one cluster.

    Args:
        folder: Holds their data.
        cache: The cache folder that holds the jars.
        logs: Where their output goes.
    """
    nodes = [ClusterNode(number, data=folder / f"kafka-{number}", cache=cache, log=logs / f"kafka-{number}.log") for number in (1, 2, 3)]
    for node in nodes:
        node.join(nodes)
    return list(nodes)


async def brokers_registered(kafka: KafkaSettings, count: int) -> None:
    """Waits until so many brokers have registered: before, no topic gets its replicas."""

    async def are_there() -> bool:
        async with admin_client(kafka) as admin:
            return len((await admin.describe_cluster())["brokers"]) >= count

    await until(are_there, f"{count} brokers have registered")
