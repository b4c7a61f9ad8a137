"""all-MiniLM-L6-v2 with an adapter that can be fitted: it computes what ``models/embedding`` does, in torch and in full precision."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import torch
from safetensors.torch import load_file
from torch.nn import functional

from models.embedding.tokens import ids_of_punctuation, load_tokenizer
from models.embedding.weights import HEADS, LAYER_NORM_EPSILON, LAYERS, verified_weights

Tensor = Any
"""``torch.Tensor``; torch is installed by those who fit alone, and so no types of it are known."""

RANK: Final = 8
DROPOUT: Final = 0.1
"""Share of the input of an adapter's first matrix that is dropped in training."""
_LINEAR: Final = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


class Embedded(NamedTuple):
    """The vectors of some texts."""

    dense: Tensor
    """``(texts, 384)``, of unit length."""
    late: Tensor
    """``(texts, tokens, 384)``, each row of unit length."""
    is_token: Tensor
    """``(texts, tokens)``: False where a row is padding, a special token, or punctuation in a text that has more than that."""


def published_weights() -> dict[str, Tensor]:
    """The model's tensors.

    Raises:
        models.errors.ModelConfigurationError: If the package is missing or its weights are not the published ones.
    """
    return {name: tensor.float() for name, tensor in load_file(verified_weights()).items() if tensor.is_floating_point()}


def new_adapter(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """An adapter that adds nothing yet: of each pair of matrices the second is zero (Hu et al. 2021, section 4.1).

    Args:
        weights: The model's.
    """
    adapter = {}
    for layer in range(LAYERS):
        for role in _LINEAR:
            name = f"encoder.layer.{layer}.{role}"
            width_out, width_in = weights[f"{name}.weight"].shape
            adapter[f"{name}.lora_A"] = (torch.randn(RANK, width_in) / math.sqrt(width_in)).requires_grad_()
            adapter[f"{name}.lora_B"] = torch.zeros(width_out, RANK).requires_grad_()
    return adapter


def embed(weights: Mapping[str, Tensor], adapter: Mapping[str, Tensor], token_ids: Sequence[Sequence[int]], *, fits: bool) -> Embedded:
    """Embeds texts in one pass.

    Args:
        weights: The model's.
        adapter: Adapter of its linear layers; empty: none.
        token_ids: Token ids of each text, the special ones included.
        fits: Whether parts are dropped by chance, as while it is fitted.
    """
    width = max(map(len, token_ids))
    ids = torch.tensor([[*each, *[0] * (width - len(each))] for each in token_ids])
    lengths = torch.tensor([len(each) for each in token_ids])
    is_text = torch.arange(width) < lengths[:, None]

    def linear(inputs: Tensor, name: str) -> Tensor:
        output = functional.linear(inputs, weights[f"{name}.weight"], weights[f"{name}.bias"])
        if not adapter:
            return output
        down = functional.linear(functional.dropout(inputs, DROPOUT, training=fits), adapter[f"{name}.lora_A"])
        return output + functional.linear(down, adapter[f"{name}.lora_B"])

    def norm(inputs: Tensor, name: str) -> Tensor:
        return functional.layer_norm(inputs, inputs.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], LAYER_NORM_EPSILON)

    hidden = functional.embedding(ids, weights["embeddings.word_embeddings.weight"])
    hidden = hidden + weights["embeddings.position_embeddings.weight"][:width] + weights["embeddings.token_type_embeddings.weight"][0]
    hidden = norm(hidden, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        query, key, value = (
            linear(hidden, f"{prefix}.attention.self.{role}").unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for role in ("query", "key", "value")
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=is_text[:, None, None, :])
        attended = linear(attended.transpose(1, 2).flatten(2), f"{prefix}.attention.output.dense")
        hidden = norm(hidden + attended, f"{prefix}.attention.output.LayerNorm")
        widened = functional.gelu(linear(hidden, f"{prefix}.intermediate.dense"))
        hidden = norm(hidden + linear(widened, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")
    mean = (hidden * is_text[..., None]).sum(1) / lengths[:, None]
    return Embedded(functional.normalize(mean, dim=-1), functional.normalize(hidden, dim=-1), _is_token(ids, lengths))


def _is_token(ids: Tensor, lengths: Tensor) -> Tensor:
    positions = torch.arange(ids.shape[1])
    is_token = (positions > 0) & (positions < lengths[:, None] - 1)
    is_word = is_token & ~torch.isin(ids, _punctuation())
    return torch.where(is_word.any(1, keepdim=True), is_word, is_token)


@lru_cache(maxsize=1)
def _punctuation() -> Tensor:
    return torch.tensor([*ids_of_punctuation(load_tokenizer())])
