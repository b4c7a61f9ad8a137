import asyncio
import os
import platform
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from models.embedding.build import build_embedder
from models.embedding.conversion import converted_model
from models.embedding.minilm import MAX_TOKENS, MiniLMEncoder
from models.embedding.port import Embedder
from models.embedding.tokens import count_tokens
from models.embedding.weights import LATE_DIMENSION
from models.errors import ModelConfigurationError
from runtime.settings import EmbeddingSettings

SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
MIXED_LENGTHS = [" ".join(["the river lays down a layer each year"] * count) for count in (1, 2, 3, 5, 8, 1)] + SENTENCES

_COUNT_NEW_PAGES = """
import resource, sys
from pathlib import Path
from models.embedding.minilm import MiniLMEncoder

encoder = MiniLMEncoder(cache=Path(sys.argv[1]), compute_type="int8", threads=1)
texts = ["the river lays down a layer of silt each year, and another one of sand in the next"] * 256
encoder.encode(texts)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
encoder.encode(texts)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""In a separate process, because the heap keeps memory that earlier code has freed."""

_LOAD: Final = """
import sys
from pathlib import Path
from models.embedding.minilm import MiniLMEncoder

MiniLMEncoder(cache=Path(sys.argv[1]), compute_type="int8", threads=1)
"""


def without_punctuation(text: str) -> str:
    return "".join(each if each.isalnum() else " " for each in text)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def encoder(cache: Path) -> MiniLMEncoder:
    return MiniLMEncoder(cache=cache, compute_type="int8", threads=1)


@pytest.fixture
async def embedder(cache: Path) -> AsyncIterator[Embedder]:
    embedder = build_embedder(EmbeddingSettings(), cache=cache)
    yield embedder
    await embedder.close()


async def test_numpy_uses_one_thread_next_to_an_embedder(cache: Path) -> None:
    threadpool_limits(limits=2, user_api="blas")

    embedder = build_embedder(EmbeddingSettings(), cache=cache)
    await embedder.close()

    assert {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"} == {1}


def test_vectors_do_not_depend_on_the_batch(encoder: MiniLMEncoder) -> None:
    more_than_a_pass_takes = MIXED_LENGTHS * 12
    together = encoder.encode(more_than_a_pass_takes)

    alone = {text: encoder.encode([text])[0] for text in MIXED_LENGTHS}
    for text, (dense, late) in zip(more_than_a_pass_takes, together, strict=True):
        np.testing.assert_array_equal(dense, alone[text][0])
        np.testing.assert_array_equal(late, alone[text][1])


@pytest.mark.usefixtures("encoder")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries' heaps are left as they are")
def test_a_pass_takes_no_new_memory(cache: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _COUNT_NEW_PAGES, str(cache)], capture_output=True, text=True, check=True)

    assert int(done.stdout) < 1000, "each of the sixteen passes touches more of them"


def test_each_token_but_punctuation_has_one_unit_late_vector(encoder: MiniLMEncoder) -> None:
    for text, (dense, late) in zip(MIXED_LENGTHS, encoder.encode(MIXED_LENGTHS), strict=True):
        assert late.shape == (count_tokens(without_punctuation(text)), 384)
        np.testing.assert_allclose(np.linalg.norm(late, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(dense), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "vectors"),
    [("Ann, Bob and (later) Tom.", 5), ("5 % of 20 $", 4), ("wait... #7 — really?!", 3), ("?!", 2), ("...", 3), ("日本。", 2)],
)
def test_punctuation_has_vectors_only_in_texts_without_words(encoder: MiniLMEncoder, text: str, vectors: int) -> None:
    ((dense, late),) = encoder.encode([text])

    assert late.shape == (vectors, 384)
    np.testing.assert_allclose(np.linalg.norm(dense), 1, atol=1e-5)


