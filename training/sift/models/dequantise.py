"""``python -m training sift dequantise``: writes a GGUF file as a model that the other steps can train; no model is asked.

Writes ``dequantised``: weights in float32, a tokenizer and a chat template. The file must have a SentencePiece vocabulary, as Gemma's.
"""

import argparse
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from training.runs import Run, RunError
from training.sift.models.proxies import require_torch

SUMMARY: Final = "writes a GGUF file as a model that can be trained"
DEQUANTISED: Final = "dequantised"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--gguf", type=Path, required=True, metavar="FILE", help="the file, of an architecture that transformers reads")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Writes the model. Yields lines for the terminal.

    Raises:
        RunError: If a library or the file is missing.
    """
    require_torch()
    if find_spec("gguf") is None:
        raise RunError("this step needs gguf: install the extra with .venv/bin/uv pip install -e '.[training]'")
    if not arguments.gguf.is_file():
        raise RunError(f"{arguments.gguf} is no file")
    from training.sift.models.gguf_model import write_transformers_model

    folder = Run(arguments.run)
    folder.begin("dequantise", {"gguf": str(arguments.gguf)})
    yield "Model calls: 0. Cost: 0."
    target = folder.folder / DEQUANTISED
    if not target.exists():
        part = folder.folder / f"{DEQUANTISED}.part"
        folder.record("dequantise", parameters=write_transformers_model(arguments.gguf, part))
        part.replace(target)
    yield f"{target}: the model"
