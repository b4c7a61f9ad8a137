import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.embedding.pooling import pool_tokens, unit_rows


def random_rows(seed: int, count: int) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).normal(size=(count, 12)).astype(np.float32))


@given(seed=st.integers(0, 2**32), rows=st.integers(1, 40), count=st.integers(1, 40))
def test_pooling_leaves_at_most_the_count_and_unit_rows(seed: int, rows: int, count: int) -> None:
    pooled = pool_tokens(random_rows(seed, rows), count)

    assert pooled.shape == (min(rows, count), 12)
    assert pooled.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(pooled, axis=1), 1, atol=1e-5)


@given(seed=st.integers(0, 2**32), rows=st.integers(2, 20))
def test_repeated_rows_are_merged_first(seed: int, rows: int) -> None:
    distinct = random_rows(seed, rows)
    doubled = np.vstack([distinct, distinct])

    np.testing.assert_allclose(pool_tokens(doubled, rows), distinct, atol=1e-5)


def test_clusters_become_their_normalised_means() -> None:
    rows = unit_rows(np.array([[1, 0.1, 0], [0, 0.1, 1], [1, -0.1, 0], [0, -0.1, 1]], dtype=np.float32))

    np.testing.assert_allclose(pool_tokens(rows, 2), [[1, 0, 0], [0, 0, 1]], atol=1e-6)


def test_the_input_is_not_changed() -> None:
    rows = random_rows(7, 20)
    before = rows.copy()

    pool_tokens(rows, 3)

    np.testing.assert_array_equal(rows, before)
