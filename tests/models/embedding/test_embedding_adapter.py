from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from models.embedding import weights
from models.embedding.conversion import converted_model
from models.embedding.minilm import MiniLMEncoder
from models.embedding.weights import ADAPTER_FILE, Matrix, adapted, adapter_sha256, verified_weights

SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
PUBLISHED_SIMILARITIES = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
"""Of these sentences under all-MiniLM-L6-v2, from the front page of the sentence-transformers documentation."""


@pytest.fixture
def published_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_adapter", dict)


@pytest.mark.usefixtures("published_only")
def test_float32_gives_the_published_similarities(tmp_path: Path) -> None:
    dense = _dense(MiniLMEncoder(cache=tmp_path, compute_type="float32", threads=1), SENTENCES)

    np.testing.assert_allclose(dense @ dense.T, PUBLISHED_SIMILARITIES, atol=1e-4)


@pytest.mark.usefixtures("published_only")
def test_int8_stays_close_to_the_published_similarities(tmp_path: Path) -> None:
    dense = _dense(MiniLMEncoder(cache=tmp_path, compute_type="int8", threads=1), SENTENCES)

    np.testing.assert_allclose(dense @ dense.T, PUBLISHED_SIMILARITIES, atol=0.02)


def test_each_matrix_belongs_to_one_of_the_model() -> None:
    matrices = load_file(ADAPTER_FILE)
    names = {name.rpartition(".")[0] for name in matrices}
    with safe_open(str(verified_weights()), framework="numpy") as weights:
        shapes = {name: weights.get_slice(f"{name}.weight").get_shape() for name in names}

    assert {*matrices} == {f"{name}.{role}" for name in names for role in ("lora_A", "lora_B")}
    assert len(names) == 6 * 6
    for name, (width_out, width_in) in shapes.items():
        down, up = matrices[f"{name}.lora_A"], matrices[f"{name}.lora_B"]
        assert (up.shape[0], down.shape[1], up.shape[1]) == (width_out, width_in, down.shape[0])
        assert np.abs(up.astype(np.float32) @ down.astype(np.float32)).max() > 0


def test_the_product_of_the_two_matrices_is_added() -> None:
    matrices = load_file(ADAPTER_FILE)
    name = "encoder.layer.5.output.dense"
    published = np.random.default_rng(5).normal(size=(384, 1536)).astype(np.float32)

    read = adapted(lambda _: published)

    product = matrices[f"{name}.lora_B"].astype(np.float64) @ matrices[f"{name}.lora_A"].astype(np.float64)
    np.testing.assert_allclose(read(f"{name}.weight") - published, product, atol=1e-5)
    assert read(f"{name}.weight").dtype == np.float32


@pytest.mark.parametrize("name", ["encoder.layer.5.output.dense.bias", "embeddings.word_embeddings.weight", "embeddings.LayerNorm.weight"])
def test_a_model_without_an_adapter_is_unchanged(name: str) -> None:
    published: Matrix = np.ones(3, dtype=np.float32)

    assert adapted(lambda _: published)(name) is published


def test_the_converted_model_is_kept_by_its_adapter(tmp_path: Path) -> None:
    assert adapter_sha256()[:16] in converted_model(cache=tmp_path, compute_type="int8").name


def test_the_model_that_embeds_has_the_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_adapter = _dense(MiniLMEncoder(cache=tmp_path / "adapted", compute_type="int8", threads=1), SENTENCES)
    monkeypatch.setattr(weights, "_adapter", dict)
    published = _dense(MiniLMEncoder(cache=tmp_path / "published", compute_type="int8", threads=1), SENTENCES)

    assert ((with_adapter * published).sum(axis=1) < 0.99).all()


def _dense(encoder: MiniLMEncoder, texts: list[str]) -> Matrix:
    return np.array([dense for dense, _ in encoder.encode(texts)])
