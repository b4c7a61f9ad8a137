"""A small LFM2 with random weights and a tokenizer with whole words, as a folder that transformers loads like any other model.

Its layers are short convolutions and attention in turn. With attention alone, finding a word again takes many more steps to emerge.
"""

from pathlib import Path
from typing import Final

import torch
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import Lfm2Config, Lfm2ForCausalLM, PreTrainedTokenizerFast

from retrieval.session_ranking.prompt import prompt_of
from retrieval.session_ranking.sessions import SessionKey, SessionText
from training.sift.smoke.task import DOGS, LENGTHS, PEOPLE, RANKED, SESSIONS, TOYS

_SPECIAL: Final = ("<pad>", "<unk>", "<user>", "<assistant>", "<end>")
_TEMPLATE: Final = (
    "{% for message in messages %}{% if message['role'] == 'user' %}<user>{{ message['content'] }}"
    "{% elif message['role'] == 'assistant' %}<assistant>{{ message['content'] }}<end>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
"""Leaves out the instructions, which are the same in all prompts."""
_TOKENS: Final = r"</?(?:think|ranking|query)>|</session\d>|(?<![</a-z])[a-z]+|\d|,"
"""A session's start is its number, the same token as in an answer."""


def write_small_model(folder: Path, *, seed: int, width: int, layers: int) -> int:
    """Writes a model with random weights, and returns the number of its parameters.

    Args:
        folder: The folder.
        seed: Seed of the weights.
        width: Numbers in a hidden state.
        layers: Number of layers.
    """
    torch.manual_seed(seed)
    tokenizer = _tokenizer()
    config = Lfm2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=width * 3,
        block_auto_adjust_ff_dim=False,
        num_hidden_layers=layers,
        layer_types=["conv", "full_attention"] * (layers // 2),
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=256,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    model = Lfm2ForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return sum(each.numel() for each in model.parameters())


def _tokenizer() -> PreTrainedTokenizerFast:
    tags = [f"<{end}{name}>" for name in ("think", "ranking", "query") for end in ("", "/")]
    tags += [f"</session{place}>" for place in range(SESSIONS)]
    words = [*PEOPLE, *DOGS, *TOYS, ",", *map(str, range(SESSIONS))]
    constants = [_task(size, reasoning=reasoning) for size in LENGTHS for reasoning in (True, False)]
    vocabulary = {word: place for place, word in enumerate([*_SPECIAL, *tags, *words])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Split(Regex(_TOKENS), "removed", invert=True)
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", eos_token="<end>", chat_template=_TEMPLATE
    )
    made.add_special_tokens({"additional_special_tokens": ["<user>", "<assistant>"]})
    made.add_tokens(constants)
    return made


def _task(sessions: int, *, reasoning: bool) -> str:
    """The end of the prompt of a history of this size, after its query: one token."""
    texts = [SessionText(SessionKey("", str(place)), (), 0) for place in range(sessions)]
    return prompt_of(texts, "", most=RANKED, reasoning=reasoning)[1].content.rpartition("</query>\n")[2]
