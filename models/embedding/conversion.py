"""Converts BERT weights for CTranslate2, and keeps the result in a cache folder."""

import shutil
import tempfile
from pathlib import Path
from typing import Any, Final, Literal

from ctranslate2.converters import utils
from ctranslate2.specs import common_spec, transformer_spec
from safetensors import safe_open
from tokenizers import Tokenizer

from models.embedding.weights import (
    HEADS,
    LAYER_NORM_EPSILON,
    LAYERS,
    WEIGHTS_SHA256,
    ReadWeights,
    adapted,
    adapter_sha256,
    model_folder,
    verified_weights,
)
from models.errors import ModelConfigurationError
from runtime.file_digest import file_sha256

ComputeType = Literal["int8", "float32"]

_MODEL_FILE: Final = "model.bin"
_HASH_FILE: Final = "model.sha256"


def converted_model(*, cache: Path, compute_type: ComputeType) -> Path:
    """The folder of the converted model; the model is converted first where the cache lacks it.

    The folder is named after the hashes of the weights and of the adapter, and the arithmetic. It holds the hash of the converted file, and
    appears whole or not at all: processes that start together may both convert, one of them wins.

    Raises:
        ModelConfigurationError: If the weights are missing or not the published ones.
    """
    folder = cache / f"minilm-{WEIGHTS_SHA256[:16]}-{adapter_sha256()[:16]}-{compute_type}"
    if _is_intact(folder):
        return folder
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{folder.name}.", dir=cache) as building:
            _build(Path(building) / folder.name, compute_type)
            if folder.exists() and not _is_intact(folder):
                shutil.rmtree(folder)
            (Path(building) / folder.name).rename(folder)
    except OSError as error:
        if not _is_intact(folder):
            raise ModelConfigurationError(f"the converted model cannot be kept in {cache}: {error}") from error
    return folder


def _is_intact(folder: Path) -> bool:
    try:
        return (folder / _HASH_FILE).read_text(encoding="ascii") == file_sha256(folder / _MODEL_FILE)
    except OSError:
        return False


def _build(folder: Path, compute_type: ComputeType) -> None:
    with safe_open(str(verified_weights()), framework="numpy") as weights:
        spec = _specification(adapted(weights.get_tensor))
    spec.register_vocabulary(_vocabulary())
    spec.config.unk_token = "[UNK]"
    spec.config.layer_norm_epsilon = LAYER_NORM_EPSILON
    spec.validate()
    spec.optimize(quantization=compute_type)
    folder.mkdir()
    spec.save(str(folder))
    (folder / _HASH_FILE).write_text(file_sha256(folder / _MODEL_FILE), encoding="ascii")


def _specification(read: ReadWeights) -> Any:
    encoder = transformer_spec.TransformerEncoderSpec(
        LAYERS,
        HEADS,
        pre_norm=False,
        activation=common_spec.Activation.GELU,
        layernorm_embedding=True,
        num_source_embeddings=2,
        embeddings_merge=common_spec.EmbeddingsMerge.ADD,
    )
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = read("embeddings.word_embeddings.weight")
    encoder.embeddings[1].weight = read("embeddings.token_type_embeddings.weight")
    encoder.position_encodings.encodings = read("embeddings.position_embeddings.weight")
    _fill_norm(encoder.layernorm_embedding, read, "embeddings.LayerNorm")
    for number, layer in enumerate(encoder.layer):
        prefix = f"encoder.layer.{number}"
        projections = [common_spec.LinearSpec() for _ in range(3)]
        for projection, role in zip(projections, ("query", "key", "value"), strict=True):
            _fill_linear(projection, read, f"{prefix}.attention.self.{role}")
        utils.fuse_linear(layer.self_attention.linear[0], projections)
        _fill_linear(layer.self_attention.linear[1], read, f"{prefix}.attention.output.dense")
        _fill_norm(layer.self_attention.layer_norm, read, f"{prefix}.attention.output.LayerNorm")
        _fill_linear(layer.ffn.linear_0, read, f"{prefix}.intermediate.dense")
        _fill_linear(layer.ffn.linear_1, read, f"{prefix}.output.dense")
        _fill_norm(layer.ffn.layer_norm, read, f"{prefix}.output.LayerNorm")
    return transformer_spec.TransformerEncoderModelSpec(encoder, pooling_layer=False)


def _fill_linear(spec: Any, read: ReadWeights, name: str) -> None:
    spec.weight = read(f"{name}.weight")
    spec.bias = read(f"{name}.bias")


def _fill_norm(spec: Any, read: ReadWeights, name: str) -> None:
    spec.gamma = read(f"{name}.weight")
    spec.beta = read(f"{name}.bias")


def _vocabulary() -> list[str]:
    tokens = Tokenizer.from_file(str(model_folder() / "tokenizer.json")).get_vocab()
    return sorted(tokens, key=lambda token: tokens[token])
