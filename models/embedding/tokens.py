"""Counting tokens with the real WordPiece tokenizer of the embedded model."""

from functools import lru_cache

from tokenizers import Tokenizer

from models.embedding.weights import model_folder


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


def count_tokens(text: str) -> int:
    """How many WordPiece tokens a text has, without special tokens.

    Raises:
        ModelConfigurationError: If the ``minilm`` extra is not installed.
    """
    return len(_counting_tokenizer().encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=1)
def _counting_tokenizer() -> Tokenizer:
    return load_tokenizer()
