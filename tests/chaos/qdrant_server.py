"""A Qdrant server in the Edge owner's place, where ``VARVE_TEST_QDRANT_BINARY`` names its program: no package carries one."""

import os
from pathlib import Path
from typing import Final, Self

import httpx

from runtime.settings import StoreSettings
from varve.embedded.ports import HOST, free_port
from varve.supervisor.process import ProcessSpec

_TENANT_SHARDS: Final = 2
_PROBE_TIMEOUT_S: Final = 1.0


class QdrantServer:
    """A cluster of one node, whose tenants share shards.

    Args:
        binary: The program.
        folder: Its data folder; persists between runs.
        log: Where its output goes.
    """

    def __init__(self, *, binary: Path, folder: Path, log: Path) -> None:
        self._binary = binary
        self._folder = folder.absolute()
        self._log = log
        self._http, self._grpc, self._peers = free_port(), free_port(), free_port()
        self.settings = StoreSettings(
            kind="server",
            url=f"http://{HOST}:{self._http}",
            grpc_port=self._grpc,
            tenant_shards=_TENANT_SHARDS,
            dense_datatype=os.environ.get("VARVE_TEST_QDRANT_DENSE", "turbo8"),
        )

    @classmethod
    def named(cls, *, folder: Path, log: Path) -> Self | None:
        """The server of the environment's program; None where it names none."""
        binary = os.environ.get("VARVE_TEST_QDRANT_BINARY")
        return None if binary is None else cls(binary=Path(binary), folder=folder, log=log)

    def prepare(self) -> ProcessSpec:
        """Makes the data folder and gives the process to run."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return ProcessSpec(
            name="qdrant",
            command=(str(self._binary), "--uri", f"http://{HOST}:{self._peers}"),
            log=self._log,
            ready=self._ready,
            environment={
                "QDRANT__CLUSTER__ENABLED": "true",
                "QDRANT__CLUSTER__P2P__PORT": str(self._peers),
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
        async with httpx.AsyncClient(base_url=self.settings.url, timeout=_PROBE_TIMEOUT_S) as http:
            try:
                return (await http.get("/readyz")).is_success
            except httpx.TransportError:
                return False
