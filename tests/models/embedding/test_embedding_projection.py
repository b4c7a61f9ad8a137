import numpy as np

from memory.vectors import unit_rows
from models.embedding.weights import DIMENSION, LATE_DIMENSION, PROJECTION_FILE, project_tokens


def test_the_projection_keeps_directions_distinct() -> None:
    projection = np.load(PROJECTION_FILE, allow_pickle=False).astype(np.float32)

    assert projection.shape == (DIMENSION, LATE_DIMENSION)
    directions = projection / np.linalg.norm(projection, axis=0)
    np.testing.assert_allclose(directions.T @ directions, np.eye(LATE_DIMENSION), atol=1e-2)


def test_projected_rows_have_unit_length() -> None:
    rows = unit_rows(np.random.default_rng(7).normal(size=(9, DIMENSION)).astype(np.float32))

    projected = project_tokens(rows)

    assert projected.shape == (9, LATE_DIMENSION)
    assert projected.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(projected, axis=1), 1, atol=1e-5)


def test_a_row_of_zeros_is_unchanged() -> None:
    assert not project_tokens(np.zeros((1, DIMENSION), dtype=np.float32)).any()
