"""A low-rank adapter for the weights of all-MiniLM-L6-v2 that moves a question's vector closer to the messages that answer it.

The conversion adds the product of two thin matrices to each linear layer's matrix (Hu et al. 2021, "LoRA", section 4.1), so embedding a
text costs no more than without it. ``python -m evaluation fit-adapter`` fits the adapter to invented conversations and writes the file
next to this module (ADR 28).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors.numpy import load_file

from models.embedding.weights import file_sha256

ADAPTER_FILE: Final = Path(__file__).with_name("minilm_adapter.safetensors")
"""For a layer's matrix ``NAME.weight`` of the shape ``(out, in)`` two in half precision: ``NAME.lora_B``, ``(out, rank)``, and
``NAME.lora_A``, ``(rank, in)``."""

Matrix = np.ndarray[Any, Any]
ReadWeights = Callable[[str], Matrix]
"""Reads one of the model's tensors by its name."""


def adapted(read: ReadWeights) -> ReadWeights:
    """Reads the published model's tensors with the adapter's part added.

    Args:
        read: Reads them as they were published.
    """
    adapter = _adapter()

    def read_adapted(name: str) -> Matrix:
        weights = read(name)
        down, up = (adapter.get(f"{name.removesuffix('.weight')}.{role}") for role in ("lora_A", "lora_B"))
        if down is None or up is None:
            return weights
        return np.asarray(weights + up.astype(np.float32) @ down.astype(np.float32), dtype=weights.dtype)

    return read_adapted


def adapter_sha256() -> str:
    """The hash of the adapter's file."""
    return file_sha256(ADAPTER_FILE)


def _adapter() -> dict[str, Matrix]:
    return load_file(ADAPTER_FILE)
