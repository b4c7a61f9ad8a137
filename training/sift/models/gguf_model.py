"""A model of llama.cpp (a GGUF file) as a folder that transformers loads: weights in float32, and its SentencePiece vocabulary as BPE.

Needs torch and gguf. The tokenizer is made here: the one that transformers 5.17 makes of Gemma's file splits ``France`` into letters.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from gguf import GGUFReader
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, processors
from tokenizers.models import BPE
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

_NORMAL, _CONTROL, _DEFINED = 1, 3, 4
"""Types of tokens in a GGUF file: words, those with a meaning for the model such as the end, and text that is never split."""
_SPACE: Final = "▁"
CHAT_TEMPLATE: Final = (
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'assistant' %}"
    "<start_of_turn>model\n{{ message['content'] }}<end_of_turn>{{ eos_token }}"
    "{% else %}<start_of_turn>user\n{{ message['content'] }}<end_of_turn>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
"""The turns of Gemma. Instructions are a turn of the user, as Gemma has no other."""


def write_transformers_model(file: Path, target: Path) -> int:
    """Writes the folder, and returns the number of parameters.

    Args:
        file: The GGUF file, of an architecture that transformers reads and with a SentencePiece vocabulary.
        target: The folder.
    """
    loaded = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    config = loaded.config
    # Without this, transformers takes the weights for quantized ones, and refuses to write them.
    del config.quantization_config
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(target)
    tokenizer_of(file).save_pretrained(target)
    return sum(each.numel() for each in model.parameters())


def tokenizer_of(file: Path) -> Any:
    """The tokenizer of a GGUF file with a SentencePiece vocabulary, with Gemma's chat template.

    Args:
        file: The file.
    """
    fields = GGUFReader(file).fields
    tokens, scores, types = (fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "scores", "token_type"))
    named = {name: tokens[fields[f"tokenizer.ggml.{name}_token_id"].contents()] for name in ("bos", "eos", "unknown", "padding")}
    vocabulary = {token: place for place, token in enumerate(tokens)}
    merges = merges_of({token: score for token, score, kind in zip(tokens, scores, types, strict=True) if kind == _NORMAL})
    tokenizer = Tokenizer(BPE(vocabulary, merges, unk_token=named["unknown"], fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", _SPACE)
    tokenizer.decoder = decoders.Sequence([decoders.Replace(_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token, kind in zip(tokens, types, strict=True) if kind == _CONTROL])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token, kind in zip(tokens, types, strict=True) if kind == _DEFINED])
    begin = named["bos"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A", pair=f"{begin} $A $B", special_tokens=[(begin, vocabulary[begin])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=begin,
        eos_token=named["eos"],
        unk_token=named["unknown"],
        pad_token=named["padding"],
        chat_template=CHAT_TEMPLATE,
    )


def merges_of(scores: dict[str, float]) -> Sequence[tuple[str, str]]:
    """The merges of a SentencePiece vocabulary: pairs of tokens that make a token, the one with the highest score first.

    Args:
        scores: The score of each token.
    """
    merges = []
    for token in sorted(scores, key=lambda each: -scores[each]):
        splits = [(token[:place], token[place:]) for place in range(1, len(token))]
        known = [(left, right) for left, right in splits if left in scores and right in scores]
        merges += sorted(known, key=lambda pair: (-scores[pair[0]], -scores[pair[1]]))
    return merges
