"""The real WordPiece tokenizer of the embedded model: counting tokens, and telling which are punctuation."""

import unicodedata
from functools import lru_cache
from typing import Final

from tokenizers import Tokenizer

from models.embedding.weights import model_folder

_CONTINUES: Final = "##"
"""Before a token that continues a word."""


def load_tokenizer(*, max_tokens: int | None = None) -> Tokenizer:
    """A new tokenizer without padding; it truncates at ``max_tokens`` (special tokens included), or not at all.

    Raises:
        ModelConfigurationError: If the ``minilm`` extra is not installed.
    """
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    if max_tokens is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


def ids_of_punctuation(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids of tokens that are nothing but punctuation, as Unicode has it: a currency's sign is none, nor is an emoji."""
    return frozenset(each for token, each in tokenizer.get_vocab().items() if all(map(_is_punctuation, token.removeprefix(_CONTINUES))))


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


def count_tokens(text: str) -> int:
    """Number of WordPiece tokens of a text, without special tokens.

    Raises:
        ModelConfigurationError: If the ``minilm`` extra is not installed.
    """
    return len(_counting_tokenizer().encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=1)
def _counting_tokenizer() -> Tokenizer:
    return load_tokenizer()
