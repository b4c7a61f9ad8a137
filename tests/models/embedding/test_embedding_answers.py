"""The forms that endpoints give their answers in."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from models.embedding.answers import AnswerReader
from models.embedding.errors import UnusableVectorError
from models.errors import TransientModelError

VECTORS = [[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]]
ROWS = [[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]]
READER = AnswerReader(model="m", dimension=2, endpoint="it")


def body(items: list[dict[str, Any]]) -> bytes:
    return json.dumps({"data": items}).encode()


def indexed(*indices: Any) -> bytes:
    """An answer whose items come with these indices; ... leaves one out."""
    return body([{"embedding": VECTORS[place]} | ({} if index is ... else {"index": index}) for place, index in enumerate(indices)])


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
def test_each_vector_goes_to_its_text_whatever_the_endpoint_says_of_the_order(indices: tuple[Any, ...], order: list[int]) -> None:
    np.testing.assert_allclose(READER.rows(indexed(*indices), count=3), [ROWS[place] for place in order], atol=1e-6)


@pytest.mark.parametrize("indices", [(0, 0, 1), (0, 1, 3), (1, 2, 3), (..., ..., 2), (0, ..., 0), (0, True, 2), (-1, 0, 1), (..., 1, 1)])
def test_indices_that_leave_the_order_in_doubt_are_of_no_use(indices: tuple[Any, ...]) -> None:
    with pytest.raises(TransientModelError, match="has the index"):
        READER.rows(indexed(*indices), count=3)


@pytest.mark.parametrize(
    "form", [lambda vector: base64.b64encode(np.array(vector, dtype="<f4").tobytes()).decode(), lambda vector: [vector]]
)
def test_vectors_in_base64_and_in_a_list_of_one_row_are_read(form: Any) -> None:
    items = [{"index": place, "embedding": form(vector)} for place, vector in enumerate(VECTORS)]

    np.testing.assert_allclose(READER.rows(body(items), count=3), ROWS, atol=1e-6)


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), None])
def test_a_vector_that_is_not_finite_is_told_from_a_broken_answer(broken: float | None) -> None:
    with pytest.raises(UnusableVectorError, match="no finite number"):
        READER.rows(body([{"index": 0, "embedding": [broken, 1.0]}]), count=1)


@pytest.mark.parametrize("told", ["A", "AAAA", "é", "AACAPw==!"])
def test_what_is_no_list_in_base64_is_of_no_use(told: str) -> None:
    with pytest.raises(TransientModelError, match="no list of numbers") as caught:
        READER.rows(body([{"index": 0, "embedding": told}]), count=1)

    assert type(caught.value) is TransientModelError
