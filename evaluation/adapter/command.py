"""``python -m evaluation fit-adapter``: fits the adapter of the embedded model, and writes it where the model reads it.

The data are conversations with questions in LoCoMo's form. The shipped adapter is fitted to ``evaluation/adapter/conversations.json``,
which was invented for it and is part of no benchmark (ADR 28). The command needs torch: ``pip install torch`` first. The shipped adapter
was made by ``--from-scratch --epochs 2``, then ``fit-projection``, as the projection is that of the adapted model's tokens, then again
without ``--from-scratch``, and ``fit-projection`` again. Afterwards, fit the ranking and the confidence again, and raise
``VECTORS_VERSION``.
"""

import argparse
import asyncio
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors.numpy import load_file, save_file

from evaluation.adapter.examples import Example, examples_of
from evaluation.errors import DataSetError
from evaluation.recall.corpus import filled_store
from models.embedding.tokens import load_tokenizer
from models.embedding.weights import ADAPTER_FILE, MODEL_NAME, PROJECTION_FILE
from runtime.settings import Settings

MAX_TOKENS: Final = 80
"""Most tokens of a training text; nearly all memories have fewer."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument(
        "--from-scratch", action="store_true", help="begin with an adapter that changes nothing. Default: continue from the present one"
    )
    parser.add_argument("--epochs", type=int, default=1, help="passes over all questions")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random choices")
    parser.add_argument("--adapter", type=Path, default=ADAPTER_FILE, help="file to write")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fits, writes the adapter, and returns what it was fitted to.

    Raises:
        DataSetError: If torch is not installed, or the data hold no questions.
    """
    try:
        from evaluation.adapter.training import fitted_adapter
    except ImportError as error:
        raise DataSetError(f"fitting the adapter needs torch, which is no part of Varve: pip install torch ({error})") from error
    examples, sha256 = asyncio.run(_read(arguments.data))
    tokenizer = load_tokenizer(max_tokens=MAX_TOKENS)
    adapter = fitted_adapter(
        examples,
        lambda text: tokenizer.encode(text).ids,
        projection=np.load(PROJECTION_FILE, allow_pickle=False),
        present={} if arguments.from_scratch else load_file(ADAPTER_FILE),
        epochs=arguments.epochs,
        seed=arguments.seed,
    )
    save_file(adapter, arguments.adapter, metadata={"model": MODEL_NAME, "data": arguments.data.name, "data_sha256": sha256})
    return {
        "data": arguments.data.name,
        "data_sha256": sha256,
        "embedding": MODEL_NAME,
        "questions": len(examples),
        "epochs": arguments.epochs,
        "numbers": sum(each.size for each in adapter.values()),
    }


async def _read(path: Path) -> tuple[list[Example], str]:
    async with filled_store(path, Settings()) as corpus:
        examples = await examples_of(corpus)
        if not examples:
            raise DataSetError(f"{path} holds no question that a memory answers")
        return examples, corpus.sha256
