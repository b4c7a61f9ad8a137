"""``python -m benchmarks.peers.hindsight_server PORT``: Hindsight's HTTP service with Varve's embedding model in its process."""

import asyncio
import importlib
import sys
from typing import Any

from benchmarks.peers.embedding import SIZE, SharedModel


def _embeddings() -> Any:
    base: Any = importlib.import_module("hindsight_api.engine.embeddings").Embeddings

    class _Embeddings(base):  # type: ignore[misc]  # Hindsight is not installed in Varve's environment
        provider_name = "varve"
        dimension = SIZE

        async def initialize(self) -> None:
            self._model = SharedModel()

        async def encode(self, texts: list[str]) -> list[list[float]]:
            return await asyncio.to_thread(self._model.embed, texts) if texts else []

    return _Embeddings()


def main() -> None:
    """Serves until SIGTERM."""
    engine = importlib.import_module("hindsight_api").MemoryEngine(embeddings=_embeddings())
    app = importlib.import_module("hindsight_api.api").create_app(memory=engine)
    importlib.import_module("uvicorn").run(
        app, host="127.0.0.1", port=int(sys.argv[1]), loop="uvloop", access_log=False, log_level="warning"
    )


if __name__ == "__main__":
    main()