def test_punctuation_does_not_change_a_words_vector(encoder: MiniLMEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Well, he (Tom) left."
    ((_, kept),) = encoder.encode([text])
    monkeypatch.setattr(encoder, "_punctuation", frozenset())
    ((_, every),) = encoder.encode([text])

    np.testing.assert_array_equal(kept, every[[0, 2, 4, 6]])


def test_empty_and_overlong_texts_have_vectors(encoder: MiniLMEncoder) -> None:
    (_, empty), (_, overlong) = encoder.encode(["", "word " * 2000])

    assert empty.shape[0] >= 1
    assert overlong.shape == (MAX_TOKENS - 2, 384)


def test_a_damaged_conversion_is_built_again(tmp_path: Path) -> None:
    folder = converted_model(cache=tmp_path, compute_type="int8")
    whole = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(whole[:1000])

    assert converted_model(cache=tmp_path, compute_type="int8") == folder
    assert (folder / "model.bin").read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")

    with pytest.raises(ModelConfigurationError, match="file"):
        converted_model(cache=blocked, compute_type="int8")


async def test_each_word_has_one_short_unit_vector(embedder: Embedder) -> None:
    document = (await embedder.embed_documents([SENTENCES[0]]))[0]

    assert (embedder.name, embedder.dimension, embedder.late_dimension) == ("all-MiniLM-L6-v2", 384, LATE_DIMENSION)
    assert document.late is not None
    assert document.late.shape == (count_tokens(without_punctuation(SENTENCES[0])), LATE_DIMENSION)
    np.testing.assert_allclose(np.linalg.norm(document.late, axis=1), 1, atol=1e-5)


async def test_a_text_has_the_same_embedding_as_a_query(embedder: Embedder) -> None:
    document = (await embedder.embed_documents([SENTENCES[1]]))[0]

    assert await embedder.embed_query(SENTENCES[1]) is document


async def test_concurrent_callers_get_their_own_texts_in_order(embedder: Embedder, encoder: MiniLMEncoder) -> None:
    rotations = [MIXED_LENGTHS[index:] + MIXED_LENGTHS[:index] for index in range(len(MIXED_LENGTHS))]

    answers = await asyncio.gather(*(embedder.embed_documents(texts) for texts in rotations))

    expected = {text: encoder.encode([text])[0][0] for text in MIXED_LENGTHS}
    for texts, embeddings in zip(rotations, answers, strict=True):
        for text, embedding in zip(texts, embeddings, strict=True):
            np.testing.assert_array_equal(embedding.dense, expected[text])


async def test_a_repeated_text_is_served_from_the_cache(embedder: Embedder) -> None:
    first = (await embedder.embed_documents(["once"]))[0]

    assert (await embedder.embed_documents(["other", "once"]))[1] is first


@pytest.mark.parametrize("settings", [EmbeddingSettings(model="other"), EmbeddingSettings(dimension=768)])
def test_settings_of_another_model_are_refused(settings: EmbeddingSettings, cache: Path) -> None:
    with pytest.raises(ModelConfigurationError, match="all-MiniLM-L6-v2 of dimension 384"):
        build_embedder(settings, cache=cache)


@pytest.mark.parametrize(("variables", "expected"), [({}, "AVX512"), ({"CT2_FORCE_CPU_ISA": "AVX2"}, "AVX2")])
def test_widest_instructions_are_used_unless_others_are_set(cache: Path, variables: dict[str, str], expected: str) -> None:
    if not {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"} <= set(Path("/proc/cpuinfo").read_text().split()):
        pytest.skip("the processor has no AVX-512")
    environment = {name: value for name, value in os.environ.items() if name != "CT2_FORCE_CPU_ISA"} | variables
    loaded = subprocess.run(
        [sys.executable, "-c", _LOAD, str(cache)], env=environment | {"CT2_VERBOSE": "1"}, capture_output=True, text=True, check=True
    )
    assert f"Selected ISA: {expected}" in loaded.stderr
