"""A search scans a coarse copy of the dense vectors, and has the results and scores of an exact search."""

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as edge

from models.embedding.port import Vector
from models.embedding.weights import DIMENSION
from stores.collection import DENSE, TENANT
from stores.edge import requests
from stores.edge.engine import CompactionCopy, created_engine, loaded_engine
from stores.filters import MemoryFilter, TenantScope
from stores.lexical_analysis import Terms
from stores.query_plan import QueryPlan, float32_view
from tests.stores.factories import unit

POINTS = 3000
BEST = 64
TENANT_ID = "acme"


def random_vectors(number: int, *, seed: int) -> Vector:
    """Random directions, whose best scores are nearly equal: the hardest case."""
    return unit(np.random.default_rng(seed).standard_normal((number, DIMENSION), dtype=np.float32))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A shard of random vectors, flushed and closed."""
    (tmp_path / "shard").mkdir()
    with closing(created_engine(tmp_path / "shard", DIMENSION, None)) as engine:
        vectors = random_vectors(POINTS, seed=1)
        points = [
            edge.Point(uuid.UUID(int=number), {DENSE: vector.tolist()}, {TENANT: TENANT_ID}) for number, vector in enumerate(vectors, 1)
        ]
        engine.update(edge.UpdateOperation.upsert_points(points))
        engine.flush()
    return tmp_path / "shard"


@contextmanager
def compacted(folder: Path) -> Iterator[edge.EdgeShard]:
    copy = CompactionCopy(folder.parent / "copy")
    copy.folder.mkdir()
    with closing(loaded_engine(folder)) as source, closing(copy):
        for _ in copy.copying(source, dimension=DIMENSION, late_dimension=None):
            pass
        with closing(copy.detach()) as engine:
            yield engine


def found(engine: edge.EdgeShard, vector: Vector, params: edge.SearchParams | None = None) -> list[tuple[object, float]]:
    """The ids and scores of the best points, of a search for candidates or with these parameters."""
    scope = MemoryFilter.everything(TenantScope(TENANT_ID))
    points_filter = requests.filter_of(scope)
    plan = QueryPlan(filter=scope, dense=float32_view(vector), terms=Terms([], []), late=[], limit=BEST, prefetch=BEST)
    request = requests.candidates_request(plan, points_filter, BEST, is_coarse=True)
    if params is not None:
        request = edge.QueryRequest(limit=BEST, query=request.query, filter=points_filter, params=params, with_payload=False)
    return [(each.id, each.score) for each in engine.query(request)]


def assert_finds_the_nearest(engine: edge.EdgeShard) -> None:
    exact = edge.SearchParams(quantization=edge.QuantizationSearchParams(ignore=True))
    for vector in random_vectors(10, seed=2):
        assert found(engine, vector) == found(engine, vector, exact)


def test_a_search_of_the_coarse_copy_finds_the_nearest(folder: Path) -> None:
    with closing(loaded_engine(folder)) as engine:
        assert_finds_the_nearest(engine)


def test_the_copy_alone_would_rank_others_first(folder: Path) -> None:
    coarse = edge.SearchParams(quantization=edge.QuantizationSearchParams(rescore=False))
    with closing(loaded_engine(folder)) as engine:
        (vector,) = random_vectors(1, seed=3)
        assert found(engine, vector, coarse) != found(engine, vector)


def test_a_compacted_shard_has_the_coarse_copy(folder: Path) -> None:
    coarse = edge.SearchParams(quantization=edge.QuantizationSearchParams(rescore=False))
    with compacted(folder) as engine:
        assert_finds_the_nearest(engine)
        (vector,) = random_vectors(1, seed=3)
        assert found(engine, vector, coarse) != found(engine, vector)
