"""Fewer late-interaction vectors per text, with as much of their MaxSim as possible."""

import numpy as np

from models.embedding.port import Vector


def unit_rows(rows: Vector) -> Vector:
    """The rows, each divided by its length; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)


def pool_tokens(rows: Vector, count: int) -> Vector:
    """Merges the most alike rows until at most ``count`` are left.

    Greedy agglomeration with average linkage by cosine, each cluster represented by the normalised mean of its rows (Clavie et al. 2024,
    "Reducing the Footprint of Multi-Vector Retrieval with Minimal Performance Impact via Token Pooling", section 2).

    Args:
        rows: Shape ``(tokens, dimension)``, each row of unit length.
        count: At least 1.

    Returns:
        Shape ``(min(tokens, count), dimension)``, each row of unit length, in the order of each cluster's first row.
    """
    if len(rows) <= count:
        return rows
    sums = rows.astype(np.float32)
    sizes = np.ones(len(rows), dtype=np.float32)
    alike = sums @ sums.T
    np.fill_diagonal(alike, -np.inf)
    for _ in range(len(rows) - count):
        first, second = sorted(divmod(int(np.argmax(alike)), len(rows)))
        merged = sizes[first] * alike[first] + sizes[second] * alike[second]
        sizes[first] += sizes[second]
        sums[first] += sums[second]
        merged /= sizes[first]
        merged[first] = -np.inf
        alike[first] = merged
        alike[:, first] = merged
        alike[second] = -np.inf
        alike[:, second] = -np.inf
        sizes[second] = 0
    return unit_rows(sums[sizes > 0])
