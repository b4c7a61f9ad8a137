"""The forms that endpoints give their answers in."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from models.embedding.client import ResponseParser
from models.errors import TransientModelError, UnusableVectorError

VECTORS = [[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]]
ROWS = [[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]]
PARSER = ResponseParser(model="m", dimension=2, endpoint="it")


def body(items: list[dict[str, Any]]) -> bytes:
    return json.dumps({"data": items}).encode()


def indexed(*indices: Any) -> bytes:
    """An answer whose items come with these indices; ... leaves one out."""
    return body(
        [{"embedding": vector} | ({} if index is ... else {"index": index}) for vector, index in zip(VECTORS, indices, strict=True)]
    )


@pytest.mark.parametrize(
    ("indices", "order"),
    [
        ((0, 1, 2), [0, 1, 2]),
        ((2, 0, 1), [1, 2, 0]),
        ((..., ..., ...), [0, 1, 2]),
        ((None, None, None), [0, 1, 2]),
        ((0, 0, 0), [0, 1, 2]),
        ((..., 1, 2), [0, 1, 2]),
        ((2, 1, ...), [2, 1, 0]),
    ],
)
def test_vectors_are_matched_to_texts_by_index(indices: tuple[Any, ...], order: list[int]) -> None:
    np.testing.assert_allclose(PARSER.parse(indexed(*indices), count=3), [ROWS[index] for index in order], atol=1e-6)


@pytest.mark.parametrize("indices", [(0, 0, 1), (0, 1, 3), (1, 2, 3), (..., ..., 2), (0, ..., 0), (0, True, 2), (-1, 0, 1), (..., 1, 1)])
def test_ambiguous_indices_are_unusable(indices: tuple[Any, ...]) -> None:
    with pytest.raises(TransientModelError, match="has the index"):
        PARSER.parse(indexed(*indices), count=3)


@pytest.mark.parametrize(
    "form", [lambda vector: base64.b64encode(np.array(vector, dtype="<f4").tobytes()).decode(), lambda vector: [vector]]
)
def test_base64_and_single_row_vectors_are_read(form: Any) -> None:
    items = [{"index": index, "embedding": form(vector)} for index, vector in enumerate(VECTORS)]

    np.testing.assert_allclose(PARSER.parse(body(items), count=3), ROWS, atol=1e-6)


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), None])
def test_a_vector_not_finite_raises_its_own_error(broken: float | None) -> None:
    with pytest.raises(UnusableVectorError, match="not a finite number"):
        PARSER.parse(body([{"index": 0, "embedding": [broken, 1.0]}]), count=1)


@pytest.mark.parametrize("encoded", ["A", "AAAA", "é", "AACAPw==!"])
def test_malformed_base64_is_unusable(encoded: str) -> None:
    with pytest.raises(TransientModelError, match="not a list of numbers") as caught:
        PARSER.parse(body([{"index": 0, "embedding": encoded}]), count=1)

    assert type(caught.value) is TransientModelError
