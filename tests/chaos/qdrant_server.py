"""A Qdrant server instead of the Edge owner, if ``VARVE_TEST_QDRANT_BINARY`` names its program: no package contains one."""

import os
from pathlib import Path
from typing import Final

import httpx

from runtime.settings import StoreSettings
from tests.chaos.shape import ClusterShape
from varve.embedded.ports import free_port
from varve.supervisor.process import ProcessSpec

BINARY: Final = "VARVE_TEST_QDRANT_BINARY"
_COPIES: Final = 2
_PROBE_TIMEOUT_S: Final = 1.0


class QdrantNode:
    """One node of a cluster of one or several.

    All nodes have the same ports, each on its own address of this machine: Varve has one setting for the gRPC port of all nodes.

    Args:
        number: Its number, from 1. The first one starts the cluster.
        ports: Its ports for HTTP, gRPC and the other nodes.
        binary: The program.
        folder: Its data folder; persists between runs.
        log: Where its output goes.
    """

    def __init__(self, number: int, *, ports: tuple[int, int, int], binary: Path, folder: Path, log: Path) -> None:
        self._host = f"127.0.0.{number}"
        self._first = f"http://127.0.0.1:{ports[2]}"
        self._http, self._grpc, self._peers = ports
        self._binary = binary
        self._folder = folder.absolute()
        self._log = log

    @property
    def url(self) -> str:
        """Where it answers over HTTP."""
        return f"http://{self._host}:{self._http}"

    def prepare(self) -> ProcessSpec:
        """Makes the data folder and gives the process to run."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return ProcessSpec(
            name=self._folder.name,
            # The first node, too: the server ignores its own address as the one to join.
            command=(str(self._binary), "--uri", f"http://{self._host}:{self._peers}", "--bootstrap", self._first),
            log=self._log,
            ready=self._ready,
            environment={
                "QDRANT__CLUSTER__ENABLED": "true",
                "QDRANT__CLUSTER__P2P__PORT": str(self._peers),
                "QDRANT__SERVICE__HOST": self._host,
                "QDRANT__SERVICE__HTTP_PORT": str(self._http),
                "QDRANT__SERVICE__GRPC_PORT": str(self._grpc),
                "QDRANT__STORAGE__STORAGE_PATH": str(self._folder / "storage"),
                "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self._folder / "snapshots"),
                "QDRANT__TELEMETRY_DISABLED": "true",
                # It would leave this empty file where the tests are run.
                "QDRANT_INIT_FILE_PATH": str(self._folder / "initialized"),
            },
        )

    async def _ready(self) -> bool:
        async with httpx.AsyncClient(base_url=self.url, timeout=_PROBE_TIMEOUT_S) as http:
            try:
                return (await http.get("/readyz")).is_success
            except httpx.TransportError:
                return False


class QdrantServer:
    """A Qdrant server: one node, or several that keep two copies of each shard.

    Args:
        shape: The number of its nodes, and how it places tenants.
        folder: Holds the nodes' data.
        logs: Where their output goes.

    Raises:
        RuntimeError: If the environment names no program.
    """

    def __init__(self, *, shape: ClusterShape, folder: Path, logs: Path) -> None:
        binary = os.environ.get(BINARY)
        if binary is None:
            raise RuntimeError(f"a Qdrant server of {shape.store_nodes} nodes was asked for: name its program in {BINARY}")
        ports = (free_port(), free_port(), free_port())
        names = {number: f"qdrant-{number}" for number in range(1, shape.store_nodes + 1)}
        self.nodes = [
            QdrantNode(number, ports=ports, binary=Path(binary), folder=folder / name, log=logs / f"{name}.log")
            for number, name in names.items()
        ]
        self.settings = StoreSettings(
            kind="server",
            url=",".join(node.url for node in self.nodes),
            grpc_port=ports[1],
            tenant_shards=shape.tenant_shards,
            replication_factor=_COPIES if shape.store_nodes > 1 else None,
            dense_datatype=os.environ.get("VARVE_TEST_QDRANT_DENSE", "turbo8"),
        )

    @staticmethod
    def is_named() -> bool:
        """Whether the environment names a program."""
        return BINARY in os.environ
